"""The page that is made of the reports."""

import pytest
from benchmarks.performance_page import listed, measured_pages
from benchmarks.rows import Measurement, Report, Row, Task, load_report

from benchmarks import (
    page,
    performance_page,
    run,
)
from tests.benchmarks.conftest import MACHINE, ROW


def test_what_is_published_is_written_at_the_end(monkeypatch, tmp_path):
    """Until then the rows published before stay."""
    (tmp_path / "bench").mkdir()
    published = tmp_path / "bench" / "cpu.json"
    (tmp_path / "performance.md").write_text("\n".join(page.marks()))
    for module in (run, page, performance_page):
        monkeypatch.setattr(module, "DOCS", tmp_path)
    tasks = [Task("theory", "late", "", lambda: Measurement(7.0, "s", f"there: {published.exists()}"))]
    monkeypatch.setattr(run, "planned", lambda *arguments, **options: tasks)
    assert run.main(["--write"]) == 0
    assert load_report(published).rows[0].found == Measurement(7.0, "s", "there: False")
    assert "| late |  | 7 s |" in (tmp_path / "performance" / "theory.md").read_text()
    assert "* [Theory](performance/theory.md)" in (tmp_path / "performance.md").read_text()


def test_the_page_is_written_from_the_reports(tmp_path):
    solved = Row(
        "solutions", "phaselect.solve", "N = 200, alpha = 2", Measurement(0.5, "s", "3 of 3 certified", 2, 0.1)
    )
    none = Measurement(None, "s", "0 of 3 certified, otherwise ...")
    often = Measurement(0.97, "of all", "many", 0.0, 1.0, more_is_better=True, limit=0.98)
    rows = [
        ROW,
        solved._replace(what="alternating minimisation", found=none),
        solved._replace(what="dwave-samplers annealing", found=none._replace(detail="not installed: pip install")),
        solved,
        Row("solutions", "share certified in 10 s", "N = 400", often),
        Row("growth", "exponent of time", "N = 100 to 800", Measurement(2.1, "power of N", "how", bound=2.0)),
    ]
    Report("cpu", False, MACHINE, rows).save(tmp_path / "cpu.json")
    text = written(tmp_path)
    assert text.count("## An Abacus, 2 cores") == 3
    assert "| a kernel | N = 200 | 3 million/s | 2 | 1.5 | 9 | 0.333 | 1.4 times the reference | how |" in text
    assert "| N = 200, alpha = 2 | 0.5 s (3/3) | - (0/3) | not installed: pip install | 0.1 s |" in text
    assert (
        "| share certified in 10 s | N = 400 | 0.97 of all | 0 | inf | 1 | 0.97 | >= 0.98 of all **missed** |" in text
    )

    gpu = Report("gpu", False, MACHINE | {"gpu": "H200", "gpu_memory_bytes": 10**11}, rows[:1])
    gpu.save(tmp_path / "gpu.json")
    later = gpu.machine | {"versions": gpu.machine["versions"] | {"phaselect": "0.2 abc"}}
    gpu._replace(machine=later, rows=rows[5:]).save(tmp_path / "gpu-growth.json")
    both = written(tmp_path)
    assert list(measured_pages(tmp_path)) == [ROW.section, "solutions", "growth"]
    kernels, growth = ("\n".join(measured_pages(tmp_path)[name]) for name in (ROW.section, "growth"))
    assert kernels.index("## An Abacus") < kernels.index("a kernel") < kernels.index("## H200")
    assert kernels.index("## H200") < kernels.index("JAX may use 100 GB") < kernels.rindex("a kernel")
    assert "phaselect 0.2 (package at revision abc)" in growth.split("## H200")[1]
    assert "--device gpu --only growth" in growth
    assert both.count("phaselect 0.2 (package") == 1
    for other in (gpu._replace(machine=MACHINE, rows=rows[1:2]), gpu):
        other.save(tmp_path / "gpu-other.json")
        with pytest.raises(
            SystemExit, match=r"gpu\.json, gpu-other\.json, gpu-growth\.json are of several machines or"
        ):
            measured_pages(tmp_path)


def written(folder):
    return "\n".join(line for lines in measured_pages(folder).values() for line in lines)


def test_only_what_is_between_the_marks_is_replaced():
    text = "# Page\n\nbefore\n\n{}\nold\n{}\n\nafter\n".format(*page.marks())
    assert page.replaced(text, ["new"]) == text.replace("old", "new")
    with pytest.raises(SystemExit, match="once each"):
        page.replaced("# no marks\n", [])


def test_the_published_pages_are_what_the_reports_say():
    pages = measured_pages(page.DOCS / "bench")
    for name, lines in pages.items():
        text = (page.DOCS / "performance" / f"{name}.md").read_text()
        assert text == "\n".join(lines).rstrip() + "\n", "run python -m benchmarks.performance_page"
    text = (page.DOCS / "performance.md").read_text()
    assert page.replaced(text, listed(pages)) == text
    assert {path.stem for path in (page.DOCS / "performance").iterdir()} == set(pages)
