"""The claims of the paper on its formulation: the landscape, what splitting is worth, what a regulariser saves."""

from __future__ import annotations

import numpy as np

from phaselect.base.tables import Table
from phaselect.report.comparisons import clearly_below, halves
from phaselect.report.ledger import Claim, Conclusion, Finding, Tables, claims_into, numbers

FORMULATION_CLAIMS: list[Claim] = []
claim = claims_into(FORMULATION_CLAIMS)
FROM_ROUNDING = 1e-18
"""A squared residual over |y|^2 below this is too near to rounding to be told from zero."""
PAIRS = 10
"""Instances below which a mean of ratios says little."""
WORTH = 1.5
"""A speed-up that would be worth the name."""


def _beyond_square(tables: Tables, **values: float) -> Table:
    """Rows of the landscape with more measurements than unknowns."""
    table = tables["landscape"].where(**values)
    return table.take(table["m_rows"] > table["n"]) if len(table) else table


@claim(
    "Sec. II",
    "Phase selection preserves the local minima of phase retrieval and only introduces additional, sub-optimal ones",
    "landscape",
)
def only_adds_minima(tables: Tables) -> Finding:
    """Minima that only one of the two problems has, over all sign vectors of all instances."""
    table = _beyond_square(tables)
    if len(table) == 0 or not np.isfinite(table["retrieval"]).all():
        return Finding("the minima of 0 settings are known", Conclusion.OPEN)
    kept, most = table["retrieval"] @ table["instances"], table.take(np.array([np.argmax(table["retrieval"])]))
    added, removed = int(table["added"].sum()), int(table["removed"].sum())
    text = (
        f"of {kept:.0f} minima of phase retrieval, N = {numbers(table.values('n'))}, {removed} ({removed / kept:.0%}) "
        f"are not stable against single flips, and {added} flip-stable sign vectors are no minimum of phase retrieval; "
        f"N = {most['n'][0]}, M = {most['m_rows'][0]}, lam = {most['lam'][0]:g}: on average "
        f"{most['retrieval'][0]:.0f} become {most['selection'][0]:.0f}"
    )
    if removed:
        return Finding(text, Conclusion.CORRECTED if added else Conclusion.FAILS)
    return Finding(text, Conclusion.HOLDS if added else Conclusion.OPEN)


@claim("Sec. II", "Without regulariser the global minimum, of zero loss, is unique (up to the sign of x)", "landscape")
def zero_loss_is_unique(tables: Tables) -> Finding:
    """Sign vectors of zero loss by the number of measurements in excess, and how near to zero the others come."""
    table = _beyond_square(tables, lam=0.0)
    if len(table) == 0 or not np.isfinite(table["runner_up_least"]).all():
        return Finding("the losses of 0 settings are known", Conclusion.OPEN)
    nearest, several = table["runner_up_least"].min(), table["zero_loss_most"] > 1
    counts = sorted({int(table["zero_loss_least"].min()), int(table["zero_loss_most"].max())})
    text = (
        f"M > N: {' to '.join(map(str, counts))} of all sign vectors with zero loss, any other leaves at least "
        f"{nearest:.1e} of the measured power ({table['instances'].max()} instances, N = {numbers(table.values('n'))}, "
        f"M = N + 1 to {table['m_rows'].max()})"
    )
    if table["zero_loss_least"].min() < 1 or nearest < FROM_ROUNDING:
        return Finding(text, Conclusion.OPEN)
    if not several.any():
        return Finding(text + _at_square(tables), Conclusion.HOLDS)
    excess = table["m_rows"] - table["n"]
    enough = excess.max() > excess[several].max()
    text += f"; several up to M = N + {excess[several].max()}"
    return Finding(text, Conclusion.CORRECTED if enough else Conclusion.FAILS)


def _at_square(tables: Tables) -> str:
    """What M = N leaves, in words."""
    table = tables["landscape"].where(lam=0.0)
    square = table.take(table["m_rows"] == table["n"])
    return f"; at M = N all {square['zero_loss_least'].max()} have zero loss" if len(square) else ""


@claim("Sec. IV", "Splitting phase retrieval into two nested levels benefits optimisation", "splitting")
def splitting_helps(tables: Tables) -> Finding:
    """alpha_50 of the anneal of the signs against those of x, at every size."""
    signs, *in_x = (halves(tables["splitting"], name) for name in ("sa", "x", "x-entries"))
    sizes = [n for n in signs if all(n in own for own in in_x)]
    text = "; ".join(
        f"N = {n}: signs {signs[n]}, x along singular vectors {in_x[0][n]}, entry by entry {in_x[1][n]}" for n in sizes
    )
    pairs = [(signs[n], own[n]) for n in sizes for own in in_x]
    if not pairs:
        return Finding("0 sizes have all three anneals", Conclusion.OPEN)
    if any(clearly_below(own, of_signs) for of_signs, own in pairs):
        return Finding(text, Conclusion.FAILS)
    return Finding(text, Conclusion.HOLDS if all(clearly_below(*pair) for pair in pairs) else Conclusion.OPEN)


@claim("Sec. V", "An adaptive regulariser accelerates convergence", "speed")
def regulariser_speeds_up(tables: Tables) -> Finding:
    """Work without regulariser over that with the matched one, at every alpha where enough are recovered with both."""
    table = tables["speed"].where(product=0.0)
    known = table.take((table["pairs"] >= PAIRS) & np.isfinite(table["ratio"])) if len(table) else table
    if len(known) == 0 or set(known.values("solver")) < {"sa", "amp"}:
        return Finding("less than 2 solvers have enough instances recovered with and without", Conclusion.OPEN)
    text = "without regulariser " + "; ".join(f"{solver} takes {_ratios(known, solver)}" for solver in ("sa", "amp"))
    faster, slower = known["low"] > 1, known["high"] < 1
    if faster.all():
        return Finding(text, Conclusion.HOLDS)
    if faster.any():
        return Finding(text, Conclusion.CORRECTED if faster.sum() > slower.sum() else Conclusion.OPEN)
    return Finding(text, Conclusion.FAILS if known["high"].max() < WORTH else Conclusion.OPEN)


def _ratios(known: Table, solver: str) -> str:
    own = known.where(solver=solver)
    rows = zip(*(own[name].tolist() for name in ("ratio", "low", "high", "alpha")), strict=True)
    return "the work times " + ", ".join(
        f"{ratio:.2f} [{low:.2f}, {high:.2f}] at alpha = {alpha:g}" for ratio, low, high, alpha in rows
    )
