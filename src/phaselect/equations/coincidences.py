"""Numbers that occur more than once, and zeros: what rows of random numbers do not have."""

from __future__ import annotations

from phaselect.equations.arrays import Array, namespace

EQUAL = 1e-12
"""Relative difference up to which two magnitudes are the same."""
MANY = 0.05
"""Share of zeros or of repeated magnitudes that is no accident."""
ROUGHLY, FEW = 1e-5, 500
"""The same for numbers that are known to six digits, of which so many are looked at: more would be equal by chance."""


def share_repeated(magnitudes: Array, equal: Array = EQUAL) -> Array:
    """The share of magnitudes, along the last axis, that are not zero and occur more than once."""
    xp = namespace(magnitudes)
    ordered = xp.sort(magnitudes, axis=-1)
    same = (xp.diff(ordered, axis=-1) <= equal * ordered[..., 1:]) & (ordered[..., :-1] > 0)
    none = ordered[..., :1] < 0
    before, after = xp.concatenate([none, same], axis=-1), xp.concatenate([same, none], axis=-1)
    return (before | after).mean(axis=-1)


def structured(rows: Array) -> Array:
    """Does any of the rows have many zeros or repeated magnitudes, or two of them many repeated ratios?

    Ratios do not depend on the scales of rows and columns, which may hide what repeats.
    """
    xp = namespace(rows)
    ratios = abs(rows[1:]) / xp.where(rows[:-1] == 0, xp.inf, abs(rows[:-1]))
    zeros = (rows == 0).mean(axis=-1)
    repeated = (share_repeated(abs(rows)) > MANY).any() | (share_repeated(ratios) > MANY).any()
    return (zeros > MANY).any() | repeated


def structured_influence(column: Array) -> Array:
    """Does a column of K, computed to six digits or so, have many zeros or repeated magnitudes?"""
    sizes = abs(column[:FEW]) / (abs(column).max() + 1e-300)  # all zeros if it was not computed
    return ((sizes < ROUGHLY).mean() > MANY) | (share_repeated(sizes, ROUGHLY) > MANY)
