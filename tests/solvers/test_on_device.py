"""One instance with A on a device: the path of a run in memory, the same answers and the same verdict."""

import jax
import numpy as np
import pytest
from scipy import stats

from phaselect import (
    AMP,
    AlternatingMinimisation,
    InputError,
    Instance,
    Langevin,
    PopulationAnnealing,
    Schedule,
    SimulatedAnnealing,
    Status,
    VectorMessagePassing,
    gaussian_instance,
    solve,
)
from phaselect.backends.host import loops
from phaselect.backends.jax import on_device
from phaselect.base.errors import TooLarge
from phaselect.equations.greedy import greedy_flips
from phaselect.solvers import front_door
from phaselect.solvers.certificate.judge import judge, probes
from phaselect.solvers.cohort import functions_of
from phaselect.solvers.finish import WEAK, WORTH_REFINING, Answer, examine, refine_estimate, take_as_it_is
from phaselect.solvers.verdict import Grade
from tests.backends.shapes import (
    ANNEAL,
    PLAN,
    PROBLEM,
    PROBLEMS,
    ROWS,
    N,
    close_to,
    narrowed,
    random_signs,
    result_of,
    there,
    unsolvable,
)
from tests.exact import energies, gibbs, normalised, state_index
from tests.solvers import matrices
from tests.solvers.matrices import CASES, instance

pytestmark = [
    pytest.mark.usefixtures("few_programs"),
    pytest.mark.filterwarnings("error:Explicitly requested dtype"),  # digits lost outside a program
]

SOLVER = AMP(restarts=0)
SEEDS = (1, 3, 7)


def on_cpu(problem, dtype="float64"):
    return problem.to_device("cpu", dtype)


def same_states(some, others, error=0.0):
    for one, other in zip(jax.tree.leaves(some), jax.tree.leaves(others), strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=error, atol=error)


# ------------------------------------------------------------------------------------------------------ message passing


@pytest.mark.slow
def test_message_passing_takes_the_path_of_one_in_memory():
    """As long as rounding does not grow: the estimate before refinement, and everything else in the state."""
    single, found = (SOLVER.run(one, PLAN[:30], seed=3) for one in (PROBLEM, on_cpu(PROBLEM)))
    same_states(found.state, single.state, 1e-6)
    assert found.sweeps == single.sweeps == 30
    for name in set(found.trace) - {"seconds"}:
        np.testing.assert_allclose(found.trace[name], single.trace[name], rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_are_those_of_numpy(seed):
    single, found = (SOLVER.run(one, PLAN, seed=seed) for one in (PROBLEMS[seed], on_cpu(PROBLEMS[seed])))
    assert single.certified
    assert found.certified
    assert found.mse_y < 1e-20
    assert found.sweeps == single.sweeps < len(PLAN)
    np.testing.assert_allclose(found.x, single.x, atol=1e-8)
    np.testing.assert_array_equal(found.signs, single.signs)
    assert found.truth == pytest.approx(single.truth, abs=1e-9)
    assert len(found.trace["mse_y"]) == found.sweeps / 10


@pytest.mark.parametrize("steps", [3])
def test_several_iterations_per_temperature(steps):
    plan = Schedule(PLAN.mu[:10], 2 * PLAN.lam[:10], steps, "iterations")  # an unmatched regulariser
    single, found = (SOLVER.run(one, plan, seed=3) for one in (PROBLEM, on_cpu(PROBLEM)))
    assert found.sweeps == single.sweeps == 10 * steps
    same_states(found.state, single.state, 1e-6)


def test_divergence_keeps_the_last_finite_state():
    """A matrix with a large common mean; the mark stays, and the state with it."""
    A = PROBLEM.A + 1.0
    problem = on_cpu(Instance(A, np.abs(A @ PROBLEM.x0)))
    result = SOLVER.run(problem, PLAN[:60], seed=3)
    assert result.status is Status.DIVERGED
    assert result.sweeps < 60
    assert np.isfinite(result.x).all()
    state = result.state
    assert bool(state.diverged)
    assert np.mean(np.asarray(state.beliefs.x) ** 2) < 1e6
    assert result.trace["mse_y"][-1] == np.inf
    own = problem.normalised
    after = own.compiled(functions_of(SOLVER).advance)(own, state, PLAN[:10].stretch(ROWS))
    same_states(after, state)


def test_a_run_can_be_cut_and_resumed():
    device = on_cpu(PROBLEM)
    first = SOLVER.run(device, PLAN[:20], seed=3)
    whole, resumed = SOLVER.run(device, PLAN[:40], seed=3), SOLVER.run(device, PLAN[20:40], init=first.state)
    assert whole.sweeps == resumed.sweeps == 40
    same_states(resumed.state, whole.state)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert int(first.state.sweeps) == 20  # a checkpoint can be used again


def test_a_run_can_move_to_the_device_and_back():
    """A state of message passing is one of the solver, wherever A is; that of an anneal has its own random numbers."""
    device = on_cpu(PROBLEM)
    whole = SOLVER.run(PROBLEM, PLAN[:30], seed=3)
    first = SOLVER.run(PROBLEM, PLAN[:10], seed=3)
    second = SOLVER.run(device, PLAN[10:20], init=first.state)
    third = SOLVER.run(PROBLEM, PLAN[20:30], init=second.state)
    np.testing.assert_allclose(third.state.beliefs.x, whole.state.beliefs.x, atol=1e-7)
    assert third.sweeps == 30
    own = SimulatedAnnealing().run(PROBLEM, ANNEAL[:10])
    with pytest.raises(InputError, match="init is not the state of a sa run"):
        SimulatedAnnealing().run(device, ANNEAL[:10], init=own.state)


def test_a_start_at_the_solution_or_at_the_signs():
    device = on_cpu(PROBLEM)
    for init in (PROBLEM.x0, -PROBLEM.x0, PROBLEM.x0 + 0.05):
        single, found = (SOLVER.run(one, PLAN, init=init) for one in (PROBLEM, device))
        assert found.certified
        assert found.sweeps == single.sweeps
        np.testing.assert_allclose(found.x, single.x, atol=1e-8)
    wrong = PROBLEM.signs * np.where(np.arange(ROWS) == 5, -1, 1)
    single, found = (SOLVER.run(one, PLAN[:10], init=wrong) for one in (PROBLEM, device))
    np.testing.assert_allclose(found.trace["mse_y"][0], single.trace["mse_y"][0], rtol=1e-6)
    with pytest.raises(InputError, match="init has shape"):
        SOLVER.run(device, init=np.ones(7))


def test_noisy_data_are_not_refined():
    noisy = gaussian_instance(N, ROWS / N, seed=4, noise=1e-3)
    single, found = (SOLVER.run(one, PLAN[:20], seed=3, noise=1e-3) for one in (noisy, on_cpu(noisy)))
    assert found.status is single.status
    assert found.status in (Status.ESTIMATE, Status.POOR_ESTIMATE)
    assert not found.certified
    np.testing.assert_allclose(found.x, single.x, atol=1e-7)
    assert found.mse_y == pytest.approx(single.mse_y, rel=1e-7)


def test_progress_time_limit_and_interrupt():
    device, heard = on_cpu(unsolvable(3)), []
    result = SOLVER.run(device, PLAN[:40], seed=3, progress=heard.append)
    assert [one.fraction for one in heard] == pytest.approx([0, 0.25, 0.5, 0.75, 1.0])
    assert [one.mse_y for one in heard[1:]] == result.trace["mse_y"].tolist()
    assert SOLVER.run(device, PLAN[:40], seed=3, time_limit=1e-3).status is Status.TIME_LIMIT

    def interrupt(progress):
        if progress.fraction > 0:
            raise KeyboardInterrupt

    result = SOLVER.run(device, PLAN[:40], seed=3, progress=interrupt)
    assert (result.status, result.sweeps) == (Status.INTERRUPTED, 10)


@pytest.mark.slow
def test_a_half_precision_copy_is_no_limit_to_the_answer(monkeypatch):
    """Least squares takes over earlier, and mends what signs are left; the answer is one of float64.

    By the products of a GPU.
    """
    monkeypatch.setattr(jax.lax, "platform_dependent", lambda *arguments, cpu, default: default(*arguments))
    monkeypatch.setitem(on_device.WORTH_A_COPY, "cpu", 0)
    for seed in SEEDS:
        problem = narrowed(PROBLEMS[seed])
        device = problem.to_device("cpu")
        assert device.matrix.ready.half.A.dtype == "float16"
        result = SOLVER.run(device, PLAN, seed=seed)
        assert result.certified
        assert result.sweeps <= SOLVER.run(problem, PLAN, seed=seed).sweeps
        x = result.x * np.sign(result.x @ problem.x0)
        np.testing.assert_allclose(x, problem.x0, atol=1e-6)
        own = np.mean((np.abs(problem.A.astype(float) @ result.x) - problem.y) ** 2) / np.mean(problem.y**2)
        assert own == pytest.approx(result.mse_y, rel=1e-3, abs=1e-28)
        assert result.mse_y < 1e-12


@pytest.mark.slow
def test_rounding_a_float64_matrix_costs_digits_of_x():
    """Seven are left, as the pages say, unless float64 is asked for."""

    def error(dtype):
        x = solve(PROBLEM.A, PROBLEM.y, solver=SOLVER, seed=3, device="cpu", dtype=dtype).x
        return np.linalg.norm(x * np.sign(x @ PROBLEM.x0) - PROBLEM.x0) / np.linalg.norm(PROBLEM.x0)

    assert 1e-9 < error("float32") < 1e-6
    assert error("float64") < 1e-9


def test_solve_takes_an_array_of_jax():
    """And keeps its best where the population that would come next does not fit."""
    A = on_cpu(PROBLEM).A
    result = solve(A, PROBLEM.y, seed=3)
    assert result.certified
    np.testing.assert_allclose(result.x * np.sign(result.x @ PROBLEM.x0), PROBLEM.x0, atol=1e-8)


def test_the_front_door_keeps_its_best_when_a_population_does_not_fit(monkeypatch):
    def full(*_):
        raise TooLarge("working with A needs about 9 GiB on the device, which has 1 GiB left")

    monkeypatch.setattr(front_door, "LARGEST_LATTICE", 0)
    monkeypatch.setattr(PopulationAnnealing, "draw", full)
    monkeypatch.setattr(AMP, "default_schedule", lambda self, noise=0.0: PLAN[:10])
    result = solve(on_cpu(unsolvable(3)))
    assert result.solver == "amp"
    assert result.status is Status.NOT_RECOVERED


def test_what_processes_share_is_left_to_message_passing(monkeypatch):
    """No process has the whole A that population annealing needs: its answer is not lost for that."""
    monkeypatch.setattr(on_device.DeviceMatrix, "processes", 2)
    for solver in (AMP, VectorMessagePassing):
        monkeypatch.setattr(solver, "default_schedule", lambda self, noise=0.0: PLAN[:10])
    hard = on_cpu(unsolvable(3))
    assert {stage.solver for stage in solve(hard).stages} <= {"amp", "vmp"}
    with pytest.raises(InputError, match="use message passing"):
        PopulationAnnealing(4).run(hard)
    with pytest.raises(InputError, match="time_limit: processes"):
        SOLVER.run(hard, time_limit=1.0)


# ------------------------------------------------------------------------------------------------------------ verdicts


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_the_verdict_is_that_of_numpy(make):
    """Started at its solution, since message passing does not find all of these."""
    problem = instance(make)
    single, device = (SOLVER.run(one, PLAN, init=problem.x0) for one in (problem, on_cpu(problem)))
    assert single.status is CASES[make]
    assert device.status is CASES[make]
    assert device.mse_y < 1e-18
    assert device.certified == (CASES[make] is Status.RECOVERED)


@pytest.mark.parametrize("make", [matrices.any_matrix, matrices.nearly_twins, matrices.few_independent_columns])
def test_a_null_space_is_seen(make):
    own = there(instance(make))
    found = result_of(own, examine, probes(0, own.m_rows, own.n))
    assert found.full_rank == (make is matrices.any_matrix)


@pytest.mark.parametrize("make", [matrices.blocks, matrices.rotated_blocks, matrices.inner_block])
def test_groups_of_measurements_are_seen(make):
    own = there(instance(make))
    found = result_of(own, examine, probes(0, own.m_rows, own.n))
    assert found.full_rank
    assert not found.linked


def test_rounding_ties_nothing_together():
    """Two groups of measurements behind a rotation: rounding A to float32 ties them together, by a little."""
    for seed in range(3):
        problem = instance(matrices.rotated_blocks, seed)
        narrow = Instance(problem.A.astype(np.float32), problem.y, problem.x0)
        U, edge = narrow.normalised.ridge.U, matrices.ROWS_OF_HALF
        assert 1e-8 < np.abs(U[:edge] @ U[edge:].T).max() * np.sqrt(ROWS) < WEAK / 2
        assert SOLVER.run(narrow, PLAN, init=problem.x0).status is Status.AMBIGUOUS


@pytest.mark.slow
def test_rounding_on_the_device_ties_nothing_together():
    problem = instance(matrices.rotated_blocks, 0)
    assert SOLVER.run(on_cpu(problem, "float32"), PLAN, init=problem.x0).status is Status.AMBIGUOUS


FEW = np.array([[0, 0, 1], [1, -1, 1], [0, 0, 1], [0, -1, -1], [1, 0, 0], [0, 1, 0], [-1, 1, -1]], float)
"""Measurements that all hang together; by a coincidence two different x fit those of the first signal below."""


@pytest.mark.parametrize(("x0", "unique"), [([-2.0, 1.0, 1.0], False), ([3.0, 0.7, 2.0], True)])
def test_few_measurements_are_enumerated(x0, unique):
    problem = Instance(FEW, np.abs(FEW @ x0), x0)
    for one in (problem.normalised, there(problem)):
        answer = Answer(one.x0, one.signs, 0.0, 0.0)
        support = result_of(one, examine, probes(0, one.m_rows, one.n))
        found = judge(lambda one=one: one, np.asarray(one.y), answer, support)
        assert found.grade is (Grade.CERTIFIED if unique else Grade.AMBIGUOUS)
        assert found.certificate == ("enumerated" if unique else None)


# ------------------------------------------------------------------------------------------- signs that are wrong


def tiny(problem, smallest):
    """The smallest measurements, of those whose share in their own fit is not far above the mean, N/M.

    That share is taken at its mean where signs are mended, so as to need no factorisation.
    """
    U = np.linalg.svd(problem.A, full_matrices=False)[0]
    common = np.sum(U**2, axis=1) < problem.n / problem.m_rows + 0.05
    return np.argsort(np.where(common, problem.y, np.inf))[:smallest]


def crossed(problem, smallest):
    """The nearest x to the truth whose tiny measurements have the wrong sign."""
    A, _ = normalised(problem)
    rows, x0 = tiny(problem, smallest), problem.normalised.x0
    return x0 - 2 * np.linalg.pinv(A[rows]) @ (A[rows] @ x0)


def fitted(problem, smallest):
    """Least squares for wrong signs of tiny measurements."""
    A, y = normalised(problem)
    signs = problem.signs.copy()
    signs[tiny(problem, smallest)] *= -1
    return np.linalg.lstsq(A, signs * y, rcond=None)[0]


def off_by(level, problem):
    """Errors in all measurements."""
    error = np.random.default_rng(0).standard_normal(problem.n)
    own = problem.normalised
    return own.x0 + error * np.sqrt(level / np.mean(own.forward(error) ** 2))


def recovers(problem, answer):
    own = problem.normalised
    side = np.sign(answer.x @ own.x0)
    right = np.abs(side * answer.x - own.x0).max() < 1e-8
    return right and (side * answer.signs == own.signs).all()


def failures(problems, starts):
    """In memory and on the device, which must fail alike."""
    found = []
    for problem, x in zip(problems, starts, strict=True):
        fresh = Instance(problem.A, problem.y, problem.x0)
        both = [recovers(problem, result_of(one, refine_estimate, x)) for one in (fresh.normalised, there(problem))]
        assert both[0] == both[1]
        found.append(not both[0])
    return sum(found)


@pytest.mark.parametrize("start", [crossed, fitted])
@pytest.mark.parametrize(("smallest", "allowed"), [(1, 0), (3, 1)])
def test_wrong_signs_at_tiny_measurements_are_mended(smallest, allowed, start):
    """Also where the fit has followed the wrong sign, so that nothing in z itself shows it."""
    starts = [(problem, start(problem, smallest)) for problem in PROBLEMS]
    near = [(p, x) for p, x in starts if take_as_it_is(p.normalised, x).fit < WORTH_REFINING]
    assert len(near) >= 9
    assert sum(np.sum(np.sign(p.normalised.forward(x)) != p.signs) for p, x in near) >= len(near) * smallest / 2
    assert failures(*zip(*near, strict=True)) <= allowed


@pytest.mark.parametrize(("level", "allowed"), [(1e-6, 0), (1e-4, 1)])
def test_where_message_passing_leaves_off_is_close_enough(level, allowed):
    """At 1e-6, where it hands over with a half-precision copy, and at 1e-4, where a time limit may have cut it."""
    assert failures(PROBLEMS, [off_by(level, problem) for problem in PROBLEMS]) <= allowed


def test_given_signs_are_left_alone():
    """Wrong ones too: annealing has done its own greedy flips."""
    wrong = PROBLEM.signs * np.where(np.arange(ROWS) < 3, -1, 1)
    own = there(narrowed(PROBLEM, 3.0), "float32")
    probe = probes(0, own.m_rows, own.n)
    answer, _ = result_of(own, functions_of(SimulatedAnnealing()).settle, wrong, probe)
    np.testing.assert_array_equal(answer.signs, wrong)
    assert answer.excess > 1e3
    A, y = normalised(Instance(narrowed(PROBLEM, 3.0).A.astype(float), narrowed(PROBLEM, 3.0).y))
    x = np.linalg.lstsq(A, wrong * y, rcond=None)[0]
    np.testing.assert_allclose(answer.x, x, atol=1e-7)  # a float64 answer for a float32 A
    assert answer.fit == pytest.approx(np.mean((wrong * y - A @ x) ** 2), rel=1e-9)


# ----------------------------------------------------------------------------------------------------------- annealing


@pytest.mark.slow
def test_simulated_annealing_goes_on_from_its_state():
    device, solver = on_cpu(PROBLEM), SimulatedAnnealing(eager=False)
    first, whole = (solver.run(device, plan, seed=3) for plan in (ANNEAL[:10], ANNEAL[:20]))
    resumed = solver.run(device, ANNEAL[10:20], init=first.state)
    assert (first.sweeps, resumed.sweeps, whole.sweeps) == (40, 80, 80)
    same_states(resumed.state, whole.state)
    np.testing.assert_array_equal(resumed.x, whole.x)
    other = solver.run(device, ANNEAL[:20], seed=4)
    assert (np.asarray(other.state.copies.v) != np.asarray(whole.state.copies.v)).any()


@pytest.mark.slow
def test_simulated_annealing_starts_where_it_is_told():
    """Cold from the start: signs that are nearly right become right, for x as for signs."""
    cold, solver = Schedule.matched(mu0=1e4, mu_max=2e4, eps=0.2, steps=2), SimulatedAnnealing(eager=False)
    wrong = PROBLEM.signs * np.where(np.arange(ROWS) == 5, -1, 1)
    for init in (wrong, PROBLEM.x0):
        found = solver.run(on_cpu(PROBLEM), cold, init=init)
        assert found.certified
        np.testing.assert_array_equal(found.signs, PROBLEM.signs)
    assert not solver.run(on_cpu(PROBLEM), cold, init=random_signs(ROWS)).certified


def test_what_is_not_compiled_runs_in_memory():
    problem = gaussian_instance(20, 5.0, seed=0)
    single, found = (AlternatingMinimisation().run(one, seed=1) for one in (problem, on_cpu(problem)))
    assert (found.status, found.sweeps) == (single.status, single.sweeps)
    np.testing.assert_allclose(found.x, single.x, atol=1e-9)


def test_single_proposals_are_for_runs_in_memory():
    with pytest.raises(InputError, match="sa on a device updates all signs at once"):
        SimulatedAnnealing().run(on_cpu(PROBLEM), Schedule.matched(unit="proposals"))


@pytest.mark.slow
@pytest.mark.parametrize("solver", [PopulationAnnealing(16), Langevin()], ids=["pa", "langevin"])
def test_other_anneals_on_a_device(solver):
    plan = ANNEAL if solver.name == "pa" else ANNEAL[:20]
    device = on_cpu(PROBLEM)
    first, whole = (solver.run(device, part, seed=3) for part in (plan[:10], plan[:20]))
    same_states(solver.run(device, plan[10:20], init=first.state).state, whole.state)
    cold = Schedule.matched(mu0=1e4, mu_max=1e5, eps=0.4, steps=2)[:10]
    warm = solver.run(device, cold, init=PROBLEM.signs), solver.run(device, cold, seed=3)
    assert warm[0].trace["O"][0] == 1 > warm[1].trace["O"][0]


# ----------------------------------------------------------------------------------------- a population at equilibrium

SMALL = gaussian_instance(6, 10 / 6, seed=2)
HOT = Schedule.matched(mu0=0.1, mu_max=2.0, eps=0.25, steps=5)
COPIES, POPULATIONS = 500, 8


@pytest.fixture(scope="module")
def populations():
    """Several on a problem that can be enumerated, measured after each half of a schedule."""
    own, solver, half = there(SMALL), PopulationAnnealing(COPIES), len(HOT) // 2
    levels = HOT[half - 1], HOT[2 * half - 1]

    def run(problem, drawn):
        first = solver.start(problem, drawn, HOT.mu[0], HOT.lam[0], None)
        middle = solver.advance(problem, first, HOT[:half].stretch(10))
        last = solver.advance(problem, middle, HOT[half : 2 * half].stretch(10))
        return last, solver.measure(problem, middle), solver.measure(problem, last)

    drawn = [solver.draw(np.random.default_rng(seed), 10, 6, HOT, 0) for seed in range(POPULATIONS)]
    stacked = type(drawn[0])(*(np.stack(parts) for parts in zip(*drawn, strict=True)))
    with jax.enable_x64(True):
        found = jax.jit(jax.vmap(run, (None, 0)))(own, stacked)
    state, *rows = jax.tree.map(np.asarray, found)
    return state, list(zip(rows, levels, strict=True))


@pytest.mark.slow
def test_populations_are_at_equilibrium(populations):
    state, (*_, (_, level)) = populations
    probabilities, _ = gibbs(*normalised(SMALL), *level)
    signs = np.sign(state.copies.v).reshape(-1, 10)
    counts = np.bincount(state_index(signs), minlength=probabilities.size)
    expected = counts.sum() * probabilities
    rare = expected < 8
    bins = [np.append(some[~rare], some[rare].sum()) for some in (counts, expected)]
    assert stats.chisquare(*bins).pvalue > 1e-3
    assert probabilities.max() > 20 * np.median(probabilities)


@pytest.mark.slow
def test_free_entropy_and_energy_against_enumeration(populations):
    """The estimate of Z itself is unbiased at any number of copies."""
    A, y = normalised(SMALL)
    for row, (mu, lam) in populations[1]:
        probabilities, log_Z = gibbs(A, y, mu, lam)
        ratios = np.exp(row["free_entropy"] * 6 - log_Z)
        assert ratios.std() < 0.1
        assert close_to(ratios, 1.0)
        assert close_to(row["energy"], probabilities @ energies(A, y, lam) / 6)
        assert row["best_energy"].min() == pytest.approx(energies(A, y, lam).min() / 6, abs=1e-9)


@pytest.mark.slow
def test_families_only_die_out_and_sweeps_are_counted(populations):
    state, ((before, _), (after, _)) = populations
    assert (after["families"] == [len(np.unique(families)) for families in state.families]).all()
    assert (after["families"] >= 1).all()
    assert (after["families"] < before["families"]).all()
    assert (after["sweeps"] == len(HOT) // 2 * 2 * 5 * COPIES).all()


def test_every_copy_is_quenched():
    """The copy of lowest energy is an impostor; another one falls into the truth."""
    problem = PROBLEMS[0]
    K, y = problem.normalised.ridge.exact_couplings(), problem.normalised.y

    def energy(signs):
        v = signs * y
        return v @ v - v @ K @ v

    minima = [greedy_flips(K, y, random_signs(ROWS, seed), loops)[0] for seed in range(100)]
    minima = sorted((signs for signs in minima if energy(signs) > 1e-6), key=energy)[:7]
    one_wrong = [signs for signs in problem.signs * (1 - 2 * np.eye(ROWS)) if energy(signs) > energy(minima[-1])]
    own, solver = there(problem), PopulationAnnealing(8)
    drawn = solver.draw(np.random.default_rng(0), ROWS, N, ANNEAL, 0)
    drawn = drawn._replace(signs=np.stack([*minima, min(one_wrong, key=energy)]).astype(np.int8))
    state = own.compiled(functions_of(solver).start)(own, drawn, 1.0, 1.0, None)
    found, floor = result_of(own, functions_of(solver).candidate, state)
    assert abs(found @ problem.signs) == ROWS
    assert floor < 1e-12
