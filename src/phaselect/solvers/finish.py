"""From where a solver stopped to its answer: least squares to full precision, and what the certificate asks of A.

Functions of a normalised problem, each a program of its own: for one instance, wherever A is, or mapped over a batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from phaselect.equations.arrays import Array, namespace
from phaselect.equations.coincidences import structured, structured_influence
from phaselect.equations.least_squares import least_squares
from phaselect.equations.signs import against_truth, excess, signs_of
from phaselect.problem.normalised import Normalised

WORTH_REFINING = 1e-3
"""mse_y above which the signs are wrong anyway, and least squares would polish a failure."""
EXACT_FIT = 1e-12
"""mse_y from which on an answer is worth finishing."""
WEAK = 1e-5
"""What counts as no tie: an influence of one measurement on another times sqrt(M), the relative residual of other
signs. Rounding A to float32 makes up ties of about 1e-7 at M/N = 1.6, more closer to 1, between groups that have none.
"""
BY_CHANCE = 1e-4
"""Share of measurements that may be tied to the first by less than that, by chance."""


class Answer(NamedTuple):
    """An estimate in normalised units, and how well it fits: all together, and the measurement it fits worst."""

    x: Array
    signs: Array
    fit: Array  # mean squared residual, float64
    excess: Array  # largest residual, in units of rounding


class Support(NamedTuple):
    """What the certificate asks of A.

    linked: does every measurement hang together with the first, a few through the last? images: of two random points,
    which tell multiples of rows. unseen: what least squares missed of a point, a direction that A does not see.
    structured: has A zeros, or repeated magnitudes in its rows or in K? condition: of A, or a bound on it. rounding:
    relative precision of the data.
    """

    full_rank: Array
    linked: Array
    images: Array
    unseen: Array
    structured: Array
    condition: Array
    rounding: Array


def take_as_it_is(problem: Normalised, x: Array) -> Answer:
    """An estimate that is not refined: a failure, or one of noisy data."""
    z = problem.forward(x)
    signs = signs_of(z)
    residual = signs * problem.y - z
    return _answer(problem, x, signs, residual)


def refine_estimate(problem: Normalised, x: Array) -> Answer:
    """The least-squares answer for the signs of an estimate, mended as it improves; a poor one is left as it is."""
    given, branch = take_as_it_is(problem, x), problem.loops.branch

    def refined() -> Any:
        better = _refine(problem, x, given.signs, mend=True)
        return branch(better.excess <= given.excess, lambda: better, lambda: given)

    return branch(given.fit < WORTH_REFINING, refined, lambda: given)  # type: ignore[no-any-return]


def refine_signs(problem: Normalised, signs: Array) -> Answer:
    """The least-squares answer for signs."""
    return _refine(problem, namespace(problem.y).zeros(problem.n), signs, mend=False)


def _refine(problem: Normalised, x: Array, signs: Array, mend: bool) -> Answer:
    xp = namespace(problem.y)
    found = least_squares(problem.linear, signs * problem.y, x, problem.matrix.accuracy.exact, mend)
    own = xp.where(problem.y > 0, signs_of(found.target), signs)
    residual = found.target - found.z
    return _answer(problem, found.x, own, residual)


def _answer(problem: Normalised, x: Array, signs: Array, residual: Array) -> Answer:
    sizes = problem.magnitudes(x) + problem.y
    return Answer(x, signs, (residual**2).mean(), excess(residual, sizes, problem.rounding))


def examine(problem: Normalised, probe: Array, rows: Array) -> Support:
    """The rank of A, and whether measurements hang together; `probe` is two random points, `rows` are some to look at.

    Least squares must find the one from the image of it, starting at the other: what it misses is a null direction.
    """
    xp, accuracy = namespace(problem.y), problem.matrix.accuracy
    solution, start = probe[0], probe[1]
    images = xp.stack([problem.forward(solution), problem.forward(start)])
    found = least_squares(problem.linear, images[0], start, accuracy.probe)
    unseen = found.x - solution
    weak = WEAK / problem.m_rows**0.5
    first = influence(problem, 0)
    by_first = abs(first) > weak
    few = (~by_first).sum() <= max(1.0, BY_CHANCE * problem.m_rows)

    def ask_the_last() -> Any:
        by_last = abs(influence(problem, problem.m_rows - 1)) > weak
        return few & by_first[-1] & (by_first | by_last).all()

    linked = problem.loops.branch(by_first.all(), lambda: by_first.all(), ask_the_last)
    special = structured(problem.matrix.some_rows(rows)) | problem.matrix.has_zeros() | structured_influence(first)
    distance = xp.sqrt((unseen**2).sum())
    known = problem.matrix.known_condition
    condition = xp.sqrt(distance / accuracy.probe) if known is None else known
    return Support(distance < accuracy.null, linked, images, unseen, special, condition, problem.rounding)


def influence(problem: Normalised, i: Array) -> Array:
    """The column of `K = A (A^T A)^-1 A^T` that belongs to measurement i."""
    xp = namespace(problem.y)
    unit = 1.0 * (xp.arange(problem.m_rows) == i)
    start = xp.zeros(problem.n)
    return least_squares(problem.linear, unit, start, problem.matrix.accuracy.ties).z


def truth(problem: Normalised, x: Array, signs: Array) -> dict[str, Array]:
    """m, O and mse_x of an answer; nan where x0 is not known."""
    return against_truth(problem.x0, problem.signs, x, signs)
