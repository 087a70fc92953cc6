"""The notebook of the examples runs, and shows what it promises; what it shows is not kept in the repository."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

PATH = Path(__file__).parent.parent / "examples" / "first_look.ipynb"


@pytest.fixture(scope="module")
def shown():
    """The kinds of data, and the texts, that each cell of code shows."""
    notebook = nbformat.read(PATH, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return {cell.source: [output.get("data", {}) for output in cell.outputs] for cell in cells}


def last(shown, begins):
    (outputs,) = [outputs for source, outputs in shown.items() if source.startswith(begins)]
    return outputs[-1]


def test_results_show_themselves(shown):
    assert "recovered: x is certified" in last(shown, "result = ")["text/html"]
    assert "<svg" in last(shown, "result = ")["text/html"]
    assert "estimate for noisy data" in last(shown, "noisy = ")["text/html"]
    assert "x_std" in last(shown, "noisy = ")["text/html"]
    assert float(last(shown, "sign = ")["text/plain"]) < 1e-9


def test_figures_are_shown_once(shown):
    drawn = [outputs for source, outputs in shown.items() if ".plot(" in source]
    assert len(drawn) == 3
    assert all(["image/png" in data for data in outputs] == [True] for outputs in drawn)


def test_tables_are_short(shown):
    assert last(shown, "schedule = ")["text/plain"].startswith("Table(56 rows x 23 columns, mu 0.5 to 1e+04, m 0 to ")
    assert "<table" in last(shown, "run.to_frame")["text/html"]


def test_a_bar_is_drawn_and_gone(shown):
    (bar, _) = next(outputs for source, outputs in shown.items() if "progress=True" in source)
    assert bar["text/html"] == ""
