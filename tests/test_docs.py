"""The documentation keeps up with the code."""

import importlib.util
import re
import runpy
from pathlib import Path

import click
import pytest

import phaselect
from phaselect.base.tables import load_table
from phaselect.cli.main import main
from phaselect.figures.gallery import FIGURES
from phaselect.report.parts import PARTS
from tests.screens import SCREENS, screens

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
ROOMS = {"index": "phaselect", "sklearn": "phaselect.sklearn"} | {
    name: f"phaselect.{name}" for name in ("theory", "operators", "ensembles")
}
"""The pages of the reference, and the modules whose public names they list."""


def test_every_command_and_option_is_in_the_reference():
    groups = {"phaselect": main, "phaselect theory": main.commands["theory"]}
    for path, command in (
        (f"{top} {name}", inner) for top, group in groups.items() for name, inner in group.commands.items()
    ):
        text = (ROOT / "docs" / "cli" / f"{path.split()[1]}.md").read_text()
        assert f"# {path}\n" in text, "run python docs/make_cli_reference.py"
        for parameter in command.params:
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert option in text, f"{path} {option}: run python docs/make_cli_reference.py"


def in_the_reference(text):
    """The names that its tables list."""
    tables = re.findall(r"\.\. autosummary::\n(.*?)```", text, re.DOTALL)
    return [name for table in tables for name in re.findall(r"^   (phaselect\.[\w.]+)$", table, re.MULTILINE)]


@pytest.mark.parametrize("page", ROOMS)
def test_every_public_name_is_in_the_reference(page):
    module = importlib.import_module(phaselect._MODULES.get(page, ROOMS[page]))
    names = [name for name in module.__all__ if name not in ROOMS]
    listed = in_the_reference((ROOT / "docs" / "api" / f"{page}.md").read_text())
    assert sorted(listed) == sorted(f"{ROOMS[page]}.{name}" for name in names), f"list it in docs/api/{page}.md"
    assert [name for name in names if not getattr(module, name).__doc__] == []


def test_every_public_module_has_a_page():
    assert set(phaselect._MODULES) <= set(ROOMS)
    assert {path.stem for path in (ROOT / "docs" / "api").glob("*.md")} == set(ROOMS)


@pytest.mark.parametrize("name", ["first_solve", "own_data", "noise"])
def test_examples_run(name, monkeypatch):
    """The shortest; `make docs` runs all."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(pyplot, "show", pyplot.close)
    runpy.run_path(str(ROOT / "examples" / f"plot_{name}.py"), run_name="__main__")


def test_every_file_is_in_the_architecture():
    text = "".join((ROOT / "docs" / name).read_text() for name in ("architecture.md", "walks.md"))
    top = ROOT / "src" / "phaselect"
    figures = {top / "figures" / f"{name}.py" for name in (*FIGURES, "context", "success_curves")}  # listed as one
    files = [path for path in top.rglob("*.py") if not path.name.startswith("__") and path not in figures]
    names = {path.relative_to(top).as_posix(): path.name for path in files}
    assert [whole for whole, name in names.items() if f"`{name}`" not in text and f"`{whole}`" not in text] == []


def anchors(page):
    """What the headings of a page are called."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text()
    for target in re.findall(r"""\]\(([^)#:]+)[#)]|src="([^"]+)\"""", text):
        assert (page.parent / "".join(target)).exists(), target
    for name, anchor in re.findall(r"\]\(([^)#:]*\.md)?#([^)]+)\)", text):
        assert anchor in anchors(page.parent / name if name else page), f"{name}#{anchor}"


def contents(page):
    """The pages that the tables of contents of a page name."""
    for table in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL):
        entries = [line for line in table.splitlines() if line and not line.startswith(":")]
        for entry in (re.sub(r".*<(.+)>", r"\1", line) for line in entries):
            yield from page.parent.glob(f"{entry}.md")


def test_every_page_is_in_the_contents():
    """Sphinx warns of one that is not, and `make docs` takes warnings for errors."""
    docs = ROOT / "docs"
    pages = {page for page in docs.rglob("*.md") if "generated" not in page.parts}
    listed = {named.resolve() for page in pages for named in contents(page)}
    assert sorted(page.relative_to(docs).as_posix() for page in pages - listed) == ["index.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_the_text_exist(page):
    """`phaselect.something` in the docs is something phaselect has."""
    for name in re.findall(r"\bphaselect\.(\w+)", page.read_text()):
        assert hasattr(phaselect, name) or (ROOT / "src" / "phaselect" / f"{name}.py").exists(), name


@pytest.mark.parametrize(
    "name",
    [
        "index.md",
        "tour.md",
        "adding_a_solver.md",
        "lattice.md",
        "market_split.md",
        "results_in_python.md",
        "scikit_learn.md",
    ],
)
def test_python_in_the_pages_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHASELECT_CACHE", str(tmp_path))
    monkeypatch.setattr("phaselect.figures.complexity.COUNTS", {"small": 14})  # fewer points of a curve
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
    pages = script("make_cli_reference").pages()
    for name, text in pages.items():
        assert (ROOT / "docs" / name).read_text() == text, "run python docs/make_cli_reference.py"
    assert {f"cli/{path.name}" for path in (ROOT / "docs" / "cli").iterdir()} == set(pages) - {"cli.md"}


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


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent != ROOT], ids=lambda page: page.name)
def test_no_page_is_longer_than_five_screens(page):
    """By an estimate; `test_site.py` measures in a browser."""
    assert screens(page) <= SCREENS


def test_lengths_of_pages_are_estimated(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("")
    empty = screens(page)
    for text, pixels in {
        "word\n\n" * 75: 75 * 40,
        "a" * 221: 3 * 24 + 16,
        "* a\n* " + "b" * 111: 3 * 24 + 20,
        "```text\na\nb\n```": 2 * 18 + 44,
        "| a | b |\n|---|---|\n| a | " + "b" * 200 + " |": 24 + 28 + 66,
        f'<img src="{ROOT}/docs/figures/critical_product.png" width="385">': 308 + 16,
    }.items():
        page.write_text(text)
        assert (screens(page) - empty) * 900 == pytest.approx(pixels), text
    page.write_text("# Long\n\n" + "word\n\n" * 120)
    assert screens(page) > SCREENS


def test_every_figure_is_in_one_part_of_the_results(results):
    shown = [figure for part in PARTS for figure in part.figures]
    assert sorted(shown) == sorted(FIGURES), "name a new figure in report/parts.py"
    assert all(part.name in "".join(results[1]) for part in PARTS)


def test_every_figure_has_its_run_time():
    text = (ROOT / "docs" / "reproduction.md").read_text()
    assert [name for name in FIGURES if f"| {name} | `phaselect figure {name}`" not in text] == []
