"""A as an array of JAX: products, checks, the half-precision copy; and what is said where JAX or a GPU is missing."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from phaselect.devices import backend, matrix
from phaselect.devices.products import adjoint, forward

from phaselect import (
    AMP,
    InputError,
    Instance,
    PopulationAnnealing,
    gaussian_batch,
    gaussian_instance,
    load,
    solve,
    solve_instance,
)

PROBLEM = gaussian_instance(60, 81 / 60, seed=4)


def close(found, expected, error=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=error * np.abs(expected).max())


# ------------------------------------------------------------------------------------------------------- the products


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_are_float64_whatever_A_is(dtype):
    problem = Instance(5.0 * PROBLEM.A, 0.2 * PROBLEM.y, 0.04 * PROBLEM.x0)
    there = problem.to_device("cpu", dtype)
    entries = problem.A.astype(dtype).astype(float)
    x, z = np.random.default_rng(0).standard_normal(60), np.random.default_rng(1).standard_normal(81)
    assert (there.A.dtype, there.m_rows, there.n) == (dtype, 81, 60)
    assert isinstance(there.measure(x), np.ndarray)
    close(there.measure(x), entries @ x)
    close(there.backproject(z), entries.T @ z)
    assert there.gain == pytest.approx(np.sqrt(81) / np.linalg.norm(entries), rel=1e-12)
    close(there.forward(x), there.gain * entries @ x)
    close(there.adjoint(z), there.gain * entries.T @ z)
    np.testing.assert_array_equal(there.matrix.entries(), problem.A.astype(dtype))
    np.testing.assert_array_equal(there.y, problem.y)
    np.testing.assert_array_equal(there.x0, problem.x0)
    np.testing.assert_array_equal(there.signs, problem.signs)


def test_an_array_of_jax_stays_where_it_is():
    A = jnp.asarray(PROBLEM.A)
    assert A.dtype == "float32"
    problem = Instance(A, PROBLEM.y)
    assert problem.A is A
    assert problem.matrix.on_device
    assert problem.matrix.device == jax.devices("cpu")[0]


def test_a_device_instance_is_saved_as_its_entries(tmp_path):
    PROBLEM.to_device("cpu").save(tmp_path / "inst.npz")
    np.testing.assert_array_equal(load(tmp_path / "inst.npz").A, PROBLEM.A.astype("float32"))


# --------------------------------------------------------------------------------------------------------- the checks


def changed(where, value):
    A = PROBLEM.A.copy()
    A[where] = value
    return A


@pytest.mark.parametrize(
    ("A", "message"),
    [
        (changed((3, 4), np.nan), "not finite"),
        (changed((80, 59), -np.inf), "not finite"),
        (PROBLEM.A[0], r"A has shape \(60,\): give a 2-D array"),
        (PROBLEM.A[None], r"A has shape \(1, 81, 60\): give a 2-D array"),
        (PROBLEM.A[:, :0], r"A has shape \(81, 0\)"),
        (PROBLEM.A.astype(int), "A has dtype int32 on the device: give float32 or float64"),
        (PROBLEM.A.astype("float16"), "A has dtype float16"),
        (PROBLEM.A.astype("complex64"), "A has dtype complex64"),
        (PROBLEM.A[:80], "A has 80 rows but y has 81 entries"),
        (np.vstack([PROBLEM.A, PROBLEM.A[:1]]), "A has 82 rows but y has 81 entries"),
        (np.hstack([PROBLEM.A, PROBLEM.A]), "alpha = rows/columns exceeds 1"),
        (changed((slice(None), 7), 0.0), "column 7 of A is all zeros"),
        (0 * PROBLEM.A, "A is all zeros|too large or too small|column 0 of A is all zeros"),
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


def test_too_large_for_the_device(monkeypatch):
    """The line tells what is needed and what there is."""

    def full(*_):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate")

    monkeypatch.setattr(jax, "make_array_from_callback", full)
    monkeypatch.setattr(backend, "free_bytes", lambda device: 3 * 2**30)
    needed = 81 * 60 * 8 / 2**30
    with pytest.raises(
        InputError, match=f"A needs (about )?{needed:.3g} GiB on the device, which has 3 GiB left"
    ) as caught:
        PROBLEM.to_device("cpu", "float64")
    assert "\n" not in str(caught.value)


WITHOUT_JAX = """
import sys
sys.modules["jax"] = None  # as if it were not installed
import phaselect
problem = phaselect.gaussian_instance(40, 1.6, seed=0)
print(phaselect.solve(problem.A, problem.y).status.name)
batch = lambda: phaselect.gaussian_batch(40, 1.6, seeds=[0])
for ask in (problem.to_device, lambda: problem.to_device("cpu"), batch, lambda: phaselect.AMP().run_batch([problem])):
    try:
        ask()
    except phaselect.InputError as error:
        print(error)
"""


def test_without_jax_the_rest_works_and_the_extras_are_named():
    done = subprocess.run([sys.executable, "-c", WITHOUT_JAX], capture_output=True, text=True, check=True)
    first, *lines = done.stdout.splitlines()
    assert first == "RECOVERED"
    assert len(lines) == 4
    assert all("phaselect[cuda]" in line and "phaselect[jax]" in line for line in lines)


# --------------------------------------------------------------------------------------------- the half-precision copy


@pytest.fixture
def half(monkeypatch):
    """Copy of A in half precision, however small it is; in other units, as half precision cannot hold every size."""
    monkeypatch.setitem(matrix.WORTH_A_COPY, "cpu", 0)
    return Instance(jnp.asarray(3e-9 * PROBLEM.A), PROBLEM.y)


def test_a_half_precision_copy_is_close_to_A(half):
    A, copy = np.asarray(half.A, float), half.matrix.copy
    assert copy.A.dtype == "float16"
    assert copy.A.nbytes == half.A.nbytes / 2
    close(copy.scale * np.asarray(copy.A, float), A, 1e-3)
    assert np.abs(copy.scale * np.asarray(copy.A, float) - A).max() > 0


def test_products_with_the_copy(half):
    """To the precision of the copy against A, and of float32 against the copy itself."""
    copy, rng = half.matrix.copy, np.random.default_rng(0)
    x, z = rng.standard_normal(60), 1e4 * rng.standard_normal(81)
    narrow = np.asarray(copy.A, float)
    for found, exact, A in (
        (forward(copy.A, x), narrow @ x, np.asarray(half.A, float) @ x),
        (adjoint(copy.A, z), z @ narrow, z @ np.asarray(half.A, float)),
    ):
        close(found, exact, 2e-6)
        close(copy.scale * np.asarray(found, float), A, 2e-3)


def test_no_copy_where_one_entry_dominates(half, monkeypatch):
    """It would overflow. (In a small matrix no entry can be as large as it takes, compared with the whole.)"""
    monkeypatch.setattr(matrix, "SMALL", 50)
    assert Instance(half.A, PROBLEM.y).matrix.copy.A.dtype == "float16"
    A = half.A.at[3, 4].set(1e5 * jnp.abs(half.A).max())
    copies = Instance(A, PROBLEM.y).matrix.copy
    assert copies.A is A
    assert copies.scale == 1


def test_no_copy_of_a_small_matrix_nor_of_a_wide_one(monkeypatch):
    A = jnp.asarray(PROBLEM.A)
    assert Instance(A, PROBLEM.y).matrix.copy.A is A
    monkeypatch.setitem(matrix.WORTH_A_COPY, "cpu", 0)
    wide = PROBLEM.to_device("cpu", "float64")
    assert wide.matrix.copy.A is wide.A


def test_no_copy_without_room(half, monkeypatch):
    monkeypatch.setattr(matrix, "free_bytes", lambda device: half.A.nbytes / 2)
    assert half.matrix.copy.A is half.A


def test_what_processes_share_is_left_to_message_passing(monkeypatch):
    """No process has the whole A that population annealing needs: its answer is not lost for that."""
    monkeypatch.setattr(matrix.DeviceMatrix, "processes", 2)
    hard = gaussian_instance(30, 1.05, seed=0).to_device("cpu")
    result = solve_instance(hard)
    assert result.solver == "amp"
    assert not result.certified
    with pytest.raises(InputError, match="use message passing"):
        PopulationAnnealing(4).run(hard)


def test_rounding_a_float64_matrix_costs_digits_of_x():
    """Seven are left, as the pages say, unless float64 is asked for."""
    wide = gaussian_instance(60, 1.6, seed=0)

    def error(dtype):
        x = solve(wide.A, wide.y, device="cpu", dtype=dtype).x
        return np.linalg.norm(x * np.sign(x @ wide.x0) - wide.x0) / np.linalg.norm(wide.x0)

    assert 1e-9 < error("float32") < 2e-7
    assert error("float64") < 1e-9


def test_solve_takes_an_array_of_jax():
    A = PROBLEM.to_device("cpu").A
    result = solve(A, np.abs(np.asarray(A, float) @ PROBLEM.x0))
    assert result.certified
    close(result.x * np.sign(result.x @ PROBLEM.x0), PROBLEM.x0, 1e-9)
