"""The answer of message passing on one instance whose A is on a device, with the evidence for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phaselect.devices.backend import on
from phaselect.devices.matrix import DeviceMatrix
from phaselect.devices.member import Array, Member
from phaselect.devices.products import Copy
from phaselect.devices.refine import Answer, Part, influence, refine
from phaselect.problem.instance import Instance, Vector
from phaselect.solvers.base import Estimate
from phaselect.solvers.certificate import ENUMERABLE, Evidence, determined, one_group, touched


def finish_on_device(problem: Instance, x: Vector) -> Estimate:
    """Least squares in float64 for the signs of x, and what it takes to certify it."""
    answer = _refined(problem, x)
    rank = problem.n - (not answer.full_rank)
    seen = Evidence(float(answer.fit), bool(answer.missed), lambda: _determined(problem, answer))
    return Estimate(answer.x, answer.signs, rank, seen)


def _determined(problem: Instance, answer: Answer) -> bool:
    """As `certificate.determined`: by enumeration if M is small, on what x and y touch if they are not full."""
    if not answer.full_rank:
        return False
    if problem.m_rows <= ENUMERABLE:
        return determined(problem, answer.x, answer.signs, problem.n)
    active, support = touched(problem.target, answer.x)
    if answer.linked and active.all() and support.all():
        return True
    rows = np.flatnonzero(active)
    part = _part(problem, active, support)
    return one_group(lambda i: _column(problem, part, rows[i])[rows], rows.size)


def _matrix(problem: Instance) -> DeviceMatrix:
    assert isinstance(problem.matrix, DeviceMatrix)
    return problem.matrix


def _column(problem: Instance, part: Part, i: int) -> Vector:
    """Influence of measurement i on the others, within a part of A."""
    matrix = _matrix(problem)
    with on(None):
        return np.array(matrix.compiled(_influence)(matrix.A, matrix.copy, problem.gain, part, i))


def _part(problem: Instance, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Part:
    matrix = _matrix(problem)
    return Part(matrix.padded(rows.astype(float)), columns.astype(float))


def _refined(problem: Instance, x: Vector) -> Answer:
    matrix = _matrix(problem)
    with on(None):
        program = matrix.compiled(_program)
        target = matrix.padded(problem.target)
        part = _part(problem, np.ones(problem.m_rows, bool), np.ones(problem.n, bool))
        answer = program(matrix.A, matrix.copy, problem.gain, target, part, x)
        answer = Answer(*(np.array(one) for one in answer))
    return answer._replace(signs=answer.signs[: matrix.rows])


def _program(A: Array, copy: Copy, gain: Array, y: Array, part: Part, x: Array) -> Answer:
    return refine(Member(A, gain, y, x, y), copy, part, x)


def _influence(A: Array, copy: Copy, gain: Array, part: Part, i: Array) -> Array:
    return influence(Member(A, gain, part.rows, part.columns, part.rows), copy, part, i)
