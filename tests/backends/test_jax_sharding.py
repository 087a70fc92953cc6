"""A by rows on several devices, and on those of several processes: the result of one device, to rounding.

Each case needs a number of devices that is fixed when JAX starts, so it runs in processes of its own.
"""

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from phaselect import AMP
from tests.backends.shapes import PLAN, PROBLEMS, ROWS, N

SEED = 2

SETUP = f"""
import sys

import jax
import numpy as np

sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from phaselect import AMP, InputError, Instance, PopulationAnnealing
from phaselect.solvers import loop
from tests.backends.shapes import PROBLEMS

problem = PROBLEMS[{SEED}]
plan = AMP().default_schedule()[:160]
loop.temperatures_between_looks = lambda work, temperatures: 10


def outcome(result):
    return {{"x": result.x, "signs": result.signs, "status": result.status.name, "mse_y": result.mse_y,
            "sweeps": result.sweeps}}

"""

SEVERAL_DEVICES = """
from phaselect.backends.jax import on_device
from phaselect.problem.instance_batches import as_batch

device = problem.to_device("cpu", "float64")
x, z = np.random.default_rng(0).standard_normal(problem.n), np.random.default_rng(1).standard_normal(problem.m_rows)
found = outcome(AMP(restarts=0).run(device, plan, seed=problem_seed))
found["shards"] = [shard.data.shape for shard in device.A.addressable_shards]
found["measured"] = np.abs(device.measure(x) - problem.measure(x)).max()
found["projected"] = np.abs(device.backproject(z) - problem.backproject(z)).max()
found["entries"] = device.matrix.entries()

on_device.WORTH_A_COPY["cpu"] = 0
copy = problem.to_device("cpu").matrix.ready.half
found["copied"] = np.asarray(copy.A, float)[: problem.m_rows] * copy.scale
found["copies"] = len(copy.A.sharding.device_set)

members, _ = as_batch([device]).stacked([0], jax.devices("cpu")[0], "float64")
found["member"] = np.asarray(members.matrix.A[0])

devices = jax.devices("cpu")
mesh = jax.make_mesh((len(devices),), ("rows",), devices=devices)


def spread(A):
    with jax.enable_x64(True):
        return jax.make_array_from_callback(A.shape, jax.NamedSharding(mesh, jax.P("rows")), lambda index: A[index])


mine = spread(np.vstack([problem.A, np.zeros((-problem.m_rows % len(devices), problem.n))]))
own = AMP(restarts=0).run(Instance(mine, problem.y), plan, seed=problem_seed)
found |= {"own_" + name: value for name, value in outcome(own).items()}
try:
    Instance(spread(problem.A[:48]), problem.y[:47])
except InputError as error:
    found["refused"] = str(error)
np.savez(sys.argv[1], **found)
"""

SEVERAL_PROCESSES = """
jax.distributed.initialize(sys.argv[2], 2, int(sys.argv[3]))
device = problem.to_device("cpu", "float64")
found = outcome(AMP(restarts=0).run(device, plan, seed=problem_seed))
found["shards"] = [shard.data.shape for shard in device.A.addressable_shards]
found["devices"] = len(device.A.sharding.device_set)
try:
    PopulationAnnealing(4).run(device)
except InputError as error:
    found["refused"] = str(error)
np.savez(sys.argv[1], **found)
"""


def started(code, devices, *arguments):
    """A process with so many devices that are shares of the CPU; compiled quickly, as it runs each program once."""
    environment = os.environ | {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "JAX_PLATFORMS": "cpu",
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
    }
    code = SETUP + f"problem_seed = {SEED}\n" + textwrap.dedent(code)
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ended(process):
    try:
        _, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, errors[-2000:]


def read(path):
    with np.load(path) as found:
        return dict(found)


@pytest.fixture(scope="module")
def one_device(few_programs):
    """By the path of one device, seen to agree with NumPy's."""
    result = AMP(restarts=0).run(PROBLEMS[SEED].to_device("cpu", "float64"), PLAN, seed=SEED)
    assert result.certified
    assert result.sweeps < len(PLAN)
    np.testing.assert_allclose(result.x, AMP(restarts=0).run(PROBLEMS[SEED], PLAN, seed=SEED).x, atol=1e-8)
    return result


def same(found, expected):
    assert found["status"] == expected.status.name == "RECOVERED"
    assert found["sweeps"] == expected.sweeps
    assert found["mse_y"] < 1e-18
    np.testing.assert_allclose(found["x"], expected.x, atol=1e-9)
    np.testing.assert_array_equal(found["signs"], expected.signs)


@pytest.fixture(scope="module", params=[3])
def several(request, tmp_path_factory):
    """What a process with so many devices has found."""
    path = tmp_path_factory.mktemp("several") / "found.npz"
    ended(started(SEVERAL_DEVICES, request.param, path))
    return request.param, read(path)


def test_rows_on_several_devices(several, one_device):
    """Padded with zeros, as the rows do not divide; nothing of it is seen from outside."""
    devices, found = several
    same(found, one_device)
    assert found["shards"].tolist() == [[-(-ROWS // devices), N]] * devices
    assert max(found["measured"], found["projected"]) < 1e-12
    np.testing.assert_array_equal(found["entries"], PROBLEMS[SEED].A)


def test_a_half_precision_copy_is_spread_out_too(several):
    devices, found = several
    A = PROBLEMS[SEED].A
    np.testing.assert_allclose(found["copied"], A, atol=1e-3 * np.abs(A).max())
    assert found["copies"] == devices


def test_padding_does_not_get_into_a_batch(several):
    np.testing.assert_array_equal(several[1]["member"], PROBLEMS[SEED].A)


def test_an_array_that_the_user_has_spread_out(several):
    """With rows of zeros to make it divide; other rows without a measurement are refused."""
    _, found = several
    assert found["own_status"] == "RECOVERED"
    np.testing.assert_allclose(found["own_x"], found["x"], atol=1e-9)
    assert "48 rows but y has 47 entries" in str(found["refused"])


@pytest.mark.slow
def test_rows_on_several_processes(tmp_path, one_device):
    """Each holds a part of A and has the whole result."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    files = [tmp_path / f"rank{rank}.npz" for rank in range(2)]
    processes = [started(SEVERAL_PROCESSES, 1, path, address, rank) for rank, path in enumerate(files)]
    try:
        for process in processes:
            ended(process)
    finally:
        for process in processes:
            process.kill()
    both = [read(path) for path in files]
    for found in both:
        assert found["shards"].tolist() == [[-(-ROWS // 2), N]]
        assert found["devices"] == 2
        assert "use message passing" in str(found["refused"])
        same(found, one_device)
    np.testing.assert_array_equal(both[0]["x"], both[1]["x"])
