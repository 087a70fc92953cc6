"""`run_batch`: for each member what a single run gives, whatever happens to the others."""

import os
import signal
import time
from contextlib import contextmanager
from itertools import pairwise
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from phaselect import (
    AMP,
    AlternatingMinimisation,
    InputError,
    Instance,
    Langevin,
    PopulationAnnealing,
    ReweightedAmplitudeFlow,
    Schedule,
    SimulatedAnnealing,
    Status,
    gaussian_batch,
    gaussian_instance,
)
from phaselect.backends.jax import devices
from phaselect.problem.instance_batches import InstanceBatch, as_batch
from phaselect.solvers import cohort, loop, restarts
from phaselect.solvers.certificate.judge import judge, probes
from phaselect.solvers.finish import Answer, Probe, examine
from phaselect.solvers.verdict import Grade
from tests.backends.shapes import ANNEAL, EXACT, PLAN, PROBLEMS, ROWS, N, close_to, unsolvable
from tests.solvers.matrices import bridge_of_zero, instance, lonely_measurement, repeated, sparse_signal

pytestmark = [
    pytest.mark.usefixtures("room_for_three"),
    pytest.mark.filterwarnings("error:Explicitly requested dtype"),  # digits lost outside a program
]

SEEDS = (1, 2, 3, 4, 7, 8)
"""Of instances that message passing solves soon, before rounding, which grows on the way, can decide anything."""
MEMBERS = [PROBLEMS[seed] for seed in SEEDS]
HOPELESS = [unsolvable(seed) for seed in SEEDS]
MIXED = [HOPELESS[k] if k in (1, 3, 5) else MEMBERS[k] for k in range(6)]
SOLVER = AMP(restarts=1)
GIB = 1 << 30
HEAT = Schedule.fixed_product(0.75, mu_max=100, eps=0.25, steps=10, unit="iterations")[:20]


@pytest.fixture(scope="module")
def room_for_three(few_programs):
    """A device that holds three members at a time: programs for three are all that is compiled."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (AMP, PopulationAnnealing, SimulatedAnnealing, Langevin):
            patch.setattr(kind, "memory", lambda *_: GIB)
        patch.setattr(devices, "free_bytes", lambda device: 3.5 * GIB / devices.MARGIN)
        yield


def run_batch(problems=MEMBERS, schedule=PLAN, solver=SOLVER, **options):
    return solver.run_batch(problems, schedule, **{"seeds": SEEDS} | EXACT | options)


def singles(problems, schedule=PLAN, solver=SOLVER, **options):
    return [solver.run(problem, schedule, seed=seed, **options) for seed, problem in zip(SEEDS, problems, strict=True)]


def same_results(some, others):
    """Of one program."""
    for one, other in zip(some, others, strict=True):
        assert (one.status, one.sweeps, one.seed) == (other.status, other.sweeps, other.seed)
        np.testing.assert_array_equal(one.x, other.x)


@pytest.fixture(scope="module")
def alone(room_for_three):
    return singles(MEMBERS)


@pytest.fixture(scope="module")
def together(room_for_three):
    return run_batch()


@pytest.fixture(scope="module")
def mixed(room_for_three):
    return run_batch(MIXED)


@pytest.fixture
def parts(monkeypatch):
    """What is sent to the device, in order."""
    sent, stacked = [], InstanceBatch.stacked

    def watched(self, chosen, device, dtype):
        sent.append(list(chosen))
        return stacked(self, chosen, device, dtype)

    monkeypatch.setattr(InstanceBatch, "stacked", watched)
    return sent


# ------------------------------------------------------------------------------------------------------ message passing


def test_members_are_those_of_single_runs(together, alone):
    """In the order given; the path too, to rounding."""
    for seed, found, single in zip(SEEDS, together, alone, strict=True):
        assert (found.seed, found.solver, found.status) == (seed, "amp", Status.RECOVERED)
        assert found.certified
        assert found.sweeps == single.sweeps < len(PLAN)
        np.testing.assert_allclose(found.x, single.x, atol=2e-9)
        np.testing.assert_array_equal(found.signs, single.signs)
        assert found.mse_y < 1e-18
        assert found.log10_impostors < -6
        assert found.truth == pytest.approx(single.truth, abs=1e-8)
        assert found.trace.keys() == single.trace.keys()
        for name in set(found.trace) - {"seconds"}:
            np.testing.assert_allclose(found.trace[name][:3], single.trace[name][:3], rtol=1e-7, atol=1e-11)
    assert len({found.sweeps for found in together}) > 1  # each left when it was done
    assert {len(found.trace["mu"]) * 10 for found in together} == {found.sweeps for found in together}


def test_only_those_who_wait_start_again(mixed, together, parts):
    """With their own seed, damping and product; the best attempt is kept."""
    found = run_batch(MIXED)
    assert parts == [[0, 1, 2], [3, 4, 5], [1, 3, 5]]
    same_results(found, mixed)
    same_results(found[::2], together[::2])
    for one, single in zip(found[1::2], singles(MIXED)[1::2], strict=True):
        assert one.sweeps == single.sweeps == 2 * len(PLAN)
        assert one.status is single.status is Status.NOT_RECOVERED
        np.testing.assert_allclose(one.trace["mse_y"][0], single.trace["mse_y"][0], rtol=1e-7)


def test_restarts_are_those_of_single_runs():
    """So short that rounding decides nothing."""
    short = PLAN[:20]
    found = run_batch(HOPELESS, short)
    for one, single in zip(found, singles(HOPELESS, short), strict=True):
        assert one.sweeps == single.sweeps == 40
        assert one.mse_y == pytest.approx(single.mse_y, rel=1e-6)
        np.testing.assert_allclose(one.x, single.x, atol=1e-6)
        np.testing.assert_allclose(one.trace["lam"], single.trace["lam"], rtol=1e-12)
    products = np.array([one.trace["mu"][-1] * one.trace["lam"][-1] for one in found])
    assert (products >= 1 - 1e-12).all()
    assert 0 < np.sum(products > 1.001) < 6  # some of the best attempts are second ones, which vary the product


def test_a_run_depends_on_its_own_seed_alone(together):
    found = run_batch(seeds=[77, *SEEDS[1:]])
    same_results(found[1:], together[1:])
    single = SOLVER.run(MEMBERS[0], PLAN, seed=77)
    assert found[0].seed == 77
    assert found[0].trace["mse_y"][0] == pytest.approx(single.trace["mse_y"][0], rel=1e-7)
    assert found[0].trace["mse_y"][0] != together[0].trace["mse_y"][0]


def test_seeds_are_counted_where_none_are_given():
    found = run_batch(schedule=PLAN[:10], seeds=None)
    assert [one.seed for one in found] == list(range(6))


def test_units_differ_between_members(together):
    units = np.exp(np.linspace(-10, 10, 6))
    found = run_batch([Instance(p.A / u, p.y * u**2, p.x0 * u**3) for p, u in zip(MEMBERS, units, strict=True)])
    for one, other, unit in zip(found, together, units, strict=True):
        np.testing.assert_allclose(one.x, other.x * unit**3, rtol=1e-6, atol=1e-7 * unit**3)
        assert one.truth["m"] == pytest.approx(1)


def test_rows_of_zeros_and_uneven_rows(together):
    """Rows of zeros are in other places in each member; rows are divided by their norms."""
    rng, given = np.random.default_rng(0), []
    for k, problem in enumerate(MEMBERS):
        norms = np.exp(rng.standard_normal(ROWS)) if k % 2 else np.ones(ROWS)
        where = np.sort(rng.choice(ROWS + 3, ROWS, replace=False))
        A, y = np.zeros((ROWS + 3, N)), np.zeros(ROWS + 3)
        A[where], y[where] = norms[:, None] * problem.A, norms * problem.y
        given.append(Instance(A, y, problem.x0))
    found = run_batch(given)
    for one, problem, other in zip(found, given, together, strict=True):
        assert one.status is Status.RECOVERED
        assert one.signs.shape == (ROWS + 3,)
        np.testing.assert_allclose(np.abs(one.x), np.abs(problem.x0), atol=1e-8)
        np.testing.assert_array_equal((one.signs * (problem.A @ one.x) >= 0), True)
        assert one.trace["mse_y"].shape == other.trace["mse_y"].shape or problem.weights.std() > 0
    for k in (0, 2, 4):  # a row of zeros changes nothing but the rounding
        np.testing.assert_allclose(found[k].x, together[k].x, atol=1e-8)
    single = SOLVER.run(given[1], PLAN, seed=SEEDS[1])
    np.testing.assert_allclose(found[1].trace["mse_y"][:3], single.trace["mse_y"][:3], rtol=1e-7)


def test_noisy_data_get_an_estimate_each():
    """It is not refined: the path of message passing itself, to the x it ends with."""
    noisy = [Instance(p.A, np.abs(p.y + 0.03 * KICKS), p.x0, noise=1e-3) for p in MEMBERS]
    short = PLAN[:20]
    found = run_batch(noisy, short)
    for one, single in zip(found, singles(noisy, short), strict=True):
        assert one.status is single.status
        assert one.status in (Status.ESTIMATE, Status.POOR_ESTIMATE)
        assert not one.certified
        np.testing.assert_allclose(one.x, single.x, atol=1e-6)
        assert one.mse_y == pytest.approx(single.mse_y, rel=1e-6)
    with pytest.raises(InputError, match="some instances of the batch are exact and some noisy"):
        run_batch([noisy[0], *MEMBERS[1:]])


KICKS = np.random.default_rng(5).standard_normal(ROWS)


@pytest.mark.parametrize(
    ("make", "status"),
    [(lonely_measurement, Status.AMBIGUOUS), (repeated, Status.AMBIGUOUS), (sparse_signal, Status.RECOVERED)],
)
def test_the_verdict_is_that_of_single_runs(make, status):
    """On what A leaves open, and on what only looks as if it did."""
    problem = instance(make)
    found = run_batch([MEMBERS[0], problem, MEMBERS[2]], seeds=SEEDS[:3])
    assert SOLVER.run(problem, PLAN, seed=SEEDS[1]).status is status
    assert found[1].status is status
    assert found[1].mse_y < 1e-16
    assert found[0].status is found[2].status is Status.RECOVERED


def test_ties_of_the_whole_are_not_enough():
    """What x does not touch ties nothing together: asked of the member itself, on the device."""
    problem = instance(bridge_of_zero)
    stacked, _ = as_batch([MEMBERS[0], problem]).stacked([0, 1], jax.devices("cpu")[0], "float64")
    members = cohort.Cohort(SOLVER, stacked, cohort.Together(jax.devices("cpu")[0]))
    for k, (one, grade) in enumerate([(MEMBERS[0], Grade.CERTIFIED), (problem, Grade.AMBIGUOUS)]):
        own = one.normalised
        answer = Answer(own.x0, own.signs, np.float64(0), np.float64(0))
        support = examine(own, probes(0, own.m_rows, own.n))._replace(linked=True)
        assert judge(lambda k=k: members.member(k), own.y, answer, support).grade is grade


def with_a_mean(problem):
    """Message passing does not bear a common mean of the entries."""
    A = problem.A + 1.0
    return Instance(A, np.abs(A @ problem.x0), problem.x0)


@pytest.mark.slow
def test_few_go_on_in_a_smaller_batch(monkeypatch):
    """Once the others have diverged, which is soon: it gets what it got before."""
    few = [with_a_mean(MEMBERS[0]), MEMBERS[1], with_a_mean(MEMBERS[2])]
    solver, options = AMP(restarts=0), {"seeds": SEEDS[:3]}
    whole = run_batch(few, PLAN, SOLVER, **options)
    sizes, reduced = [], cohort.Cohort.reduced

    def watched(self, state, places):
        smaller = reduced(self, state, places)
        sizes.append((list(places), smaller[0].members))
        return smaller

    monkeypatch.setattr(loop, "WORTH_SHRINKING", 0.0)
    monkeypatch.setattr(cohort.Cohort, "reduced", watched)
    fewer = run_batch(few, PLAN, solver, **options)
    assert sizes == [([1], 1)]
    assert [one.status for one in fewer] == [Status.DIVERGED, Status.RECOVERED, Status.DIVERGED]
    assert fewer[1].sweeps == whole[1].sweeps
    np.testing.assert_allclose(fewer[1].trace["mse_y"][:4], whole[1].trace["mse_y"][:4], rtol=1e-7)
    np.testing.assert_allclose(fewer[1].x, whole[1].x, atol=1e-8)
    assert [len(one.trace["mse_y"]) for one in fewer][::2] == [1, 1]


# ------------------------------------------------------------------------------------------- drawn on the device


DRAWN = (1, 3, 4, 9, 10, 11)
"""Seeds of instances that message passing solves soon."""


@pytest.mark.slow
def test_drawn_instances_are_solved_as_given_ones():
    """The path and the x of single runs on the instances drawn."""
    drawing = gaussian_batch(N, ROWS / N, seeds=DRAWN)
    found = SOLVER.run_batch(drawing, PLAN, **EXACT)
    assert [result.seed for result in found] == list(DRAWN)
    for k, result in [*enumerate(found)][::5]:
        drawn = drawing.instance(k, device="cpu", dtype="float64")
        single = SOLVER.run(Instance(np.asarray(drawn.A), drawn.y, drawn.x0), PLAN, seed=DRAWN[k])
        assert (result.status, result.sweeps) == (single.status, single.sweeps)
        assert result.certified
        np.testing.assert_allclose(result.trace["mse_y"][:3], single.trace["mse_y"][:3], rtol=1e-6)
        np.testing.assert_allclose(result.x, single.x, atol=1e-8)
        assert result.truth == pytest.approx({"m": 1.0, "O": 1.0, "mse_x": 0.0}, abs=1e-8)


# ---------------------------------------------------------------------------------------------------------- annealing

ANNEALERS = [
    (PopulationAnnealing(8), ANNEAL, ("mse_y", "energy", "m", "q1", "free_entropy", "families")),
    (SimulatedAnnealing(), ANNEAL, ("mse_y", "energy", "m", "q1", "accepted")),
    (Langevin(), HEAT, ("mse_y", "energy", "m", "q1", "loss_relaxed", "m_relaxed")),
]
TWELVE = PROBLEMS[:12]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(ANNEALERS[0], marks=pytest.mark.slow),
        ANNEALERS[1],
        pytest.param(ANNEALERS[2], marks=pytest.mark.slow),
    ],
    ids=["pa", "sa", "langevin"],
)
def annealed(request, room_for_three):
    solver, schedule, names = request.param
    found = solver.run_batch(TWELVE, schedule, **EXACT)
    single = [solver.run(problem, schedule, seed=seed) for seed, problem in enumerate(TWELVE)]
    return SimpleNamespace(solver=solver, schedule=schedule, names=names, found=found, single=single)


def test_annealing_is_that_of_single_runs(annealed):
    """On the same instances with other random numbers: averages at the first look, and at the last common one."""
    for name in annealed.names:
        for place in (0, 1):
            pairs = zip(annealed.found, annealed.single, strict=True)
            paired = [one.trace[name][place] - other.trace[name][place] for one, other in pairs]
            assert close_to(paired, 0.0, sigmas=5), (name, place)
    for one, other in zip(annealed.found, annealed.single, strict=True):
        assert one.trace["sweeps"][0] == other.trace["sweeps"][0]
        assert one.trace["mu"][0] == annealed.schedule.mu[9]
        assert one.trace.keys() == other.trace.keys()
        assert one.status in (Status.RECOVERED, Status.NOT_RECOVERED, Status.INEXACT)
        assert one.solver == annealed.solver.name


def test_annealing_succeeds_as_single_runs(annealed):
    """The two differ where luck decides, which is not often."""
    found, single = ([result.certified for result in results] for results in (annealed.found, annealed.single))
    differ = sum(one != other for one, other in zip(found, single, strict=True))
    assert abs(sum(found) - sum(single)) <= 3 * np.sqrt(max(differ, 1))
    if annealed.solver.name != "langevin":
        assert sum(found) >= 5
    for result in annealed.found:
        if result.certified:
            assert result.truth["mse_x"] < 1e-18


def test_random_numbers_belong_to_the_seed(annealed):
    """The same instance many times: two with one seed do the same, others something else."""
    found = annealed.solver.run_batch([PROBLEMS[0]] * 6, annealed.schedule[:10], **EXACT, seeds=[7, 7, 8, 9, 10, 11])
    assert len({result.trace["energy"][0] for result in found}) == 5
    same_results(found[:1], found[1:2])


# ------------------------------------------------------------------------------------------------------ broken members


def poisoned(self, chosen, device, dtype):
    """Members 1, 3 and 5 are not numbers somewhere on the device."""
    problem, scale = STACKED(self, chosen, device, dtype)
    places = [place for place, k in enumerate(chosen) if k in (1, 3, 5)]
    with devices.on(device):
        A = problem.matrix.A.at[jnp.array(places, int), 3, 4].set(jnp.nan)
    return problem._replace(matrix=type(problem.matrix)(A, problem.matrix.rows)), scale


STACKED = InstanceBatch.stacked


def test_members_that_are_not_numbers_fail_alone(together, monkeypatch):
    heard = []
    monkeypatch.setattr(InstanceBatch, "stacked", poisoned)
    found = run_batch(progress=heard.append)
    for one in found[1::2]:
        assert one.status is Status.DIVERGED
        assert np.isfinite(one.x).all()
        assert one.to_json()
    assert len(heard) > 2
    same_results(found[::2], together[::2])


def test_members_of_an_anneal_that_are_not_numbers_fail_alone(annealed, monkeypatch):
    monkeypatch.setattr(InstanceBatch, "stacked", poisoned)
    found = annealed.solver.run_batch(TWELVE, annealed.schedule, **EXACT)
    for one in found[1:6:2]:
        assert one.status is Status.DIVERGED
        assert np.isfinite(one.x).all()
        assert one.to_json()
    same_results(found[::2] + found[7::2], annealed.found[::2] + annealed.found[7::2])


def test_members_that_diverge_fail_alone(together):
    """They start again, among themselves, and diverge again."""
    found = run_batch([with_a_mean(problem) if k % 2 else problem for k, problem in enumerate(MEMBERS)])
    for one in found[1::2]:
        assert one.status is Status.DIVERGED
        assert np.isfinite(one.x).all()
    same_results(found[::2], together[::2])


def deficient(problem):
    """Two equal columns: the couplings at lam = 0 do not exist."""
    A = problem.A.copy()
    A[:, 1] = A[:, 0]
    return Instance(A, np.abs(A @ problem.x0), problem.x0)


def test_a_member_without_full_rank_fails_alone(annealed):
    """It is never certified."""
    found = annealed.solver.run_batch([TWELVE[0], deficient(TWELVE[1]), *TWELVE[2:]], annealed.schedule, **EXACT)
    assert found[1].status in (Status.AMBIGUOUS, Status.NOT_RECOVERED, Status.INEXACT, Status.DIVERGED)
    same_results(found[:1] + found[2:], annealed.found[:1] + annealed.found[2:])


def test_message_passing_without_full_rank_is_not_certified(together):
    found = run_batch(
        [deficient(problem) if k % 2 else problem for k, problem in enumerate(MEMBERS)], PLAN, AMP(restarts=0)
    )
    for one in found[1::2]:
        assert one.status in (Status.AMBIGUOUS, Status.NOT_RECOVERED, Status.INEXACT, Status.DIVERGED)
    same_results(found[::2], together[::2])


# --------------------------------------------------------------------------------------------------------------- memory


def full():
    raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 123 bytes.")


def test_a_batch_that_does_not_fit_is_halved(together, monkeypatch):
    """What is done is not done again, and the size stays."""
    sizes, start = [], cohort.Cohort.start

    def tight(self, *arguments):
        sizes.append(self.members)
        if self.members > 3:
            full()
        return start(self, *arguments)

    monkeypatch.setattr(AMP, "memory", lambda *_: GIB // 2)
    monkeypatch.setattr(cohort.Cohort, "start", tight)
    same_results(run_batch(), together)
    assert sizes == [6, 3, 3]


def test_what_does_not_fit_at_all_is_told_with_bytes(monkeypatch):
    sizes = []
    monkeypatch.setattr(cohort.Cohort, "start", lambda self, *_: sizes.append(self.members) or full())
    line = f"N = {N} needs about 1 GiB on the device, which has {3.5 / devices.MARGIN:.3g} GiB left"
    with pytest.raises(InputError, match=line) as caught:
        run_batch()
    assert "\n" not in str(caught.value)
    assert sizes == [3, 1]


def test_a_restart_that_does_not_fit_loses_nothing(mixed, monkeypatch):
    starts, start = [], cohort.Cohort.start

    def tight(self, *arguments):
        starts.append(None)
        return start(self, *arguments) if len(starts) < 3 else full()

    monkeypatch.setattr(cohort.Cohort, "start", tight)
    found = run_batch(MIXED)
    same_results(found[::2], mixed[::2])
    assert {one.sweeps for one in found[1::2]} == {len(PLAN)}


def test_other_errors_are_not_taken_for_memory(monkeypatch):
    def broken(*_):
        raise jax.errors.JaxRuntimeError("INTERNAL: something else")

    monkeypatch.setattr(cohort.Cohort, "start", broken)
    with pytest.raises(jax.errors.JaxRuntimeError, match="something else"):
        run_batch()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "solver", [AMP(), PopulationAnnealing(500), SimulatedAnnealing(), Langevin()], ids=lambda solver: solver.name
)
def test_memory_is_planned_for_what_is_used(solver, dtype):
    """By what the compiler says of each program: all it takes fits into what is planned, and the plan is not idle."""
    count, n, rows = 3, 200, 240
    plan = PLAN[:4] if solver.name == "amp" else ANNEAL[:4]
    with jax.enable_x64(True), optimised():
        problem, _ = gaussian_batch(n, rows / n, seeds=range(count)).stacked(range(count), jax.devices("cpu")[0], dtype)
        drawn = [solver.draw(np.random.default_rng(k), rows, n, plan, 0) for k in range(count)]
        members = cohort.Cohort(solver, problem, cohort.Together(jax.devices("cpu")[0]))
        state = members.start(plan[0], drawn, None)
        taken = []
        probe = Probe(jnp.ones((count, 2, n)), jnp.zeros((count, 8), int))
        for function, arguments, axes in [
            (solver.advance, (state, plan.stretch(rows)), (0, 0, None)),
            (solver.measure, (state,), 0),
            (solver.candidate, (state,), 0),
            (solver.settle, (jnp.zeros((count, n if solver.name == "amp" else rows)), probe), 0),
        ]:
            bill = jax.jit(jax.vmap(function, axes)).lower(problem, *arguments).compile().memory_analysis()
            taken.append(bill.temp_size_in_bytes + bill.argument_size_in_bytes + bill.output_size_in_bytes)
    planned = count * MEMORY[type(solver)](solver, rows, n, np.dtype(dtype).itemsize)
    assert 0.25 * planned < max(taken) < 1.1 * planned  # compilers differ by a little


MEMORY = {kind: kind.memory for kind in (AMP, PopulationAnnealing, SimulatedAnnealing, Langevin)}


@contextmanager
def optimised():
    """Programs as users have them."""
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] == "1")


# ------------------------------------------------------------------------------------------------------ time and Ctrl-C


def test_time_limit(together):
    """Looked at after each segment: none gets further than the first; and there is no second attempt."""
    found = run_batch(time_limit=1e-9)
    assert {result.status for result in found} == {Status.TIME_LIMIT}
    assert [result.sweeps for result in found] == [10, 10, 10, 0, 0, 0]
    assert all(result.x.shape == (N,) and result.signs.shape == (ROWS,) for result in found)
    same_results(run_batch(time_limit=1000), together)


def test_a_time_limit_that_cuts_the_restarts_is_told(monkeypatch):
    """Here a segment takes a second, of three per attempt and cohort; the first cohort has come to its end by then."""
    heard = []
    began = time.perf_counter()
    clock = SimpleNamespace(perf_counter=lambda: began + sum(event.fraction > 0 for event in heard))
    for module in (loop, restarts):
        monkeypatch.setattr(module, "time", clock)
    found = run_batch(HOPELESS, PLAN[:30], progress=heard.append, time_limit=8.5)
    assert [result.sweeps for result in found] == [30 + 30] * 3 + [30] * 3
    assert [result.status for result in found] == [Status.NOT_RECOVERED] * 3 + [Status.TIME_LIMIT] * 3


def interrupt_at(number):
    """A progress callback that Ctrl-C meets at the so-many-th look."""
    looks = []

    def progress(event):
        looks.append(event.fraction > 0)  # not where an attempt begins
        if looks[-1] and sum(looks) == number:
            raise KeyboardInterrupt

    return progress


def test_an_interrupt_keeps_the_members_that_are_done(mixed):
    """The hopeless one in the first three would have gone on."""
    found = run_batch(MIXED, progress=interrupt_at(13))
    same_results(found[:3:2], mixed[:3:2])
    assert max(one.sweeps for one in mixed[:3:2]) < 130
    assert (found[1].status, found[1].sweeps) == (Status.INTERRUPTED, 130)
    assert np.isfinite(found[1].x).all()
    assert [(one.status, one.sweeps) for one in found[3:]] == [(Status.INTERRUPTED, 0)] * 3
    assert all(one.x.shape == (N,) and one.signs.shape == (ROWS,) for one in found)
    assert found[-1].to_json()


def test_an_interrupt_of_the_restarts_is_told():
    """A member that was to start again, or was at it for the last time, is not one that has failed."""
    found = run_batch(HOPELESS, PLAN[:30], progress=interrupt_at(8))
    assert {one.status for one in found} == {Status.INTERRUPTED}
    assert [one.sweeps for one in found] == [30 + 20] * 3 + [30] * 3


@pytest.mark.parametrize("where", ["start", "advance", "measure", "candidate", "settle", "truth"])
def test_ctrl_c_in_the_midst_of_a_program(where, together, monkeypatch):
    """Python raises it when the call returns: what the call took or gave may be gone. What is done is kept."""
    calls, method = [], getattr(cohort.Cohort, where)

    def hit(*arguments):
        result = method(*arguments)
        calls.append(None)
        if len(calls) == first + 1:
            signal.raise_signal(signal.SIGINT)
        return result

    rows = int(max(one.sweeps for one in together[:3])) // 10
    leaving = len({one.sweeps for one in together[:3]})
    first = {"advance": rows, "measure": rows, "candidate": leaving}.get(where, 1)  # calls for the first part
    monkeypatch.setattr(cohort.Cohort, where, hit)
    try:
        found = run_batch()
    except KeyboardInterrupt:
        pytest.fail("the interrupt got through, and all results are lost")
    assert len(calls) > first
    same_results(found[:3], together[:3])
    assert {one.status for one in found[3:]} <= {Status.INTERRUPTED, Status.RECOVERED}
    assert all(np.isfinite(one.x).all() for one in found)
    if where in ("start", "advance", "measure"):
        assert {one.status for one in found[3:]} == {Status.INTERRUPTED}


@pytest.mark.parametrize("number", [1, 2])
def test_ctrl_c_while_members_leave(number, mixed, monkeypatch):
    """Two of the first three do at once, the hopeless one at the end: who has left, or was about to, has."""
    calls, method = [], cohort.Cohort.candidate

    def hit(*arguments):
        calls.append(None)
        if len(calls) == number:
            signal.raise_signal(signal.SIGINT)
        return method(*arguments)

    assert mixed[0].sweeps == mixed[2].sweeps < len(PLAN)
    monkeypatch.setattr(cohort.Cohort, "candidate", hit)
    found = run_batch(MIXED)
    same_results(found[:3:2], mixed[:3:2])
    assert found[1].status is Status.INTERRUPTED


def test_ctrl_c_works_as_before_after_a_batch():
    before = signal.getsignal(signal.SIGINT)
    run_batch(schedule=PLAN[:20], progress=interrupt_at(1))
    assert signal.getsignal(signal.SIGINT) is before


# ------------------------------------------------------------------------------------------------------- one by one


@pytest.mark.parametrize("solver", [ReweightedAmplitudeFlow(), AlternatingMinimisation()], ids=["raf", "altmin"])
def test_what_is_not_compiled_runs_one_by_one(solver):
    problems = [gaussian_instance(20, 5.0, seed=seed) for seed in range(3)]
    found = solver.run_batch([problems[0], problems[1].to_device("cpu", "float64"), problems[2]], seeds=[4, 5, 6])
    for seed, one, problem in zip((4, 5, 6), found, problems, strict=True):
        single = solver.run(problem, seed=seed)
        assert (one.status, one.sweeps, one.seed, one.solver) == (single.status, single.sweeps, seed, solver.name)
        np.testing.assert_allclose(one.x, single.x, atol=1e-9)
    assert any(one.certified for one in found)
    with pytest.raises(InputError, match="give a list of Instances"):
        solver.run_batch(gaussian_batch(20, 3.0, seeds=[0]))


def test_an_interrupt_ends_what_runs_one_by_one():
    problems = [gaussian_instance(20, 5.0, seed=seed) for seed in range(3)]
    problems[1:] = [Instance(one.A, one.y[::-1]) for one in problems[1:]]  # nothing to be found
    solver = AlternatingMinimisation()
    heard = []
    first = solver.run(problems[0], seed=0, progress=heard.append)
    found = solver.run_batch(problems, progress=interrupt_at(len(heard)))  # the first look at the second
    assert first.certified
    same_results(found[:1], [first])
    assert [one.status for one in found[1:]] == [Status.INTERRUPTED] * 2
    assert found[2].sweeps == 0


# ------------------------------------------------------------------------------------------------------ the arguments


def test_truth_is_there_where_x0_is_known():
    half_known = [Instance(p.A, p.y) if k % 2 else p for k, p in enumerate(MEMBERS)]
    found = run_batch(half_known, PLAN[:10])
    assert [set(result.truth) for result in found] == [{"m", "O", "mse_x"}, set()] * 3
    assert np.isnan(found[1].trace["m"]).all()
    assert np.isfinite(found[0].trace["m"]).all()


def test_progress_is_told_when_an_attempt_begins_and_after_each_segment():
    heard = []
    run_batch(HOPELESS[:3], PLAN[:40], seeds=SEEDS[:3], progress=heard.append, time_limit=1e3)
    assert [one.solver for one in heard] == ["amp"] * 10
    assert [one.fraction for one in heard] == pytest.approx([0, 0.25, 0.5, 0.75, 1] * 2)
    assert [one.mu for one in heard] == [0, *PLAN.mu[9:40:10]] * 2
    assert [(one.stage, one.attempt, one.attempts) for one in heard] == [(1, 1, 2)] * 5 + [(1, 2, 2)] * 5
    assert all(one.seconds + one.time_left == pytest.approx(1e3, abs=0.1) for one in heard)
    assert all(later.seconds > earlier.seconds for earlier, later in pairwise(heard))


def test_the_matrix_library_is_not_left_to_fight_for_cores():
    """JAX's factorisations on a CPU are those of SciPy's BLAS, whose threads take longer than small matrices do."""
    threads = []

    def look(_):
        threads.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")

    run_batch(schedule=PLAN[:10], progress=look)
    assert set(threads) == {1}


GOOD = [gaussian_instance(10, 1.5, seed=seed) for seed in range(2)]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: AMP().run_batch([]), "list of Instances, at least one"),
        (lambda: AMP().run_batch(GOOD[0]), "list of Instances"),
        (lambda: AMP().run_batch([GOOD[0], GOOD[1].A]), "list of Instances"),
        (lambda: AMP().run_batch("ab"), "list of Instances"),
        (
            lambda: AMP().run_batch([GOOD[0], gaussian_instance(10, 1.6, seed=0)]),
            r"one shape; these have \(15, 10\) and \(16, 10\)",
        ),
        (lambda: AMP().run_batch(GOOD, seeds=[0]), "1 seeds for 2 instances"),
        (lambda: AMP().run_batch(GOOD, seeds=[]), "seeds: give at least one"),
        (lambda: AMP().run_batch(GOOD, seeds=5), r"seeds = 5: give one for each instance, such as range\(5\)"),
        (lambda: AMP().run_batch(GOOD, seeds=[0, -1]), "seed = -1"),
        (lambda: AMP().run_batch(GOOD, seeds=[0, 0.5]), "seed = 0.5"),
        (lambda: AMP().run_batch(GOOD, dtype="float16"), "dtype = 'float16': use float32 or float64"),
        (lambda: AMP().run_batch(GOOD, dtype=None), "dtype = None"),
        (lambda: AMP().run_batch(GOOD, device="phone"), "device 'phone': use gpu or cpu"),
        (lambda: AMP().run_batch(GOOD, Schedule.matched(unit="proposals")), "all signs at once"),
        (lambda: PopulationAnnealing(4).run_batch(GOOD, Schedule.matched(unit="proposals")), "all signs at once"),
        (lambda: AMP().run_batch(GOOD, "fast"), "schedule = 'fast'"),
        (lambda: AMP().run_batch(GOOD, time_limit=-1), "time_limit = -1"),
    ],
)
def test_bad_arguments_get_one_clear_line(ask, message):
    with pytest.raises(InputError, match=message) as caught:
        ask()
    assert "\n" not in str(caught.value)
