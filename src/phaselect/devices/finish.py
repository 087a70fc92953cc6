"""The answer of message passing on one instance whose A is on a device, with the evidence for it."""

from __future__ import annotations

import numpy as np

from phaselect.devices.backend import on
from phaselect.devices.matrix import DeviceMatrix
from phaselect.devices.member import Array, Member
from phaselect.devices.products import Copies
from phaselect.devices.refine import Answer, Part, refine
from phaselect.instance import Instance, Vector
from phaselect.solvers.base import Estimate
from phaselect.solvers.certificate import ENUMERABLE, NEGLIGIBLE, Evidence, determined


def finish_on_device(problem: Instance, x: Vector) -> Estimate:
    """Least squares in float64 for the signs of x, and what it takes to certify it, from the same reads of A."""
    answer = _refined(problem, x, np.ones(problem.m_rows), np.ones(problem.n))
    rank = problem.n - (not answer.full_rank)
    seen = Evidence(float(answer.fit), bool(answer.missed), lambda: _determined(problem, answer))
    return Estimate(answer.x, answer.signs, rank, seen)


def _determined(problem: Instance, answer: Answer) -> bool:
    """As `certificate.determined`: by enumeration if M is small, on what x and y touch if they are not full."""
    if not answer.full_rank:
        return False
    if problem.m_rows <= ENUMERABLE:
        return determined(problem, answer.x, answer.signs, problem.n)
    active = problem.target > NEGLIGIBLE
    support = np.abs(answer.x) > NEGLIGIBLE * np.sqrt(np.mean(answer.x**2))
    if active.all() and support.all():
        return bool(answer.linked)
    return bool(_refined(problem, answer.x, active.astype(float), support.astype(float)).linked)


def _refined(problem: Instance, x: Vector, rows: Vector, columns: Vector) -> Answer:
    matrix = problem.matrix
    assert isinstance(matrix, DeviceMatrix)
    with on(None):
        program = matrix.compiled(_program)
        target = matrix.padded(problem.target)
        answer = program(matrix.A, matrix.copies, problem.gain, target, Part(matrix.padded(rows), columns), x)
        answer = Answer(*(np.array(one) for one in answer))
    return answer._replace(signs=answer.signs[: matrix.rows])


def _program(A: Array, copies: Copies, gain: Array, y: Array, part: Part, x: Array) -> Answer:
    return refine(Member(A, gain, y, x, y), copies, part, x)
