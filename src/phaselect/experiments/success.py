"""What the rows of a sweep say: the share of successes with its interval, and the time to solution.

A run succeeds if it ends at the signal: m > 0.99 and mse_y < 1e-6. Failed tasks (those that crashed) count as no run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.grid import KIND
from phaselect.experiments.store import FAILED

CONFIDENCE = 0.95

Array = NDArray[np.float64]


def succeeded(rows: Table) -> NDArray[np.bool_]:
    """Which runs ended at the signal."""
    with np.errstate(invalid="ignore"):
        return np.asarray((rows["m"] > 0.99) & (rows["mse_y"] < 1e-6))


def finished(rows: Table) -> Table:
    """The rows that are runs, not crashes."""
    return rows.take(rows["status"] != FAILED)


def wilson(successes: Any, trials: Any) -> tuple[Array, Array]:
    """Wilson's 95 % interval of a proportion; (0, 1) without trials."""
    z = norm.ppf(0.5 + CONFIDENCE / 2)
    k, n = np.broadcast_arrays(np.asarray(successes, dtype=float), np.asarray(trials, dtype=float))
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (k + z**2 / 2) / (n + z**2)
        half = z * np.sqrt(k * (n - k) / n + z**2 / 4) / (n + z**2)
    low, high = np.where(n > 0, centre - half, 0.0), np.where(n > 0, centre + half, 1.0)
    return np.where(k == 0, 0.0, low), np.where(k == n, 1.0, high)


def curves(rows: Table) -> Iterator[tuple[dict[str, Any], Table]]:
    """The rows of each success curve, with the parameters that define it."""
    keys = list(zip(*(rows[name].tolist() for name in KIND), strict=True))
    texts = np.array([repr(key) for key in keys])
    for text in dict.fromkeys(texts.tolist()):
        chosen = np.flatnonzero(texts == text)
        yield dict(zip(KIND, keys[chosen[0]], strict=True)), rows.take(chosen)


def success_table(rows: Table) -> Columns:
    """For each curve and alpha: runs, crashes, successes, their share with its interval, and the time to solution."""
    parts = []
    for curve, own in curves(rows):
        for alpha in sorted(own.values("alpha")):
            every = own.where(alpha=alpha)
            runs = finished(every)
            hits, trials = int(np.sum(succeeded(runs))), len(runs)
            low, high = wilson(hits, trials)
            seconds = float(np.mean(runs["seconds"])) if trials else math.nan
            share = hits / trials if trials else math.nan
            parts.append(
                curve
                | {"alpha": alpha, "trials": trials, "crashed": len(every) - trials, "successes": hits}
                | {"p": share, "p_low": float(low), "p_high": float(high), "seconds": seconds}
                | {"tts_50": time_to_solution(share, seconds, 0.5), "tts_99": time_to_solution(share, seconds, 0.99)}
            )
    return stack(parts)


def time_to_solution(share: float, seconds: float, certainty: float) -> float:
    """Seconds of independent runs, one after the other, until one has succeeded with this certainty.

    `seconds * log(1 - certainty) / log(1 - share)`, one run at least; infinite where none succeeded.
    """
    if not share > 0:
        return math.inf if share == 0 else math.nan
    return seconds * max(1.0, math.log1p(-certainty) / math.log1p(-share)) if share < 1 else seconds
