"""Does another x' fit `y = |A x'|` as well as x does? Written from the definitions, and from nothing in `src`.

A rival changes the signs of some rows, F: it exists if and only if `v = A x`, set to zero outside F, is an image of A.
Where all F can be tried the answer is exact; elsewhere a list of suspects is tried.
"""

from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space
from scipy.sparse.csgraph import connected_components

FITS = 10
"""A residual of so many roundings of its terms is none."""
VISIBLE = 1000
"""A magnitude of so many roundings of its terms has a sign."""
COMPARABLE = 1e3
"""A rival is larger than x by this factor at most: rounding hides anything behind huge entries that cancel."""
EQUAL = 100
"""Signals so many roundings apart are the same, whatever signs say."""
DEPENDENT = 1e-9
"""What a row has of its own, relative to itself, if it depends on others."""
MOST_STATES, MOST_VALUES = 1 << 15, 1 << 16
"""Partial sign vectors that are tried; how many numbers those that go on may have where there are more."""
MOST_HALVES = 18
"""Signs in each half of an enumeration that meets in the middle."""
MOST_MATCHES = 1 << 12
"""Sums of two halves that cancel which are looked at."""
FEW = 40
"""Suspects of one sort that are worth a closer look."""


class Found(NamedTuple):
    """A rival, if there is one; whether all signs were tried; and what comes closest to fitting without doing so."""

    rival: np.ndarray | None
    exhaustive: bool
    near: np.ndarray | None


class System:
    """`y = |A x|`; what is done in float64 is done with rows of unit norm, or of other weights, and equal columns."""

    def __init__(self, A, y, x, eps=None, rows=None):
        self.eps = eps or np.finfo(y.dtype).eps
        self.A, self.y, self.x = (np.asarray(array, dtype=np.longdouble) for array in (A, y, x))
        lengths = norms(self.A, axis=1)
        self.units = norms(self.A / lengths[:, None], axis=0)
        self.rows = lengths if rows is None else rows
        self.columns = norms(self.A / self.rows[:, None], axis=0)
        self.scaled = (self.A / self.rows[:, None] / self.columns).astype(float)
        self.terms = abs(self.A) @ abs(self.x)
        self.visible = self.y > VISIBLE * self.eps * self.terms
        self.v = self.A @ self.x
        self.v_scaled = np.where(self.visible, self.v / self.rows, 0).astype(float)

    @property
    def uneven(self):
        """Are some measurements so small that rounding in others drowns them?"""
        size = self.terms / self.rows
        return bool(self.visible.any() and size[self.visible].min() < 1e-3 * size.max())

    def weighted_by_terms(self):
        """The same, each row as large as what is rounded in it."""
        rows = np.where(self.terms > 0, self.terms, self.rows * np.max(abs(self.x)))
        return System(self.A, self.y, self.x, self.eps, rows)

    @cached_property
    def inverse(self):
        return np.linalg.pinv(self.scaled, rcond=1e-14)

    @cached_property
    def left_null(self):
        """Orthonormal columns that span what is no image of A."""
        return null_space(self.scaled.T, rcond=1e-12)

    def fitted(self, target):
        """Least squares to the last digit: what is left over is computed in extended precision."""
        x = np.zeros_like(self.x)
        for _ in range(6):
            x = x + self.inverse @ ((target - self.A @ x) / self.rows).astype(float) / self.columns
        return x

    def fits(self, x, roundings=FITS):
        z = self.A @ x
        return bool(np.all(abs(abs(z) - self.y) <= roundings * self.eps * (abs(self.A) @ abs(x) + self.y)))

    def nearly_fits(self, x, roundings):
        """The same, with the roundings of rows as a whole."""
        z, size = self.A @ x, np.linalg.norm((self.units * x).astype(float))
        return bool(np.all(abs(abs(z) - self.y) <= roundings * self.eps * (self.rows * size + self.y)))

    def same_signs(self, x, other, roundings=VISIBLE):
        """Do they agree, up to the global sign, wherever a sign can be seen?"""
        seen = self.y > roundings * self.eps * self.terms
        z, w = (self.A @ x)[seen], (self.A @ other)[seen]
        return bool(np.all(z * w > 0) or np.all(z * w < 0))

    def distance(self, x, other):
        """Relative, up to the global sign."""
        size = np.max(abs(self.units * other))
        return min(np.max(abs(self.units * (x - sign * other))) for sign in (-1, 1)) / size

    @cached_property
    def conditioning(self):
        s = np.linalg.svd(self.scaled, compute_uv=False)
        return s[0] / max(s[-1], self.eps * s[0])

    @cached_property
    def all_seen(self):
        """Does every entry of x matter more than rounding?"""
        parts = abs(self.units * self.x)
        return bool(self.eps * self.conditioning * parts.max() < 1e-3 * parts[parts > 0].min())

    def is_truth(self, x):
        """Up to the global sign, and to what rounding does to it."""
        distance = self.distance(x, self.x)
        bound = 1e4 * self.conditioning if self.same_signs(x, self.x) else EQUAL
        return bool(distance < bound * self.eps)

    def differ(self, x, other, roundings=VISIBLE):
        distance = self.distance(x, other)
        return bool(distance > 1e-3 or (distance > EQUAL * self.eps and not self.same_signs(x, other, roundings)))

    def is_rival(self, x):
        comparable = np.max(abs(self.units * x)) <= COMPARABLE * np.max(abs(self.units * self.x))
        return comparable and self.fits(x) and self.differ(x, self.x)

    def flipped(self, flips):
        """The best x with the signs of some rows changed."""
        return self.fitted(np.where(flips, -self.v, self.v))

    def cost(self, flips):
        """How far the image is from what is flipped, relative to it; one row of `flips` for each choice."""
        flipped = flips * self.v_scaled
        return np.sum((flipped @ self.left_null) ** 2, axis=-1) / np.sum(flipped**2, axis=-1)

    def smaller_part(self, flips):
        """To flip some rows is to flip the others: those that measure less."""
        less = flips @ self.v_scaled**2 < ~flips @ self.v_scaled**2
        return np.where(less[:, None], flips, ~flips) & self.visible


def norms(A, axis):
    size = np.max(abs(A), axis=axis, keepdims=True)
    size[size == 0] = 1
    length = np.squeeze(size * np.sqrt(np.sum((A / size) ** 2, axis=axis, keepdims=True)), axis=axis)
    return np.where(length > 0, length, 1)


def find(system):
    """A rival of x, or none."""
    found = found_in(system)
    if found.rival is not None or not system.uneven:
        return found
    again = found_in(system.weighted_by_terms())
    return Found(again.rival, found.exhaustive and again.exhaustive, found.near)


def found_in(system):
    flips, exhaustive = enumerated(system)
    guesses = (suspects(system) for suspects in (groups, cuts, columns_exchanged, entries_moved, few_flips))
    suspects = np.vstack([flips, *guesses])
    looked_at = [null_direction(system), *map(system.flipped, cheapest(system, suspects))]
    rival = next((x for x in looked_at if system.is_rival(x)), None)
    near = next((x for x in looked_at[1:] if not system.fits(x)), None)
    return Found(rival, exhaustive, near)


def cheapest(system, flips):
    """A few sets of rows, each once, that fit best."""
    flips = system.smaller_part(flips)
    flips = flips[flips.any(axis=1)]
    few = np.unique(flips[np.argsort(system.cost(flips))[: 10 * FEW]], axis=0)
    return few[np.argsort(system.cost(few))[:FEW]]


def null_direction(system):
    """x, and what A sees least."""
    direction = np.linalg.svd(system.scaled)[2][-1]
    direction = direction / system.columns
    return system.x + direction * np.max(abs(system.units * system.x)) / np.max(abs(system.units * direction))


# All signs.


def enumerated(system):
    """Sets of rows that may be flipped, and whether these are all there are."""
    flips, complete = by_rows(system)
    if complete or system.visible.sum() > 2 * MOST_HALVES:
        return flips, complete
    return in_the_middle(system)


def by_rows(system):
    """Row after row: a new direction doubles the sign vectors, a row that depends on those before sorts them out."""
    rest, free = system.scaled, np.ones(system.y.size, dtype=bool)
    values, chosen, complete = np.zeros((1, system.y.size)), [], True
    some = MOST_VALUES // system.y.size
    while free.any():
        left = np.linalg.norm(rest, axis=1)
        values = sorted_out(system, values, chosen, np.flatnonzero(free & (left < DEPENDENT)))
        free &= left >= DEPENDENT
        if free.any():
            i = next_row(system, free, left, chosen)
            values = with_both_signs(system, values, i)
            rest, free[i] = orthogonal_to(rest, rest[i] / left[i]), False
            chosen.append(i)
        if len(values) > (MOST_STATES if complete else 2 * some):
            values, complete = np.random.default_rng(0).permutation(values)[:some], False
    return (values * system.v_scaled < 0) & system.visible, complete


def sorted_out(system, values, chosen, rows):
    """Those that agree with rows that depend on those chosen."""
    if not rows.size:
        return values
    B, y = system.scaled, np.abs(system.v_scaled)
    weights = np.linalg.lstsq(B[chosen].T, B[rows].T, rcond=None)[0] if chosen else np.zeros((0, rows.size))
    values[:, rows] = values[:, chosen] @ weights
    loose = max(1e-7, 1000 * system.eps) * (y[rows] + y[chosen] @ np.abs(weights))
    return values[np.all(abs(abs(values[:, rows]) - y[rows]) <= loose, axis=1)]


def with_both_signs(system, values, i):
    """Of row i; the first that is not zero fixes the global sign."""
    values[:, i] = abs(system.v_scaled[i])
    other = values.copy()
    other[:, i] *= -1
    only_one = not len(values) or not values[0, i] or np.count_nonzero(values[0]) == 1
    return values if only_one else np.vstack([values, other])


def orthogonal_to(rows, direction):
    for _ in range(2):
        rows = rows - np.outer(rows @ direction, direction)
    return rows


def next_row(system, free, left, chosen):
    """Zeros first; then rows that see few columns which none has seen yet, so that others soon depend on them."""
    seen = (system.A[chosen] != 0).any(axis=0)
    new = ((system.A != 0) & ~seen).sum(axis=1)
    able = free & (left > 0.05 * left[free].max())
    return min(np.flatnonzero(able), key=lambda i: (bool(system.visible[i]), new[i], -left[i]))


def in_the_middle(system):
    """All sets of rows without the first: the sums of two halves must cancel, along a random direction at least.

    Those that come nearest are among them in any case.
    """
    rows = np.flatnonzero(system.visible)[1:]
    direction = np.random.default_rng(0).standard_normal(system.left_null.shape[1])
    terms = system.v_scaled[rows] * (system.left_null[rows] @ direction)
    half = rows.size // 2
    left, right = sums(terms[:half]), sums(terms[half:])
    order = np.argsort(right)
    room = max(1e-11, 10 * system.eps) * np.sum(np.abs(terms))
    first = np.searchsorted(right[order], -left - room)
    last = np.searchsorted(right[order], -left + room)
    pairs = ((i, order[j]) for i in np.flatnonzero(last > first) for j in range(first[i], last[i]))
    closest = np.clip(np.searchsorted(right[order], -left), 0, right.size - 1)
    near = np.argsort(abs(left + right[order[closest]]))[:FEW]
    matches = list(islice(pairs, MOST_MATCHES))
    found = [*matches, *zip(near, order[closest[near]], strict=True)]
    flips = np.zeros((len(found), system.y.size), dtype=bool)
    for row, (i, j) in zip(flips, found, strict=True):
        row[rows[:half]] = i >> np.arange(half) & 1
        row[rows[half:]] = j >> np.arange(rows.size - half) & 1
    return flips, len(matches) < MOST_MATCHES


def sums(terms):
    """Of all subsets; bit k of the index says whether term k is in."""
    total = np.zeros(1)
    for term in terms:
        total = np.r_[total, total + term]
    return total


# Suspects.


def groups(system):
    """Rows that hang together through K: of A, of the columns that x uses, of the rows that are not zero, of what the
    others leave possible.
    """
    B, zero = system.scaled, ~system.visible
    spaces = [B, B[:, system.x != 0], B * system.visible[:, None], B @ null_space(B[zero], rcond=1e-10)]
    found = [np.zeros((0, system.y.size), dtype=bool)]
    for space in spaces:
        K = abs(projector(space))
        for threshold in (1e-3, 1e-6, 1e-9, 1e-12):
            number, label = connected_components(threshold < K)
            found.append(label == np.arange(min(number, FEW))[:, None])
    return np.vstack(found)


def projector(B):
    if not B.size:
        return np.zeros((len(B), len(B)))
    U, s, _ = np.linalg.svd(B, full_matrices=False)
    U = U[:, s > 1e-12 * s[0]]
    return U @ U.T


def cuts(system):
    """Where the ties between rows are weakest: cuts along the slowest modes of |K|."""
    ties = abs(projector(system.scaled))
    modes = np.linalg.eigh(np.diag(ties.sum(axis=1)) - ties)[1][:, 1:4]
    return np.vstack([mode <= np.sort(mode)[:, None] for mode in modes.T])


def columns_exchanged(system):
    """Where two columns differ in sign: if that turns one into a multiple of the other, it may do so for many pairs."""
    signs = np.sign(system.scaled.T)
    j, k = np.triu_indices(len(signs), 1)
    return signs[j] * signs[k] < 0


def entries_moved(system):
    """The signs of x with its entries shifted, backwards or not; every other one, a half, or one or two negated; or
    two exchanged.
    """
    x, n = system.x.astype(float), system.x.size
    half, every_other = np.where(np.arange(n) < (n + 1) // 2, 1, -1), (-1) ** np.arange(n)
    j, k = np.triu_indices(n)
    pair = np.arange(j.size)
    negated, exchanged = np.tile(x, (2, j.size, 1))
    negated[pair, j], negated[pair, k] = -x[j], -x[k]
    exchanged[pair, j], exchanged[pair, k] = x[k], x[j]
    shifted = [np.roll(part, shift) for part in (x, x[::-1]) for shift in range(n)]
    moved = np.vstack([x * half, x * every_other, *shifted, negated, exchanged, exchanged * half])
    return (moved @ (system.A / system.rows[:, None]).astype(float).T) * system.v_scaled < 0


def few_flips(system):
    """One or two rows."""
    one = np.eye(system.y.size, dtype=bool)[system.visible]
    cheap = one[np.argsort(system.cost(one))[:FEW]]
    j, k = np.triu_indices(len(cheap), 1)
    return np.vstack([one, cheap[j] | cheap[k]])
