import numpy as np
import pytest

from phaselect import InputError, PopulationAnnealing, Schedule, gaussian_instance
from phaselect.backends.host import loops
from phaselect.equations.greedy import greedy_flips
from phaselect.problem.streams import Purpose, stream
from phaselect.solvers.population_annealing import resample
from tests.backends.test_host_flips import chi_square_p_value
from tests.exact import energies, gibbs, normalised, state_index

SCHEDULE = Schedule.matched(mu0=0.1, mu_max=2.0, eps=0.25, steps=10)


def started(problem, solver, mu=1.0, lam=1.0):
    drawn = solver.draw(stream(0, Purpose.RUN), problem.m_rows, problem.n, SCHEDULE, 0)
    return solver.start(problem.normalised, drawn, mu, lam, None)


@pytest.fixture(scope="module")
def small():
    problem = gaussian_instance(6, 10 / 6, seed=2)
    result = PopulationAnnealing(replicas=20_000, eager=False).run(problem, SCHEDULE, seed=0)
    return problem, result


def test_population_is_at_equilibrium(small):
    """Copies of one family are correlated; 10 sweeps of 10 signs at each temperature undo that at this size."""
    problem, result = small
    probabilities, _ = gibbs(*normalised(problem), *SCHEDULE[-1])
    counts = np.bincount(state_index(result.state.copies.signs), minlength=probabilities.size)
    assert chi_square_p_value(counts, probabilities) > 1e-3


def test_free_entropy_against_enumeration(small):
    problem, result = small
    assert len(result.trace["mu"]) == len(SCHEDULE)
    for k in (0, 5, len(SCHEDULE) - 1):
        _, log_Z = gibbs(*normalised(problem), *SCHEDULE[k])
        assert result.trace["free_entropy"][k] * problem.n == pytest.approx(log_Z, abs=0.02)


def test_trace_averages_against_enumeration(small):
    problem, result = small
    A, y = normalised(problem)
    mu, lam = SCHEDULE[-1]
    probabilities, _ = gibbs(A, y, mu, lam)
    expected = probabilities @ energies(A, y, lam) / problem.n
    assert result.trace["energy"][-1] == pytest.approx(expected, rel=0.01)
    assert result.trace["best_energy"][-1] == pytest.approx(energies(A, y, lam).min() / problem.n, abs=1e-9)


def test_resampling_keeps_the_expected_number_of_descendants():
    """From mu = 0 to (1, 1): the weights are exp(-E), and their mean is what log Z grows by."""
    problem = gaussian_instance(10, 1.5, seed=0)
    state = started(problem, PopulationAnnealing(replicas=50))
    ridge = problem.normalised.ridge.at(1.0)
    after = resample(problem.normalised, state, ridge, 1.0, 1.0)
    A, y = normalised(problem)
    every = np.exp(-energies(A, y, 1.0))
    weights = every[state_index(state.copies.signs)]
    expected = 50 * weights / weights.sum()
    children = np.bincount(after.families, minlength=50)
    assert (np.abs(children - expected) < 1).all()
    assert after.log_Z == pytest.approx(15 * np.log(2) + np.log(weights.mean()))


def test_families_only_die_out(small):
    families = small[1].trace["families"]
    assert (np.diff(families) <= 0).all()
    assert 1 <= families[-1] < families[0] <= 20_000


def impostors_below_a_neighbour():
    """A problem and the signs of copies: low minima, and last, above them, the truth but for one sign."""
    problem, rng = gaussian_instance(60, 1.35, seed=0), np.random.default_rng(0)
    own = problem.normalised
    K = own.ridge.exact_couplings()

    def energy(signs):
        return float(own.ridge.at(0.0).regress((signs * own.y)[None]).energy[0])

    minima = sorted((greedy_flips(K, own.y, rng.choice([-1.0, 1.0], 81), loops)[0] for _ in range(100)), key=energy)[:7]
    one_wrong = problem.signs * (1 - 2 * np.eye(81))
    above = [signs for signs in one_wrong if energy(signs) > energy(minima[-1])]
    return problem, np.stack([*minima, min(above, key=energy)])


def test_every_copy_is_quenched():
    """The copy of lowest energy is an impostor; another one falls into the truth."""
    problem, signs = impostors_below_a_neighbour()
    solver = PopulationAnnealing(8)
    copies = problem.normalised.ridge.at(0.0).copies(signs)
    found, floor = solver.candidate(problem.normalised, started(problem, solver)._replace(copies=copies))
    assert abs(found @ problem.signs) == 81
    assert floor < 1e-12


def test_bad_options():
    for replicas in (1, 2.5, True):
        with pytest.raises(InputError, match="replicas"):
            PopulationAnnealing(replicas=replicas)
