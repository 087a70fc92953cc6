"""The claims of the paper on how far its methods reach and what they cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.base.tables import Table
from phaselect.experiments.costs import PowerLaw, power_law
from phaselect.experiments.success import wilson
from phaselect.report.evidence import matched
from phaselect.report.ledger import Claim, Conclusion, Finding, Tables, claims_into, numbers

GENERALITY_CLAIMS: list[Claim] = []
claim = claims_into(GENERALITY_CLAIMS)

SAME, OTHER = 1e-6, 1e-3
"""Differences up to which two forms are one, rounding and quadrature apart; and from which they are two."""
ERRORS = 3
"""Standard errors within which an exponent is known: about 95 % where it was fitted to five sizes."""
HALF = 0.5
"""Powers of N that caches and small sizes can make up."""
UPDATE = "paper", "regression"
TEMPERATURES = 10_000
"""Of the paper's anneals: T = 10^6 steps, T_A = 100."""


@claim(
    "Sec. IV, AMP",
    "As there are two levels, message passing requires the estimation of two second moments",
    "collapse",
)
def two_moments_are_required(tables: Tables) -> Finding:
    """Does anything depend on how the variance is split; and do two moments recover what their sum does not?"""
    table = tables["collapse"]
    fixed, anneal = table.take(table["level"] != "anneal"), table.where(level="anneal")
    worst = [_largest(fixed.where(level=level)["difference"]) for level in ("saddle point", "message passing")]
    trials, both, two, one = (int(anneal[name].sum()) for name in ("trials", "both", "only_two", "only_one"))
    text = (
        f"from the same V0 + V1/mu, however split, the saddle point differs by at most {worst[0]:.0e} and message "
        f"passing by {worst[1]:.0e} in {len(fixed)} comparisons; annealed, the paper's form recovers {both + two} of "
        f"{trials} instances, the one with the sum alone {both + one}"
    )
    more_by_two = float(wilson(two, two + one)[0]) > 0.5
    if np.max(worst) > OTHER or more_by_two:
        return Finding(text, Conclusion.HOLDS)
    compared = len(fixed.values("share")) > 1 and trials > 0
    return Finding(text, Conclusion.FAILS if compared and np.max(worst) < SAME else Conclusion.OPEN)


def _largest(values: NDArray[np.float64]) -> float:
    """nan without any, or if any is."""
    return float(np.max(values)) if values.size else float("nan")


class _Kinds(NamedTuple):
    """Kinds of matrices, by what message passing does where Gaussian ones are easy and these can be solved."""

    broken: list[str]
    sound: list[str]
    between: list[str]


@claim(
    "Sec. IV, AMP",
    "Where the rows are not iid Gaussian, as in most applications, correlations can undermine message passing: it may "
    "not converge",
    "ensembles",
)
def only_gaussian_matrices_are_safe(tables: Tables) -> Finding:
    """On which kinds does it fail, of those that population annealing can solve?"""
    reference = tables["ensembles"].where(kind="Gaussian", solver="amp")
    reference = reference.take(reference["low"] > 0.5)
    table = tables["ensembles"].take(np.isin(tables["ensembles"]["alpha"], reference["alpha"]))
    others = table.take(table["kind"] != "Gaussian")
    iid, structured = (_sorted(others.where(iid=flag)) for flag in (True, False))
    amp = others.where(solver="amp")
    failed, diverged = int(np.sum(amp["trials"] - amp["successes"])), int(np.sum(amp["diverged"]))
    text = (
        f"iid Gaussian, alpha = {numbers(reference['alpha'].tolist(), 3)}: {_count(reference)} recovered. There, and "
        f"where population annealing shows them solvable, message passing recovers iid {_list(iid.sound)} and not iid "
        f"{_list(structured.sound)}; it fails on iid {_list(iid.broken)} and not iid {_list(structured.broken)}; "
        f"between, or not solvable: {_list(iid.between + structured.between)}. {diverged} of its {failed} failures "
        "diverged"
    )
    return Finding(text, _undermined(iid, structured))


def _undermined(iid: _Kinds, structured: _Kinds) -> Conclusion:
    """Holds if it is correlations and nothing else that break it."""
    settled = len(structured.broken) + len(structured.sound)
    if settled <= len(structured.between):
        return Conclusion.OPEN
    if not structured.broken:
        return Conclusion.FAILS
    return Conclusion.CORRECTED if iid.broken or structured.sound else Conclusion.HOLDS


def _sorted(table: Table) -> _Kinds:
    kinds = _Kinds([], [], [])
    for own in table.by("kind"):
        getattr(kinds, _fate(own)).append(str(own["kind"][0]))
    return kinds


def _fate(own: Table) -> str:
    """Over the alphas at which population annealing recovers more often than not; without any, nothing can be said."""
    control, amp = own.where(solver="pa"), own.where(solver="amp")
    solvable = np.isin(amp["alpha"], control["alpha"][control["low"] > 0.5])
    shown = amp.take(solvable)
    if len(shown) and (shown["high"] < 0.5).all():
        return "broken"
    return "sound" if len(shown) and (shown["low"] > 0.5).all() else "between"


def _count(rows: Table) -> str:
    return f"{int(rows['successes'].sum())} of {int(rows['trials'].sum())}"


def _list(names: list[str]) -> str:
    return " / ".join(names) or "(none)"


@claim(
    "Sec. IV, SA",
    "The matrix of the regression needs an update, at a cost O(M^3), when the regulariser changes: it is convenient to "
    "do so every T_A steps only",
    "growth",
)
def change_of_regulariser_is_cubic(tables: Tables) -> Finding:
    """How the update grows with N, and whether one can do without."""
    table = tables["growth"]
    update, change = _growth(table, *UPDATE), _growth(table, "ours", "change of lam")
    price = _ratio(table, ("ours", "SVD"), UPDATE)
    gain = 1 / (price / TEMPERATURES + _ratio(table, ("ours", "change of lam"), UPDATE))
    text = (
        f"the update grows like {_power(update)}; but one SVD, the price of {_plain(price)} updates at "
        f"{_sizes(table)}, makes a change of lam grow like {_power(change)}: over {TEMPERATURES} temperatures that "
        f"takes {_plain(gain)} times less, proposals apart, and no reason is left to change lam rarely"
    )
    error = ERRORS * update.standard_error
    if abs(update.exponent - 3) > error + HALF:
        return Finding(text, Conclusion.FAILS)
    avoidable = _slower_growth(change, update) if error < HALF else Conclusion.OPEN
    verdicts = {Conclusion.HOLDS: Conclusion.CORRECTED, Conclusion.FAILS: Conclusion.HOLDS}
    return Finding(text, verdicts.get(avoidable, Conclusion.OPEN))


@claim("Sec. IV, SA", "The effect of a flip is evaluated efficiently, by shifting the vector of errors", "growth")
def flips_are_cheap(tables: Tables) -> Finding:
    """Against making the estimate anew, a product that is stated to be O(M^2)."""
    table = tables["growth"]
    shift, anew = ("paper", "proposal"), ("paper", "estimate")
    text = (
        f"a proposal grows like {_power(_growth(table, *shift))}, the estimate made anew like "
        f"{_power(_growth(table, *anew))} and takes {_plain(_ratio(table, anew, shift))} times as long at "
        f"{_sizes(table)}; compiled and in the coordinates of the SVD a proposal is "
        f"{_plain(_ratio(table, shift, ('ours', 'proposal')))} times quicker still"
    )
    return Finding(text, _slower_growth(_growth(table, *shift), _growth(table, *anew)))


@claim("Sec. IV, AMP", "Message passing avoids the costly inversion of a matrix", "growth")
def message_passing_avoids_inversion(tables: Tables) -> Finding:
    """An iteration against an update of the regression: at each size, and in its growth."""
    table = tables["growth"]
    update, step = _growth(table, *UPDATE), _growth(table, "ours", "message passing")
    ours, paper = (_ratio(table, UPDATE, (form, "message passing")) for form in ("ours", "paper"))
    text = (
        f"an iteration grows like {_power(step)}, the update of the regression like {_power(update)}; the update takes "
        f"as long as {_plain(ours)} iterations at {_sizes(table)} ({_plain(paper)} of the paper's form, with "
        f"two variances entry by entry)"
    )
    times = np.concatenate([ours, paper])
    if times.size and (times <= 1).all():
        return Finding(text, Conclusion.FAILS)
    return Finding(text, _slower_growth(step, update) if (times > 1).all() else Conclusion.OPEN)


def _sizes(table: Table) -> str:
    return f"N = {numbers(table.values('n'), 4)}"


def _growth(table: Table, form: str, unit: str) -> PowerLaw:
    """The fitted exponent; nan where there are not three sizes."""
    rows = table.where(form=form, unit=unit)
    return power_law(rows["n"], rows["microseconds"]) if len(rows) > 2 else PowerLaw(np.nan, np.nan)


def _ratio(table: Table, above: tuple[str, str], below: tuple[str, str]) -> NDArray[np.float64]:
    """Of times of two units, size by size."""
    first, second = (table.where(form=form, unit=unit) for form, unit in (above, below))
    matched(first["n"], second["n"], "the time")
    return first["microseconds"] / second["microseconds"]  # type: ignore[no-any-return]


def _plain(ratios: NDArray[np.float64]) -> str:
    """Two digits, or whole numbers."""
    return ", ".join(f"{ratio:.2g}" if ratio < 100 else f"{ratio:.0f}" for ratio in ratios.tolist())


def _power(law: PowerLaw) -> str:
    return f"N^{law.exponent:.2f} ± {law.standard_error:.2f}"


def _slower_growth(less: PowerLaw, more: PowerLaw) -> Conclusion:
    """Is the first exponent smaller; or is it, as far as known, not even by half a power?"""
    by, error = more.exponent - less.exponent, ERRORS * float(np.hypot(less.standard_error, more.standard_error))
    if by > error:
        return Conclusion.HOLDS
    return Conclusion.FAILS if by + error < HALF else Conclusion.OPEN
