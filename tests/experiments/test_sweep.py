"""Sweeps with real parts: processes that are killed, a Dask cluster that loses a worker, Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace

import numpy as np
import psutil
import pytest

from phaselect import AMP, InputError, ReweightedAmplitudeFlow, Status, ensembles
from phaselect.backends.jax import devices
from phaselect.base.errors import DeviceLost
from phaselect.experiments import packing, runs
from phaselect.experiments.executors import Dask, InProcess, Processes
from phaselect.experiments.grid import Grid, Task
from phaselect.experiments.packing import Batches, SingleRuns
from phaselect.experiments.runs import run_on_device, run_pack, warm_up
from phaselect.experiments.store import Store
from phaselect.experiments.sweep import interrupt_deferred, run_sweep, status
from phaselect.solvers.registry import Recipe

GRID = Grid(("sa", "raf"), (50,), (1.3, 1.4), instances=3, options={"eps": (0.03,)})  # 12 runs of up to 0.2 s
COMMAND = ["--solver", "sa,raf", "--n", "50", "--alpha", "1.3,1.4", "--eps", "0.03"]
LONG = 400  # instances, which no test waits for
SMALL = Grid(("raf", "altmin"), (30,), (3.0,), instances=3)


def table_of(path):
    """Everything but what may differ between two runs: the time they took."""
    with Store(path, read_only=True) as store:
        table = store.table()
    return {name: column for name, column in table.columns.items() if name != "seconds"}


def assert_same_table(path, expected):
    """The rows that are expected are there, the same; others may be."""
    found = table_of(path)
    chosen = np.isin(found["key"], expected["key"])
    for name, column in expected.items():
        np.testing.assert_array_equal(found[name][chosen], column, err_msg=name)


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    path = tmp_path_factory.mktemp("serial") / "runs.db"
    assert run_sweep([GRID], path, InProcess()) == (12, 0, 12, 0, "")
    return table_of(path)


def rows_in(path):
    try:
        with Store(path, read_only=True) as store:
            return len(store)
    except InputError:
        return 0


def start_sweep(path, instances, *more):
    """A sweep in processes of its own, once it has added a row."""
    options = [*COMMAND, "--instances", str(instances), "--store", str(path), *more]
    command = [sys.executable, "-m", "phaselect", "sweep", *options]
    before = rows_in(path)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for(process, lambda: rows_in(path) > before)  # readers see rows while the sweep runs
    return process


def wait_for(process, condition):
    """While the process runs, for a minute at most."""
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_time_of_a_run_is_not_that_of_its_record(monkeypatch):
    def slow():
        time.sleep(1.0)
        return "unknown"

    task = SMALL.tasks()[0]
    problem = runs.instance_of(task)
    warm_up(task)
    monkeypatch.setattr(runs, "git_revision", slow)
    row = runs.run_task(problem, task, svd_seconds=100.0)
    assert row["revision"] == "unknown"
    assert 100 < row["seconds"] < 101


def test_a_killed_worker_is_replaced(tmp_path, serial):
    path = tmp_path / "runs.db"
    process = start_sweep(path, LONG, "--workers", "1")
    (victim,) = workers_of(process)
    victim.kill()
    wait_for(process, lambda: set(workers_of(process)) - {victim})
    before = rows_in(path)
    wait_for(process, lambda: rows_in(path) > before)
    interrupted(process, path)
    with Store(path, read_only=True) as store:
        assert store.failures() == {}
    run_sweep([GRID], path, InProcess())
    assert_same_table(path, serial)


def workers_of(process):
    """Those that are alive."""
    found = []
    for child in psutil.Process(process.pid).children():
        with suppress(psutil.NoSuchProcess):
            if "spawn_main" in " ".join(child.cmdline()):
                found.append(child)
    return found


def test_a_killed_driver_loses_nothing_and_ctrl_c_ends_its_heir_cleanly(tmp_path, serial):
    path = tmp_path / "runs.db"
    process = start_sweep(path, LONG, "--workers", "2")
    workers = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    before = rows_in(path)
    assert before >= 1
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive  # workers do not outlive their driver
    interrupted(start_sweep(path, LONG, "--workers", "1"), path)
    assert before < rows_in(path) < 4 * LONG
    run_sweep([GRID], path, InProcess())
    assert_same_table(path, serial)


def interrupted(process, path, number=signal.SIGINT):
    """Ctrl-C, or SIGTERM: to the driver and its workers, as a terminal or a batch system does."""
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "finishing the runs in hand" in err
    assert "interrupted: the same command goes on" in err
    assert "Traceback" not in err
    assert f"{rows_in(path)} of {4 * LONG} runs" in out


@pytest.mark.parametrize("terminal", [False, True])
def test_the_first_ctrl_c_has_a_line_of_its_own(terminal, capfd, monkeypatch):
    monkeypatch.setattr("os.isatty", lambda number: terminal)
    with interrupt_deferred() as interrupted:
        os.write(2, b"a bar")
        signal.raise_signal(signal.SIGINT)
        assert interrupted()
    before, _, after = capfd.readouterr().err.partition("finishing the runs in hand; Ctrl-C again")
    assert before == ("a bar\r\x1b[2K" if terminal else "a bar")
    assert after.endswith("\n")


def test_sigterm_ends_a_sweep_like_ctrl_c(tmp_path, serial):
    path = tmp_path / "runs.db"
    process = start_sweep(path, LONG, "--workers", "1")
    workers = psutil.Process(process.pid).children(recursive=True)
    interrupted(process, path, signal.SIGTERM)
    assert not psutil.wait_procs(workers, timeout=10)[1]
    with Store(path, read_only=True) as store:
        assert store.failures() == {}  # the workers were hit, too, and finished what they had in hand


def test_ctrl_c_that_comes_with_the_last_run_is_not_lost(tmp_path):
    grid = Grid(("raf",), (30,), (3.0,), instances=1)

    class Last(InProcess):
        def outcomes(self, *arguments):
            yield from super().outcomes(*arguments)
            os.kill(os.getpid(), signal.SIGINT)

    done = run_sweep([grid], tmp_path / "runs.db", Last())
    assert (done.added, done.stopped) == (1, "interrupted")


@pytest.mark.slow
@pytest.mark.parametrize("where", [("--workers", "0"), ("--local-cluster", "2")])
def test_ctrl_c_elsewhere(tmp_path, serial, where):
    path = tmp_path / "runs.db"
    interrupted(start_sweep(path, LONG, *where), path)
    run_sweep([GRID], path, InProcess())
    assert_same_table(path, serial)


class Poison(Task):
    """A task that kills the process it arrives in."""

    def __reduce__(self):
        return os._exit, (1,)


def test_a_task_that_kills_its_process_is_recorded_and_the_rest_is_done():
    good = Grid(("raf",), (30,), (3.0,), instances=1).tasks()
    poison = Poison("raf", 30, 3.0, 99, ())
    outcomes = list(Processes(1).outcomes(SingleRuns(), iter([[poison], good]), lambda: False))
    assert [pack for pack, _ in outcomes] == [[poison], good]
    assert "died" in str(outcomes[0][1])
    assert [row["key"] for row in outcomes[1][1]] == [good[0].key]


def test_of_a_pack_only_the_task_that_kills_its_process_is_to_blame():
    one, other, third = Grid(("raf",), (30,), (3.0,), instances=3).tasks()
    poison = Poison("raf", 30, 3.0, 99, ())
    outcomes = list(Processes(1).outcomes(SingleRuns(), iter([[one, poison, other], [third]]), lambda: False))
    died = [pack for pack, rows in outcomes if isinstance(rows, ChildProcessError)]
    done = [row["key"] for _, rows in outcomes if not isinstance(rows, Exception) for row in rows]
    assert died == [[poison]]
    assert sorted(done) == sorted(task.key for task in (one, other, third))


def test_a_grid_that_is_refused_is_not_remembered(tmp_path):
    path, endless = tmp_path / "runs.db", Grid(("amp",), (20,), (2.0,), instances=1, options={"eps": (1e-8,)})
    with pytest.raises(InputError, match="too many"):
        run_sweep([endless], path, InProcess())
    assert run_sweep([SMALL], path, InProcess()).added == 6
    assert sum(status([], path)["done"]) == 6


def test_the_kernels_of_a_run_are_loaded_before_its_clock_starts(monkeypatch):
    """Those of its own options, but for many copies, which need no others."""
    tried, run = [], Recipe.run
    monkeypatch.setattr(Recipe, "run", lambda *args, **options: tried.append(options) or run(*args, **options))
    runs._tiny_run.cache_clear()
    for options in ({"replicas": (64,)}, {"replicas": (64,), "product": (0.5,)}):
        (task,) = Grid(("pa",), (20,), (1.5,), instances=1, options=options).tasks()
        runs.run_task(runs.instance_of(task), task)
    assert [sorted(names) for names in tried] == [["product"], ["product", "replicas"]] * 2


@pytest.mark.slow  # test_cluster.py has the same with batches
def test_a_dask_worker_killed_in_mid_sweep(tmp_path, serial):
    from distributed import LocalCluster

    path = tmp_path / "runs.db"
    seen = []
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:

        def kill_one():
            while rows_in(path) < 3:
                time.sleep(0.02)
            worker = next(iter(cluster.workers.values()))
            seen.append(rows_in(path))
            os.kill(worker.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        assert run_sweep([GRID], path, Dask(cluster.scheduler_address)) == (12, 0, 12, 0, "")
        killer.join(timeout=30)
    assert 3 <= seen[0] < 12
    assert_same_table(path, serial)


def test_no_scheduler_gets_one_line(tmp_path):
    for address in ("tcp://127.0.0.1:9", "tls://127.0.0.1:9"):
        with pytest.raises(InputError, match=f"no Dask scheduler at {address}"):
            run_sweep([GRID], tmp_path / "runs.db", Dask(address, timeout=0.2))


def test_only_what_is_missing_is_computed(tmp_path):
    path = tmp_path / "runs.db"
    whole = tmp_path / "whole.db"
    run_sweep([SMALL], whole, InProcess())
    assert run_sweep([Grid(("raf",), (30,), (3.0,), instances=2)], path, InProcess()).added == 2
    assert run_sweep([SMALL], path, InProcess()) == (6, 2, 4, 0, "")
    assert run_sweep([SMALL], path, InProcess()) == (6, 6, 0, 0, "")
    assert_same_table(path, table_of(whole))


def test_failures_are_rows_and_are_retried_on_request(tmp_path, monkeypatch):
    path = tmp_path / "runs.db"
    warm_up(Grid(("raf",), (20,), (3.0,), instances=1).tasks()[0])
    sound = ReweightedAmplitudeFlow.run

    def stumbling(self, problem, schedule, *, seed):
        if seed == 1:
            raise FloatingPointError("stumbled\nbadly")
        return sound(self, problem, schedule, seed=seed)

    monkeypatch.setattr(ReweightedAmplitudeFlow, "run", stumbling)
    assert run_sweep([SMALL], path, InProcess()) == (6, 0, 6, 1, "")
    table = status([SMALL], path)
    assert dict(zip(table["solver"], table["failed"], strict=True)) == {"raf": 1, "altmin": 0}
    with Store(path, read_only=True) as store:
        assert list(store.failures().values()) == ["FloatingPointError: stumbled badly"]
    monkeypatch.undo()
    assert run_sweep([SMALL], path, InProcess()) == (6, 6, 0, 1, "")  # not forgotten
    assert run_sweep([SMALL], path, InProcess(), retry_failed=True) == (6, 5, 1, 0, "")


def test_time_limit_stops_taking_new_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "PACK_SECONDS", 1e-9)  # every run is a pack
    path, pause = tmp_path / "runs.db", lambda progress: time.sleep(0.4)  # after each pack
    summary = run_sweep([GRID], path, InProcess(), time_limit=1.0, progress=pause)
    assert summary.stopped == "out of time"
    assert 0 < summary.added < 12
    missing = status([], path)["missing"]  # of the grid that the store remembers
    assert missing.sum() == 12 - summary.added


HOUR = 3600.0


def test_one_svd_serves_all_solvers_on_an_instance_and_each_is_charged_for_it(monkeypatch):
    from phaselect.backends.host import in_memory as module

    tasks = Grid(("altmin", "sa", "raf", "amp"), (40,), (4.0,), instances=1).tasks()
    for task in tasks:
        warm_up(task)
    count = []
    decompose, clock = module.decompose, time.perf_counter

    def slow(*arguments):
        count.append(arguments)
        return decompose(*arguments)

    monkeypatch.setattr(module, "decompose", slow)
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + HOUR * len(count))
    seconds = {row["solver"]: row["seconds"] for row in run_pack(tasks)}
    assert len(count) == 1
    assert min(seconds["altmin"], seconds["sa"]) > HOUR
    assert max(seconds["raf"], seconds["amp"]) < HOUR


def test_sweeps_count_updates_of_every_sign():
    """Not proposals: the annealer's column is comparable to that of solvers that update all signs at once."""
    tasks = Grid(("sa", "pa", "raf"), (20,), (1.2,), instances=1, options={"replicas": (4,)}).tasks()
    rows = {row["solver"]: row for row in run_pack(tasks)}
    for solver, at_each, copies in (("sa", 100, 1), ("pa", 8, 4), ("raf", 1, 1)):
        sweeps = rows[solver]["sweeps"]
        assert sweeps % (at_each * copies) == 0
        assert 0 < sweeps <= 3000 * at_each * copies


def test_rows_say_what_was_run():
    (row,) = run_pack([Task.of("sa", 20, 4.0, seed=0, eps=0.2)])
    assert json.loads(row["options"]) == {"eps": 0.2, "product": 1.0}
    assert row["plan"] == Task.of("sa", 30, 2.0, seed=1, eps=0.2).plan != Task.of("sa", 20, 4.0, seed=0).plan


def test_a_run_is_on_the_ensemble_of_its_task(monkeypatch):
    """In a batch, too, and in its field; and on an array, whatever the kind."""
    tasks = [Task.of("raf", 20, 4.0, 0, kind) for kind in ("gaussian", "sparse", "dct")]
    seen = []
    run = ReweightedAmplitudeFlow.run
    monkeypatch.setattr(
        ReweightedAmplitudeFlow,
        "run",
        lambda self, problem, *more, **options: seen.append(problem.A) or run(self, problem, *more, **options),
    )
    warm_up(Grid(("raf",), (20,), (3.0,), instances=1).tasks()[0])
    seen.clear()
    run_pack(tasks)
    for A, task in zip(seen, tasks, strict=True):
        np.testing.assert_array_equal(A, ensembles.matrix(task.ensemble, 80, 20, 0))
    monkeypatch.setattr(AMP, "run_batch", lambda self, problems, *_, **__: seen.append(problems[0].A) or [])
    with pytest.raises(ValueError, match="zip"):
        run_on_device([Task.of("amp", 20, 4.0, 0, "toeplitz", "complex")], "cpu")
    np.testing.assert_array_equal(seen[-1], ensembles.matrix("toeplitz", 80, 20, 0, field="complex"))


def test_a_run_that_was_interrupted_is_no_row(monkeypatch):
    warm_up(Grid(("raf",), (20,), (3.0,), instances=1).tasks()[0])
    sound = ReweightedAmplitudeFlow.run
    monkeypatch.setattr(
        ReweightedAmplitudeFlow,
        "run",
        lambda *arguments, **options: replace(sound(*arguments, **options), status=Status.INTERRUPTED),
    )
    with pytest.raises(KeyboardInterrupt):
        run_pack(Grid(("raf",), (20,), (3.0,), instances=1).tasks())


AMP_GRID = Grid(("amp",), (30,), (4.0,), instances=8)


def one_by_one(solver, problems, schedule, *, seeds, device, dtype):
    """What a batch comes to, without JAX, which takes its time to compile."""
    return [solver.run(problem, schedule, seed=seed) for problem, seed in zip(problems, seeds, strict=True)]


@pytest.mark.parametrize("batch", [one_by_one, pytest.param(AMP.run_batch, marks=pytest.mark.slow)])
def test_batches_on_a_device_fill_the_same_store(tmp_path, monkeypatch, batch):
    """On the same instances, so that a sweep goes on on either side; the rows say where they were run."""
    monkeypatch.setattr(AMP, "run_batch", batch)
    path = tmp_path / "runs.db"
    assert run_sweep([replace(AMP_GRID, instances=4)], path, InProcess()) == (4, 0, 4, 0, "")
    assert run_sweep([AMP_GRID], path, packing=Batches("cpu")) == (8, 4, 4, 0, "")
    rows = table_of(path)
    assert rows["device"].tolist() == [""] * 4 + ["cpu"] * 4
    assert np.sum(rows["status"] == "RECOVERED") >= 7
    assert run_sweep([AMP_GRID], path, InProcess()) == (8, 8, 0, 0, "")


@pytest.mark.parametrize(
    ("n", "alpha", "dtype"),
    [
        (50, 1.04, "float64"),
        (400, 1.04, "float64"),
        (50, 1.08, "float32"),
        (400, 1.06, "float32"),
        (100, 2.0, "float32"),
    ],
)
def test_batches_have_the_digits_that_their_instances_need(n, alpha, dtype, monkeypatch):
    """24 binary digits of each measurement beyond N have to tell M signs: (M - N) * 24 > M, and some to spare."""
    assert (24 * (round(alpha * n) - n) > 1.1 * alpha * n) == (dtype == "float32")
    asked = []
    monkeypatch.setattr(AMP, "run_batch", lambda *arguments, dtype, **options: asked.append(dtype) or [])
    with pytest.raises(ValueError, match="zip"):
        run_on_device([Task.of("amp", n, alpha, seed=0)], "cpu")
    assert asked == [dtype]


def test_batches_say_what_they_cannot_do(tmp_path):
    able = "amp, amp-paper, vmp, bp, sa, sa-rate, sa-fixed, pa, langevin"
    with pytest.raises(InputError, match=f"raf, sa-proposals cannot run in batches on a device: use {able}, or"):
        run_sweep(
            [Grid(("raf", "sa-proposals"), (30,), (2.0,), instances=1)], tmp_path / "runs.db", packing=Batches("cpu")
        )
    with pytest.raises(InputError, match="plain processes would share one cpu: leave out --workers, or give --local"):
        run_sweep([AMP_GRID], tmp_path / "runs.db", Processes(2), Batches("cpu"))
    assert not (tmp_path / "runs.db").exists()


def test_an_interrupt_in_a_batch_keeps_what_is_done(tmp_path, monkeypatch):
    """The second Ctrl-C comes while a batch is running: members that were done are rows, the others are not."""

    def half_done(*arguments, **options):
        results = one_by_one(*arguments, **options)
        return [replace(r, status=Status.INTERRUPTED) if k % 2 else r for k, r in enumerate(results)]

    monkeypatch.setattr(AMP, "run_batch", half_done)
    path = tmp_path / "runs.db"
    with pytest.raises(KeyboardInterrupt):
        run_sweep([AMP_GRID], path, packing=Batches("cpu"))
    assert rows_in(path) == 4


def test_a_batch_that_fails_is_rows_that_say_so(tmp_path, monkeypatch):
    def too_large(*arguments, **options):
        raise InputError("an instance with N = 60 needs 9 GiB on the device, which has 1 GiB left")

    monkeypatch.setattr(AMP, "run_batch", too_large)
    path = tmp_path / "runs.db"
    assert run_sweep([replace(AMP_GRID, instances=2)], path, packing=Batches("cpu")) == (2, 0, 2, 2, "")
    with Store(path, read_only=True) as store:
        assert "needs 9 GiB" in next(iter(store.failures().values()))


def test_a_device_that_is_lost_ends_the_sweep_and_no_run_is_blamed(tmp_path, monkeypatch):
    """The first batch is done; in the second the device breaks, and would fail every other."""
    begun = []

    def breaks(*arguments, **options):
        begun.append(arguments)
        if len(begun) == 1:
            return one_by_one(*arguments, **options)
        monkeypatch.setattr(devices, "pick", lambda kind: 1 / 0)
        raise RuntimeError("an illegal memory access was encountered")

    monkeypatch.setattr(AMP, "run_batch", breaks)
    path = tmp_path / "runs.db"
    with pytest.raises(DeviceLost, match="the cpu does not answer any more, after RuntimeError: rows done so far"):
        run_sweep([AMP_GRID], path, packing=Batches("cpu", size=2))
    assert (len(begun), rows_in(path)) == (2, 2)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: Processes(0), "workers = 0: give a whole number of processes, 1 to"),
        (lambda: Processes(10**20), "workers = 1000"),
        (lambda: Processes("two"), "workers = 'two'"),
        (lambda: Dask(workers=-1), "workers = -1"),
        (lambda: Batches("cpu", size=0), "size = 0"),
        (lambda: run_sweep([GRID], "never.db", InProcess(), time_limit="3"), "time_limit = '3'"),
        (lambda: run_sweep([GRID], "never.db", InProcess(), time_limit=10**400), "time_limit = 1000"),
        (lambda: run_sweep([GRID], "", InProcess()), "'' is no name for a store"),
    ],
)
def test_odd_arguments_get_one_line(wrong, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=words) as caught:
        wrong()
    assert len(str(caught.value)) < 120
    assert not list(tmp_path.iterdir())
