"""Numbers that occur more than once, rows that are multiples of each other: what no random matrix has."""

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


def uncommon(rows: Array) -> Array:
    """Does any of the rows have many zeros or many repeated magnitudes?"""
    zeros = (rows == 0).mean(axis=-1)
    return ((zeros > MANY) | (share_repeated(abs(rows)) > MANY)).any()


def distinct_rows(images: Array, rounding: float) -> Array:
    """Which rows are not multiples of a row that counts already? images: two random points, measured.

    Multiples see both points under the same angle.
    """
    xp = namespace(images)
    angles = xp.arctan2(images[0], images[1]) % xp.pi
    order = xp.argsort(angles)
    first = xp.ones(angles.size, dtype=bool)
    first[order[1:]] = xp.diff(angles[order]) > max(1e-10, 4 * rounding)
    return first
