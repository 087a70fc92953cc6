"""A as an array of JAX: what is checked, what is padding, and what is said where JAX, a GPU or memory is missing."""

import subprocess
import sys
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phaselect import AMP, InputError, Instance, gaussian_batch, load
from phaselect.backends.jax import devices, on_device
from phaselect.backends.jax.on_device import DeviceMatrix
from phaselect.equations.least_squares import nothing_seen
from tests.backends.shapes import PROBLEM, ROWS, N, there


def full(*_):
    raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 123 bytes.")


def test_an_array_of_jax_stays_where_it_is():
    A = jnp.asarray(PROBLEM.A)
    assert A.dtype == "float32"
    problem = Instance(A, PROBLEM.y)
    assert problem.A is A
    assert problem.matrix.on_device
    assert not problem.matrix.on_gpu
    assert problem.matrix.device == jax.devices("cpu")[0]


def test_a_device_instance_is_saved_as_its_entries(tmp_path):
    PROBLEM.to_device("cpu").save(tmp_path / "inst.npz")
    np.testing.assert_array_equal(load(tmp_path / "inst.npz").A, PROBLEM.A.astype("float32"))


def test_a_copy_in_memory_for_what_cannot_be_compiled():
    matrix = PROBLEM.to_device("cpu", "float64").matrix
    np.testing.assert_array_equal(matrix.in_memory.A, PROBLEM.A)
    assert matrix.in_memory is matrix.in_memory


def products(problem, x, z):
    residual = problem.y - problem.forward(x)
    beliefs = x, 0.7, 0.5, 1.5, 0.3, z, residual
    linear, stack = problem.linear, jnp.stack([residual, z])
    slope = linear.adjoint(stack)
    correct = linear.correct[0](stack, slope, jnp.zeros(2), nothing_seen(slope))
    return (
        problem.forward(x),
        problem.adjoint(z),
        problem.with_message_pass(False, lambda pass_over: pass_over(*beliefs)),
        linear.look(jnp.stack([x, 2 * x]), stack),
        correct,
        problem.ridge.B,
    )


def test_padding_takes_no_part():
    """Rows of zeros that only make A divide among devices have no measurement."""
    own = there(PROBLEM)
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal(N), rng.standard_normal(ROWS)
    with jax.enable_x64(True):
        padded = DeviceMatrix(jnp.vstack([own.matrix.A, jnp.zeros((3, N))]), ROWS)
        found = jax.jit(products)(own._replace(matrix=padded), x, z)
        expected = jax.jit(products)(own, x, z)
    assert padded.shape == (ROWS, N)
    assert padded.padding_is_empty()
    np.testing.assert_array_equal(padded.entries(), PROBLEM.A)
    np.testing.assert_array_equal(padded.row_powers(), own.matrix.row_powers())
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)
    with jax.enable_x64(True):
        assert not DeviceMatrix(own.matrix.A, ROWS - 1).padding_is_empty()


def test_rows_that_are_kept():
    matrix = PROBLEM.to_device("cpu", "float64").matrix
    rows = np.arange(ROWS) % 5 != 0
    np.testing.assert_array_equal(matrix.rows_kept(rows).entries(), PROBLEM.A[rows])


# --------------------------------------------------------------------------------------------------------- the checks


def changed(where, value):
    A = PROBLEM.A.copy()
    A[where] = value
    return A


@pytest.mark.parametrize(
    ("A", "message"),
    [
        (changed((3, 4), np.nan), "not finite"),
        (changed((ROWS - 1, N - 1), -np.inf), "not finite"),
        (PROBLEM.A[0], r"A has shape \(40,\): give a 2-D array"),
        (PROBLEM.A[None], r"A has shape \(1, 55, 40\): give a 2-D array"),
        (PROBLEM.A[:, :0], r"A has shape \(55, 0\)"),
        (PROBLEM.A.astype(int), "A has dtype int32 on the device: give float32 or float64"),
        (PROBLEM.A.astype("float16"), "A has dtype float16"),
        (PROBLEM.A[:54], "A has 54 rows but y has 55 entries"),
        (np.vstack([PROBLEM.A, PROBLEM.A[:1]]), "A has 56 rows but y has 55 entries"),
        (changed((slice(None), 7), 0.0), "column 7 of A is all zeros"),
        (changed(5, 0.0), r"row 5 of A is all zeros, but y\[5\]"),
        (0 * PROBLEM.A, "A is all zeros"),
    ],
)
def test_bad_arrays_of_jax_get_one_clear_line(A, message):
    with pytest.raises(InputError, match=message) as caught:
        Instance(jnp.asarray(A), PROBLEM.y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: PROBLEM.to_device("tpu"), "device 'tpu': use gpu or cpu"),
        (lambda: PROBLEM.to_device("cpu", "float16"), "dtype = 'float16': use float32 or float64"),
        (lambda: PROBLEM.to_device("cpu").to_device("cpu"), "array in memory"),
        (lambda: AMP().run_batch([PROBLEM], device="quantum"), "device 'quantum': use gpu or cpu"),
    ],
)
def test_bad_requests_get_one_clear_line(ask, message):
    with pytest.raises(InputError, match=message) as caught:
        ask()
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(jax.default_backend() == "gpu", reason="there is a GPU")
@pytest.mark.parametrize(
    "ask",
    [
        lambda: PROBLEM.to_device("gpu"),
        lambda: PROBLEM.to_device(),
        lambda: AMP().run_batch([PROBLEM], device="gpu"),
        lambda: gaussian_batch(60, 1.35, seeds=[0]).instance(device="gpu"),
    ],
)
def test_no_gpu_is_said_in_one_line(ask):
    with pytest.raises(InputError, match=r"no GPU .* phaselect\[cuda\]") as caught:
        ask()
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------------------------------------- memory


def test_too_large_for_the_device(monkeypatch):
    """The line tells what is needed and what there is."""
    monkeypatch.setattr(jax, "make_array_from_callback", full)
    monkeypatch.setattr(devices, "free_bytes", lambda device: 3 * 2**30)
    needed = ROWS * N * 8 / 2**30
    line = f"A needs about {needed:.3g} GiB on the device, which has 3 GiB left"
    with pytest.raises(InputError, match=line) as caught:
        PROBLEM.to_device("cpu", "float64")
    assert "\n" not in str(caught.value)


def test_no_memory_for_a_program(monkeypatch):
    own = there(PROBLEM)
    monkeypatch.setattr(on_device, "_compiled", lambda function, everywhere: full)
    with pytest.raises(InputError, match="working with A needs about"):
        own.compiled(products)(own)


def test_other_errors_are_not_taken_for_memory(monkeypatch):
    def broken(*_):
        raise jax.errors.JaxRuntimeError("INTERNAL: something else")

    own = there(PROBLEM)
    monkeypatch.setattr(on_device, "_compiled", lambda function, everywhere: broken)
    with pytest.raises(jax.errors.JaxRuntimeError, match="something else"):
        own.compiled(products)(own)


def test_free_memory_is_what_the_device_says():
    told = SimpleNamespace(memory_stats=lambda: {"bytes_limit": 100, "bytes_in_use": 30})
    assert devices.free_bytes(told) == 70
    assert 2**20 < devices.free_bytes(jax.devices("cpu")[0]) < 2**50
    assert not devices.out_of_memory(ValueError("shapes differ"))
    assert devices.out_of_memory(RuntimeError("CUDA_ERROR_OUT_OF_MEMORY: out of memory"))


# --------------------------------------------------------------------------------------------------------- without JAX


WITHOUT_JAX = """
import sys
sys.modules["jax"] = None  # as if it were not installed
import phaselect
problem = phaselect.gaussian_instance(40, 1.6, seed=1)
print(phaselect.solve(problem.A, problem.y).status.name)
drawn = phaselect.gaussian_batch(40, 1.6, seeds=[0])
for ask in (problem.to_device, lambda: problem.to_device("cpu"), drawn.instance,
            lambda: phaselect.AMP().run_batch([problem]), lambda: phaselect.AMP().run_batch(drawn)):
    try:
        ask()
    except phaselect.InputError as error:
        print(error)
"""


def test_without_jax_the_rest_works_and_the_extras_are_named():
    done = subprocess.run([sys.executable, "-c", WITHOUT_JAX], capture_output=True, text=True, check=True)
    first, *lines = done.stdout.splitlines()
    assert first == "RECOVERED"
    assert len(lines) == 5
    assert all("phaselect[cuda]" in line and "phaselect[jax]" in line for line in lines)
