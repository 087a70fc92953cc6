"""How tasks become packs: what is cut together, in which order, and what may run at once."""

import threading
import time
from itertools import groupby

import pytest

from phaselect.experiments import packing
from phaselect.experiments.executors import InProcess
from phaselect.experiments.grid import Grid, all_tasks
from phaselect.experiments.packing import Batches, SingleRuns, Times
from phaselect.experiments.store import Store
from phaselect.experiments.sweep import run_sweep

SMALL = Grid(("raf", "altmin"), (30,), (3.0,), instances=3)


def test_short_runs_are_packed_and_long_ones_are_not():
    tasks = all_tasks([Grid(("raf", "altmin", "sa"), (50,), (1.2, 1.3), instances=20)])
    kinds = {task.solver: task.kind for task in tasks}
    times = Times({kinds["raf"]: (2, 0.1), kinds["altmin"]: (1, 0.05), kinds["sa"]: (1, 30.0)})
    packs = list(SingleRuns().packs(tasks, times))
    assert sorted(task.key for pack in packs for task in pack) == sorted(task.key for task in tasks)
    for pack in packs:
        assert len(pack) == 1 or "sa" not in {task.solver for task in pack}
    shared = [pack for pack in packs if len(pack) > 1]
    assert len(shared) == 4  # 40 instances x 0.1 s in packs of a second
    assert all(a.instance == b.instance for pack in shared for a, b in zip(pack[::2], pack[1::2], strict=True))
    assert [len(pack) for pack in SingleRuns().packs(tasks, Times({}))] == [3] * 40  # nothing known yet


def test_times_are_learnt_from_the_store_and_from_rows(tmp_path):
    path = tmp_path / "runs.db"
    run_sweep([SMALL], path, InProcess())
    with Store(path, read_only=True) as store:
        known, table, rows = store.times(""), store.table(), store._rows()
    times = Times({})
    times.learn(rows)
    assert set(known) == {task.kind for task in SMALL.tasks()} == set(times.known)
    for task in SMALL.tasks():
        assert known[task.kind] == pytest.approx(times.known[task.kind])
        assert times.expected(task) == pytest.approx(table.where(solver=task.solver)["seconds"].mean())


GRID = Grid(("amp", "sa"), (20, 40), (1.1, 1.2, 1.3, 1.4, 1.5), instances=25)


def test_batches_are_of_one_shape_and_as_large_as_the_memory_of_the_host_allows():
    tasks = all_tasks([GRID])
    packs = list(Batches("cpu", size=10).packs(tasks, Times({})))
    assert sorted(task.key for pack in packs for task in pack) == sorted(task.key for task in tasks)
    assert all(len({(task.solver, task.n, task.alpha, task.plan) for task in pack}) == 1 for pack in packs)
    assert sorted(len(pack) for pack in packs) == [5] * 20 + [10] * 40
    tight = Batches("cpu", host_bytes=20 * 10 * 1.1 * 20**2)
    assert len(next(tight.packs(tasks, Times({})))) == 20
    assert {len(pack) for pack in Batches("cpu", host_bytes=1).packs(tasks, Times({}))} == {1}


def test_a_batch_and_a_mean_time_are_of_one_ensemble():
    tasks = all_tasks([Grid(("amp",), (20,), (1.5,), instances=4, ensemble=("gaussian", "signs"))])
    packs = list(Batches("cpu").packs(tasks, Times({})))
    assert [{task.ensemble for task in pack} for pack in packs] == [{"gaussian"}, {"signs"}]
    times = Times({tasks[0].kind: (1, 7.0)})
    assert [times.expected(task) for task in tasks[:2]] == [7.0, packing.PACK_SECONDS]


def test_complex_batches_have_half_as_many_members():
    tasks = all_tasks([Grid(("amp",), (20,), (2.5,), instances=40, field=("real", "complex"))])
    packs = list(Batches("cpu", host_bytes=20 * 10 * 2.5 * 20**2).packs(tasks, Times({})))
    assert sorted((pack[0].field, len(pack)) for pack in packs) == [("complex", 10)] * 4 + [("real", 20)] * 2
    assert all(len({task.field for task in pack}) == 1 for pack in packs)


def test_a_sweep_of_batches_that_stops_early_has_covered_the_grid_evenly():
    """Rounds of one batch for every point; in a round all curves go through alpha coarse to fine, small n first."""
    packs = list(Batches("cpu", size=10).packs(all_tasks([GRID]), Times({})))
    assert [pack[0].seed for pack in packs] == [0] * 20 + [10] * 20 + [20] * 20
    for first in (0, 20, 40):
        members = [pack[0] for pack in packs[first : first + 20]]
        assert [alpha for alpha, _ in groupby(task.alpha for task in members)] == [1.1, 1.5, 1.3, 1.2, 1.4]
        for _, at_alpha in groupby(members, key=lambda task: task.alpha):
            assert sorted(curves := [(task.n, task.solver) for task in at_alpha], key=lambda it: it[0]) == curves
            assert len(set(curves)) == 4


def test_one_batch_at_a_time_in_a_process(monkeypatch):
    """Whatever the threads of a worker: they share its device."""
    running, most = set(), []

    def watched(pack, device):
        running.add(threading.get_ident())
        most.append(len(running))
        time.sleep(0.02)
        running.remove(threading.get_ident())
        return []

    monkeypatch.setattr(packing, "run_on_device", watched)
    threads = [threading.Thread(target=Batches("cpu").run, args=([],)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4
