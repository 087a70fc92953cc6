"""Sweeps with real parts: processes that are killed, a Dask cluster that loses a worker, Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import psutil
import pytest

from phaselect import InputError
from phaselect.cli.console import plain
from phaselect.experiments import contenders
from phaselect.experiments.executors import Batches, Dask, Here, Processes
from phaselect.experiments.grid import Grid, Task, all_tasks
from phaselect.experiments.store import Store
from phaselect.experiments.sweep import Packer, run_sweep, status

GRID = Grid(("sa", "amp", "raf"), (60, 80), (1.3, 1.5), instances=8, eps=(0.02,))  # 96 runs of up to 0.3 s
OPTIONS = ["--solver", "sa,amp,raf", "--n", "60,80", "--alpha", "1.3,1.5", "--eps", "0.02", "--instances", "8"]


def table_of(path):
    """Everything but what may differ between two runs: the time they took."""
    with Store(path, read_only=True) as store:
        table = store.table()
    return {name: column for name, column in table.columns.items() if name != "seconds"}


def assert_same_table(path, expected):
    found = table_of(path)
    for name, column in expected.items():
        np.testing.assert_array_equal(found[name], column, err_msg=name)


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    path = tmp_path_factory.mktemp("serial") / "runs.db"
    summary = run_sweep([GRID], path, Here())
    assert summary == (96, 0, 96, 0, "")
    return table_of(path)


def rows_in(path):
    try:
        with Store(path, read_only=True) as store:
            return len(store)
    except InputError:
        return 0


def start_sweep(path, *more):
    command = [sys.executable, "-m", "phaselect", "sweep", *OPTIONS, "--store", str(path), *more]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while rows_in(path) < 10:  # readers see rows while the sweep runs
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


def test_processes_give_the_serial_table(tmp_path, serial):
    assert run_sweep([GRID], tmp_path / "runs.db", Processes(2)).added == 96
    assert_same_table(tmp_path / "runs.db", serial)


def test_only_what_is_missing_is_computed(tmp_path, serial):
    path = tmp_path / "runs.db"
    part = Grid(("sa", "amp"), (60,), (1.3, 1.5), instances=5, eps=(0.02,))
    assert run_sweep([part], path, Here()).added == 20
    assert run_sweep([GRID], path, Here()) == (96, 20, 76, 0, "")
    assert run_sweep([GRID], path, Here()) == (96, 96, 0, 0, "")
    assert_same_table(path, serial)


def test_a_killed_driver_loses_nothing(tmp_path, serial):
    path = tmp_path / "runs.db"
    process = start_sweep(path, "--workers", "2")
    workers = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    before = rows_in(path)
    assert 10 <= before < 96
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive  # workers do not outlive their driver
    done = subprocess.run(
        [sys.executable, "-m", "phaselect", "sweep", *OPTIONS, "--store", str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"96 of 96 runs, {96 - before} new, 0 failed" in done.stdout
    assert_same_table(path, serial)


@pytest.mark.parametrize("where", [("--workers", "2"), ("--workers", "0"), ("--local-cluster", "2")])
def test_ctrl_c_finishes_the_running_and_exits_cleanly(tmp_path, serial, where):
    path = tmp_path / "runs.db"
    process = start_sweep(path, *where)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the driver and its workers
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "finishing the runs in hand" in err
    assert "interrupted: the same command goes on" in err
    assert "Traceback" not in err
    assert 10 <= rows_in(path) < 96
    assert f"{rows_in(path)} of 96 runs" in out
    run_sweep([GRID], path, Here())
    assert_same_table(path, serial)


def test_a_killed_process_is_replaced(tmp_path, serial):
    path = tmp_path / "runs.db"
    process = start_sweep(path, "--workers", "2")
    victims = [child for child in psutil.Process(process.pid).children() if "spawn_main" in " ".join(child.cmdline())]
    victims[0].kill()
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "96 of 96 runs, 96 new, 0 failed" in out
    assert_same_table(path, serial)


class Poison(Task):
    """A task that kills the process it arrives in."""

    def __reduce__(self):
        return os._exit, (1,)


def test_a_task_that_kills_its_process_is_recorded_and_the_rest_is_done():
    good = Grid(("raf",), (30,), (3.0,), instances=3).tasks()
    poison = Poison("raf", 30, 3.0, 99)
    packs = [[good[0]], [poison], [good[1]], [good[2]]]
    outcomes = list(Processes(2).outcomes(iter(packs), lambda: False))
    errors = [(pack, outcome) for pack, outcome in outcomes if isinstance(outcome, Exception)]
    assert [pack for pack, _ in errors] == [[poison]]
    assert "died" in str(errors[0][1])
    assert {pack[0].seed for pack, _ in outcomes} == {0, 1, 2, 99}
    assert len(outcomes) == 4


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster


def test_a_dask_worker_killed_in_mid_sweep(tmp_path, serial, cluster):
    path = tmp_path / "runs.db"
    seen = []

    def kill_one():
        while rows_in(path) < 15:
            time.sleep(0.02)
        worker = next(iter(cluster.workers.values()))
        seen.append((rows_in(path), worker.pid))
        os.kill(worker.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_one, daemon=True)
    killer.start()
    summary = run_sweep([GRID], path, Dask(cluster.scheduler_address))
    killer.join(timeout=30)
    assert seen
    assert seen[0][0] < 96
    assert summary == (96, 0, 96, 0, "")
    assert_same_table(path, serial)


def test_a_local_dask_cluster_from_the_command_line(tmp_path):
    grid = ["--solver", "raf", "--n", "30", "--alpha", "2,3", "--instances", "3"]
    command = ["sweep", *grid, "--local-cluster", "2", "--store", "runs.db"]
    done = subprocess.run(
        [sys.executable, "-m", "phaselect", *command], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "6 of 6 runs, 6 new, 0 failed" in done.stdout


def test_no_scheduler_gets_one_line(tmp_path):
    with pytest.raises(InputError, match="no Dask scheduler at tcp://127"):
        run_sweep([GRID], tmp_path / "runs.db", Dask("tcp://127.0.0.1:9", timeout=1))


def test_failures_are_rows_and_are_retried_on_request(tmp_path, monkeypatch):
    path = tmp_path / "runs.db"
    grid = Grid(("raf", "altmin"), (30,), (3.0,), instances=3)
    sound = contenders.CONTENDERS["raf"]

    class Stumbling:
        def run(self, problem, schedule, *, seed):
            if seed == 1:
                raise FloatingPointError("stumbled\nbadly")
            return sound.run(problem, seed)

    monkeypatch.setitem(contenders.CONTENDERS, "raf", sound._replace(plan=lambda: (Stumbling(), None)))
    assert run_sweep([grid], path, Here()) == (6, 0, 6, 1, "")
    table = status([grid], path)
    assert dict(zip(table["solver"], table["failed"], strict=True)) == {"raf": 1, "altmin": 0}
    with Store(path, read_only=True) as store:
        assert list(store.failures().values()) == ["FloatingPointError: stumbled badly"]
    monkeypatch.undo()
    assert run_sweep([grid], path, Here()) == (6, 6, 0, 1, "")  # not forgotten
    assert run_sweep([grid], path, Here(), retry_failed=True) == (6, 5, 1, 0, "")


def test_time_limit_stops_taking_new_runs(tmp_path):
    summary = run_sweep([GRID], tmp_path / "runs.db", Here(), time_limit=0.3)
    assert summary.stopped == "out of time"
    assert 0 < summary.added < 96
    missing = status([], tmp_path / "runs.db")["missing"]  # of the grid that the store remembers
    assert missing.sum() == 96 - summary.added


def test_short_runs_are_packed_and_long_ones_are_not():
    tasks = all_tasks([Grid(("raf", "altmin", "sa"), (50,), (1.2, 1.3), instances=20)])
    kinds = {task.solver: task.kind for task in tasks}
    packer = Packer(tasks, {kinds["raf"]: (2, 0.1), kinds["altmin"]: (1, 0.05), kinds["sa"]: (1, 30.0)})
    packs = list(packer.packs())
    assert sorted(task.key for pack in packs for task in pack) == sorted(task.key for task in tasks)
    for pack in packs:
        assert len(pack) == 1 or "sa" not in {task.solver for task in pack}
    shared = [pack for pack in packs if len(pack) > 1]
    assert len(shared) == 4  # 40 instances x 0.1 s in packs of a second
    assert all(a.instance == b.instance for pack in shared for a, b in zip(pack[::2], pack[1::2], strict=True))
    assert [len(pack) for pack in Packer(tasks, {}).packs()] == [3] * 40  # nothing known yet


def test_times_are_learnt_from_the_store_and_from_rows(tmp_path):
    grid = Grid(("raf", "sa"), (30,), (3.0,), instances=3)
    run_sweep([grid], tmp_path / "runs.db", Here())
    with Store(tmp_path / "runs.db", read_only=True) as store:
        times, table = store.times(), store.table()
    packer = Packer(grid.tasks(), {})
    packer.learn([{name: plain(table[name][i]) for name in table.columns} for i in range(len(table))])
    assert set(times) == {task.kind for task in grid.tasks()} == set(packer.times)
    for task in grid.tasks():
        assert times[task.kind] == pytest.approx(packer.times[task.kind])
        assert packer.expected(task) == pytest.approx(table.where(solver=task.solver)["seconds"].mean())


def test_one_svd_serves_all_solvers_on_an_instance(monkeypatch):
    from phaselect.experiments.runs import run_pack, warm_up

    for solver in ("sa", "pa", "altmin"):
        warm_up(solver)
    count = []
    svd = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda *args, **options: count.append(1) or svd(*args, **options))
    run_pack(Grid(("sa", "pa", "altmin"), (40,), (2.0,), instances=2).tasks())
    assert len(count) == 2


def test_every_solver_that_shares_the_svd_is_charged_for_it(monkeypatch):
    from phaselect.experiments.runs import run_pack, warm_up
    from phaselect.problem import spectrum as module

    for solver in ("altmin", "sa", "raf", "amp"):
        warm_up(solver)
    decompose = module._decompose
    monkeypatch.setattr(module, "_decompose", lambda problem: time.sleep(0.5) or decompose(problem))
    rows = run_pack(Grid(("altmin", "sa", "raf", "amp"), (40,), (4.0,), instances=1).tasks())
    seconds = {row["solver"]: row["seconds"] for row in rows}
    assert seconds["altmin"] > 0.5
    assert seconds["sa"] > 0.5
    assert seconds["raf"] < 0.5
    assert seconds["amp"] < 0.5


def test_a_run_that_was_interrupted_is_no_row(monkeypatch):
    from phaselect import Status
    from phaselect.experiments.runs import run_pack

    sound = contenders.CONTENDERS["raf"]

    class Halted:
        def run(self, problem, schedule, *, seed):
            return replace(sound.run(problem, seed), status=Status.INTERRUPTED)

    monkeypatch.setitem(contenders.CONTENDERS, "raf", sound._replace(plan=lambda: (Halted(), None)))
    with pytest.raises(KeyboardInterrupt):
        run_pack(Grid(("raf",), (20,), (3.0,), instances=1).tasks())


def test_batches_on_a_device_fill_the_same_store(tmp_path):
    """On the same instances, so that a sweep goes on on either side; the rows say where they were run."""
    path = tmp_path / "runs.db"
    grid = Grid(("amp",), (60,), (1.4, 2.0), instances=16, eps=(0.1,))
    assert run_sweep([replace(grid, instances=8)], path, Here()) == (16, 0, 16, 0, "")
    assert run_sweep([grid], path, Batches("cpu")) == (32, 16, 16, 0, "")
    rows = table_of(path)
    assert sorted(rows["device"]) == [""] * 16 + ["cpu"] * 16
    good = (rows["m"] > 0.99) & (rows["mse_y"] < 1e-6)
    for device in ("", "cpu"):
        mine = rows["device"] == device
        assert good[mine & (rows["alpha"] == 2.0)].mean() > 0.8
        np.testing.assert_array_equal(good[mine], rows["status"][mine] == "RECOVERED")
    assert run_sweep([grid], path, Here()) == (32, 32, 0, 0, "")
    alone = tmp_path / "alone.db"
    run_sweep([grid], alone, Here())
    other = table_of(alone)
    both = (rows["status"] == "RECOVERED") & (other["status"] == "RECOVERED")
    assert both.sum() >= 20
    assert abs(int((rows["status"] == "RECOVERED").sum()) - int((other["status"] == "RECOVERED").sum())) <= 3


def test_batches_say_what_they_cannot_do(tmp_path):
    with pytest.raises(InputError, match="sa cannot run in batches on a device: use amp, amp-paper, pa, langevin"):
        run_sweep([Grid(("sa",), (30,), (2.0,), instances=1)], tmp_path / "runs.db", Batches("cpu"))
    assert not (tmp_path / "runs.db").exists()


def test_an_interrupt_in_a_batch_keeps_what_is_done(tmp_path, monkeypatch):
    """The second Ctrl-C comes while a batch is running: members that were done are rows, the others are not."""
    from phaselect import AMP, Status

    whole = AMP.run_batch

    def half_done(*arguments, **options):
        results = whole(*arguments, **options)
        return [replace(r, status=Status.INTERRUPTED) if k % 2 else r for k, r in enumerate(results)]

    monkeypatch.setattr(AMP, "run_batch", half_done)
    path = tmp_path / "runs.db"
    with pytest.raises(KeyboardInterrupt):
        run_sweep([Grid(("amp",), (60,), (2.0,), instances=16, eps=(0.1,))], path, Batches("cpu"))
    assert rows_in(path) == 8


def test_a_batch_that_fails_is_rows_that_say_so(tmp_path, monkeypatch):
    from phaselect import AMP

    def too_large(*arguments, **options):
        raise InputError("an instance with N = 60 needs 9 GiB on the device, which has 1 GiB left")

    monkeypatch.setattr(AMP, "run_batch", too_large)
    path = tmp_path / "runs.db"
    summary = run_sweep([Grid(("amp",), (60,), (2.0,), instances=2)], path, Batches("cpu"))
    assert summary == (2, 0, 2, 2, "")
    with Store(path, read_only=True) as store:
        assert "needs 9 GiB" in next(iter(store.failures().values()))
