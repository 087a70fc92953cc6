"""Approximate message passing: its trace against state evolution and against iterations by hand; restarts."""

import math
from functools import partial

import numpy as np
import pytest

from phaselect import AMP, InputError, Instance, Schedule, Status, gaussian_instance
from phaselect.equations.amp_iteration import Beliefs, iteration
from phaselect.problem.streams import Purpose, stream
from phaselect.solvers import loop
from phaselect.solvers.message_passing import AMPDraw
from phaselect.theory import state_evolution

SHORT = Schedule.matched(mu0=1e3, mu_max=1e12, steps=1, unit="iterations")


def iterated(problem, schedule, x, damping, count):
    """x after so many iterations, by hand."""
    own = problem.normalised
    zeros = np.zeros(own.m_rows)
    state = Beliefs(x, 1.0, 1.0, zeros, zeros, zeros)
    for k in range(count):
        mu, lam = schedule[k]
        state = own.with_message_pass(False, partial(iteration, state, mu, lam, damping * (k > 0)))
    return state.x


def test_the_row_of_k_sweeps_shows_the_estimate_after_k_iterations():
    problem = gaussian_instance(60, 1.3, seed=1)
    x = AMP().draw(stream(4, Purpose.RUN, 0), problem.m_rows, 60, SHORT, 0).x
    trace = AMP(restarts=0).run(problem, SHORT[:120], seed=4).trace
    assert len(trace["sweeps"]) > 2
    own = problem.normalised
    for sweeps, m, q1, mse_y in zip(*(trace[c] for c in ("sweeps", "m", "q1", "mse_y")), strict=True):
        estimate = iterated(problem, SHORT, x, 0.3, int(sweeps))
        assert m == pytest.approx(abs(own.x0 @ estimate) / (own.x0 @ own.x0), rel=1e-9)
        assert q1 == pytest.approx(estimate @ estimate / 60, rel=1e-9)
        assert mse_y == pytest.approx(np.mean((own.y - np.abs(own.forward(estimate))) ** 2), rel=1e-9)
    result = AMP(restarts=0).run(problem, SHORT[:7], seed=4, noise=1e-9)
    after = iterated(problem, SHORT, x, 0.3, 7)
    np.testing.assert_allclose(result.x / problem.units.x_scale, after, rtol=1e-9)
    assert result.sweeps == 7  # all that were done, though the last row shows the estimate before the last


def test_rows_of_the_trace_are_those_of_state_evolution(monkeypatch):
    """Six runs at N = 1500 from an overlap of 0.25: within four standard errors and 0.01, what a finite N leaves.

    At first the overlap jumps up and down by more than 0.07 from row to row: one row off does not pass.
    """
    monkeypatch.setattr(loop, "EARLY", 0.0)  # every iteration is looked at
    begin, n, solver, runs = 0.25, 1500, AMP(restarts=0, damping=0.0), []
    schedule = Schedule.matched(mu0=1e3, mu_max=1e4, eps=0.15, steps=1, unit="iterations")
    for seed in range(6):
        problem = gaussian_instance(n, 1.4, seed=seed)
        own = problem.normalised
        noise = np.random.default_rng(seed + 100).standard_normal(n)
        noise -= (noise @ own.x0) / (own.x0 @ own.x0) * own.x0
        x = begin * own.x0 + math.sqrt((1 - begin**2) * n) / np.linalg.norm(noise) * noise
        start = solver.start(own, AMPDraw(x, 0.0, 1.0), *schedule[0], None)
        trace = solver.run(problem, schedule, init=start).trace
        runs.append([trace[name] for name in ("sweeps", "m", "q1", "V")])
    table = np.array(runs)
    sweeps = table[0, 0].astype(int)
    np.testing.assert_array_equal(sweeps, np.arange(len(schedule)))
    theory = state_evolution(1.4, schedule, damping=0.0, m0=begin)
    for column, name in enumerate(("m", "q1", "V"), start=1):
        mean, error = table[:, column].mean(axis=0), table[:, column].std(axis=0) / math.sqrt(len(runs))
        np.testing.assert_array_less(np.abs(mean - theory[name][sweeps]), 4 * error + 0.01, name)


def test_float32_matrix_is_iterated_in_float32_and_finished_in_float64():
    for seed in range(3):
        problem = gaussian_instance(200, 1.5, seed=seed)
        A = problem.A.astype(np.float32)
        single = Instance(A, np.abs(A.astype(np.float64) @ problem.x0), problem.x0)
        result = AMP().run(single, seed=seed)
        assert result.certified
        assert result.mse_y < 1e-26


def test_restarts_count_all_their_sweeps_and_help():
    problems = [gaussian_instance(100, 1.2, seed=seed) for seed in range(6)]
    alone = [AMP(restarts=0).run(problem, SHORT, seed=1) for problem in problems]
    again = [AMP(restarts=5).run(problem, SHORT, seed=1) for problem in problems]
    assert sum(many.certified for many in again) > sum(one.certified for one in alone)
    for one, many in zip(alone, again, strict=True):
        assert many.certified >= one.certified
        assert many.sweeps == one.sweeps if one.certified else many.sweeps > one.sweeps


def test_the_slow_matched_schedule_of_the_annealers_works_too():
    """At mu ~ 1 AMP rests at x = 0 for a while; that is no reason to stop."""
    for seed in range(2):
        problem = gaussian_instance(100, 1.5, seed=seed)
        assert AMP(restarts=0).run(problem, Schedule.matched(steps=20), seed=seed).certified


def test_the_best_attempt_is_kept_and_the_reason_told():
    problem = gaussian_instance(100, 1.03, seed=0)
    alone = AMP(restarts=0).run(problem, SHORT)
    timed = AMP(restarts=10**6).run(problem, SHORT, time_limit=0.3)
    assert timed.status is Status.TIME_LIMIT
    assert timed.mse_y <= alone.mse_y


def test_divergence_is_detected():
    """A matrix with a large common mean is far from iid: AMP blows up, says so, and returns finite numbers."""
    problem = gaussian_instance(100, 1.5, seed=0)
    A = problem.A + 1.0
    result = AMP(restarts=1, damping=0.0).run(Instance(A, np.abs(A @ problem.x0)))
    assert result.status is Status.DIVERGED
    assert np.isfinite(result.x).all()


def test_paper_schedule_recovers_where_it_should():
    problem = gaussian_instance(100, 1.6, seed=0)
    assert AMP(restarts=0).run(problem, Schedule.paper_amp()).certified


def test_bad_options():
    for options in ({"damping": 1.0}, {"damping": -0.1}, {"restarts": -1}, {"restarts": 1.5}):
        with pytest.raises(InputError, match="AMP"):
            AMP(**options)
    with pytest.raises(InputError, match="all signs at once"):
        AMP().run(gaussian_instance(10, 1.5, seed=0), Schedule.matched(unit="proposals"))


def recovered_of_the_papers_schedule(eps, alpha, iterations):
    anneal = Schedule.paper_amp(eps=eps, hold=0)
    schedule = Schedule.paper_amp(eps=eps, hold=max(0, iterations - len(anneal)))[:iterations]
    problems = [gaussian_instance(100, alpha, seed=seed) for seed in range(20)]
    return [AMP(restarts=0).run(problem, schedule, seed=0).truth["mse_x"] < 0.02 for problem in problems]


@pytest.mark.slow
@pytest.mark.parametrize(("eps", "alpha"), [(0.1, 1.375), (0.01, 1.2)])
def test_more_iterations_recover_no_more_on_the_papers_schedule(eps, alpha):
    """Unlike at mu*lam = 1: its product decays, and runs have come to rest when 3000 iterations are over."""
    few, most = (recovered_of_the_papers_schedule(eps, alpha, iterations) for iterations in (3000, 50_000))
    assert few == most
    assert 3 < sum(few) < 17
    assert few != recovered_of_the_papers_schedule(eps, alpha, 30)
