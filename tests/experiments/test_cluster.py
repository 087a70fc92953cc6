"""Batches on a Dask cluster: workers with a device each, some of which die, or lack what they need."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError

import pytest
from click.testing import CliRunner
from distributed import Client, LocalCluster

from phaselect import InputError
from phaselect.cli.main import main
from phaselect.experiments import dask_cluster, in_flight, packing
from phaselect.experiments.executors import Dask
from phaselect.experiments.grid import Grid
from phaselect.experiments.packing import Batches, SingleRuns, Times
from phaselect.experiments.runs import failed
from phaselect.experiments.store import Store
from phaselect.experiments.sweep import run_sweep
from tests.experiments.test_sweep import assert_same_table, rows_in, table_of

GRID = Grid(("langevin",), (20,), (1.5,), instances=8, options={"eps": (0.5,)})
BATCHES = Batches("cpu", size=2)


@pytest.fixture(scope="module")
def processes():
    with LocalCluster(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture
def threads():
    """A worker of this process, with the patches of a test."""
    with LocalCluster(n_workers=1, threads_per_worker=4, processes=False, dashboard_address=":0") as cluster:
        yield cluster


def test_a_worker_killed_in_mid_batch(tmp_path, processes):
    """The sweep goes on, and its table is that of one that was left in peace."""
    place = Dask(processes.scheduler_address)
    assert run_sweep([GRID], tmp_path / "peace.db", place, BATCHES) == (8, 0, 8, 0, "")
    rows = table_of(tmp_path / "peace.db")
    assert rows["device"].tolist() == ["cpu"] * 8
    assert (rows["m"] > 0.99).any()
    old = set(processes.scheduler.workers)
    processes.scale(2)
    killed = []

    def kill_the_new_one():
        """In its first batch, which takes seconds, for it has to be compiled there."""
        while not (busy := [w for w in processes.scheduler.workers.values() if w.address not in old and w.processing]):
            time.sleep(0.01)
        time.sleep(0.2)
        nanny = next(nanny for nanny in processes.workers.values() if nanny.worker_address == busy[0].address)
        killed.append(len(busy[0].processing))
        os.kill(nanny.pid, signal.SIGKILL)

    processes.wait_for_workers(2)
    killer = threading.Thread(target=kill_the_new_one, daemon=True)
    killer.start()
    assert run_sweep([GRID], tmp_path / "killed.db", place, BATCHES) == (8, 0, 8, 0, "")
    killer.join(timeout=30)
    assert killed == [1]
    assert_same_table(tmp_path / "killed.db", rows)


def test_batches_by_the_command_line(tmp_path, processes):
    """`--scheduler ADDRESS --device cpu` is what `Dask(ADDRESS)` and `Batches("cpu")` are."""
    store = str(tmp_path / "runs.db")
    grid = ["--solver", "langevin", "--n", "20", "--alpha", "1.5", "--eps", "0.5", "--instances", "8"]
    place = ["--scheduler", processes.scheduler_address, "--device", "cpu"]
    done = CliRunner().invoke(main, ["sweep", *grid, *place, "--store", store])
    assert (done.exit_code, done.stdout) == (0, f"{store}: 8 of 8 runs, 8 new, 0 failed\n")
    assert table_of(store)["device"].tolist() == ["cpu"] * 8


class Deadly(Batches):
    """Takes the process with it in which it is run."""

    def run(self, pack):
        os._exit(1)


def test_a_batch_that_kills_its_workers_is_recorded(tmp_path, processes, monkeypatch):
    monkeypatch.setattr(processes.scheduler, "allowed_failures", 0)  # of three: each takes its time to be restarted
    one_batch = Grid(("langevin",), (20,), (1.5,), instances=2, options={"eps": (0.5,)})
    done = run_sweep([one_batch], tmp_path / "runs.db", Dask(processes.scheduler_address), Deadly("cpu"))
    assert done == (2, 0, 2, 2, "")
    with Store(tmp_path / "runs.db", read_only=True) as store:
        assert all(error.startswith("KilledWorker") for error in store.failures().values())


class DeadlyRun(SingleRuns):
    """The second of its runs takes its process with it, while others wait there; those take their time."""

    def packs(self, tasks, times):
        return iter([tasks[:3], *([task] for task in tasks[3:])])

    def run(self, pack):
        for task in pack:
            if task.seed == 1:
                os._exit(1)
            time.sleep(0.2)
        return super().run(pack)


def test_on_a_cluster_only_the_run_that_kills_its_workers_is_to_blame(tmp_path, processes, monkeypatch):
    monkeypatch.setattr(processes.scheduler, "allowed_failures", 0)  # of three: each takes its time to be restarted
    grid = Grid(("raf",), (20,), (3.0,), instances=5)
    done = run_sweep([grid], tmp_path / "runs.db", Dask(processes.scheduler_address), DeadlyRun())
    assert done == (5, 0, 5, 1, "")
    with Store(tmp_path / "runs.db", read_only=True) as store:
        assert list(store.failures()) == [grid.tasks()[1].key]


@pytest.mark.parametrize("lost", [CancelledError(), dask_cluster.Unfit("no GPU that JAX can use")])
def test_what_ends_a_sweep_ends_it_among_suspects_too(tmp_path, threads, monkeypatch, lost):
    class KilledWorker(Exception):
        """What Dask says of a pack of which its workers died."""

    def failing(self, pack):
        raise KilledWorker if len(pack) > 1 else lost

    monkeypatch.setattr(SingleRuns, "run", failing)
    monkeypatch.setattr(SingleRuns, "packs", lambda _, tasks, __: iter([tasks]))
    with pytest.raises(InputError):
        run_sweep([GRID], tmp_path / "runs.db", Dask(threads.scheduler_address))
    assert rows_in(tmp_path / "runs.db") == 0


def test_a_cluster_without_workers_says_so_and_ends_when_it_is_asked_to(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(in_flight, "LOOK_AROUND", 0.1)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty:
        began = time.monotonic()
        done = run_sweep([GRID], tmp_path / "runs.db", Dask(empty.scheduler_address), BATCHES, time_limit=0.5)
    assert done == (8, 0, 0, 0, "out of time")
    assert time.monotonic() - began < 20
    assert capfd.readouterr().err.count("no Dask worker is there: waiting for one to join\n") == 1


def test_one_batch_in_flight_for_each_worker(tmp_path, threads, monkeypatch):
    running, most = [], []

    def run(self, pack):
        running.append(pack)
        time.sleep(0.05)
        most.append(len(running))
        running.remove(pack)
        return [failed(task, TimeoutError()) for task in pack]

    monkeypatch.setattr(Batches, "run", run)
    assert run_sweep([GRID], tmp_path / "runs.db", Dask(threads.scheduler_address), BATCHES).added == 8
    assert most == [1] * 4


def test_a_batch_that_fails_there_is_rows_that_say_so(tmp_path, threads, monkeypatch):
    def failing(pack, device):
        raise InputError("an instance needs 9 GiB on the device, which has 1 GiB left")

    monkeypatch.setattr(packing, "run_on_device", failing)
    assert run_sweep([GRID], tmp_path / "runs.db", Dask(threads.scheduler_address), BATCHES) == (8, 0, 8, 8, "")
    with Store(tmp_path / "runs.db", read_only=True) as store:
        assert set(store.failures().values()) == {
            "InputError: an instance needs 9 GiB on the device, which has 1 GiB left"
        }


@pytest.mark.parametrize("asked_before", [0, 1])
def test_a_worker_without_a_device_gets_one_line_and_no_row(tmp_path, threads, monkeypatch, asked_before):
    """Before the work, or when it is given a batch: it may have joined since, or have been restarted."""
    asked = []

    def ready(self):
        asked.append(self.device)
        if len(asked) > asked_before:
            raise InputError("no GPU that JAX can use")

    monkeypatch.setattr(Batches, "ready", ready)
    with pytest.raises(InputError, match=r"^Dask worker inproc://.*: no GPU that JAX can use$"):
        run_sweep([GRID], tmp_path / "runs.db", Dask(threads.scheduler_address), Batches("gpu"))
    assert rows_in(tmp_path / "runs.db") == 0
    assert asked == ["gpu"] * (asked_before + 1)


def test_a_worker_of_another_version_gets_one_line(tmp_path, threads, monkeypatch):
    here = dask_cluster._lacking
    monkeypatch.setattr(dask_cluster, "_lacking", lambda packing, version: here(packing, "9.9"))
    with pytest.raises(InputError, match=r"^Dask worker inproc://.*: phaselect .*, while the sweep has 9\.9: install"):
        run_sweep([GRID], tmp_path / "runs.db", Dask(threads.scheduler_address), BATCHES)


def test_a_server_that_says_nothing_is_no_scheduler(tmp_path):
    """It accepts the connection, as a wrong port may, or a scheduler that hangs."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        dask = Dask(f"tcp://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)
        with pytest.raises(InputError, match=r"^no Dask scheduler at tcp://.*: nothing there has answered in 0\.2 s$"):
            run_sweep([GRID], tmp_path / "runs.db", dask, BATCHES)
        assert list(dask.outcomes(BATCHES, BATCHES.packs(GRID.tasks(), Times({})), lambda: True)) == []


def test_a_client_that_nobody_waits_for_is_closed(threads):
    """Whether it comes before the end of the wait or after it."""
    before = len(threads.scheduler.clients)
    assert dask_cluster.client_of(threads.scheduler_address, 10.0, lambda: True) is None
    until = time.monotonic() + 20
    time.sleep(0.5)
    while len(threads.scheduler.clients) > before and time.monotonic() < until:
        time.sleep(0.05)
    assert len(threads.scheduler.clients) == before


BLOCKED = """
import signal, subprocess, sys
from phaselect.experiments.in_flight import interrupt_blocked
import multiprocessing as mp

def mask(answers):
    answers.put(signal.pthread_sigmask(signal.SIG_BLOCK, []))

if __name__ == "__main__":
    context = mp.get_context("spawn")
    with interrupt_blocked():
        answers = context.SimpleQueue()
        process = context.Process(target=mask, args=(answers,))
        process.start()
    print(sorted(map(int, answers.get())))
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no masks of signals")
def test_processes_inherit_the_block_of_signals_the_first_too(tmp_path):
    (tmp_path / "first.py").write_text(BLOCKED)
    said = subprocess.check_output([sys.executable, tmp_path / "first.py"], text=True)
    assert said == f"{sorted([int(signal.SIGINT), int(signal.SIGTERM)])}\n"


def test_a_scheduler_that_went_away_gets_one_line(tmp_path, threads, monkeypatch):
    def gone(self):
        raise OSError("Timed out trying to connect")

    monkeypatch.setattr(Client, "nthreads", gone)
    with pytest.raises(InputError, match="went away: rows done so far are kept"):
        run_sweep([GRID], tmp_path / "runs.db", Dask(threads.scheduler_address), BATCHES)


def test_a_second_interrupt_abandons_what_runs(tmp_path, threads, monkeypatch):
    monkeypatch.setattr(in_flight, "LOOK_AROUND", 0.1)
    finish = threading.Event()
    monkeypatch.setattr(Batches, "run", lambda self, pack: finish.wait(20))
    asked = []

    def stop():
        asked.append(1)
        if len(asked) > 2:
            raise KeyboardInterrupt
        return False

    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            list(Dask(threads.scheduler_address).outcomes(BATCHES, BATCHES.packs(GRID.tasks(), Times({})), stop))
        assert time.monotonic() - began < 10
    finally:
        finish.set()
