"""docs/equations*.md show every numbered or labelled equation of the paper, with functions that exist."""

import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [(DOCS / f"{name}.md").read_text() for name in ("equations", "equations_theory", "equations_solvers")]

LABELLED = """GeneratingProcessPR OptimizationPhaseRetrieval EnergyFunction eq:OptimizationPhaseSelection
eq:energies eq:prob eq:partition_func eq:MAP eq:gaugeTransform replica eq:GenFreeEntropy OrderParameters eq.FreeEnergy
eq:entropic eq:energetic eq:stabilities eq:RidgeRegression1 eq:RidgeRegression2 eq:channels eq:rescale_grad
eq:1RSBAnsatz eq:1RSB alg:SA alg:AMP alg:GD alg:Problem""".split()  # noqa: SIM905
UNLABELLED = 18
"""Numbered equations without a label: overlaps, two Legendre transforms, RS ansatz and rescaling, g_i, P_*, phi_in,
three lines of AMP, the Langevin step, 1RSB rescaling, the stability constants, and their four simplified forms."""


def rows():
    for page in PAGES:
        table = page.split("| equation |")[1].split("\n\n")[0]
        for line in table.splitlines()[2:]:
            equation, used, _, implemented = (cell.strip() for cell in line.split("|")[1:-1])
            yield equation, re.findall(r"\$(.+?)\$", used), re.findall(r"`(phaselect\.[\w.]+)`", implemented)


def test_every_equation_has_a_row():
    equations = [equation for equation, *_ in rows()]
    assert [label for label in LABELLED if f"`{label}`" not in equations] == []
    assert sum(equation.endswith("(unlabelled)") for equation in equations) == UNLABELLED
    assert len(equations) == len(LABELLED) + UNLABELLED
    assert len(set(equations)) == len(equations)


@pytest.mark.parametrize(("equation", "formulas", "names"), list(rows()), ids=[equation for equation, *_ in rows()])
def test_functions_exist_and_are_documented(equation, formulas, names):
    assert names, equation
    for name in names:
        assert resolve(name).__doc__, name


@pytest.mark.parametrize(("equation", "formulas", "names"), list(rows()), ids=[equation for equation, *_ in rows()])
def test_formulas_can_be_set(equation, formulas, names):
    convert = pytest.importorskip("docutils.utils.math.latex2mathml").tex2mathml
    assert formulas, equation
    for formula in formulas:
        assert "\\" not in convert(formula), formula


def resolve(path):
    """The object behind a dotted path, through modules that share a name with a function."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        if cut == len(parts) and hasattr(importlib.import_module(".".join(parts[:-1])), parts[-1]):
            found = getattr(importlib.import_module(".".join(parts[:-1])), parts[-1])
        return found
    raise ModuleNotFoundError(path)
