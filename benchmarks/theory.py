"""The theory: one saddle point against the usual quadratures, and the time of the larger questions on one core."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.integrate import dblquad

from benchmarks.timing import Row, at_least, at_most, in_turn, seconds
from phaselect import Schedule, theory
from phaselect.base.threads import one_blas_thread
from phaselect.theory.averages import averages
from phaselect.theory.control import Control
from phaselect.theory.flow import paramagnet
from phaselect.theory.quadrature import ALTERNATING, NEARNESS

POINTS = {  # alpha, mu, lam, start (V, D, m) of the plain iteration, name
    "alpha = 1.7, mu = 3.6, lam = 0": (1.7, 3.6, 0.0, "uninformed"),
    "alpha = 1.2, mu = 49, mu lam = 1": (1.2, 49.0, 1 / 49, "uninformed"),
    "alpha = 1.2, mu = 1000, lam = 0, informed": (1.2, 1000.0, 0.0, "informed"),
}


def integrands(s2: float, spread: float, m: float, u0: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, ...]:
    """gain, sech and force of the saddle point, as functions of two standard Gaussians."""
    w = m * u0 + np.sqrt(spread) * z
    t = np.tanh(u0 * w / s2)
    return u0 * t * (u0 - m * z / np.sqrt(spread)), u0**2 * (1 - t**2), (u0 * t - w) ** 2


def hermite_map(nodes: int = 141):
    """The saddle-point map with a product Gauss-Hermite rule."""
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    u0, z = np.meshgrid(x, x, indexing="ij")
    weights = np.outer(weight, weight) / (2 * np.pi)

    def averages(s2: float, spread: float, m: float) -> list[float]:
        return [float(np.sum(weights * values)) for values in integrands(s2, spread, m, u0, z)]

    return averages


def dblquad_map(tolerance: float = 1e-8):
    """The same with adaptive quadrature in two dimensions."""

    def averages(s2: float, spread: float, m: float) -> list[float]:
        def density(z: float, u0: float, which: int) -> float:
            value = integrands(s2, spread, m, np.float64(u0), np.float64(z))[which]
            return float(value) * np.exp(-0.5 * (u0 * u0 + z * z)) / (2 * np.pi)

        return [2 * dblquad(density, 0, 8, -8, 8, args=(k,), epsabs=tolerance, epsrel=tolerance)[0] for k in range(3)]

    return averages


def iterate(averages, control: Control, start: str, limit: int = 5000) -> tuple[list[float], int]:
    """Undamped iteration until nothing changes by more than 1e-8."""
    informed = start == "informed"
    V, spread, m = (control.response / control.mu, 1e-6, 1.0) if informed else (paramagnet(control).V, 1e-6, 1e-3)
    count, change = 0, np.inf
    while change > 1e-8 and count < limit:
        count += 1
        s2 = V + control.noise
        gain, sech, force = averages(s2, spread, m)
        V_new = 1 / (control.product + control.alpha * (1 - sech / s2) / s2)
        new = [V_new, control.alpha * force * (V_new / s2) ** 2, control.alpha * gain * V_new / s2]
        change = max(abs(a - b) for a, b in zip(new, (V, spread, m), strict=True))
        V, spread, m = new
    return [V, spread, m], count


def one_evaluation() -> Row:
    """The bound: at phi = 0 an average needs a division for each of 24 terms at each of 224 angles, and little else."""
    points = [np.full(64, value) for value in (0.5, 0.1, 0.6, 0.0)]
    terms = np.linspace(1.0, 2.0, NEARNESS.size * 2 * ALTERNATING.size)
    quotient = np.empty_like(terms)
    ours, bound = in_turn(
        lambda: [averages(*points) for _ in range(20)],
        lambda: [np.divide(1.0, terms, out=quotient) for _ in range(64 * 20)],
        repeat=5,
    )
    detail = f"{1e6 * ours / (64 * 20):.1f} microseconds per point; 1 is the bound"
    return at_most(
        "averages over a measurement, time / that of their divisions alone", "phi = 0", ours / bound, 4, detail
    )


def one_point() -> list[Row]:
    rows = []
    for name, (alpha, mu, lam, start) in POINTS.items():
        control = Control(alpha, mu, lam)
        point = theory.saddle_point(alpha, mu, lam, start=start)
        hermite = hermite_map()
        (_, _, m), count = iterate(hermite, control, start)
        ours, rival = in_turn(
            lambda a=alpha, b=mu, c=lam, d=start: theory.saddle_point(a, b, c, start=d),
            lambda h=hermite, c=control, s=start: iterate(h, c, s),
            repeat=3,
        )
        detail = (
            f"{1e3 * ours:.1f} ms; {count} iterations there, m off by {abs(m - point.m):.0e}, ours by less than 1e-10"
        )
        what = "saddle point, time of 141-node Gauss-Hermite iteration / ours"
        if abs(m - point.m) < 1e-6:
            rows.append(at_least(what, name, rival / ours, 1, detail))
        else:  # it stops at a wrong answer: there is no time at equal accuracy
            rows.append(Row(what, name, rival / ours, "-", True, detail))
        if name == next(iter(POINTS)):
            adaptive, s2 = dblquad_map(), point.V + control.noise
            once = seconds(lambda a=adaptive, p=point, s=s2: a(s, p.q0 - p.m**2, p.m), repeat=1)
            detail = f"{once:.1f} s for one iteration to 1e-8, times the {count} that are needed"
            rows.append(
                at_least("saddle point, time of dblquad iteration / ours", name, count * once / ours, 1, detail)
            )
    return rows


def questions() -> list[Row]:
    def timed(function) -> float:
        began = time.perf_counter()
        function()
        return time.perf_counter() - began

    schedule = Schedule.matched(mu0=0.5, mu_max=3e4, eps=0.2)[:60]
    alphas = np.arange(1.1, 1.71, 0.1).tolist()
    return [
        at_most(
            "branch of 60 temperatures (s)",
            "alpha = 1.2, mu lam = 1",
            timed(lambda: theory.follow(1.2, schedule)),
            1,
            "",
        ),
        at_most(
            "critical_alpha to 5e-4 (s)", "product 1", timed(lambda: theory.critical_alpha(1.0, tolerance=5e-4)), 3, ""
        ),
        at_most(
            "phase diagrams of the paper (s)",
            "lam = 0 and 0.005, 7 alphas each",
            timed(lambda: [theory.phase_diagram(alphas, lam) for lam in (0.0, 0.005)]),
            60,
            "with alpha_merge and alpha_recovery",
        ),
        at_most(
            "complexity curve (s)",
            "alpha = 1.7, O = 0.4, 40 temperatures",
            timed(lambda: theory.complexity_curve(1.7, np.geomspace(0.01, 300, 40).tolist(), sign_overlap=0.4)),
            5,
            "phi found along with the order parameters",
        ),
        at_most("traps at one alpha (s)", "alpha = 1.5, lam = 0", timed(lambda: theory.traps([1.5])), 10, "1RSB, warm"),
    ]


FIRST = """
import time; began = time.perf_counter()
from phaselect import theory
theory.{call}
print(time.perf_counter() - began)
"""


def first_calls() -> list[Row]:
    """In a fresh process with nothing ever compiled: import and first answer."""
    rows = []
    calls = {"saddle_point(1.2, 5.0)": "compiles the averages", "one_step_rsb(1.5, 40.0)": "compiles two kernels"}
    for call, detail in calls.items():
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", FIRST.format(call=call)]
            done = subprocess.run(
                command, env=dict(os.environ) | {"NUMBA_CACHE_DIR": folder}, capture_output=True, text=True, check=True
            )
        rows.append(at_most("theory, first call in a process (s)", call, float(done.stdout), 5, detail))
    return rows


def rows() -> list[Row]:
    with one_blas_thread():
        theory.saddle_point(1.7, 3.6)
        theory.one_step_rsb(1.5, 40.0)
        return [one_evaluation(), *one_point(), *questions(), *first_calls()]
