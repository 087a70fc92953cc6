"""Numbers that occur more than once, and zeros: what rows of random numbers do not have."""

from __future__ import annotations

from phaselect.equations.arrays import Array, namespace

EQUAL = 1e-12
"""Relative difference up to which two magnitudes are the same."""
MANY = 0.05
"""Share of zeros or of repeated magnitudes that is no accident."""


def share_repeated(magnitudes: Array, equal: Array = EQUAL) -> Array:
    """The share of magnitudes, along the last axis, that are not zero and occur more than once."""
    xp = namespace(magnitudes)
    ordered = xp.sort(magnitudes, axis=-1)
    same = (xp.diff(ordered, axis=-1) <= equal * ordered[..., 1:]) & (ordered[..., :-1] > 0)
    none = ordered[..., :1] < 0
    before, after = xp.concatenate([none, same], axis=-1), xp.concatenate([same, none], axis=-1)
    return (before | after).mean(axis=-1)


def structured(rows: Array) -> Array:
    """Does any of the rows have many zeros or many repeated magnitudes?"""
    zeros = (rows == 0).mean(axis=-1)
    return ((zeros > MANY) | (share_repeated(abs(rows)) > MANY)).any()
