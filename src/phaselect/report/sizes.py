"""alpha_50 by size, as small grids of text: one for each solver and product, and one for all solvers together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.base.tables import Table
from phaselect.experiments.limits import Interval, Limit
from phaselect.figures.success_curves import counts
from phaselect.report.comparisons import halves, limit
from phaselect.report.ledger import Tables
from phaselect.report.message_passing_claims import patient
from phaselect.solvers.registry import REGISTRY


class TextGrid(NamedTuple):
    """A title, the heads of the columns, and the cells."""

    title: str
    head: list[str]
    rows: list[list[str]]


def size_grids(tables: Tables) -> Iterator[TextGrid]:
    """The grids in the order of the figures."""
    for name in ("sa", "amp", "langevin"):
        table = tables[f"success_{name}"]
        for solver in table.values("solver"):
            own = table.where(solver=solver)
            products = {repr(product): product for product in own.where(kind="threshold").values("product")}
            for product in products.values():
                yield _by_rate(own.take(_equal(own, product)), solver, product)
        if name == "amp":
            yield _by_rate(patient(tables["patience"]), "amp", 1.0)
    for product in tables["rate_and_size"].where(kind="threshold").values("product"):
        yield _by_size(tables["rate_and_size"].where(kind="threshold", product=product), product)
    for name, title in (
        ("population", "Population annealing and baselines"),
        ("solvers", "All solvers on the same instances"),
    ):
        yield _by_solver(tables[name].where(kind="threshold"), title)


def _by_rate(own: Table, solver: str, product: float) -> TextGrid:
    """A column for each rate, a line for each N."""
    rates = sorted(own.where(kind="threshold").values("eps"), reverse=True)
    found = [halves(own, solver, eps=rate) for rate in rates]
    limits = [limit(own, solver, eps=rate) for rate in rates]
    rows = [[f"N = {n}", *(_shown(half.get(n)) for half in found)] for n in sorted(set().union(*found))]
    if any(limits):
        rows.append(["N → ∞", *map(_shown, limits)])
    title = _title(solver) + _held(product) + _ended(own)
    return TextGrid(title, ["", *(f"ε = {rate:g}" for rate in rates)], rows)


def _by_size(own: Table, product: float) -> TextGrid:
    """A column for each N, a line for each rate."""
    sizes = sorted(own.values("n"))
    rows = [
        [f"{tau:.0f}", *(_shown(halves(own, "sa-rate", tau=tau).get(n)) for n in sizes)]
        for tau in sorted(own.values("tau"))
    ]
    title = "Simulated annealing at every rate, sweeps per e-fold of mu" + _held(product)
    instances = [counts(own.where(n=n)["instances"]) for n in sizes]
    return TextGrid(title, ["", *(f"N = {n}, {k} instances" for n, k in zip(sizes, instances, strict=True))], rows)


def _ended(own: Table) -> str:
    """After how many iterations runs were ended, where that is an option of theirs."""
    most = own.where(kind="threshold")["iterations"] if "iterations" in own else np.array([])
    return f", at most {most.max():.0f} iterations" if np.isfinite(most).any() else ""


def _held(product: float) -> str:
    return "" if math.isnan(product) else ", lam = 0" if product == 0 else f", mu·lam = {product:g}"


def _by_solver(own: Table, title: str) -> TextGrid:
    """A column for each N, a line for each solver."""
    sizes = sorted(own.values("n"))
    rows = [[_title(solver), *(_shown(halves(own, solver).get(n)) for n in sizes)] for solver in own.values("solver")]
    return TextGrid(title, ["", *(f"N = {n}" for n in sizes)], rows)


def _title(solver: str) -> str:
    title = REGISTRY[solver].title
    return title[0].upper() + title[1:]


def _shown(half: Interval | Limit | None) -> str:
    return "" if half is None else str(half)


def _equal(own: Table, product: float) -> NDArray[np.bool_]:
    """Which rows have this product; not-a-number equals itself."""
    column = own["product"]
    return np.isnan(column) if math.isnan(product) else np.asarray(column == product)
