"""Puts the certificate to the test on one instance: with the truth, with a rival, with a near miss, and on its own."""

import warnings
from collections import Counter
from typing import NamedTuple
from zlib import crc32

import numpy as np

from phaselect import DataWarning, Status, solve
from tests.fuzz.cases import data_of
from tests.fuzz.rivals import System, find

ENUMERABLE = 34
"""Measurements up to which an answer in general position is certified whatever is expected of impostors."""
LARGE, LONG = 41, 200
"""Unknowns up to which all signs may be tried; measurements from which on things are done the quick way."""
DOUBT = 100
"""Roundings that a rival may be off, or a sign, for an answer to be called ambiguous."""
ON_ITS_OWN = 8
"""One instance in so many is solved from scratch too."""
EXACT = 16
"""Roundings of each measurement that a start may be off and still has to be told that it fits."""
FAILURES = ("wrong", "not unique", "bad rival", "exact, denied", "crashed")
REMARKABLE = ("refused", *FAILURES)
MOST_REFUSED, ENOUGH = 0.01, 100
"""Share of right answers in general position that may go without a certificate; of so many at least, or none is."""


class Outcome(NamedTuple):
    """What happened, how often; and what is worth a line."""

    kind: str
    counts: Counter
    remarks: list

    @property
    def failed(self):
        return sum(self.counts[word] for word in FAILURES)


def too_many_refused(counts):
    return counts["due"] >= ENOUGH and counts["refused"] > MOST_REFUSED * counts["due"]


def outcome_of(case):
    data = data_of(case)
    system = System(*data)
    found = find(system)
    starts = {"truth": data.x, "rival": found.rival, "near miss": found.near}
    starts = {name: x for name, x in starts.items() if x is not None}
    if crc32(str(case).encode()) % ON_ITS_OWN == 0:
        starts["nothing"] = None
    m, n = data.A.shape
    counts, remarks = Counter(instances=1, large=n > LARGE, long=m > LONG, ambiguous=found.rival is not None), []
    for name, start in starts.items():
        try:
            words = list(checked(case, data, system, found, start))
        except Exception as error:
            words = ["crashed"]
            name += f": {type(error).__name__}: {error}"
        counts.update(words)
        remarks += [f"{word:13}  {case}  N = {n}, M = {m}, from {name}" for word in words if word in REMARKABLE]
    return Outcome(case.kind, counts, remarks)


def checked(case, data, system, found, start):
    """What is to be said of the answer that a start leads to, in words."""
    result = answer(data, start)
    yield "answers"
    if system.nearly_fits(result.x, DOUBT):
        yield "fits"
    if start is not None and denied(system, start, result):
        yield "exact, denied"
    if result.certified:
        yield result.certificate.value
        if not any(own.is_truth(result.x) for own in systems(data)):
            yield "wrong"
        elif found.rival is not None or not (found.exhaustive or alone(data, system)):
            yield "not unique"
    if due(case, data, system, found, result):
        yield "due"
        if not result.certified:
            yield "refused"
    if result.status is Status.AMBIGUOUS or result.rival is not None:
        yield "ambiguous answers"
        if not proves_it(data, result):
            yield "bad rival"


def answer(data, start):
    """The solver that stays where it starts, if that fits; or the front door."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)  # what is said of the data is not an error
        if start is None:
            return solve(data.A, data.y, time_limit=0.5)
        return solve(data.A, data.y, solver="altmin", init=start.astype(float))


def denied(system, start, result):
    """Has the search left a start that fits for an answer that does not?

    To fit is also, as docs/conventions.md says, to leave less than a millionth of y all together.
    """
    left = abs(system.A @ start.astype(float)) - system.y
    fits = system.fits(start.astype(float), EXACT) and np.sum(left**2) <= 1e-12 * np.sum(system.y**2)
    return fits and result.status in (Status.INEXACT, Status.NOT_RECOVERED)


def due(case, data, system, found, result):
    """Should this answer have been certified?"""
    right = system.fits(result.x, 1e4) and system.is_truth(result.x)
    countable = result.log10_impostors <= -6 or data.y.size <= ENUMERABLE
    return case.general and right and countable and system.all_seen and found.rival is None


def alone(data, system):
    """Do searches that start elsewhere end at the truth, or nowhere?"""
    found = [solve(data.A, data.y, solver=name, seed=seed, time_limit=0.3).x for name, seed in (("pa", 1), ("amp", 2))]
    return not any(map(system.is_rival, found))


def systems(data):
    """With roundings of y, and of the coarser of A and y: what is given in float32 may have been rounded to it."""
    fine, coarse = np.finfo(data.y.dtype).eps, np.finfo(data.A.dtype).eps
    return [System(*data, eps=eps) for eps in {fine, max(fine, coarse)}]


def proves_it(data, result):
    """Is the rival that came with an answer one? To refuse a certificate, a rival within some roundings is enough."""
    return result.rival is not None and any(
        system.nearly_fits(result.rival, DOUBT) and system.differ(result.rival, result.x, DOUBT)
        for system in systems(data)
    )
