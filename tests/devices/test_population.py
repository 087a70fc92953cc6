from types import SimpleNamespace

import jax
import numpy as np
import pytest
from jax import export
from jax.sharding import AbstractDevice, AbstractMesh, AxisType
from phaselect.devices import block_flips, population
from phaselect.devices.couplings import couplings, fresh_key
from phaselect.problem.observables import of_signs, to_floats
from phaselect.problem.spectrum import spectrum

from phaselect import PopulationAnnealing, Schedule, gaussian_instance
from phaselect.solvers.finish import greedy
from tests.devices.test_couplings import member_of, random_signs
from tests.exact import energies, gibbs, normalised, state_index
from tests.solvers.test_metropolis import chi_square_p_value
from tests.solvers.test_population_annealing import impostors_below_a_neighbour

SCHEDULE = Schedule.matched(mu0=0.1, mu_max=2.0, eps=0.25, steps=10)


@pytest.fixture(autouse=True)
def _wide_types():
    with jax.enable_x64(True):
        yield


def key_data(seed):
    return jax.random.key_data(jax.random.key(seed))


def many_keys(count):
    return jax.random.key_data(jax.vmap(jax.random.key)(np.arange(count)))


def close_to(found, expected, sigmas=4):
    """The mean of independent runs is what is expected, or is the mean of other runs, within its standard error."""
    found, expected = np.asarray(found), np.atleast_1d(expected)
    variance = found.var(ddof=1) / found.size + (expected.var(ddof=1) / expected.size if expected.size > 1 else 0)
    return abs(found.mean() - expected.mean()) < sigmas * np.sqrt(variance)


# ---------------------------------------------------------------------------------------------------- flips in blocks


def copies_of(rows, copies, mu, dtype="float64"):
    problem = gaussian_instance(int(rows / 1.25), 1.25, seed=0)
    G = couplings(member_of(problem, dtype), 1 / mu)
    v = (random_signs((rows, copies)) * problem.target[:, None]).astype(dtype)
    return v, np.asarray(G) @ v, G


def one_by_one(v, G, mu, key, sweeps):
    """Sequential Metropolis from the definition of the energy, with the exponentials that the blocks draw."""
    v, copies, blocks = v.copy(), v.shape[1], -(-len(v) // block_flips.BLOCK)
    draws = [jax.random.fold_in(key, t) for t in range(blocks * sweeps)]
    draws = [jax.random.exponential(draw, (block_flips.BLOCK, copies), "float32") for draw in draws]
    thresholds = np.concatenate(draws).astype(float).reshape(sweeps, blocks * block_flips.BLOCK, copies)
    for s in range(sweeps):
        for i in range(len(v)):
            for k in range(copies):
                flipped = v[:, k].copy()
                flipped[i] *= -1
                change = v[:, k] @ G @ v[:, k] - flipped @ G @ flipped  # E = |y|^2 - v G v
                if mu * change < thresholds[s, i, k]:
                    v[:, k] = flipped
    return v


@pytest.mark.parametrize(("rows", "mu"), [(50, 0.5), (50, 8.0), (64, 3.0), (10, 3.0)])
def test_blocks_are_the_sequential_chain(rows, mu):
    """Rows that fill the blocks, or do not."""
    v, h, G = copies_of(rows, 5, mu)
    key = jax.random.key(3)
    found, fields = block_flips.sweep(v, h, G, np.float64(mu), key, 3)
    expected = one_by_one(v, np.asarray(G), mu, key, 3)
    assert 0.02 < np.mean(v != expected) < 0.98
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(fields, G @ expected, atol=1e-12)


def test_narrow_fields_do_not_drift():
    v, h, G = copies_of(80, 40, 3.0, "float32")
    found, fields = block_flips.sweep(v, h, G, np.float64(3.0), jax.random.key(0), 50)
    assert (found.dtype, fields.dtype) == ("float32", "float32")
    np.testing.assert_array_equal(np.abs(found), np.abs(v))
    np.testing.assert_allclose(fields, np.asarray(G, float) @ np.asarray(found, float), atol=5e-5)


@pytest.mark.parametrize("copies", [128, 200])
def test_kernel_against_loop(copies):
    """Copies that fill the tiles, or do not; alone and in a batch."""
    v, h, G = (array[:32] for array in copies_of(40, copies, 3.0, "float32"))
    threshold = np.random.default_rng(0).exponential(size=(32, copies)).astype("float32")
    arguments = [jax.numpy.asarray(array) for array in (v, h, threshold, G[:, :32], np.float32(3.0))]
    expected = block_flips.block_by_loop(*arguments)
    assert 0.05 < np.mean(expected != v) < 0.95

    def kernel(*arrays):
        return block_flips.block_by_kernel(*arrays, interpret=True)

    np.testing.assert_array_equal(kernel(*arguments), expected)
    batch = [np.stack([array, array[..., ::-1] if k < 3 else array]) for k, array in enumerate(arguments)]
    both = jax.vmap(kernel)(*batch)
    np.testing.assert_array_equal(both[0], expected)
    np.testing.assert_array_equal(both[1][:, ::-1], expected)


@pytest.mark.parametrize(
    ("platform", "dtype", "kernel"), [("cuda", "float32", True), ("cuda", "float64", False), ("cpu", "float32", False)]
)
def test_the_kernel_is_what_a_gpu_gets(platform, dtype, kernel):
    mesh = AbstractMesh(
        (1,), ("d",), axis_types=(AxisType.Auto,), abstract_device=AbstractDevice("NVIDIA H200", 132, "cuda")
    )
    shapes = [(3, 32, 200)] * 3 + [(3, 32, 32), (3,)]
    arguments = [jax.ShapeDtypeStruct(shape, "float32" if k == 2 else dtype) for k, shape in enumerate(shapes)]
    allowed = export.DisabledSafetyCheck.custom_call("__gpu$xla.gpu.triton")
    program = jax.jit(jax.vmap(block_flips.update_block))
    with jax.sharding.use_abstract_mesh(mesh):
        text = export.export(program, platforms=[platform], disabled_checks=[allowed])(*arguments).mlir_module()
    assert ("triton" in text) == kernel


# ---------------------------------------------------------------------------------------------------- the population


@pytest.fixture(scope="module", params=["float32", "float64"])
def small(request):
    """Eight populations on a problem that can be enumerated, measured after each of two segments."""
    problem = gaussian_instance(6, 10 / 6, seed=2)
    half = len(SCHEDULE) // 2

    def run(member, key):
        first = population.advance(
            member, population.start(member, key, 1000), SCHEDULE.mu[:half], SCHEDULE.lam[:half], 10
        )
        last = population.advance(member, first, SCHEDULE.mu[half:], SCHEDULE.lam[half:], 10)
        return last, population.columns(member, first), population.columns(member, last)

    with jax.enable_x64(True):
        state, *rows = jax.jit(jax.vmap(run, (None, 0)))(member_of(problem, request.param), many_keys(8))
    return SimpleNamespace(problem=problem, state=state, rows=rows, levels=[SCHEDULE[half - 1], SCHEDULE[-1]])


def test_populations_are_at_equilibrium(small):
    probabilities, _ = gibbs(*normalised(small.problem), *small.levels[-1])
    signs = np.moveaxis(np.asarray(small.state.v), 1, 2).reshape(-1, 10)
    counts = np.bincount(state_index(signs), minlength=probabilities.size)
    assert chi_square_p_value(counts, probabilities) > 1e-3


def test_free_entropy_against_enumeration(small):
    """The estimate of Z itself is unbiased at any number of copies."""
    for row, level in zip(small.rows, small.levels, strict=True):
        _, log_Z = gibbs(*normalised(small.problem), *level)
        ratios = np.exp(row["free_entropy"] * 6 - log_Z)
        assert ratios.std() < 0.05
        assert close_to(ratios, 1.0)


def test_averages_against_enumeration(small):
    A, y = normalised(small.problem)
    for row, (mu, lam) in zip(small.rows, small.levels, strict=True):
        probabilities, _ = gibbs(A, y, mu, lam)
        assert close_to(row["energy"], probabilities @ energies(A, y, lam) / 6)
        assert row["best_energy"].min() == pytest.approx(energies(A, y, lam).min() / 6, abs=1e-6)


def test_families_only_die_out(small):
    before, after = (np.asarray(row["families"]) for row in small.rows)
    assert (after == [len(np.unique(families)) for families in small.state.families]).all()
    assert (after >= 1).all()
    assert (after < before).all()


def test_steps_are_proposals(small):
    assert (small.rows[-1]["steps"] == len(SCHEDULE) * 10 * 10 * 1000).all()


def test_start_is_infinite_temperature():
    problem = gaussian_instance(20, 1.5, seed=0)
    states = [population.start(member_of(problem, "float32"), key_data(seed), 400) for seed in (0, 0, 1)]
    signs = [np.asarray(state.v) / problem.target[:, None].astype("float32") for state in states]
    np.testing.assert_array_equal(np.abs(signs), 1)
    assert np.abs(signs[0].mean(axis=1)).max() < 5 / np.sqrt(400)
    assert np.abs(signs[0].mean(axis=0)).max() < 5 / np.sqrt(30)
    np.testing.assert_array_equal(signs[0], signs[1])
    assert np.mean(signs[0] != signs[2]) == pytest.approx(0.5, abs=0.05)
    assert (states[0].mu, states[0].log_Z) == (0, pytest.approx(30 * np.log(2)))


def test_resampling_is_unbiased():
    """Each copy gets the floor or the ceiling of R times its normalised weight, and that number on average."""
    problem = gaussian_instance(10, 1.5, seed=0)
    member = member_of(problem)
    before, G = couplings(member, 4.0), couplings(member, 1.0)
    state = population.start(member, key_data(0), 50)._replace(mu=np.float64(0.3), lam=np.float64(4.0))
    state = state._replace(h=before @ state.v)
    spectral = spectrum(problem)
    c = spectral.coordinates(np.asarray(state.v).T)
    weights = np.exp(0.3 * spectral.energy(c, 4.0) - spectral.energy(c, 1.0))
    expected = 50 * weights / weights.sum()

    def heirs(key):
        return population.resample(state._replace(key=key), G, 1.0, 1.0)

    after = jax.jit(jax.vmap(heirs))(many_keys(1000))
    children = np.array([np.bincount(families, minlength=50) for families in after.families])
    assert (np.abs(children - expected) < 1).all()
    np.testing.assert_allclose(children.mean(axis=0), expected, atol=5 * 0.5 / np.sqrt(1000))
    np.testing.assert_allclose(after.log_Z, 15 * np.log(2) + np.log(weights.mean()))
    chosen = after.families[0]
    np.testing.assert_array_equal(after.v[0], state.v[:, chosen])
    np.testing.assert_allclose(after.h[0], G @ state.v[:, chosen], atol=1e-12)


def test_a_segment_can_be_cut():
    """And every resampling and every sweep has random numbers of its own."""
    member = member_of(gaussian_instance(16, 1.25, seed=0), "float32")
    mu, lam = SCHEDULE.mu[:4], SCHEDULE.lam[:4]
    advance = jax.jit(population.advance)
    first = population.start(member, key_data(5), 9)
    whole, parts, key = advance(member, first, mu, lam, 2), first, first.key
    for cut in (slice(0, 2), slice(2, 4)):
        parts = advance(member, parts, mu[cut], lam[cut], 2)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)
    for _ in range(2 * len(mu)):
        key, _ = fresh_key(key)
    np.testing.assert_array_equal(whole.key, key)


@pytest.fixture(scope="module")
def medium():
    """Eight populations by the device program in float32, and eight by the single-instance solver."""
    problem = gaussian_instance(40, 1.4, seed=1)
    schedule = Schedule.matched(mu0=0.2, mu_max=20.0, eps=0.15, steps=6)

    def run(member, key):
        state = population.advance(
            member, population.start(member, key, 300), schedule.mu, schedule.lam, schedule.steps
        )
        return state, population.columns(member, state), population.quench(member, state)

    with jax.enable_x64(True):
        batch = jax.jit(jax.vmap(run, (None, 0)))(member_of(problem, "float32"), many_keys(8))
    single = [PopulationAnnealing(300, eager=False).run(problem, schedule, seed=seed) for seed in range(8)]
    return problem, batch, single


def test_averages_against_the_single_instance_solver(medium):
    _, (_, row, _), single = medium
    names = ["mse_y", "m", "O", "energy", "q1", "free_entropy", "families"]
    assert set(names) | {"best_energy", "steps"} == set(row)
    for name in names:
        assert close_to(row[name], [result.trace[name][-1] for result in single]), name
    assert (row["steps"] == single[0].trace["steps"][-1]).all()


def test_every_copy_is_quenched():
    problem, signs = impostors_below_a_neighbour()
    member = member_of(problem)
    state = population.start(member, key_data(0), 8)
    found, floor = population.quench(member, state._replace(v=(signs * problem.target).T.astype(state.v.dtype)))
    assert abs(np.asarray(found) @ problem.signs) == 81
    assert floor < 1e-12


def test_columns_and_quench_of_a_state(medium):
    problem, (state, row, (signs, floor)), _ = medium
    spectral = spectrum(problem)
    for k in range(8):
        v = np.asarray(state.v[k].T, float)
        all_signs = np.where(v < 0, -1.0, 1.0)
        copies = of_signs(spectral, all_signs, spectral.coordinates(all_signs * problem.target), float(state.lam[k]))
        for name, value in to_floats(copies).items():
            assert row[name][k] == pytest.approx(value, rel=1e-4), name
        lowest = all_signs[np.argmin(copies["energy"])]
        assert row["best_energy"][k] == pytest.approx(copies["energy"].min(), rel=1e-4)
        reached = spectral.energy(spectral.coordinates(greedy(spectral, lowest) * problem.target), 0.0) / 56
        assert floor[k] <= reached + 1e-9  # the best of all copies, that of the lowest one among them
        np.testing.assert_array_equal(signs[k], greedy(spectral, signs[k]))
        assert floor[k] == pytest.approx(
            spectral.energy(spectral.coordinates(signs[k] * problem.target), 0.0) / 56, abs=1e-9
        )
