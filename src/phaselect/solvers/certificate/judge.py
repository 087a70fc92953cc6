"""Is an answer the only one? The rules; docs/conventions.md has the reasoning.

Few unknowns: every sign vector is tried. More: the answer is certified if wrong sign vectors have no chance to fit as
well, and nothing about A and x is special. Where something is, another answer is looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.arrays import Array
from phaselect.equations.signs import signs_of
from phaselect.problem.all_digits import AllDigits
from phaselect.problem.normalised import Normalised
from phaselect.problem.streams import Purpose, random_numbers, stream
from phaselect.solvers.certificate import enumeration, groups
from phaselect.solvers.certificate.close_look import (
    DEPENDENT,
    FEW_UNKNOWNS,
    CloseLook,
    Inspected,
    affordable,
    looks,
)
from phaselect.solvers.certificate.coarse_data import log10_coincidences
from phaselect.solvers.certificate.few_rows import judge_few
from phaselect.solvers.certificate.impostors import log10_impostors
from phaselect.solvers.certificate.position import distinct_rows, doubts
from phaselect.solvers.certificate.ties import by_parts
from phaselect.solvers.finish import EXACT, Answer, Probe, Support
from phaselect.solvers.phases import Locality, in_words
from phaselect.solvers.result import Certificate
from phaselect.solvers.verdict import CERTIFIED_BELOW, Grade, Judged

ROWS_LOOKED_AT = 8
HASHED = 1 << 16
"""Entries of a vector, at most, that a seed is made from."""
ROUNDED = 1e-6
"""mse_y up to which an answer to complex data is not far from one that fits."""
SHORT = "columns of A differ so much in length that rounding hides entries of x; bring them to similar lengths"
COARSE = "the data are too coarse to tell measurements from zero; give more digits"
QUICK = 200
"""Measurements up to which a close look takes no time worth saving."""


def fits_exactly(answer: Answer) -> Array:
    """To rounding, each measurement by itself; of an answer, or of each of a stack."""
    return np.asarray(answer.excess) <= EXACT


def thinned(data: Array) -> Array:
    """Of a long vector some of its entries, all over."""
    return data[:: -(-data.size // HASHED)]


def data_seed(*data: Array) -> int:
    """A seed for random probes, from the data."""
    everything = b"".join(np.asarray(thinned(array)).tobytes() for array in data)
    return int.from_bytes(blake2b(everything, digest_size=16).digest(), "little")


def probes(seed: int, m_rows: int, n: int, points: int = 2) -> Probe:
    """Random points and rows."""
    rows = stream(seed, Purpose.ROWS).choice(m_rows, min(ROWS_LOOKED_AT, m_rows), replace=False)
    return Probe(random_numbers(stream(seed, Purpose.RANK_PROBE), points * n).reshape(points, n), rows)


def judge(
    problem: Callable[[], Normalised],
    y: Vector,
    answer: Answer,
    support: Support | None,
    digits: AllDigits | None = None,
) -> Judged:
    """Judge an answer to exact data. `problem` is asked for only where a closer look is needed.

    y: of the problem. support: None for an answer that does not fit, or that nobody had the time to examine. digits:
    the data, where they have more digits than float64: those count.
    """
    fit, n, fits, log10 = float(answer.fit), answer.x.size, bool(fits_exactly(answer)), np.inf
    if y.size <= n:
        return judge_few(problem, answer, y.size, fits)
    if digits is not None and fits:
        fit, fits, log10 = digits.left_by(answer.signs)
    if not fits:
        log10 = log10_impostors(fit, y.size, n)
        return Judged(Grade.INEXACT if log10 < CERTIFIED_BELOW else Grade.OPEN, fit, log10)
    if support is None:
        return Judged(Grade.OPEN, fit, log10_impostors(fit, y.size, n))
    if np.isfinite(support.rival).all() and (digits is None or _fits(problem(), support.rival, digits)):
        return Judged(Grade.AMBIGUOUS, fit, log10_impostors(fit, y.size, n), rival=np.asarray(support.rival))
    rounding, structured = float(support.rounding), bool(support.structured)
    distinct = distinct_rows(support.images, rounding)
    if digits is None:
        log10 = log10_impostors(fit, max(int(distinct.sum()), n), n if support.full_rank else n - 1)
    reasons = list(doubts(y, answer.x, distinct, structured, rounding))
    plain = bool(support.full_rank and support.linked and support.firm) and not structured and not reasons
    quick = n < FEW_UNKNOWNS or y.size <= QUICK
    inspected = Inspected() if plain and not quick else _inspected(problem(), answer, support, data_seed(y), plain)
    if digits is not None:
        inspected = _to_all_digits(inspected, problem(), digits)
    if inspected.rival is not None:
        return Judged(Grade.AMBIGUOUS, fit, log10, rival=inspected.rival)
    if inspected.proved:
        return Judged(Grade.CERTIFIED, fit, log10, Certificate.ENUMERATED)
    reasons += [inspected.doubt] if inspected.doubt else []
    if structured and y.size <= QUICK:  # digits of special numbers may be fewer than they look
        log10 = max(log10, np.nan_to_num(log10_coincidences(problem(), CERTIFIED_BELOW), nan=log10))
    if log10 > CERTIFIED_BELOW:
        reasons.append(f"about 10^{log10:.0f} wrong sign vectors are expected to fit as well; add measurements")
    if reasons:
        return Judged(Grade.UNCERTIFIED, fit, log10, reason=reasons[0])
    return Judged(Grade.CERTIFIED, fit, log10, Certificate.GENERAL_POSITION)


def judge_phases(answer: Answer, found: Locality | None) -> Judged:
    """Judge an answer to exact complex data, of which impostors cannot be counted: nothing is certified.

    found: None for an answer that does not fit, or that nobody had the time to examine.
    """
    fit, n = float(answer.fit), answer.x.size
    if not fits_exactly(answer):
        return Judged(Grade.INEXACT if fit < ROUNDED else Grade.OPEN, fit, np.nan)
    if found is None:
        return Judged(Grade.UNCERTIFIED, fit, np.nan, reason="whether another x near by fits was not looked at")
    grade = Grade.LOCALLY_UNIQUE if found.unique else Grade.UNCERTIFIED
    return Judged(grade, fit, np.nan, reason=in_words(found, answer.signs.size, n, answer.x.dtype.kind == "c"))


def _inspected(problem: Normalised, answer: Answer, support: Support, seed: int, plain: bool) -> Inspected:
    """By a close look, if that can be afforded."""
    if affordable(problem):
        found = [_by_close_look(look, seed) for look in looks(problem, answer.x)] or [Inspected(doubt=COARSE)]
        return max(found, key=lambda one: (one.rival is not None, one.doubt, not one.proved))  # the least certain
    return Inspected() if plain else by_parts(problem, answer, support)


def _to_all_digits(inspected: Inspected, problem: Normalised, digits: AllDigits) -> Inspected:
    """What is left of it where a rival that fits in float64 need not, and sign vectors were told apart by that."""
    if inspected.rival is None:
        return inspected if inspected.proved or inspected.doubt == DEPENDENT else Inspected()
    return inspected if _fits(problem, inspected.rival, digits) else Inspected()


def _fits(problem: Normalised, x: Vector, digits: AllDigits) -> bool:
    """To all digits."""
    return digits.left_by(signs_of(problem.forward(x))).fits


def _by_close_look(look: CloseLook, seed: int) -> Inspected:
    """Directions that nothing sees, groups that can be flipped, and, for few unknowns, every sign vector."""
    if look.unseen.size:
        return Inspected(look.first_rival(_unseen(look)), doubt=DEPENDENT)
    rival = look.first_rival(groups.rivals(look))
    if rival is None and not look.determined:
        return Inspected(doubt=SHORT)
    if rival is not None or not enumeration.enumerable(look):
        return Inspected(rival)
    try:
        return Inspected(look.first_rival(enumeration.rivals(look, seed)), proved=True)
    except enumeration.TooManyCoincidences as why:
        return Inspected(doubt=str(why))


def _unseen(look: CloseLook) -> Iterator[Vector]:
    """The answer, moved along a direction that no measurement sees."""
    for direction in look.unseen.T:
        yield look.x + direction * np.linalg.norm(look.x) / np.linalg.norm(direction)
