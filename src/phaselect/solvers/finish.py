"""From where a solver stopped to its answer: least squares to full precision, and what the certificate asks of A.

The answer and the questions are systems with one A, solved together: the certificate shares the reads of A. Functions
of a normalised problem, each a program of its own: for one instance, wherever A is, or mapped over a batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from phaselect.equations.arrays import Array, by_blocks, namespace, squared
from phaselect.equations.coincidences import structured, structured_influence
from phaselect.equations.fields import REAL
from phaselect.equations.gaussian_node import NodeByGradients
from phaselect.equations.least_squares import HUGE, Fit, Spectrum, Systems, least_squares
from phaselect.equations.signs import against_truth, excess, signs_of
from phaselect.equations.uncertainty import precision_of_data
from phaselect.problem.normalised import Normalised
from phaselect.solvers.phases import Locality, locality, refined

WORTH_REFINING = 1e-3
"""mse_y above which the signs are wrong anyway, and least squares would polish a failure."""
EXACT_FIT = 1e-12
"""mse_y from which on an answer is worth finishing."""
WEAK = 1e-5
"""What counts as no tie: an influence of one measurement on another times sqrt(M), the relative residual of other
signs. Rounding A to float32 makes up ties of about 1e-7 at M/N = 1.6, more closer to 1, between groups that have none.
"""
NOTHING = 1e-10
"""Entries of x below this, over their root mean square, are zero, where most are."""
SAME_X = 1e-9
"""Largest difference over the largest entry up to which two answers are one: signs of rounded zeros mean nothing."""
EPS = 2.0**-52
"""The precision of float64."""
EXACT = 16.0
"""Residual up to which a fit is exact, in units of the rounding of its terms; right answers leave about 1."""
BY_CHANCE = 1e-4
"""Share of measurements that may be tied to the first by less than that, by chance."""


class Answer(NamedTuple):
    """An estimate in normalised units, and how well it fits: all together, and the measurement it fits worst."""

    x: Array
    signs: Array
    fit: Array  # mean squared residual, float64
    excess: Array  # largest residual, in units of rounding


class Probe(NamedTuple):
    """What the certificate asks A with: two random points, and the numbers of some rows to look at."""

    points: Array
    rows: Array


class Support(NamedTuple):
    """What the certificate asks of A.

    linked: does every measurement hang together with the first, a few through the last? images: of two random points,
    which tell multiples of rows. unseen: what least squares missed of a point, a direction that A does not see.
    structured: has A zeros, or repeated magnitudes in its rows or in K? firm: is the condition of A such that rounding
    makes up no ties? rounding: relative precision of the data. asked: where an answer is not worth it, nothing is
    asked, and the rest means nothing. steps: of conjugate gradients that it took, the answer included. rival: another x
    that the solver has found to fit, nan if there is none.
    """

    full_rank: Array
    linked: Array
    images: Array
    unseen: Array
    structured: Array
    firm: Array
    rounding: Array
    asked: Array
    steps: Array
    rival: Array


def take_as_it_is(problem: Normalised, x: Array) -> Answer:
    """An estimate that is not refined: a failure, or one of noisy data."""
    x = x.astype(problem.field.x, copy=False)
    z = problem.forward(x)
    left = by_blocks(lambda z, y: y - abs(z), z, problem.y)
    return _answer(problem, x, by_blocks(signs_of, z, spare=True), left)


def settle_estimate(problem: Normalised, x: Array, probe: Probe | None) -> tuple[Answer, Any]:
    """The least-squares answer for the signs of an estimate, mended as it improves, with its support, if asked for.

    A poor estimate is left as it is. Phases are found by other means (phases.py).
    """
    x = x.astype(problem.field.x, copy=False)
    if problem.field != REAL:
        x, worth = refined(problem, x, WORTH_REFINING)
        found = None if probe is None else locality(problem, x, probe.points[0], worth)
        return take_as_it_is(problem, x), found
    given = take_as_it_is(problem, x)
    worth = given.fit < WORTH_REFINING
    better, support = _settled(problem, x, given.signs, probe, worth, mend=True)
    return problem.loops.choose(worth & (better.excess <= given.excess), better, given), support


def settle_signs(
    problem: Normalised, signs: Array, probe: Probe | None, start: Array | None = None
) -> tuple[Answer, Any]:
    """The least-squares answer for signs, with its support, if asked for. start: an x near by, if one is known."""
    xp = namespace(problem.y)
    x = xp.zeros(problem.n) if start is None else start
    return _settled(problem, x, signs, probe, xp.asarray(True), mend=False)


def settle_found(problem: Normalised, signs: Array, probe: Probe | None) -> tuple[Answer, Any]:
    """As `settle_signs`, of the first of two sign vectors; the other, where it is another, makes a rival if it fits.

    In memory, for few measurements: at once, whatever the scales of columns are.
    """
    if problem.all_digits is not None and not problem.all_digits.left_by(signs[0]).fits:
        signs = signs[::-1]  # this one may fit to all digits
    A, y = problem.dense()
    starts = at_once(A, signs * y)
    answer, support = settle_signs(problem, signs[0], probe, starts[0])
    counted = problem.y > 0
    if support is None or abs((signs[0] * signs[1])[counted].sum()) == counted.sum():
        return answer, support
    other = settle_signs(problem, signs[1], None, starts[1])[0]
    another = min(abs(other.x - answer.x).max(), abs(other.x + answer.x).max()) > SAME_X * abs(answer.x).max()
    return answer, support._replace(rival=other.x if another and other.excess <= EXACT else support.rival)


def at_once(A: Array, targets: Array) -> Array:
    """Least squares for each row of signed measurements, with columns of unit length."""
    lengths = np.linalg.norm(A, axis=0)
    return np.linalg.lstsq(A / lengths, targets.T, rcond=None)[0].T / lengths


def settle_nonzeros(problem: Normalised, x: Array, probe: Probe | None) -> tuple[Answer, Any]:
    """As `settle_estimate`; with fewer measurements than unknowns, the least-squares answer among those that are zero
    where the estimate is, for its signs. It has no support: A sees no x as a whole."""
    if problem.m_rows > problem.n:
        return settle_estimate(problem, x, probe)
    xp, given = namespace(problem.y), take_as_it_is(problem, x)
    worth = given.fit < WORTH_REFINING
    tolerance = xp.where(worth, problem.matrix.accuracy.exact, HUGE)
    systems = Systems((given.signs * problem.y)[None], x[None], tolerance[None])
    fit, _ = least_squares(problem.linear.restricted(x != 0), systems)
    found = fit.x[0]
    kept = xp.where(abs(found) > NOTHING * xp.sqrt((found**2).mean()), found, 0.0)
    better = _answer(problem, kept, given.signs, fit.target[0] - problem.forward(kept))
    answer = problem.loops.choose(worth & (better.excess <= given.excess), better, given)
    return answer, None if probe is None else _no_support(problem, probe)


def refine_estimate(problem: Normalised, x: Array) -> Answer:
    """The answer alone."""
    return settle_estimate(problem, x, None)[0]


def refine_signs(problem: Normalised, signs: Array) -> Answer:
    """The answer alone."""
    return settle_signs(problem, signs, None)[0]


def examine_phases(problem: Normalised, x: Array, probe: Probe) -> Locality:
    """The support alone, of an answer x to complex data."""
    return locality(problem, x, probe.points[0], namespace(problem.y).asarray(True))


def examine(problem: Normalised, probe: Probe) -> Support:
    """The support alone."""
    questions, images = _questions(problem, probe)
    return _support(problem, probe, images, *least_squares(problem.linear, questions), asked=True)


def _settled(
    problem: Normalised, x: Array, signs: Array, probe: Probe | None, worth: Array, mend: bool
) -> tuple[Answer, Any]:
    """All systems together, that of the answer last; none of them where it is not worth it."""
    xp = namespace(problem.y)
    systems, images = Systems((signs * problem.y)[None], x[None], xp.asarray([problem.matrix.accuracy.exact])), None
    if probe is not None:
        questions, images = _questions(problem, probe)
        target, start, tolerance = map(xp.concatenate, zip(questions[:3], systems[:3], strict=True))
        systems = Systems(target, start, tolerance, questions.enough)
    systems = systems._replace(tolerance=xp.where(worth, systems.tolerance, HUGE))
    fit, spectrum = least_squares(problem.linear, systems, mend)
    own = Fit(*(values[-1] for values in fit))
    answer = _answer(problem, own.x, xp.where(problem.y > 0, signs_of(own.target), signs), own.target - own.z)
    return answer, None if probe is None else _support(problem, probe, images, fit, spectrum, worth)


def _answer(problem: Normalised, x: Array, signs: Array, residual: Array) -> Answer:
    sizes = problem.magnitudes(x) + problem.y
    return Answer(x, signs, squared(residual).mean(), excess(residual, sizes, problem.rounding))


def _questions(problem: Normalised, probe: Probe) -> tuple[Systems, Array]:
    """The systems of the certificate, and the images of the two points.

    Least squares must find the one point from the image of it, starting at the other: what it misses is a null
    direction. Then the influence of the first measurement, and that of the last.
    """
    xp, accuracy = namespace(problem.y), problem.matrix.accuracy
    points = xp.asarray(probe.points)
    images, zeros = problem.forward(points), xp.zeros((2, problem.n))
    units = 1.0 * (xp.arange(problem.m_rows) == xp.asarray([[0], [problem.m_rows - 1]]))

    def enough(x: Array) -> Array:
        distance = xp.sqrt(((x[0] - points[0]) ** 2).sum())
        return accuracy.null / (distance + 1e-300) * (xp.arange(x.shape[0]) == 0)

    tolerance = xp.asarray([accuracy.exact, accuracy.ties, accuracy.ties])
    return Systems(xp.concatenate([images[:1], units]), xp.concatenate([points[1:], zeros]), tolerance, enough), images


def _support(problem: Normalised, probe: Probe, images: Array, fit: Fit, spectrum: Spectrum, asked: Any) -> Support:
    """What the solutions of the certificate's systems tell."""
    xp, matrix = namespace(problem.y), problem.matrix
    unseen = fit.x[0] - probe.points[0]
    distance = xp.sqrt((unseen**2).sum())
    first, last = abs(fit.z[1:3]) > WEAK / problem.m_rows**0.5
    few = (~first).sum() <= max(1.0, BY_CHANCE * problem.m_rows)
    linked = first.all() | (few & first[-1] & (first | last).all())
    special = structured(matrix.some_rows(probe.rows)) | (matrix.density() < 1) | structured_influence(fit.z[1])
    condition, computed = matrix.known_condition, 100 * EPS * problem.m_rows**0.5
    if condition is None:
        condition, computed = spectrum.condition(distance[None])[0], max(computed, matrix.accuracy.ties)
    firm = condition * xp.maximum(problem.rounding, computed) < WEAK  # else rounding, of data or here, makes up ties
    return Support(
        full_rank=distance < matrix.accuracy.null,
        linked=linked,
        images=images,
        unseen=unseen,
        structured=special,
        firm=firm,
        rounding=problem.rounding,
        asked=xp.asarray(asked),
        steps=spectrum.steps,
        rival=xp.asarray(xp.nan),
    )


def _no_support(problem: Normalised, probe: Probe) -> Support:
    """Of an A with fewer rows than columns."""
    xp = namespace(problem.y)
    no, points = xp.asarray(False), xp.asarray(probe.points)
    return Support(
        full_rank=no,
        linked=no,
        images=problem.forward(points),
        unseen=points[0],
        structured=no,
        firm=no,
        rounding=problem.rounding,
        asked=xp.asarray(True),
        steps=xp.asarray(0),
        rival=xp.asarray(xp.nan),
    )


def influence(problem: Normalised, i: Array) -> Array:
    """The column of `K = A (A^T A)^-1 A^T` that belongs to measurement i."""
    xp = namespace(problem.y)
    unit = 1.0 * (xp.arange(problem.m_rows) == i)[None]
    systems = Systems(unit, xp.zeros((1, problem.n)), xp.asarray([problem.matrix.accuracy.ties]))
    return least_squares(problem.linear, systems)[0].z[0]


def uncertainty(problem: Normalised, x: Array, noise: Array, probes: Array) -> Array:
    """Posterior standard deviation of each entry of a Bayes estimate; without an SVD the root of their mean variance.

    probes: random signs that the eigenvalues of `A^T A` are found with, where there is none.
    """
    xp, Lam = namespace(problem.y), 1 / (1 - noise)
    at_once = problem.matrix.decomposed or problem.matrix.solves_directly
    node = problem.gaussian_node if at_once else NodeByGradients(problem.linear, problem.field)
    eigenvalues = node.eigenvalues(xp.asarray(probes))
    g = precision_of_data(problem.forward(x), problem.y, problem.powers, noise, Lam, eigenvalues, problem.loops)
    return xp.sqrt(node.variances(g, Lam, eigenvalues)) + xp.zeros(problem.n)


def truth(problem: Normalised, x: Array, signs: Array) -> dict[str, Array]:
    """m, O and mse_x of an answer; nan where x0 is not known."""
    return against_truth(problem.x0, problem.signs, x, signs)
