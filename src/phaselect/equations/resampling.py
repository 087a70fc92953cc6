"""Systematic resampling of a population in proportion to weights."""

from __future__ import annotations

from phaselect.equations.arrays import Array, namespace


def systematic_resampling(log_weights: Array, offset: Array) -> tuple[Array, Array]:
    """Which copy each place of the new population takes, and the logarithm of the mean weight.

    Each copy gets the floor or the ceiling of R times its normalised weight; `offset`, uniform in [0, 1), decides.
    """
    xp = namespace(log_weights)
    count, highest = log_weights.shape[0], log_weights.max()
    weights = xp.exp(log_weights - highest)
    total = weights.sum()
    ticks = (xp.arange(count) + offset) / count
    heirs = xp.searchsorted(xp.cumsum(weights / total), ticks).clip(max=count - 1)
    return heirs, highest + xp.log(total / count)
