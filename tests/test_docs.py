"""The documentation keeps up with the code."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import phaselect
from phaselect.base.tables import load_table
from phaselect.cli.main import main
from phaselect.figures.gallery import FIGURES
from phaselect.report.parts import PARTS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_every_command_and_option_is_in_the_reference():
    text = (ROOT / "docs" / "cli.md").read_text()
    groups = {"phaselect": main, "phaselect theory": main.commands["theory"]}
    for path, command in (
        (f"{top} {name}", inner) for top, group in groups.items() for name, inner in group.commands.items()
    ):
        assert f"## {path}\n" in text, "run python docs/make_cli_reference.py"
        for parameter in command.params:
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert option in text, f"{path} {option}: run python docs/make_cli_reference.py"


def test_every_file_is_in_the_architecture():
    text = (ROOT / "docs" / "architecture.md").read_text()
    top = ROOT / "src" / "phaselect"
    figures = {top / "figures" / f"{name}.py" for name in (*FIGURES, "context", "success_curves")}  # listed as one
    files = [path for path in top.rglob("*.py") if not path.name.startswith("__") and path not in figures]
    names = {path.relative_to(top).as_posix(): path.name for path in files}
    assert [whole for whole, name in names.items() if f"`{name}`" not in text and f"`{whole}`" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"""\]\(([^)#:]+)[#)]|src="([^"]+)\"""", page.read_text()):
        assert (page.parent / "".join(target)).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_the_text_exist(page):
    """`phaselect.something` in the docs is something phaselect has."""
    for name in re.findall(r"\bphaselect\.(\w+)", page.read_text()):
        assert hasattr(phaselect, name) or (ROOT / "src" / "phaselect" / f"{name}.py").exists(), name


@pytest.mark.parametrize(
    "name", ["index.md", "tour.md", "adding_a_solver.md", "market_split.md", "results_in_python.md"]
)
def test_python_in_the_pages_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHASELECT_CACHE", str(tmp_path))
    page = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / name).read_text(), re.DOTALL):
        exec(compile(block, name, "exec"), page)
    said = re.findall(r"print\([a-z]+\)  # (.+)", (ROOT / "docs" / name).read_text())
    shown = capsys.readouterr().out
    assert all(line in shown for line in said)


def script(name):
    """A script of the docs, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_what_help_says():
    assert (ROOT / "docs" / "cli.md").read_text() == script("make_cli_reference").reference()


@pytest.fixture(scope="module")
def results():
    """The script that writes the pages of the results, and their text as the tables have it."""
    make = script("make_results")
    return make, make.pages({name: load_table(ROOT / "docs" / "tables" / f"{name}.csv") for name in FIGURES})


def test_the_results_are_what_the_tables_say(results):
    _, pages = results
    for name, text in pages.items():
        assert (ROOT / "docs" / name).read_text() == text, f"{name}: run python docs/make_results.py"
    assert {f"results/{path.name}" for path in (ROOT / "docs" / "results").iterdir()} == set(pages) - {"results.md"}


def test_no_page_of_the_results_is_longer_than_five_screens(results):
    make, pages = results
    assert {name: make.screens(text) for name, text in pages.items() if make.screens(text) > make.SCREENS} == {}
    assert make.screens("word\n" * 150) == pytest.approx(4)
    assert [make.screens("a" * 161), make.screens("| a |\n| a |")] == pytest.approx([3 / 37.5, 4 / 37.5])
    assert make.screens('<img src="../figures/critical_product.png" width="385">') == pytest.approx(308 / 900)


def test_every_figure_is_in_one_part_of_the_results(results):
    shown = [figure for part in PARTS for figure in part.figures]
    assert sorted(shown) == sorted(FIGURES), "name a new figure in report/parts.py"
    assert all(part.name in "".join(results[1]) for part in PARTS)


def test_every_figure_has_its_run_time():
    text = (ROOT / "docs" / "reproduction.md").read_text()
    assert [name for name in FIGURES if f"| {name} | `phaselect figure {name}`" not in text] == []


def test_the_site_builds_without_a_warning_or_a_network(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    for page in (ROOT / "docs").rglob("*.md"):
        text = (tmp_path / page.relative_to(ROOT / "docs").with_suffix(".html")).read_text()
        assert not re.findall(r"""(?:src|<link[^>]*href)=["']https?://""", text), page.name
