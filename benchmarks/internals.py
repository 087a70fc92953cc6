"""Every use of what is not public in phaselect, but for `sweeps.py`, whose subject is the machinery of sweeps.

Benchmarks of a kernel need the kernel. When the inside of the package moves, this file is the one to adapt.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from phaselect import AMP, InputError, Instance, Lattice, PopulationAnnealing, Result, Schedule
from phaselect.backends.host import basis_reduction
from phaselect.backends.host.flips import field_kernel, population_kernel, spectral_kernel
from phaselect.backends.host.random import Chains, random_chains
from phaselect.backends.host.ridge import SpectralRidge
from phaselect.base.threads import one_blas_thread, run_parallel
from phaselect.equations import masked_transforms, signs
from phaselect.equations.least_squares import nothing_seen
from phaselect.experiments.lattice_bits import found_at
from phaselect.experiments.revision import committed, git_revision
from phaselect.experiments.runs import one_thread
from phaselect.problem.normalised import Normalised
from phaselect.problem.streams import Purpose, stream
from phaselect.solvers import guided_lattice, lattice, population_annealing, restarts
from phaselect.solvers.baselines.spectral import leading_eigenvector
from phaselect.solvers.cohort import Alone, Cohort
from phaselect.solvers.front_door import LADDER
from phaselect.solvers.loop import Loop
from phaselect.solvers.simulated_annealing import FIELD_SWEEPS
from phaselect.theory.averages import averages
from phaselect.theory.control import Control
from phaselect.theory.flow import paramagnet
from phaselect.theory.quadrature import ALTERNATING, NEARNESS

__all__ = [
    "FIELD_SWEEPS",
    "LADDER",
    "Control",
    "averages",
    "committed",
    "field_kernel",
    "git_revision",
    "one_blas_thread",
    "one_thread",
    "paramagnet",
    "population_kernel",
    "random_state",
    "run_parallel",
    "spectral_kernel",
    "spectrum",
]

DIVISIONS = NEARNESS.size * 2 * ALTERNATING.size
"""What an average over a measurement cannot do without."""


class Couplings(NamedTuple):
    """The interaction of the signs and the magnitudes, in float32."""

    G: NDArray[np.float32]
    y: NDArray[np.float32]


def spectrum(problem: Instance) -> SpectralRidge:
    """The SVD of an instance, done if it was not."""
    found: SpectralRidge = problem.normalised.ridge
    return found


def random_state(generator: np.random.Generator, streams: int | None = None) -> Chains:
    """The state of one chain, or of several."""
    chains = random_chains(generator, streams or 1)
    return chains if streams else chains[0]


def couplings(problem: Instance, lam: float) -> Couplings:
    """Those of an instance, whose SVD is done if it was not."""
    return Couplings(spectrum(problem).couplings(lam), problem.normalised.y.astype(np.float32))


def iterations(result: Result) -> int:
    """Iterations of message passing that a run took."""
    return int(result.sweeps)


def message_passing(problem: Instance, count: int) -> Callable[[], Any]:
    """So many iterations as AMP does them inside a run, nothing measured; each call does the same."""
    solver, many = AMP(), Schedule.matched(mu0=1e3, mu_max=1e3, steps=1, unit="iterations", hold=count - 1)
    own = problem.normalised
    cohort = Cohort(solver, own._replace(matrix=own.matrix.ready), Alone())
    drawn = solver.draw(stream(0, Purpose.RUN), own.m_rows, own.n, many, 0)
    state = cohort.start(many[0], [drawn], None)

    def run() -> None:
        with one_blas_thread():
            cohort.advance(state, many.stretch(own.m_rows))

    return run


def reads_half_precision(problem: Instance) -> bool:
    """Does message passing go through a smaller copy of A, on the device where A is?"""
    return problem.matrix.ready.half is not None


def in_normalised_units(problem: Instance) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A and y as the energy has them, for the paper's pseudo-code."""
    own = problem.normalised
    return own.scale[:, None] * problem.A, own.y


def spectral_start(problem: Instance, weights: Callable[..., NDArray[Any]]) -> NDArray[Any]:
    """The leading eigenvector of the rows, weighted by these functions of y, in the units of the data."""
    own = problem.normalised
    found = leading_eigenvector(own, weights(own.y), np.random.default_rng(0).standard_normal(own.n))
    return found * problem.units.x_scale


def mse_x(problem: Instance, x: NDArray[Any]) -> float:
    """Of an x in normalised units."""
    return float(signs.mse_x(problem.normalised.x0, x))


def relative_error(x0: NDArray[Any], x: NDArray[Any]) -> float:
    """Of an x, up to a global sign or phase."""
    return float(np.sqrt(signs.mse_x(x0, x)))


def spectral_anneal(spectral: SpectralRidge, v: NDArray[Any], mu: NDArray[Any], proposals: int, residual: bool) -> None:
    """Proposals at each mu with lam = 1/mu, by the kernel that works on coordinates; `v = S*y` is flipped in place."""
    state, c = random_state(np.random.default_rng(1)), spectral.coordinates(v)
    spectral_kernel(spectral.U, spectral.s2, spectral.leverage, v, c, mu, 1 / mu, proposals, residual, state)


def descent(problem: Instance, systems: int = 4) -> Callable[[], int]:
    """Conjugate gradients on so many systems, as far as a round goes, by the first way to correct them; their steps."""
    own = problem.normalised
    own = own._replace(matrix=own.matrix.ready)
    slope = np.random.default_rng(0).standard_normal((systems, own.n))

    def run() -> int:
        with one_blas_thread():
            return int(own.compiled(_descent)(own, slope)[1].steps)

    return run


def _descent(problem: Normalised, slope: Any) -> Any:
    return problem.linear.correct[0](slope, slope, 0 * slope[:, 0], nothing_seen(slope))


# lattices


def sign_lattice(problem: Instance) -> NDArray[np.float64]:
    """The rows that span it, whole numbers: LLL of others is given all digits at once."""
    equations = lattice.equations_of(problem.normalised, lattice.EXACT)
    return np.rint(lattice.with_values(lattice.all_even_or_odd(np.ones(problem.m_rows)), equations, 0.0))


def reduction(problem: Instance) -> Callable[[], NDArray[np.float64]]:
    """LLL as it goes before the search of blocks, digits let in a few at a time; each call returns the reduced rows."""
    solver, own = Lattice(block=2), problem.normalised
    schedule = solver.default_schedule()
    order = stream(0, Purpose.RUN).permutation(own.m_rows)
    state = lattice.beginning(lattice.equations_of(own, lattice.EXACT), np.ones(own.m_rows), order)
    return lambda: solver.advance(own, state, schedule.stretch(own.m_rows)).rows


@contextmanager
def all_measurements() -> Iterator[None]:
    """Within this context a lattice takes all measurements, however many there are."""
    with patch.object(lattice, "measurements_enough", lambda m_rows, n, noise: m_rows):
        yield


def least_flops(reduce: Callable[[], Any]) -> float:
    """Additions and multiplications that its row steps take at least: row i made orthogonal, once, to i others."""
    total = 0.0

    def counted(basis: basis_reduction.Basis, end: int | None = None) -> None:
        nonlocal total
        while basis.reduced < len(basis.rows):
            i = basis.reduced
            total += 4 * i * basis.rows.shape[1]
            basis.reduced = basis_reduction.lll(basis.rows, basis.mu, basis.r, basis.parts, i, len(basis.rows), 1)

    with patch.object(basis_reduction.Basis, "reduce", counted):
        reduce()
    return total


def block_search(rows: NDArray[np.float64], block: int, most: int) -> Callable[[], int]:
    """Search a block in the middle of a reduced basis; returns how many partial combinations were looked at."""
    basis, first = basis_reduction.Basis(rows.copy()), (len(rows) - block) // 2
    basis.reduce()
    bound = np.full(block, basis.r[first])
    return lambda: int(basis_reduction.shortest(basis.mu, basis.r, first, bound, most)[2])


def mean_signs(problem: Instance, copies: int, mu: float, seed: int) -> NDArray[np.float64]:
    """Of a population annealed up to this mu, each copy turned to the side of the lowest."""
    solver, own = PopulationAnnealing(copies), problem.normalised
    whole = solver.default_schedule()
    schedule = whole[: int(np.searchsorted(whole.mu, mu, side="right"))]
    drawn = solver.draw(stream(seed, Purpose.RUN), own.m_rows, own.n, schedule, 0)
    state = solver.start(own, drawn, *schedule[0], None)
    state = solver.advance(own, state, schedule.stretch(own.m_rows))
    return population_annealing.mean_signs(state)


def surest_signs(problem: Instance, means: NDArray[np.float64], share: float) -> NDArray[np.bool_]:
    """Which a guided lattice takes for known."""
    return guided_lattice.surest(means, problem.normalised.y, share)


def true_signs(problem: Instance) -> NDArray[np.float64]:
    """Those of A x0."""
    return signs.signs_of(problem.measure(problem.x0))


def found_with(problem: Instance, guess: NDArray[np.float64], known: NDArray[np.bool_], block: int, seed: int) -> bool:
    """Does a lattice find the signs, if those that are known, up to a common one, are as guessed?"""
    wanted, sides = true_signs(problem), guess[known] * true_signs(problem)[known]
    equations = lattice.equations_of(problem.normalised, lattice.EXACT).merged(guess, known)
    unknown = np.concatenate([sides[:1], wanted[~known]])
    order = stream(seed, Purpose.RUN).permutation(len(unknown))
    at = found_at(equations, unknown, Lattice(block), order)
    return bool(np.isfinite(at) and (sides == sides[0]).all())


# devices of JAX, imported when asked for: a CPU does without


def device(kind: str) -> Any:
    """The first device of a kind, or an InputError that says why there is none."""
    if find_spec("jax") is None:
        raise InputError("JAX is not installed: pip install 'phaselect[cuda]', or measure the CPU")
    from phaselect.backends.jax.devices import pick

    return pick(kind)


def on_device(at: Any) -> Any:
    """A context with 64-bit types, new arrays on this device."""
    from phaselect.backends.jax.devices import on

    return on(at)


def no_tuning() -> dict[str, str]:
    """For `jax.jit` of products with a huge A: there is no room to try variants on copies of it."""
    from phaselect.backends.jax.devices import NO_TUNING

    return NO_TUNING


def room(at: Any) -> float:
    """Bytes of a device's free memory that can be planned with."""
    from phaselect.backends.jax.devices import MARGIN, free_bytes

    return MARGIN * free_bytes(at)


def device_sweep(independent: bool = False) -> Callable[..., Any]:
    """`sweep(v, h, G, mu, key, sweeps)`: a population, or many with couplings and key of their own, compiled."""
    import jax

    from phaselect.backends.jax.flips import sweep

    return jax.jit(jax.vmap(sweep, (0, 0, 0, None, 0, None)) if independent else sweep, compiler_options=no_tuning())


# what of a run is measuring


WATCHED = {
    "start": [(Cohort, "start")],
    "finish": [(Loop, "leave"), (restarts, "finished"), (restarts, "examined")],
    "measuring": [(Cohort, "measure"), (Cohort, "candidate")],
}
"""Where the functions are found that begin a run, end it, or look at a state instead of moving it."""


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Within this context runs add to `start`, `finish` and `measuring` (seconds) and `looks` (calls).

    What `finish` measures belongs to the answer, and is not counted as measuring.
    """
    spent = {"start": 0.0, "finish": 0.0, "measuring": 0.0, "looks": 0.0}

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            began, before = time.perf_counter(), dict(spent)
            try:
                return function(*arguments, **options)
            finally:
                if name == "finish":
                    spent.update(before)
                spent[name] += time.perf_counter() - began
                spent["looks"] += name == "measuring"

        return call

    with ExitStack() as stack:
        for name, places in WATCHED.items():
            for owner, attribute in places:
                stack.enter_context(patch.object(owner, attribute, timed(name, getattr(owner, attribute))))
        yield spent


@contextmanager
def at_handover(look: Callable[[NDArray[Any]], None], problem: Instance) -> Iterator[None]:
    """Within this context `look` is given what a search has found, in the units of the data, before it is refined."""
    honest = Cohort.settle

    def settle(cohort: Cohort, candidates: NDArray[Any]) -> Any:
        look(np.asarray(candidates[0]) * problem.units.x_scale)
        return honest(cohort, candidates)

    with patch.object(Cohort, "settle", settle):
        yield


@contextmanager
def transforms() -> Iterator[dict[str, float]]:
    """Within this context Fourier transforms in memory add to `seconds` and `calls`."""
    spent = {"seconds": 0.0, "calls": 0.0}

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                spent["seconds"] += time.perf_counter() - began
                spent["calls"] += 1

        return call

    library = masked_transforms.scipy.fft
    with patch.multiple(library, fftn=timed(library.fftn), ifftn=timed(library.ifftn)):
        yield spent


class Parts(NamedTuple):
    """Seconds of a run, and of them those after its loop; iterations of message passing, and steps of what follows."""

    seconds: float
    finish: float
    iterations: int
    steps: int
    certified: bool


def in_parts(solve: Callable[[], Result]) -> Parts:
    """A run of message passing, timed in parts."""
    steps, honest = [], Cohort.settle

    def settle(cohort: Cohort, candidates: NDArray[Any]) -> Any:
        answers, support = honest(cohort, candidates)
        steps.append(int(support.steps.max()))
        return answers, support

    with watched() as spent, patch.object(Cohort, "settle", settle):
        began = time.perf_counter()
        result = solve()
        seconds = time.perf_counter() - began
    return Parts(seconds, spent["finish"], iterations(result), sum(steps), result.certified)
