"""The claims of the paper's replica analysis, judged by the tables of the theory figures."""

from __future__ import annotations

import numpy as np

from phaselect.report.ledger import Claim, Finding, Tables, Verdict, claims_into, verdict
from phaselect.tables import Table

THEORY_CLAIMS: list[Claim] = []
claim = claims_into(THEORY_CLAIMS)


@claim(
    "Sec. III, fixed overlap",
    "At mu = 0 the complexity reaches the binary entropy of random signs at overlap O",
    "complexity",
)
def random_signs_maximise(tables: Tables) -> Finding:
    """The top of each curve against the binary entropy."""
    table = tables["complexity"]
    gaps = [float(own["complexity_random"][0] - own["complexity"][0]) for own in _by(table, "sign_overlap")]
    text = f"at the smallest mu ({table['mu'].min():g}) each curve is within {max(np.abs(gaps)):.1e} of the formula"
    return Finding(text, verdict(max(np.abs(gaps)) < 1e-4))


@claim("Sec. III, fixed overlap", "The misfit falls as the overlap O of the signs grows", "complexity")
def overlap_lowers_misfit(tables: Tables) -> Finding:
    """Misfit of random signs, and at equal complexity."""
    table, level = tables["complexity"], 0.5
    random, equal = [], []
    for own in _by(table, "sign_overlap"):
        random.append(own["mse_y_random"][0])
        order = np.argsort(own["complexity"])
        equal.append(np.interp(level, own["complexity"][order], own["mse_y"][order]))
    at_random, at_level = bool(np.all(np.diff(random) < 0)), bool(np.all(np.diff(equal) < 0))
    text = (
        f"random signs: mse_y {_list(random)} at O = {_list(table.values('sign_overlap'))}; at equal complexity "
        f"{level:g} it is {_list(equal)}{'' if at_level else ': there the order is not that of O'}"
    )
    return Finding(text, verdict(at_random and at_level, Verdict.CORRECTED if at_random else Verdict.FAILS))


@claim("Sec. III, fixed overlap", "At low overlap m is not monotonic while the complexity falls", "complexity")
def overlap_not_monotonic(tables: Tables) -> Finding:
    """Does m turn back while the complexity falls, where replica symmetry can be trusted?"""
    turning = []
    for own in _by(tables["complexity"], "sign_overlap"):
        m = own["m"][own["trusted"]]
        if m.max() - m[-1] > 1e-4:
            turning.append((own["sign_overlap"][0], m.max(), m[-1]))
    lowest = tables["complexity"]["sign_overlap"].min()
    text = "; ".join(f"O = {O:g}: m rises to {top:.3f}, then falls to {end:.3f}" for O, top, end in turning)
    return Finding(text or "m never falls", verdict(any(lowest == O for O, *_ in turning)))


@claim(
    "Sec. III, lam = 0",
    "At large mu and small alpha an informed and an uninformed branch coexist; the informed one takes over, m -> 1",
    "branches",
)
def branches_coexist(tables: Tables) -> Finding:
    """Two branches up to 1.6, one at 1.7, and the informed one dominates at large mu."""
    table = tables["branches"]
    two = [alpha for alpha in table.values("alpha") if _overlapping(table.where(alpha=alpha))]
    informed = table.where(line="informed")
    wins = all(own["dominant"][-1] for own in _by(informed, "alpha"))
    grows = all(own["m"][-1] > 0.99 for own in _by(informed, "alpha"))
    text = (
        f"two branches at alpha = {_list(two)}; at mu = {table['mu'].max():g} the informed one dominates with m > 0.99"
    )
    right = wins and grows and two == [alpha for alpha in table.values("alpha") if alpha < 1.68]
    return Finding(text if right else text + ": not for all", verdict(right))


@claim("Sec. III, lam = 0", "The branches merge at alpha = 1.7", "regularisation")
def merging_at_1_7(tables: Tables) -> Finding:
    """Where the two folds annihilate at lam = 0."""
    merge = _threshold(tables, "merge", 0.0)
    gap = abs(merge - 1.7)
    return Finding(
        f"at lam = 0 they merge at alpha = {merge:.4f}",
        verdict(gap < 0.005, Verdict.CORRECTED if gap < 0.05 else Verdict.FAILS),
    )


@claim(
    "Sec. III, lam = 0",
    "An anneal in mu recovers the signal where the branches have merged; below, it is trapped",
    "regularisation",
)
def anneal_needs_merging(tables: Tables) -> Finding:
    """An anneal recovers where the uninformed branch ends, before the two are one."""
    merge, recovery = (_threshold(tables, name, 0.0) for name in ("merge", "recovery"))
    text = (
        f"an infinitely slow anneal at lam = 0 recovers from alpha = {recovery:.4f} on, where the uninformed "
        f"branch ends "
        f"at a finite mu; the branches merge only at {merge:.4f}"
    )
    return Finding(text, verdict(abs(merge - recovery) < 0.01, Verdict.CORRECTED))


@claim(
    "Sec. III, stabilities",
    "Larger mu and larger lam both move right signs to gaps of large magnitude (P_* becomes bimodal)",
    "stabilities",
)
def right_signs_at_large_gaps(tables: Tables) -> Finding:
    """P_* at zero, relative to its peak, in the three panels."""
    base, colder, stiffer = _gap_panels(tables["stabilities"])
    dips = [own["P_right"][_at_zero(own)] / own["P_right"].max() for own in (base, colder, stiffer)]
    text = (
        f"P_*(0) over its maximum: {dips[0]:.3f} to start with, {dips[1]:.3f} at larger mu, {dips[2]:.3f} at larger lam"
    )
    return Finding(text, verdict(dips[1] < dips[0] and dips[2] < dips[0]))


@claim("Sec. III, stabilities", "Larger mu and larger lam both squeeze P around zero", "stabilities")
def gaps_squeeze(tables: Tables) -> Finding:
    """Width and height of P in the three panels."""
    panels = _gap_panels(tables["stabilities"])
    widths = [float(np.sqrt(np.trapezoid(own["gap"] ** 2 * own["P"], own["gap"]))) for own in panels]
    heights = [own["P"][_at_zero(own)] for own in panels]
    text = (
        f"standard deviation of P: {widths[0]:.3f} to start with, {widths[1]:.3f} at larger mu, {widths[2]:.3f} "
        f"at larger "
        f"lam; P(0): {heights[0]:.3f}, {heights[1]:.3f}, {heights[2]:.3f}"
    )
    mu_squeezes, lam_squeezes = (heights[k] > heights[0] and widths[k] < widths[0] for k in (1, 2))
    both = mu_squeezes and lam_squeezes
    return Finding(text, verdict(both, Verdict.CORRECTED if lam_squeezes else Verdict.FAILS))


@claim("Sec. III, role of lam", "At lam = 0.005 the branches merge at smaller alpha", "regularisation")
def regulariser_helps(tables: Tables) -> Finding:
    """Both thresholds at lam = 0.005 against lam = 0."""
    values = {(name, lam): _threshold(tables, name, lam) for name in ("merge", "recovery") for lam in (0.0, 0.005)}
    text = (
        f"merging at alpha = {values['merge', 0.005]:.3f} (lam = 0: {values['merge', 0.0]:.3f}), and an anneal reaches "
        f"m > 0.9 from {values['recovery', 0.005]:.3f} on (lam = 0: {values['recovery', 0.0]:.3f})"
    )
    right = all(values[name, 0.005] < values[name, 0.0] for name in ("merge", "recovery"))
    return Finding(text, verdict(right))


@claim("Sec. III, role of lam", "At fixed lam > 0 the overlap peaks and can then fall as mu grows", "regularisation")
def regulariser_biases(tables: Tables) -> Finding:
    """m along the last of each branch at lam = 0.005: does it turn back?"""
    falls = []
    for own in _by(tables["regularisation"].where(panel="a", line="informed"), "alpha"):
        if own["m"].max() - own["m"][-1] > 1e-5:
            falls.append((own["alpha"][0], own["m"].max(), own["m"][-1]))
    if not falls:
        return Finding("m grows all along the informed branch at lam = 0.005", Verdict.FAILS)
    alpha, top, end = falls[0]
    return Finding(
        f"at lam = 0.005 and alpha = {alpha:g}, m peaks at {top:.5f} and is {end:.5f} at the largest mu", Verdict.HOLDS
    )


@claim(
    "Sec. III, role of lam",
    "At alpha = 1.3, lam = 0.005 there is a range of m in which neither branch is stable; the uninformed one "
    "eventually merges with the informed one",
    "regularisation",
)
def gap_of_overlaps_at_1_3(tables: Tables) -> Finding:
    """Overlaps at which neither branch dominates, alpha = 1.3, lam = 0.005."""
    own = tables["regularisation"].where(panel="a", alpha=1.3)
    lower, upper = own.where(line="uninformed"), own.where(line="informed")
    below, above = lower["m"][lower["dominant"]].max(), upper["m"][upper["dominant"]].min()
    end = float(lower["mu"].max())
    beyond = float(np.interp(end, upper["mu"], upper["m"]))
    jumps = end < upper["mu"].max() and beyond > lower["m"][-1] + 0.01
    text = (
        f"neither branch dominates for m between {below:.3f} and {above:.3f}; the uninformed one goes on, "
        f"subdominant, to "
        f"m = {lower['m'][-1]:.3f} at mu = {end:.1f}, where the informed one has m = {beyond:.3f}: "
        f"{'it ends there, and an anneal jumps' if jumps else 'the two merge'}"
    )
    return Finding(text, Verdict.FAILS if above <= below else Verdict.CORRECTED if jumps else Verdict.HOLDS)


@claim("Sec. III, role of lam", "The hard window of mu shrinks with regularisation", "regularisation")
def hard_window_shrinks(tables: Tables) -> Finding:
    """Ratio of the temperatures of equal free entropy and birth, at alpha where both lam have them."""
    table = tables["regularisation"].where(panel="b")
    ratios = []
    for lam in (0.0, 0.005):
        born, equal = (table.where(line=line, lam=lam) for line in ("born", "equal"))
        ratio = equal["mu"] / born["mu"]
        ratios.append(float(np.interp(1.4, born["alpha"], ratio)))
    text = (
        f"at alpha = 1.4 mu of equal free entropy is {ratios[0]:.2f} times mu of birth at lam = 0, "
        f"{ratios[1]:.2f} at 0.005"
    )
    return Finding(text, verdict(ratios[1] < ratios[0]))


@claim("Sec. III, role of lam", "Larger lam anticipates the mu at which an overlap builds up", "regularisation")
def regulariser_anticipates(tables: Tables) -> Finding:
    """mu at which m = 0.1 falls as lam grows."""
    table, alpha = tables["regularisation"].where(panel="c"), 1.7
    lams = table.values("lam")
    mus = [float(np.interp(alpha, (own := table.where(lam=lam))["alpha"], own["mu"])) for lam in lams]
    return Finding(
        f"at alpha = {alpha:g}: mu = {_list(mus)} for lam = {_list(lams)}", verdict(bool(np.all(np.diff(mus) < 0)))
    )


@claim("Sec. III, role of lam", "Larger lam lowers the largest overlap reached", "regularisation")
def regulariser_limits(tables: Tables) -> Finding:
    """The largest m falls as lam grows, once it is reached at all."""
    table = tables["regularisation"].where(panel="d")
    lams = [lam for lam in table.values("lam") if lam > 0]
    tops = [float(table.where(lam=lam)["m"][-1]) for lam in lams]
    alpha = float(table["alpha"].max())
    return Finding(
        f"at alpha = {alpha:g}: largest m = {_list(tops, 4)} for lam = {_list(lams)}",
        verdict(bool(np.all(np.diff(tops) < 0))),
    )


@claim(
    "Sec. III, annealing",
    "At mu*lam = 1 an anneal flows to perfect recovery even near the Bayes-optimal 1.13",
    "annealing",
    "critical_product",
)
def matched_anneal_recovers(tables: Tables) -> Finding:
    """The anneal at product 1 at every alpha of the figure, and its threshold."""
    table = tables["annealing"].where(panel="a")
    ends = [own["m"][-1] for own in _by(table, "alpha")]
    at_one = _critical(tables["critical_product"], 1.0)
    text = f"m > {min(ends):.4f} at the end for alpha = {_list(table.values('alpha'))}; threshold alpha = {at_one:.4f}"
    return Finding(text, verdict(min(ends) > 0.999 and abs(at_one - 1.13) < 0.005))


@claim("Sec. III, annealing", "It is crucial to keep the product mu*lam small enough", "annealing", "critical_product")
def product_must_be_small(tables: Tables) -> Finding:
    """Which products recover at alpha = 1.2, and the thresholds on both sides."""
    table = tables["annealing"].where(panel="b")
    ends = {product: float(table.where(product=product)["m"][-1]) for product in table.values("product")}
    works = [product for product, m in ends.items() if m > 0.99]
    fails = [product for product in ends if product not in works]
    found = tables["critical_product"]
    low, high = found["product"].min(), found["product"].max()
    text = (
        f"at alpha = 1.2 products {_list(works)} recover and {_list(fails)} do{'es' if len(fails) == 1 else ''} "
        f"not: too "
        f"small is as bad as too large (thresholds {found['alpha'][0]:.3f} at {low:g}, {found['alpha'][-1]:.3f} "
        f"at {high:g})"
    )
    small_fails, large_fails = (found["alpha"][end] > _critical(found, 1.0) + 0.01 for end in (0, -1))
    return Finding(text, verdict(large_fails and not small_fails, Verdict.CORRECTED if large_fails else Verdict.FAILS))


@claim("App. A, stability", "The high-complexity part of each branch is locally stable", "local_stability")
def stable_at_high_complexity(tables: Tables) -> Finding:
    """Where along an anneal the replicon passes 1."""
    table = tables["local_stability"].where(line="anneal")
    starts = [bool(own["stable"][0]) for lam in table.values("lam") for own in _by(table.where(lam=lam), "alpha")]
    text = (
        f"{sum(starts)} of {len(starts)} curves, at lam = {_list(table.values('lam'))}, begin with a replicon below 1"
    )
    return Finding(text, verdict(all(starts)))


@claim("App. A, stability", "Regularisation makes regions of smaller misfit locally stable", "local_stability")
def regulariser_stabilises(tables: Tables) -> Finding:
    """The smallest misfit that is locally stable and has a complexity: along the anneal, and of the point it leaves."""
    table = tables["local_stability"]
    anneal, left = (table.take(chosen) for chosen in (table["line"] != "no overlap", table["line"] == "no overlap"))
    along = [_lowest_stable(anneal.where(alpha=1.5, lam=lam)) for lam in (0.0, 0.005)]
    behind = [_lowest_stable(left.where(alpha=1.6, lam=lam)) for lam in (0.0, 0.005)]
    text = (
        f"along an anneal at alpha = 1.5 the smallest stable misfit is {along[0]:.1e} at lam = 0 and "
        f"{along[1]:.1e} at 0.005, "
        f"where it goes on to the signal; but at alpha = 1.6 the point without overlap is stable down to "
        f"{behind[0]:.4f} at lam = 0 and only to {behind[1]:.4f} at 0.005"
    )
    better = along[1] < along[0], behind[1] < behind[0]
    return Finding(text, verdict(all(better), Verdict.CORRECTED if any(better) else Verdict.FAILS))


def _lowest_stable(own: Table) -> float:
    """Smallest misfit before the replicon passes 1 or the complexity vanishes, coming from high temperature."""
    good = own["stable"] & (own["complexity"] >= 0)
    end = int(np.argmin(good)) if not good.all() else len(own)
    return float(own["mse_y"][:end].min()) if end else float("nan")


@claim("App. A, 1RSB", "Replica symmetry is not globally stable", "rsb")
def symmetry_breaks(tables: Tables) -> Finding:
    """Clusters form at a finite mu, and their ground state lies above the replica symmetric one."""
    table = tables["rsb"]
    finite = np.isfinite(table["mu_dynamical"])
    first = table.where(alpha=1.5)
    text = (
        f"one-step breaking sets in at a finite mu for all {len(table)} alphas; at alpha = 1.5 clusters form at "
        f"mu = {first['mu_dynamical'][0]:.2f}, dominate from {first['mu_static'][0]:.2f}, and the best misfit "
        f"without the "
        f"signal is {first['mse_y_ground'][0]:.4f}, where replica symmetry says {first['mse_y_crisis'][0]:.4f}"
    )
    return Finding(text, verdict(bool(finite.all())))


@claim(
    "Sec. III, lam = 0",
    "That simulated annealing needs more than replica symmetry says is signalled by the local instability of the "
    "replica symmetric solution at large mu",
    "rsb",
)
def instability_signals_the_trap(tables: Tables) -> Finding:
    """Is the replicon above 1 where clusters form?"""
    table = tables["rsb"]
    silent = table.take(np.isnan(table["mu_replicon"]) | (table["mu_replicon"] > 1.01 * table["mu_dynamical"]))
    told = len(table) - len(silent)
    text = (
        f"clusters form with the replicon still below 1, unseen by local stability, at {len(silent)} of "
        f"{len(table)} alphas "
        f"(up to {silent['alpha'].max(initial=0.0):g}); at {told} they are born where it reaches 1"
    )
    return Finding(text, verdict(len(silent) == 0, Verdict.CORRECTED if told else Verdict.FAILS))


def _by(table: Table, name: str) -> list[Table]:
    return [table.where(**{name: value}) for value in table.values(name)]


def _list(values: object, digits: int = 3) -> str:
    return ", ".join(f"{value:.{digits}g}" for value in np.asarray(values, dtype=float).tolist())


def _threshold(tables: Tables, line: str, lam: float) -> float:
    return float(tables["regularisation"].where(panel="b", line=line, lam=lam)["alpha"][0])


def _overlapping(own: Table) -> bool:
    """Do the two branches share temperatures?"""
    upper, lower = own.where(line="informed"), own.where(line="uninformed")
    return len(upper) > 0 and bool(upper["mu"].min() < lower["mu"].max())


def _gap_panels(table: Table) -> list[Table]:
    theory = table.where(source="theory")
    return [theory.where(mu=mu, lam=lam) for mu, lam in ((2.5, 0.0), (3.5, 0.0), (2.5, 0.5))]


def _at_zero(own: Table) -> int:
    return int(np.argmin(np.abs(own["gap"])))


def _critical(table: Table, product: float) -> float:
    return float(table["alpha"][np.argmin(np.abs(np.log(table["product"] / product)))])
