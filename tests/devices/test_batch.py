"""`run_batch`: what single runs give, for each member; the instances that are drawn on a device; the arguments."""

from itertools import pairwise
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from phaselect.devices import batch
from phaselect.devices.member import GaussianBatch
from phaselect.devices.programs import Knobs
from phaselect.devices.refine import Answer
from scipy.stats import kstest
from threadpoolctl import threadpool_info

from phaselect import (
    AMP,
    InputError,
    Instance,
    Langevin,
    PopulationAnnealing,
    Schedule,
    Status,
    gaussian_batch,
    gaussian_instance,
)
from phaselect.solvers import batch as solvers_batch
from tests.devices import test_refine
from tests.devices.conftest import ROWS, N
from tests.devices.test_population import close_to

PLAN = AMP().default_schedule(None)[:200]
ANNEAL = Schedule.matched(mu0=0.2, mu_max=30, eps=0.2, steps=4)[:28]
HEAT = Schedule.fixed_product(0.75, mu_max=100, eps=0.3, steps=30, unit="iterations")
ALPHA = ROWS / N
EXACT = {"device": "cpu", "dtype": "float64"}


def singles(solver, problems, schedule, **options):
    return [solver.run(problem, schedule, seed=seed, **options) for seed, problem in enumerate(problems)]


def unsolvable(seed):
    """An instance whose y belongs to no x."""
    return Instance(gaussian_instance(N, ALPHA, seed=seed).A, np.abs(np.random.default_rng(seed).standard_normal(ROWS)))


def early(result):
    """Recovered before rounding, which grows on the way, could decide how a run ends."""
    return result.certified and result.steps <= 160


def same_results(some, others):
    """Of one program."""
    for one, other in zip(some, others, strict=True):
        assert (one.status, one.steps, one.seed) == (other.status, other.steps, other.seed)
        np.testing.assert_array_equal(one.x, other.x)


def same_but_for_rounding(some, others):
    """Of programs for other numbers of members."""
    assert sum(early(other) for other in others) > len(others) / 2
    for one, other in zip(some, others, strict=True):
        assert one.seed == other.seed
        np.testing.assert_allclose(one.trace["mse_y"][:3], other.trace["mse_y"][:3], rtol=1e-7)
        if early(other):
            assert (one.status, one.steps) == (other.status, other.steps)
            np.testing.assert_allclose(one.x, other.x, rtol=1e-6, atol=1e-8)


# ------------------------------------------------------------------------------------------------------ message passing


@pytest.fixture(scope="module")
def by_message_passing(problems):
    batch = AMP(restarts=0).run_batch(problems, PLAN, **EXACT)
    return batch, singles(AMP(restarts=0), problems, PLAN)


def test_message_passing_is_that_of_single_runs(by_message_passing):
    """Each its own."""
    for seed, (found, single) in enumerate(zip(*by_message_passing, strict=True)):
        assert (found.seed, found.solver) == (seed, "amp")
        if early(single):
            assert found.status is Status.RECOVERED
            assert found.certified
            np.testing.assert_allclose(found.x, single.x, atol=2e-9)
            np.testing.assert_array_equal(found.signs, single.signs)
            assert found.mse_y < 1e-18
            assert found.log10_impostors < -6
            assert found.truth == pytest.approx(single.truth, abs=1e-8)
    for results in by_message_passing:
        assert sum(early(result) for result in results) > 12
        assert sum(result.certified for result in results) < 24


def test_traces_are_those_of_single_runs(by_message_passing):
    """To rounding, which grows on the way; a batch looks every ten iterations, a single run every five."""
    names = {"mu", "lam", "mse_y", "m", "O", "energy", "q1", "V", "change", "steps"}
    for found, single in zip(*by_message_passing, strict=True):
        assert names <= found.trace.keys()
        assert found.steps == found.trace["steps"][-1]
        for name in names:
            np.testing.assert_allclose(
                found.trace[name][:3], single.trace[name][1:6:2], rtol=1e-7, atol=1e-12, err_msg=name
            )


def test_restarts_are_those_of_single_runs():
    """None succeeds: all start again, with their own seed, damping and product; the best attempt is kept."""
    solver, short, hopeless = AMP(restarts=1), PLAN[:30], [unsolvable(seed) for seed in range(24)]
    found = solver.run_batch(hopeless, short, **EXACT)
    for one, single in zip(found, singles(solver, hopeless, short), strict=True):
        assert one.steps == single.steps == 60
        assert one.mse_y == pytest.approx(single.mse_y, rel=1e-6)
        np.testing.assert_allclose(one.x, single.x, atol=1e-6)
    first = AMP(restarts=0).run_batch(hopeless, short, **EXACT)
    assert sum(one.mse_y < other.mse_y for one, other in zip(found, first, strict=True)) > 3
    assert all(one.mse_y <= other.mse_y for one, other in zip(found, first, strict=True))


def test_seeds_are_those_of_the_runs(problems, by_message_passing):
    """A member's run depends on its own seed alone."""
    seeds = [7, *range(1, 24)]
    found = AMP(restarts=0).run_batch(problems, PLAN, seeds=seeds, **EXACT)
    same_results(found[1:], by_message_passing[0][1:])
    assert found[0].seed == 7
    single = AMP(restarts=0).run(problems[0], PLAN, seed=7)
    np.testing.assert_allclose(found[0].trace["mse_y"][:3], single.trace["mse_y"][1:6:2], rtol=1e-7)
    assert found[0].trace["mse_y"][0] != by_message_passing[0][0].trace["mse_y"][0]


def test_units_differ_between_members(problems, by_message_passing):
    scales = np.exp(np.linspace(-10, 10, 24))
    scaled = [Instance(p.A / s, p.y * s**2, p.x0 * s**3) for p, s in zip(problems, scales, strict=True)]
    found = AMP(restarts=0).run_batch(scaled, PLAN, **EXACT)
    for one, other, scale in zip(found, by_message_passing[0], scales, strict=True):
        if early(other):
            np.testing.assert_allclose(one.x, other.x * scale**3, rtol=1e-6, atol=1e-7 * scale**3)
            assert one.truth["m"] == pytest.approx(1)


def test_noisy_data_get_an_estimate_each(problems):
    noisy = [gaussian_instance(N, ALPHA, seed=seed, noise=1e-3) for seed in range(24)]
    short = PLAN[:20]
    found = AMP().run_batch(noisy, short, **EXACT, noiseless=False)
    for one, single in zip(found, singles(AMP(), noisy, short, noiseless=False), strict=True):
        assert one.status is Status.ESTIMATE
        assert not one.certified
        assert one.steps == 20
        np.testing.assert_allclose(one.x, single.x, atol=1e-8)
        assert one.mse_y == pytest.approx(single.mse_y, rel=1e-7)
    exact = AMP().run_batch(problems, PLAN[:80], **EXACT, noiseless=False)  # not refined, even where that would help
    assert {one.status for one in exact} == {Status.ESTIMATE}
    assert 1e-16 < min(one.mse_y for one in exact) < 1e-5


@pytest.mark.parametrize(
    ("make", "status"),
    [
        (test_refine.lonely_measurement, Status.AMBIGUOUS),
        (test_refine.repeated, Status.AMBIGUOUS),
        (test_refine.sparse_signal, Status.RECOVERED),
    ],
)
def test_the_verdict_is_that_of_single_runs(make, status, problems):
    """On what A leaves open, and on what only looks as if it did."""
    made = make()
    A, x0 = made if isinstance(made, tuple) else (made, np.random.default_rng(0).standard_normal(N))
    problem = Instance(A, np.abs(A @ x0), x0)
    found = AMP(restarts=0).run_batch([problem, *problems[1:]], PLAN, **EXACT)
    assert AMP(restarts=0).run(problem, PLAN).status is status
    assert found[0].status is status
    assert found[0].mse_y < 1e-18


def coincidence():
    return test_refine.FEW, np.array(test_refine.COINCIDENT)


@pytest.mark.parametrize("make", [test_refine.bridge_of_zero, coincidence])
def test_ties_of_the_whole_are_not_enough(make):
    """What x does not touch ties nothing together, and few measurements are enumerated."""
    A, x0 = make()
    problem = Instance(A, np.abs(A @ x0), x0)
    answer = Answer(problem.target_x0, problem.signs, np.float64(0), missed=False, full_rank=True, linked=True)
    job = batch.Job(AMP(), AMP().program(), PLAN, None, "float64", True, np.inf, None)
    knobs = Knobs(np.array([0]), np.array([0.3]), np.array([1.0]))
    found = batch._result(job, problem.A[None], problem.target, 0, answer, batch.Track(), knobs, 0.0)
    assert found.status is Status.AMBIGUOUS


class Varied(AMP):
    """Each run with a damping and a product of its own."""

    def variant(self, seed, attempt):
        return seed, 0.1 + 0.01 * seed, 1 + 0.03 * seed


def test_few_go_on_in_a_smaller_batch(problems, monkeypatch):
    """Seven in a batch of eight, once the others have diverged, which is soon: they get what they got before."""
    mixed = [problem if seed in STAY else with_a_mean(problem) for seed, problem in enumerate(problems)]
    whole = Varied(restarts=0).run_batch(mixed, PLAN[:30], **EXACT)
    sizes, take = [], batch.take

    def watched(tree, places):
        sizes.append(len(places))
        return take(tree, places)

    monkeypatch.setattr(batch, "WORTH_SHRINKING", 0.0)
    monkeypatch.setattr(batch, "take", watched)
    fewer = Varied(restarts=0).run_batch(mixed, PLAN[:30], **EXACT)
    assert set(sizes) == {8}
    for seed, (one, other) in enumerate(zip(fewer, whole, strict=True)):
        assert (one.status is Status.DIVERGED) == (seed not in STAY)
        assert (one.status, one.steps, one.seed) == (other.status, other.steps, other.seed)
        assert len(one.trace["mse_y"]) == (3 if seed in STAY else 1)
        for name in ("mse_y", "m", "V", "lam"):
            np.testing.assert_allclose(one.trace[name], other.trace[name], rtol=1e-7)
        np.testing.assert_allclose(one.x, other.x, rtol=1e-6, atol=1e-6)


STAY = (2, 3, 7, 11, 16, 20, 22)


def with_a_mean(problem):
    """Message passing does not bear a common mean of the entries."""
    A = problem.A + 1.0
    return Instance(A, np.abs(A @ problem.x0), problem.x0)


# ---------------------------------------------------------------------------------- population annealing and Langevin


@pytest.fixture(scope="module")
def by_population(problems):
    solver = PopulationAnnealing(16)
    return solver.run_batch(problems, ANNEAL, device="cpu"), singles(solver, problems, ANNEAL)


def test_populations_succeed_as_single_ones(by_population):
    """On the same instances with other random numbers; the two differ where luck decides, which is not often."""
    found, single = ([result.certified for result in results] for results in by_population)
    differ = sum(one != other for one, other in zip(found, single, strict=True))
    assert sum(found) >= 12
    assert abs(sum(found) - sum(single)) <= 3 * np.sqrt(max(differ, 1))
    for result in by_population[0]:
        if result.certified:
            assert result.truth["mse_x"] < 1e-12  # A was rounded to float32, y was not
            assert result.trace["quenched"][-1] < 1e-12
        assert result.status in (Status.RECOVERED, Status.NOT_RECOVERED, Status.INEXACT)


def test_populations_anneal_as_single_ones(by_population):
    """At the fourth temperature, where all still are: a batch looks every fourth, a single run at each."""
    found, single = by_population
    for name in ("mse_y", "energy", "m", "q1", "free_entropy", "families"):
        paired = [one.trace[name][0] - other.trace[name][3] for one, other in zip(found, single, strict=True)]
        assert close_to(paired, 0.0), name
    for one, other in zip(found, single, strict=True):
        assert one.trace["steps"][0] == other.trace["steps"][3] == 4 * 4 * ROWS * 16
        assert one.trace["mu"][0] == ANNEAL.mu[3]


@pytest.fixture(scope="module")
def by_langevin(problems):
    solver = Langevin(eager=False)
    return solver.run_batch(problems, HEAT, device="cpu"), singles(solver, problems, HEAT)


def test_langevin_dynamics_are_those_of_single_runs(by_langevin):
    """On the same instances with other random numbers: averages along the anneal, and successes."""
    found, single = by_langevin
    for name in ("mse_y", "energy", "m", "q1", "loss_relaxed", "m_relaxed"):
        for where in (0, len(HEAT) // 2, -1):
            paired = [
                one.trace[name][where] - other.trace[name][where] for one, other in zip(found, single, strict=True)
            ]
            assert close_to(paired, 0.0), (name, where)
    for one, other in zip(found, single, strict=True):
        assert one.steps == other.steps == len(HEAT) * 30
        np.testing.assert_array_equal(one.trace["mu"], other.trace["mu"])
        assert one.status in (Status.RECOVERED, Status.NOT_RECOVERED, Status.INEXACT)
    successes = [sum(result.certified for result in results) for results in by_langevin]
    assert abs(successes[0] - successes[1]) <= 3 * np.sqrt(max(1, sum(successes)))


@pytest.mark.parametrize(("solver", "schedule"), [(PopulationAnnealing(16), ANNEAL), (Langevin(eager=False), HEAT)])
def test_random_numbers_belong_to_the_seed(solver, schedule, problems):
    """The same instance many times: two with one seed do the same, others something else."""
    seeds = [7, 7, *range(8, 30)]
    found = solver.run_batch([problems[0]] * 24, schedule, seeds=seeds, device="cpu")
    assert len({result.trace["energy"][0] for result in found}) == 23
    same_results(found[:1], found[1:2])


@pytest.mark.parametrize(("solver", "schedule"), [(PopulationAnnealing(16), ANNEAL), (Langevin(eager=False), HEAT)])
def test_a_device_instance_runs_as_a_batch_of_one(solver, schedule, problems, monkeypatch):
    """`run` sends it there, with what it was given; a start of the user's is refused."""
    given = {}

    def watched(self, instances, plan, **options):
        given.update(options, instances=instances, plan=plan)
        return ["result"]

    monkeypatch.setattr("phaselect.solvers.batch.run_batch", watched)
    device = problems[0].to_device("cpu")
    assert solver.run(device, schedule, seed=5, time_limit=3.0, noiseless=False) == "result"
    assert given["instances"] == [device]
    assert (given["plan"], given["seeds"], given["time_limit"], given["noiseless"]) == (schedule, [5], 3.0, False)
    assert (given["device"], given["dtype"]) == (jax.devices("cpu")[0], "float32")
    with pytest.raises(InputError, match="starts afresh"):
        solver.run(device, schedule, init=problems[0].x0)


# ------------------------------------------------------------------------------------------- drawn on the device


def drawn(seeds, chosen=None):
    drawing = gaussian_batch(N, ALPHA, seeds=seeds)
    chosen = range(len(drawing)) if chosen is None else chosen
    member, scale = drawing.members(chosen, jax.devices("cpu")[0], "float32")
    return jax.tree.map(np.asarray, member), scale


def test_drawn_instances_are_the_paper_s():
    """iid Gaussian A of variance 1/N, x0 of norm sqrt(N), magnitudes of `A x0`, in normalised units."""
    member, scale = drawn(range(24))
    assert member.A.shape == (24, ROWS, N)
    assert kstest(member.A.ravel() * np.sqrt(N), "norm").pvalue > 1e-3
    x0 = member.x0 * scale[:, None]
    np.testing.assert_allclose(np.sum(x0**2, axis=1), N)
    assert kstest(x0.ravel(), "norm").pvalue > 1e-3
    for k in range(24):
        z = member.A[k].astype(float) @ x0[k]
        problem = Instance(member.A[k], np.abs(z), x0[k])
        assert problem.A.dtype == "float32"
        assert member.gain[k] == pytest.approx(problem.gain)
        assert scale[k] == pytest.approx(problem.x_scale)
        np.testing.assert_allclose(member.y[k], problem.target, rtol=1e-10)
        np.testing.assert_allclose(member.x0[k], problem.target_x0, rtol=1e-10)
        np.testing.assert_array_equal(member.signs[k], problem.signs)
    across = np.corrcoef(member.A.reshape(24, -1))
    assert np.abs(across - np.eye(24)).max() < 5 / np.sqrt(ROWS * N)


def test_drawn_instances_belong_to_their_seeds():
    """Whatever else is in the batch, and in whatever place; also by itself."""
    member, _ = drawn(range(24))
    again, _ = drawn([5, *range(30, 52), 3])
    np.testing.assert_array_equal(again.A[[0, 23]], member.A[[5, 3]])
    np.testing.assert_allclose(again.y[[0, 23]], member.y[[5, 3]], rtol=1e-12)
    chosen, _ = drawn(range(24), chosen=[*range(12, 24), *range(12)])
    np.testing.assert_array_equal(chosen.A[:12], member.A[12:])
    alone = gaussian_batch(N, ALPHA, seeds=[9, 5]).instance(1, device="cpu")
    np.testing.assert_array_equal(alone.A, member.A[5])
    np.testing.assert_allclose(alone.target, member.y[5], rtol=1e-10)
    np.testing.assert_allclose(alone.target_x0, member.x0[5], rtol=1e-10)
    np.testing.assert_allclose(np.abs(alone.measure(alone.x0)), alone.y, rtol=1e-10)


def test_drawn_instances_are_solved_as_given_ones(by_message_passing):
    """The x of single runs on the instances drawn; successes and traces of instances of `gaussian_instance`.

    In float32, the default, which is no limit to the answer.
    """
    found = AMP(restarts=0).run_batch(gaussian_batch(N, ALPHA, seeds=range(50, 74)), PLAN, device="cpu")
    member, scale = drawn(range(50, 74))
    assert [result.seed for result in found] == list(range(50, 74))
    both = 0
    for k, result in enumerate(found):
        x0 = member.x0[k] * scale[k]
        single = AMP(restarts=0).run(
            Instance(member.A[k], np.abs(member.A[k].astype(float) @ x0), x0), PLAN, seed=50 + k
        )
        assert result.trace["mse_y"][0] == pytest.approx(single.trace["mse_y"][1], rel=1e-3)
        if result.certified:
            assert result.mse_y < 1e-15
            assert result.truth == pytest.approx({"m": 1.0, "O": 1.0, "mse_x": 0.0}, abs=1e-8)
            np.testing.assert_allclose(result.x * np.sign(result.x @ x0), x0, atol=1e-6)
        else:
            assert result.truth["mse_x"] > 1e-3
        both += result.certified and single.certified
    successes, of_given = (sum(result.certified for result in some) for some in (found, by_message_passing[0]))
    assert both >= successes - 3 > 8
    assert abs(successes - of_given) <= 3 * np.sqrt(24 * 2 * 0.25)
    for name in ("mse_y", "m", "V"):  # far from the end these are averages over a matrix, and tell more
        assert close_to(*([one.trace[name][1] for one in some] for some in (found, by_message_passing[0]))), name


# ------------------------------------------------------------------------------------------------------ the arguments


def test_truth_is_there_where_x0_is_known(problems):
    mixed = [Instance(p.A, p.y) if k % 2 else p for k, p in enumerate(problems)]
    found = AMP(restarts=0).run_batch(mixed, PLAN[:20], **EXACT)
    assert [set(result.truth) for result in found] == [{"m", "O", "mse_x"}, set()] * 12
    assert np.isnan(found[1].trace["m"]).all()
    assert np.isfinite(found[0].trace["m"]).all()


def test_progress_is_told_after_each_segment(problems):
    heard = []
    AMP(restarts=0).run_batch(problems, PLAN[:40], **EXACT, progress=heard.append)
    assert [one.solver for one in heard] == ["amp"] * 4
    assert [one.fraction for one in heard] == pytest.approx([0.25, 0.5, 0.75, 1])
    assert [one.mu for one in heard] == PLAN.mu[9:40:10].tolist()
    assert all(later.seconds > earlier.seconds for earlier, later in pairwise(heard))
    assert heard[-1].mse_y < heard[0].mse_y


def test_the_matrix_library_is_not_left_to_fight_for_cores(problems):
    """JAX's factorisations on a CPU are those of SciPy's BLAS, whose threads take longer than small matrices do."""
    threads = []

    def look(_):
        threads.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")

    AMP(restarts=0).run_batch(problems, PLAN[:20], **EXACT, progress=look)
    assert set(threads) == {1}


def test_time_limit(problems, by_message_passing):
    """Looked at after each segment: none gets further than the first; and there is no second attempt."""
    found = AMP(restarts=4).run_batch(problems, PLAN, **EXACT, time_limit=1e-9)
    assert {result.status for result in found} == {Status.TIME_LIMIT}
    assert {result.steps for result in found} == {10}
    enough = AMP(restarts=0).run_batch(problems, PLAN, **EXACT, time_limit=1000)
    same_results(enough, by_message_passing[0])


def test_a_time_limit_that_cuts_the_restarts_is_told(monkeypatch):
    """As a single run tells it, whichever attempt came closest. Here a segment takes a second, of three an attempt."""
    heard = []
    clock = SimpleNamespace(perf_counter=lambda: float(len(heard)))
    for module in (batch, solvers_batch):
        monkeypatch.setattr(module, "time", clock)
    hopeless = [unsolvable(seed) for seed in range(24)]
    found = AMP(restarts=4).run_batch(hopeless, PLAN[:30], **EXACT, progress=heard.append, time_limit=3.5)
    assert {result.steps for result in found} == {30 + 20}
    assert {result.status for result in found} == {Status.TIME_LIMIT}


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
        (lambda: AMP().run_batch(GOOD, Schedule.matched(unit="proposals")), "all signs at once|iterations"),
        (
            lambda: PopulationAnnealing(4).run_batch(GOOD, Schedule.matched(unit="proposals")),
            "all signs at once|sweeps",
        ),
        (lambda: gaussian_batch(10, 1.5, seeds=[]), "seeds: give at least one"),
        (lambda: gaussian_batch(10, 1.5, seeds=[2**63]), r"below 2\^63"),
        (lambda: gaussian_batch(10, 1.5, seeds=[-3]), "seed = -3"),
        (lambda: gaussian_batch(10, 0.9, seeds=[0]), "alpha exceeds 1"),
        (lambda: gaussian_batch(0, 1.5, seeds=[0]), "n = 0"),
        (lambda: AMP().run_batch(GOOD, "fast"), "schedule = 'fast'"),
        (lambda: AMP().run_batch(GOOD, time_limit=-1), "time_limit = -1"),
    ],
)
def test_bad_arguments_get_one_clear_line(ask, message):
    with pytest.raises(InputError, match=message) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_a_batch_can_be_compared_and_counted():
    assert gaussian_batch(10, 1.5, seeds=iter([1, 2])) == GaussianBatch(10, 1.5, (1, 2))
    assert len(gaussian_batch(10, 1.5, seeds=range(7))) == 7
