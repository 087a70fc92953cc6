"""What the rows of a sweep say: the share of successes with its interval, and the time to solution.

A run succeeds if it ends at the signal: m > 0.99, mse_x < 0.02 and mse_y < 1e-6. Failed tasks (those that crashed)
count as no run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.grid import CURVE
from phaselect.experiments.store import FAILED

CONFIDENCE = 0.95
STANDARD_ERRORS = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
"""From an estimate to an end of its interval."""

Array = NDArray[np.float64]


def at_the_signal(m: Any, mse_x: Any, mse_y: Any) -> Any:
    """Is an answer of this overlap, error and residual the signal?

    The paper asks for m and mse_y alone. But a long x may have any m, and close to alpha = 1 wrong ones fit to 1e-9:
    mse_x is to be what m = 0.99 leaves between x of one norm.
    """
    return (m > 0.99) & (mse_x < 0.02) & (mse_y < 1e-6)


def succeeded(rows: Table) -> NDArray[np.bool_]:
    """Which runs ended at the signal."""
    with np.errstate(invalid="ignore"):
        return np.asarray(at_the_signal(rows["m"], rows["mse_x"], rows["mse_y"]))


def finished(rows: Table) -> Table:
    """The rows that are runs, not crashes."""
    return rows.take(rows["status"] != FAILED)


def wilson(successes: Any, trials: Any) -> tuple[Array, Array]:
    """Wilson's 95 % interval of a proportion; (0, 1) without trials."""
    from scipy.stats import binomtest

    def ends(k: float, n: float) -> tuple[float, float]:
        return tuple(binomtest(int(k), int(n)).proportion_ci(CONFIDENCE, method="wilson")) if n > 0 else (0.0, 1.0)

    low, high = np.vectorize(ends, otypes=[float, float])(successes, trials)
    return low, high


def students_half(samples: Array) -> Array:
    """Half the width of Student's 95 % interval of a mean, over the first axis."""
    from scipy.stats import sem, t

    return np.asarray(t.ppf(0.5 + CONFIDENCE / 2, len(samples) - 1) * sem(samples))


def curves(rows: Table) -> Iterator[tuple[dict[str, Any], Table]]:
    """The rows of each success curve, with the parameters that define it."""
    keys = list(zip(*(rows[name].tolist() for name in CURVE), strict=True))
    texts = np.array([repr(key) for key in keys])
    for text in dict.fromkeys(texts.tolist()):
        chosen = np.flatnonzero(texts == text)
        yield dict(zip(CURVE, keys[chosen[0]], strict=True)), rows.take(chosen)


def success_table(rows: Table) -> Columns:
    """One row per curve, alpha and device: the share of successes on all devices, and the time of a run on this one.

    A run means the same on every device, but takes its own time. device: "" for one core, else that of a batch.
    """
    parts = []
    for curve, own in curves(rows):
        for alpha in sorted(own.values("alpha")):
            every = own.where(alpha=alpha)
            share, runs = _share(every), finished(every)
            for device in sorted(runs.values("device")) or [""]:
                time = _time(runs.where(device=device), share["p"])
                parts.append(curve | {"alpha": alpha} | share | {"device": device} | time)
    return stack(parts)


def _share(rows: Table) -> dict[str, Any]:
    """Runs, crashes, successes and their share, with its interval."""
    runs = finished(rows)
    hits, trials = int(np.sum(succeeded(runs))), len(runs)
    low, high = wilson(hits, trials)
    counts = {"trials": trials, "crashed": len(rows) - trials, "successes": hits}
    return counts | {"p": hits / trials if trials else math.nan, "p_low": float(low), "p_high": float(high)}


def _time(runs: Table, share: float) -> dict[str, Any]:
    """Runs whose time is known, their mean time, and the time to solution."""
    known = runs["seconds"][np.isfinite(runs["seconds"])]
    seconds = float(np.mean(known)) if known.size else math.nan
    to_solution = {f"tts_{percent}": time_to_solution(share, seconds, percent / 100) for percent in (50, 99)}
    return {"timed": known.size, "seconds": seconds} | to_solution


def timed_on_one_core(rows: Table) -> Table:
    """The same runs, with the time of those on another device unknown."""
    on_core = rows["device"] == ""
    seconds = np.where(on_core, rows["seconds"], math.nan)
    return Table(rows.columns | {"seconds": seconds, "device": np.full(len(rows), "")}, rows.provenance)


def time_to_solution(share: float, seconds: float, certainty: float) -> float:
    """Seconds of independent runs, one after the other, until one has succeeded with this certainty.

    `seconds * log(1 - certainty) / log(1 - share)`, one run at least; infinite where none succeeded.
    """
    if not share > 0:
        return math.inf if share == 0 else math.nan
    return seconds * max(1.0, math.log1p(-certainty) / math.log1p(-share)) if share < 1 else seconds
