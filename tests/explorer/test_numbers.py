"""The formulas of the page, evaluated in Chromium, against those of the package and against plain linear algebra."""

import math

import numpy as np
import pytest

from phaselect import Schedule, theory
from phaselect.backends.host.ridge import decompose
from phaselect.equations.amp_iteration import Beliefs, iteration, pass_by_products
from phaselect.equations.channels import mean_sign, output_channel_with
from phaselect.equations.signs import estimate_columns
from phaselect.theory.averages import averages
from phaselect.theory.control import Control
from phaselect.theory.flow import paramagnet, saddle_map

RULES = [{"product": 1.0}, {"product": 4.0}, {"lam": 0.0}, {"lam": 0.005}]
STATES = [(0.7, 0.2, 0.5), (2.0, 1e-6, 1e-3), (1e-3, 1e-4, 0.999), (0.1, 0.3, -0.4), (5e-5, 1e-8, 0.9999)]


@pytest.fixture(scope="module")
def page(browser, explorer):
    page = browser.new_page(offline=True)
    page.goto(explorer.as_uri())
    yield page
    page.close()


def schedule(rule, **options):
    if "product" in rule:
        return Schedule.fixed_product(rule["product"], **options)
    return Schedule.fixed_lambda(rule["lam"], **options)


def test_averages_over_a_measurement(page):
    found = page.evaluate("states => states.map(state => averages(...state))", STATES)
    for state, values in zip(STATES, found, strict=True):
        expected = averages(*map(np.asarray, (*state, 0.0)))
        for name, value in values.items():
            column = {"logZ": "log_z"}.get(name, name)
            assert value == pytest.approx(float(getattr(expected, column)), rel=1e-10), name


def test_one_iteration_of_the_saddle_point(page):
    for rule in RULES:
        control = Control(1.3, 5.0, rule.get("lam", rule.get("product", 0.0) / 5.0))
        ask = "([rule, states]) => states.map(([V, spread, m]) => saddleMap({V, spread, m}, controlAt(1.3, 5, rule)))"
        for state, found in zip(STATES, page.evaluate(ask, [rule, STATES]), strict=True):
            expected = saddle_map(*map(np.asarray, state), control)
            assert [found["V"], found["spread"], found["m"]] == pytest.approx(np.array(expected[:3]).tolist(), rel=1e-9)
        found = page.evaluate("rule => paramagnet(controlAt(1.3, 5, rule)).V", rule)
        assert found == pytest.approx(paramagnet(control).V, rel=1e-12)


@pytest.mark.parametrize(("rule", "alpha"), [*zip(RULES, [1.1, 1.3, 1.6, 1.1], strict=True)], ids=str)
def test_branches(page, rule, alpha):
    """Two that coexist when cold, one, one that jumps, and one that is lost when cold."""
    levels = schedule(rule, mu0=0.3, mu_max=1e4, eps=1.0)
    for start in ("uninformed", "informed"):
        ask = """([alpha, rule, start]) => follow(alpha, geometric(0.3, 1e4, 1), rule, start).map(point =>
          ({...point, replicon: replicon(point), complexity: complexity(point), trusted: trusted(point)}))"""
        found = page.evaluate(ask, [alpha, rule, start])
        expected = theory.follow(alpha, levels, start=start)
        assert expected["converged"].all()
        for name in ("mu", "lam", "V", "q0", "m", "O", "mse_y", "replicon", "complexity"):
            column = [point[name] for point in found]
            assert column == pytest.approx(expected[name].tolist(), rel=1e-6, abs=1e-9), (name, start)
        assert [point["trusted"] for point in found] == expected["trusted"].tolist()


def test_where_the_signal_is_hidden(page):
    for alpha, lam in ((1.6, 0.0), (1.4, 0.005)):
        expected = theory.transitions(alpha, lam)
        begin, end = page.evaluate("([alpha, lam]) => diagramRow(alpha, DIAGRAM_MUS, {lam}).hidden", [alpha, lam])
        assert begin == pytest.approx(expected.mu_spinodal, rel=1e-4)
        assert end == pytest.approx(expected.mu_uninformed_end, rel=1e-4)
    assert page.evaluate("diagramRow(1.7, DIAGRAM_MUS, {lam: 0}).hidden") is None


def test_the_output_channel(page):
    points = [(0.3, 1.2, 0.9), (-1.5, 0.4, 30.0), (2.0, 2.1, 1e4), (0.0, 0.7, 2.0)]
    found = page.evaluate("points => points.map(point => outputChannel(...point))", points)
    for point, values in zip(points, found, strict=True):
        g, curvature = output_channel_with(mean_sign)(*map(np.asarray, point))
        assert [values["g"], values["curvature"]] == pytest.approx([float(g), float(curvature)], rel=1e-12)


@pytest.fixture(scope="module")
def drawn(page):
    """An instance that the page has drawn: A, x0, y and signs."""
    ask = "() => { const p = drawInstance(20, 1.5, 3); return [p.A, p.x0, p.y, p.signs].map(a => [...a]) }"
    A, x0, y, signs = map(np.array, page.evaluate(ask))
    return A.reshape(30, 20), x0, y, signs


def test_an_instance_is_in_normalised_units(drawn):
    A, x0, y, signs = drawn
    assert signs * y == pytest.approx(A @ x0)
    assert [np.sum(A**2), np.sum(y**2)] == pytest.approx([30.0, 30.0])


def test_one_iteration_of_message_passing(page, drawn):
    A, x0, y, signs = drawn
    random = np.random.default_rng(0)
    x, w, g = random.standard_normal(20), random.standard_normal(30), 0.1 * random.standard_normal(30)
    ask = """([x, w, g]) => {
      const problem = drawInstance(20, 1.5, 3), old = {x, w, g, V: 0.7, Vd: 0.9, iterations: 1};
      const next = amplify(old, problem, 3, 0.4, 0.3);
      return {x: [...next.x], V: next.V, Vd: next.Vd, w: [...next.w], g: [...next.g], z: [...next.z],
              columns: estimateColumns(problem, old.x, next.z)};
    }"""
    found = page.evaluate(ask, [x.tolist(), w.tolist(), g.tolist()])
    pass_over = pass_by_products(lambda x: A @ x, lambda g: A.T @ g, y)
    old = Beliefs(x, np.asarray(0.7), np.asarray(0.9), w, g, np.zeros(30))
    expected = iteration(old, np.asarray(3.0), np.asarray(0.4), np.asarray(0.3), pass_over)
    for name, mine in (("x", "x"), ("V", "V"), ("Vd", "V_damped"), ("w", "w"), ("g", "g"), ("z", "z")):
        assert found[name] == pytest.approx(getattr(expected, mine), rel=1e-11), name
    columns = estimate_columns(y, x0, signs, x, A @ x, np.asarray(0.4))
    assert found["columns"] == pytest.approx({name: float(columns[name]) for name in ("m", "O", "mse_y")})


def energy(A, v, lam):
    """`min_x |v - A x|^2 + (lam/2) |x|^2`, by solving for x."""
    x = np.linalg.solve(A.T @ A + lam / 2 * np.eye(A.shape[1]), A.T @ v)
    return np.sum((v - A @ x) ** 2) + lam / 2 * np.sum(x**2)


@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_ridge_energies_and_what_a_flip_adds(page, drawn, lam):
    A, x0, y, signs = drawn
    v = np.random.default_rng(1).choice([-1.0, 1.0], 30) * y
    ask = """([v, lam]) => {
      const problem = drawInstance(20, 1.5, 3), spectrum = decompose(problem);
      const chain = {v: Float64Array.from(v), c: adjoint(spectrum.U, v, 20)};
      const {wc, G} = prepare(chain, spectrum, lam);
      const fields = forward(spectrum.U, wc, 30);
      return {s2: [...spectrum.s2], columns: signColumns(problem, spectrum, chain, lam),
              costs: v.map((value, i) => flipEnergy(value, fields[i], G[i]))};
    }"""
    found = page.evaluate(ask, [v.tolist(), lam])
    assert sorted(found["s2"]) == pytest.approx(sorted(np.linalg.svd(A, compute_uv=False) ** 2), rel=1e-10)
    flipped = [energy(A, np.where(np.arange(30) == i, -v, v), lam) - energy(A, v, lam) for i in range(30)]
    assert found["costs"] == pytest.approx(flipped, abs=1e-10)
    ridge = decompose(A, np.ones(30), y, x0, lambda x: A @ x, lambda z: A.T @ z)
    expected = ridge.at(lam).regress(v)
    columns = found["columns"]
    assert 20 * columns["energy"] == pytest.approx(energy(A, v, lam))
    assert 30 * columns["mse_y"] == pytest.approx(float(expected.residual))
    assert columns["m"] == pytest.approx(abs(float(expected.along)))
    assert columns["O"] == pytest.approx(abs(np.sign(v) @ signs) / 30)


def test_a_sweep_keeps_its_books_and_greedy_flips_end_in_a_minimum(page, drawn):
    A, _, y, _ = drawn
    ask = """() => {
      const problem = drawInstance(20, 1.5, 3), spectrum = decompose(problem), random = new Random(5);
      const chain = firstSigns(problem, spectrum, random), prepared = prepare(chain, spectrum, 0.2);
      for (let k = 0; k < 20; k++) sweep(chain, spectrum, prepared, 2, random);
      const swept = [[...chain.v], [...chain.c], [...adjoint(spectrum.U, chain.v, 20)]];
      quench(chain, spectrum);
      return [...swept, [...chain.v]];
    }"""
    v, c, coordinates, settled = map(np.array, page.evaluate(ask))
    assert np.abs(v) == pytest.approx(y)
    assert c == pytest.approx(coordinates, abs=1e-10)
    least = energy(A, settled, 0.0)
    assert least <= energy(A, v, 0.0)
    assert all(energy(A, np.where(np.arange(30) == i, -settled, settled), 0.0) > least - 1e-9 for i in range(30))


def test_metropolis_samples_its_law(page):
    """Every sign vector of four measurements as often as exp(-mu E) says."""
    ask = """() => {
      const problem = drawInstance(2, 2, 1), spectrum = decompose(problem);
      const random = new Random(7), counts = Array(16).fill(0);
      const chain = firstSigns(problem, spectrum, random), prepared = prepare(chain, spectrum, 0.3);
      for (let k = 0; k < 40000; k++) {
        sweep(chain, spectrum, prepared, 0.8, random);
        counts[chain.v.reduce((code, value) => 2 * code + (value < 0 ? 1 : 0), 0)] += 1;
      }
      return [[...problem.A], [...problem.y], counts];
    }"""
    A, y, counts = map(np.array, page.evaluate(ask))
    codes = [[1 - 2 * (code >> (3 - i) & 1) for i in range(4)] for code in range(16)]
    weights = np.array([math.exp(-0.8 * energy(A.reshape(4, 2), np.array(signs) * y, 0.3)) for signs in codes])
    assert counts / 40000 == pytest.approx(weights / weights.sum(), abs=0.012)  # four standard deviations


def xoshiro128(seed, count):
    """The generator in whole numbers of Python."""
    mask, state, word = 2**32 - 1, [], seed
    for _ in range(4):
        word = (word + 0x9E3779B9) & mask
        mixed = ((word ^ word >> 16) * 0x85EBCA6B) & mask
        mixed = ((mixed ^ mixed >> 13) * 0xC2B2AE35) & mask
        state.append(mixed ^ mixed >> 16)
    for _ in range(count):
        total = (state[0] + state[3]) & mask
        yield ((((total << 7) | (total >> 25)) + state[0]) & mask) / 2**32
        shifted = (state[1] << 9) & mask
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= shifted
        state[3] = ((state[3] << 11) | (state[3] >> 21)) & mask


def test_random_numbers(page):
    ask = "() => { const r = new Random(42); return Array.from({length: 1000}, () => r.uniform()) }"
    assert page.evaluate(ask) == list(xoshiro128(42, 1000))
    ask = "() => { const r = new Random(3); return Array.from({length: 20000}, () => r.normal()) }"
    normal = np.array(page.evaluate(ask))
    assert [normal.mean(), normal.var(), np.mean(normal**4)] == pytest.approx([0, 1, 3], abs=0.15)
