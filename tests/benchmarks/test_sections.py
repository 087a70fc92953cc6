"""What the sections measure."""

import json
import re
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.internals import couplings, spectrum
from benchmarks.rivals import Outcome
from benchmarks.rows import measured

from benchmarks import (
    finish,
    fresh,
    growth,
    measuring,
    metropolis,
    on_cpu,
    rivals,
    solutions,
    startup,
    timing,
)
from phaselect import AMP, InputError, SimulatedAnnealing, gaussian_instance
from phaselect.solvers.cohort import Cohort
from tests.benchmarks.conftest import TINY


def test_without_dwave_the_rows_say_how_to_get_it(tiny, monkeypatch):
    def no_such_module(name):
        raise ImportError(name)

    monkeypatch.setattr(rivals, "import_module", no_such_module)
    found = measured(metropolis.tasks(on_cpu.OnCPU(), TINY)[0]).found
    assert found.value > 0
    assert found.reference is None
    assert "pip install 'phaselect[bench]'" in found.detail
    rows = {task.what: measured(task).found for task in solutions.tasks(on_cpu.OnCPU(), TINY)}
    assert rows["dwave-samplers annealing"].value is None
    assert "pip install 'phaselect[bench]'" in rows["dwave-samplers annealing"].detail
    ours = rows["phaselect.solve"]
    assert ours.detail == "2 of 2 certified"
    assert 0 < ours.bound < ours.value < TINY.time_limit


def test_dwave_sees_the_energy_of_the_signs(tiny):
    pytest.importorskip("dwave.samplers")
    problem = gaussian_instance(20, 1.5, seed=0)
    ridge = spectrum(problem).at(0.1)
    model = rivals.dwave().model(couplings(problem, 0.1))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (2, 30))
    ours = ridge.energies(ridge.copies(signs))
    theirs = [model.energy(dict(enumerate(one))) for one in signs]
    assert theirs[1] - theirs[0] == pytest.approx(ours[1] - ours[0], rel=1e-4)
    assert rivals.dwave_solve(gaussian_instance(40, 2.0, seed=0), 5.0).certified
    assert 0.1 < measured(metropolis.tasks(on_cpu.OnCPU(), TINY)[0]).found.reference < 1e3


def test_the_best_rival_is_the_one_that_solved_most():
    quick, slow, failed = Outcome(True, 1.0), Outcome(True, 3.0), Outcome(False, 9.0)
    assert solutions.fastest({"a": [quick, failed], "b": [slow, slow]}) == 3.0
    assert solutions.fastest({"a": [slow, slow], "b": [quick, quick]}) == 1.0
    assert solutions.fastest({"a": [failed]}) is None
    found = solutions.summary([quick, slow, failed])
    assert (found.value, found.detail) == (2.0, "2 of 3 certified, otherwise stopped after 9 s")
    assert solutions.summary([failed]).value is None
    assert solutions.summary([failed, Outcome(False, 9.0, diverged=True)]).detail.endswith("after 9 s, 1 diverged")


def test_exponents_of_power_laws(tiny):
    rows = {row.what: row for row in map(measured, growth.tasks(on_cpu.OnCPU(), TINY))}
    assert rows["exponent of time"].found.value == pytest.approx(2)
    assert rows["exponent of memory"].found.value == pytest.approx(2)


def test_the_finish_is_what_follows_message_passing(tiny, monkeypatch):
    """Made slow, it takes so much longer."""
    settle = Cohort.settle

    def slow(self, candidates):
        time.sleep(0.2)
        return settle(self, candidates)

    monkeypatch.setattr(Cohort, "settle", slow)
    rows = finish.tasks(on_cpu.OnCPU(), replace(TINY, finish=((50, 1.8, 9.0),)))
    whole, after, step, memory = (measured(row).found for row in rows)
    assert re.fullmatch(r"certified; \d+ iterations of message passing, [1-9]\d+ steps", whole.detail)
    assert 0.2 < after.value < whole.value
    assert after.reference == pytest.approx(whole.value - after.value)
    assert step.value > 0
    assert "growth" in memory.detail


def test_memory_of_a_process_of_its_own():
    taken = on_cpu.OnCPU().footprint(1000, 1.3, range(1))
    assert taken.seconds > 0
    assert taken.iterations > 20
    assert taken.certified == 1
    if taken.bytes is not None:
        size = 8 * 1000 * 1300
        assert 0.95 * size < taken.bytes < 1.24 * size  # 1.17 to 1.21; 1.28 with the test set that was drawn too


@pytest.mark.parametrize("solver", [AMP(restarts=0), pytest.param(SimulatedAnnealing(), marks=pytest.mark.slow)])
def test_measuring_is_what_the_solver_measures(monkeypatch, solver):
    """A measurement that is made slow takes nearly all of the loop; the finish does not count."""
    honest, quick = Cohort.measure, measuring.share(solver, None, 30, repeat=1)
    assert 0 < quick.value < 0.9

    def slow(self, state):
        time.sleep(0.05)  # much, also where the loop is held up once
        return honest(self, state)

    monkeypatch.setattr(Cohort, "measure", slow)
    found = measuring.share(solver, None, 30, repeat=1)
    assert quick.value + 0.1 < found.value < 1
    assert Cohort.measure is slow  # as it was before


def test_a_fresh_process_says_what_it_misses(monkeypatch):
    monkeypatch.setattr(timing, "PAUSE", 0.0)
    found = startup.process(("-c", "import time; time.sleep(0.3)"), 0.5, 1)
    assert found.value > 0.3
    assert found.ratio == pytest.approx(found.reference / found.value)
    with pytest.raises(InputError, match="no_such_rival is not installed"):
        fresh.printed("-c", "import no_such_rival")
    with pytest.raises(RuntimeError, match="division"):
        fresh.printed("-c", "1 / 0")
    assert json.loads(fresh.printed("-c", "import sys; print(len(sys.argv))")) == 1
    began = time.perf_counter()
    assert 0.05 < fresh.seconds_inside("time.sleep(0.05)") < time.perf_counter() - began
    assert sys.modules.get("no_such_rival") is None


def small_device(kind):
    jax = pytest.importorskip("jax")
    from benchmarks import bandwidth, on_gpu

    try:
        (found, *_) = jax.devices(kind)
    except RuntimeError:
        pytest.skip(f"no {kind}")
    machine = on_gpu.OnGPU(found, copies=8, chains=3, sweeps=1, bandwidth_bytes=1 << 20, matrix_side=64)
    assert machine.described()["gpu"]
    assert bandwidth.best(machine) > 0
    assert machine.matrix_rate > 0
    return machine


def test_the_rates_of_a_device(monkeypatch):
    monkeypatch.setattr(timing, "PAUSE", 0.0)
    assert small_device("cpu").fits(100, 1.3, 4)


@pytest.mark.gpu
def test_a_device_does_all_that_is_measured(monkeypatch):
    """Compiles for half a minute; passes on the CPU of JAX too."""
    from benchmarks import on_gpu

    monkeypatch.setattr(timing, "PAUSE", 0.0)
    machine = small_device("gpu")
    for kernel in machine.kernels().values():
        ready = kernel(40)
        assert ready.measurement(timing.best_seconds(ready.run, 1)).of_bound > 0
    ready = machine.iterations(40, 2.0, "float32")
    assert all(seconds > 0 for seconds in timing.in_turn(ready.run, ready.products, repeat=1))
    for largest in (40, 39):  # from the host, and drawn there
        monkeypatch.setattr(on_gpu, "LARGEST_FROM_HOST", largest)
        assert machine.load(40, 2.0, 0)(20.0).certified
    assert machine.footprint(40, 2.0, range(1)).certified == 1
