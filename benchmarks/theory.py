"""The theory: one saddle point against the usual quadratures, and the time of the larger questions on one core."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.integrate import dblquad

from benchmarks.internals import DIVISIONS, Control, averages, one_blas_thread, paramagnet
from benchmarks.machine import Machine
from benchmarks.plan import Plan
from benchmarks.rows import Measurement, Task
from benchmarks.timing import best_seconds, in_turn, once
from phaselect import Schedule, theory

SECTION = "theory"
POINTS = {  # alpha, mu, lam, start of the plain iteration
    "alpha = 1.7, mu = 3.6, lam = 0": (1.7, 3.6, 0.0, "uninformed"),
    "alpha = 1.2, mu = 49, mu lam = 1": (1.2, 49.0, 1 / 49, "uninformed"),
    "alpha = 1.2, mu = 1000, lam = 0, informed": (1.2, 1000.0, 0.0, "informed"),
}
Averages = Callable[[float, float, float], list[float]]


def tasks(machine: Machine, plan: Plan) -> list[Task]:
    """One average; saddle points; questions."""
    if machine.device != "cpu":
        return []
    first = next(iter(POINTS))
    found: dict[tuple[str, str], Callable[[], Measurement]] = {
        ("averages over a measurement", "phi = 0"): one_evaluation,
        **{("saddle point, against Gauss-Hermite", name): partial(against_hermite, name) for name in POINTS},
        ("saddle point, against dblquad", first): partial(against_dblquad, first),
    }
    if plan.whole:
        found |= questions()
    return [Task(SECTION, what, size, partial(_alone, measure)) for (what, size), measure in found.items()]


def _alone(measure: Callable[[], Measurement]) -> Measurement:
    with one_blas_thread():
        return measure()


def one_evaluation() -> Measurement:
    """In units of its bound: at phi = 0 a division for each of 24 terms at each of 224 angles, and little else."""
    points = [np.full(64, value) for value in (0.5, 0.1, 0.6, 0.0)]
    terms = np.linspace(1.0, 2.0, DIVISIONS)
    quotient = np.empty_like(terms)
    ours, divisions = in_turn(
        lambda: [averages(*points) for _ in range(20)],
        lambda: [np.divide(1.0, terms, out=quotient) for _ in range(64 * 20)],
    )
    detail = f"{1e6 * ours / (64 * 20):.1f} us per point, which needs {DIVISIONS} divisions"
    return Measurement(ours / divisions, "divisions", detail, bound=1.0, limit=4.0)


def against_hermite(name: str) -> Measurement:
    """The reference iterates with a product rule of 141 nodes; it stops at a wrong answer where mu is large."""
    alpha, mu, lam, start = POINTS[name]
    control, hermite = Control(alpha, mu, lam), hermite_map()
    point = theory.saddle_point(alpha, mu, lam, start=start)
    (_, _, m), count = iterate(hermite, control, start)
    ours, theirs = in_turn(
        lambda: theory.saddle_point(alpha, mu, lam, start=start), lambda: iterate(hermite, control, start), repeat=3
    )
    wrong = abs(m - point.m)
    detail = f"{count} iterations there, m off by {wrong:.0e}, ours by less than 1e-10"
    least = 1.0 if wrong < 1e-6 else None  # else there is no time at equal accuracy
    return Measurement(1e3 * ours, "ms", detail, 1e3 * theirs, least_ratio=least)


def against_dblquad(name: str) -> Measurement:
    """The reference: one iteration with adaptive quadrature, times the iterations that Gauss-Hermite needs."""
    alpha, mu, lam, start = POINTS[name]
    control, adaptive = Control(alpha, mu, lam), dblquad_map()
    point = theory.saddle_point(alpha, mu, lam, start=start)
    _, count = iterate(hermite_map(), control, start)
    ours = best_seconds(lambda: theory.saddle_point(alpha, mu, lam, start=start), repeat=3)
    theirs, _ = once(lambda: adaptive(point.V + control.noise, point.q0 - point.m**2, point.m))
    detail = f"{theirs:.1f} s for one iteration there to 1e-8, times the {count} that are needed"
    return Measurement(1e3 * ours, "ms", detail, 1e3 * count * theirs, least_ratio=1.0)


def questions() -> dict[tuple[str, str], Callable[[], Measurement]]:
    """What a user asks, with the seconds that we want it to take at most."""
    schedule = Schedule.matched(mu0=0.5, mu_max=3e4, eps=0.2)[:60]
    alphas, mus = np.arange(1.1, 1.71, 0.1).tolist(), np.geomspace(0.01, 300, 40).tolist()

    def timed(limit: float, ask: Callable[[], Any]) -> Measurement:
        _compile()
        return Measurement(once(ask)[0], "s", "kernels compiled before", limit=limit)

    asked: dict[tuple[str, str], tuple[float, Callable[[], Any]]] = {
        ("branch of 60 temperatures", "alpha = 1.2, mu lam = 1"): (1, lambda: theory.follow(1.2, schedule)),
        ("critical_alpha to 5e-4", "product 1"): (3, lambda: theory.critical_alpha(1.0, tolerance=5e-4)),
        ("phase diagrams of the paper", "lam = 0 and 0.005, 7 alphas each"): (
            60,
            lambda: [theory.phase_diagram(alphas, lam) for lam in (0.0, 0.005)],
        ),
        ("complexity curve", "alpha = 1.7, O = 0.4, 40 temperatures"): (
            5,
            lambda: theory.complexity_curve(1.7, mus, sign_overlap=0.4),
        ),
        ("traps at one alpha", "alpha = 1.5, lam = 0"): (10, lambda: theory.traps([1.5])),
    }
    return {name: partial(timed, limit, ask) for name, (limit, ask) in asked.items()}


@cache
def _compile() -> None:
    theory.saddle_point(1.7, 3.6)
    theory.one_step_rsb(1.5, 40.0)


def integrands(s2: float, spread: float, m: float, u0: Any, z: Any) -> tuple[Any, ...]:
    """gain, sech and force of the saddle point, as functions of two standard Gaussians."""
    w = m * u0 + np.sqrt(spread) * z
    t = np.tanh(u0 * w / s2)
    return u0 * t * (u0 - m * z / np.sqrt(spread)), u0**2 * (1 - t**2), (u0 * t - w) ** 2


def hermite_map(nodes: int = 141) -> Averages:
    """Averages by a product Gauss-Hermite rule."""
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    u0, z = np.meshgrid(x, x, indexing="ij")
    weights = np.outer(weight, weight) / (2 * np.pi)

    def summed(s2: float, spread: float, m: float) -> list[float]:
        return [float(np.sum(weights * values)) for values in integrands(s2, spread, m, u0, z)]

    return summed


def dblquad_map(tolerance: float = 1e-8) -> Averages:
    """The same with adaptive quadrature in two dimensions."""

    def integrated(s2: float, spread: float, m: float) -> list[float]:
        def density(z: float, u0: float, which: int) -> float:
            value = integrands(s2, spread, m, np.float64(u0), np.float64(z))[which]
            return float(value) * np.exp(-0.5 * (u0 * u0 + z * z)) / (2 * np.pi)

        return [2 * dblquad(density, 0, 8, -8, 8, args=(k,), epsabs=tolerance, epsrel=tolerance)[0] for k in range(3)]

    return integrated


def iterate(averaged: Averages, control: Control, start: str, limit: int = 5000) -> tuple[list[float], int]:
    """Undamped iteration until nothing changes by more than 1e-8."""
    informed = start == "informed"
    V, spread, m = (control.response / control.mu, 1e-6, 1.0) if informed else (paramagnet(control).V, 1e-6, 1e-3)
    count, change = 0, np.inf
    while change > 1e-8 and count < limit:
        count += 1
        s2 = V + control.noise
        gain, sech, force = averaged(s2, spread, m)
        V_new = 1 / (control.product + control.alpha * (1 - sech / s2) / s2)
        new = [V_new, control.alpha * force * (V_new / s2) ** 2, control.alpha * gain * V_new / s2]
        change = max(abs(a - b) for a, b in zip(new, (V, spread, m), strict=True))
        V, spread, m = new
    return [V, spread, m], count
