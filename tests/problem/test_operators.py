"""Operators by Fourier transforms: the products of a matrix built by hand, in every form in which they can be had."""

import copy
import pickle
from functools import reduce

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator, lsqr

from phaselect import InputError
from phaselect.problem.operators import (
    Fourier,
    coded_diffraction,
    keep_rows,
    masked_fourier,
    masked_transforms,
    masked_transforms_adjoint,
    oversampled_fourier,
)

RNG = np.random.default_rng(0)
SMALL = {
    "phase, 1-D": coded_diffraction(12, 3),
    "phase, 3-D": coded_diffraction((2, 3, 4), 2, seed=1),
    "octanary, 2-D": coded_diffraction((3, 5), 3, masks="octanary"),
    "binary, 2-D": coded_diffraction((4, 3), 12, masks="binary"),
    "own, real": masked_fourier(RNG.standard_normal((2, 3, 4))),
    "own, complex": masked_fourier(RNG.standard_normal((3, 7)) + 1j * RNG.standard_normal((3, 7))),
    "oversampled, 1-D": oversampled_fourier(9),
    "oversampled, 2-D": oversampled_fourier((3, 5), factor=1.5),
    "oversampled, 3-D": oversampled_fourier((2, 3, 2), factor=2.25),
}
KINDS = pytest.mark.parametrize("A", SMALL.values(), ids=SMALL)
EXACT = {"rtol": 1e-13, "atol": 1e-13}


def by_hand(A):
    """The entries, from those of the Fourier matrix along each axis."""

    def along(size, padded):
        return np.exp(-2j * np.pi * np.outer(np.arange(padded), np.arange(size)) / padded) / np.sqrt(padded)

    transform = reduce(np.kron, [along(*sizes) for sizes in zip(A.signal_shape, A.pattern_shape, strict=True)])
    return np.concatenate([transform * mask.ravel() for mask in A.masks])


def vectors(*shape):
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


@KINDS
def test_products_are_those_of_the_entries(A):
    entries, (rows, columns) = by_hand(A), A.shape
    x, z = vectors(columns), vectors(rows)
    np.testing.assert_allclose(A.forward(x), entries @ x, **EXACT)
    np.testing.assert_allclose(A.adjoint(z), entries.conj().T @ z, **EXACT)
    np.testing.assert_allclose(A.forward(x.real), entries @ x.real, **EXACT)
    np.testing.assert_allclose(A.adjoint(z.real), entries.conj().T @ z.real, **EXACT)


@KINDS
def test_the_adjoint_belongs_to_the_product(A):
    x, z = vectors(A.shape[1]), vectors(A.shape[0])
    assert np.vdot(z, A.forward(x)) == pytest.approx(np.vdot(A.adjoint(z), x), rel=1e-12)


@KINDS
def test_gram_and_powers_are_those_of_the_entries(A):
    entries = by_hand(A)
    np.testing.assert_allclose(np.diag(A.gram), entries.conj().T @ entries, **EXACT)
    np.testing.assert_allclose(A.powers, np.sum(np.abs(entries) ** 2, axis=1), **EXACT)


@KINDS
def test_a_stack_is_one_vector_after_the_other(A):
    X, Z = vectors(3, A.shape[1]), vectors(3, A.shape[0])
    kept = X.copy(), Z.copy()
    np.testing.assert_array_equal(A.forward(X), [A.forward(x) for x in X])
    np.testing.assert_array_equal(A.adjoint(Z), [A.adjoint(z) for z in Z])
    np.testing.assert_array_equal(kept[0], X)
    np.testing.assert_array_equal(kept[1], Z)
    assert A.forward(X[:0]).shape == (0, A.shape[0])
    assert A.adjoint(Z[:0]).shape == (0, A.shape[1])


@KINDS
def test_scipy_has_a_linear_operator(A):
    entries, X, Z = by_hand(A), vectors(A.shape[1], 2), vectors(A.shape[0], 2)
    assert aslinearoperator(A) is A
    np.testing.assert_allclose(A @ X, entries @ X, **EXACT)
    np.testing.assert_allclose(A @ X[:, 0], entries @ X[:, 0], **EXACT)
    np.testing.assert_allclose(A.matvec(X[:, :1]), entries @ X[:, :1], **EXACT)
    for adjoint in (A.H, A.adjoint()):
        np.testing.assert_allclose(adjoint @ Z, entries.conj().T @ Z, **EXACT)
    np.testing.assert_allclose(A.rmatvec(Z[:, :1]), entries.conj().T @ Z[:, :1], **EXACT)
    np.testing.assert_allclose(A.T @ Z[:, 0], entries.T @ Z[:, 0], **EXACT)


def test_scipy_solves_with_it():
    A = SMALL["octanary, 2-D"]
    x = vectors(A.shape[1])
    np.testing.assert_allclose(lsqr(A, A @ x, atol=1e-14, btol=1e-14)[0], x, rtol=1e-10)


@pytest.mark.parametrize("name", ["phase, 1-D", "binary, 2-D", "oversampled, 2-D"])
def test_single_precision_stays_single(name):
    A = SMALL[name]
    x, z = vectors(A.shape[1]), vectors(A.shape[0])
    for given in (np.complex64, np.float32):
        real = given == np.float32
        small, few = (x.real, z.real) if real else (x, z)
        measured, back = A.forward(small.astype(given)), A.adjoint(few.astype(given))
        assert measured.dtype == back.dtype == np.complex64
        np.testing.assert_allclose(measured, A.forward(small), atol=1e-5)
        np.testing.assert_allclose(back, A.adjoint(few), atol=1e-5)
    for whole in (np.ones(A.shape[1], np.uint8), np.ones(A.shape[1], np.longdouble), [1] * A.shape[1]):
        assert A.forward(whole).dtype == np.complex128


def test_on_jax_as_in_memory():
    """Masks are complex, and images padded; neither alone."""
    jax = pytest.importorskip("jax")
    A = Fourier(vectors(2, 3, 4), (5, 4))
    x, Z = vectors(12), vectors(2, 40)
    with jax.enable_x64(True):
        for kind, tolerance in ((np.complex128, 1e-13), (np.complex64, 1e-5)):
            measured, back = A.forward(jax.numpy.asarray(x, kind)), A.adjoint(jax.numpy.asarray(Z, kind))
            assert isinstance(measured, jax.Array)
            assert measured.dtype == back.dtype == kind
            np.testing.assert_allclose(measured, A.forward(x), atol=tolerance)
            np.testing.assert_allclose(back, A.adjoint(Z), atol=tolerance)


def test_a_program_is_handed_its_masks():
    """As an argument they take no room in the program; another set of masks needs no other program."""
    jax = pytest.importorskip("jax")
    A, B = SMALL["phase, 1-D"], coded_diffraction(12, 3, seed=7)
    shape = A.pattern_shape
    with jax.enable_x64(True):
        program = jax.jit(
            lambda masks, x: masked_transforms_adjoint(masks, abs(masked_transforms(masks, x, shape)), shape)
        )
        x = vectors(12)
        for one in (A, B):
            np.testing.assert_allclose(program(one.masks, x), one.adjoint(abs(one.forward(x))), **EXACT)
        assert program._cache_size() == 1
        np.testing.assert_allclose(jax.jit(A.forward)(x), A.forward(x), **EXACT)


def test_masks_go_to_a_device_once(monkeypatch):
    jax = pytest.importorskip("jax")
    A, x = coded_diffraction(12, 3), jax.numpy.ones(12, "complex64")
    moves, move = [], jax.device_put
    monkeypatch.setattr(jax, "device_put", lambda *given: moves.append(given) or move(*given))
    for _ in range(2):
        A.adjoint(A.forward(x))
    assert len(moves) == 1


# ------------------------------------------------------------------ masks


def test_octanary_masks_are_as_published():
    d = coded_diffraction((100, 100), 4, masks="octanary").masks
    sizes, counts = np.unique(np.round(np.abs(d) ** 2, 12), return_counts=True)
    np.testing.assert_allclose(sizes, [0.5, 3])
    assert counts[1] / d.size == pytest.approx(1 / 5, abs=0.01)  # five standard deviations
    assert np.mean(np.abs(d) ** 2) == pytest.approx(1, abs=0.025)
    phases, counts = np.unique(np.round(d / np.abs(d), 12), return_counts=True)
    assert set(phases) == {1, -1, 1j, -1j}
    np.testing.assert_allclose(counts / d.size, 1 / 4, atol=0.011)


def test_phases_and_zeros_and_ones():
    phases, binary = coded_diffraction((50, 50), 4).masks, coded_diffraction(100, 20, masks="binary").masks
    np.testing.assert_allclose(np.abs(phases), 1)
    assert abs(phases.mean()) < 0.05
    assert set(np.unique(binary)) == {0, 1}
    assert binary.mean() == pytest.approx(0.5, abs=0.06)


def test_a_seed_names_its_masks():
    drawn = [coded_diffraction(50, 2, seed=seed).masks for seed in (0, 0, 1)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.isclose(drawn[0], drawn[2]).any()
    assert coded_diffraction(50, 2, seed=np.random.default_rng(3)).seed >= 0
    assert oversampled_fourier(50).seed is None


def test_an_operator_is_a_value():
    given = np.ones((2, 3))
    A = masked_fourier(given)
    given[:] = 7
    assert A.masks.max() == 1
    with pytest.raises(ValueError, match="read-only"):
        A.masks[0] = 2
    with pytest.raises(AttributeError, match="cannot be changed"):
        A.masks = given
    B = coded_diffraction((2, 3), 2, seed=5)
    B.forward(np.ones(6, np.complex64))
    for twin in (pickle.loads(pickle.dumps(B)), copy.deepcopy(B)):
        assert (twin.seed, twin.shape, twin.pattern_shape) == (5, (12, 6), (2, 3))
        np.testing.assert_array_equal(twin.masks, B.masks)
    assert repr(oversampled_fourier((2, 3))) == "Fourier(1 pattern of 4 x 6, M=24, N=6)"
    assert repr(keep_rows(B, [0, 4])) == f"KeptRows(2 of {B!r})"
    assert (B.patterns, B.signal_shape) == (2, (2, 3))


# ------------------------------------------------------------------ some of the rows


@pytest.mark.parametrize("make", [lambda A: A, by_hand], ids=["operator", "array"])
def test_some_rows_are_those_of_the_entries(make):
    A = SMALL["phase, 3-D"]
    which = RNG.permutation(A.shape[0])[:30]
    kept, entries = keep_rows(make(A), which), by_hand(A)[which]
    X, Z = vectors(A.shape[1], 2), vectors(30, 2)
    assert kept.shape == entries.shape
    np.testing.assert_allclose(kept @ X, entries @ X, **EXACT)
    np.testing.assert_allclose(kept @ X[:, 0], entries @ X[:, 0], **EXACT)
    np.testing.assert_allclose(kept.H @ Z, entries.conj().T @ Z, **EXACT)
    np.testing.assert_allclose(kept.rmatvec(Z[:, 0]), entries.conj().T @ Z[:, 0], **EXACT)
    np.testing.assert_allclose(kept.matvec(X[:, :1]), entries @ X[:, :1], **EXACT)
    np.testing.assert_allclose(kept.rmatvec(Z[:, :1]), entries.conj().T @ Z[:, :1], **EXACT)
    booleans = np.isin(np.arange(A.shape[0]), which)
    np.testing.assert_array_equal(keep_rows(make(A), booleans).which, np.sort(which))


# ------------------------------------------------------------------ other people's operators


def test_pylops_has_the_same_products():
    pylops = pytest.importorskip("pylops")
    A = coded_diffraction((6, 5), 2)
    transform = pylops.signalprocessing.FFT2D(dims=(6, 5), norm="ortho", dtype="complex128")
    chain = pylops.VStack([transform @ pylops.Diagonal(mask.ravel(), dtype="complex128") for mask in A.masks])
    x, z = vectors(30), vectors(60)
    np.testing.assert_allclose(chain.matvec(x), A.matvec(x), **EXACT)
    np.testing.assert_allclose(chain.rmatvec(z), A.rmatvec(z), **EXACT)
    some = keep_rows(chain, [1, 50, 3])
    np.testing.assert_allclose(some @ x, A.matvec(x)[[1, 50, 3]], **EXACT)
    np.testing.assert_allclose(some.rmatvec(z[:3]), keep_rows(A, [1, 50, 3]).rmatvec(z[:3]), **EXACT)
    ours = pylops.aslinearoperator(A) @ pylops.Diagonal(x)
    np.testing.assert_allclose(ours.matvec(np.ones(30)), A.matvec(x), **EXACT)


# ------------------------------------------------------------------ refusals


HIDDEN = np.ones((2, 3, 4))
HIDDEN[:, 1, 2:] = 0


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: coded_diffraction((0, 4), 3), r"shape = \(0, 4\): give the sizes"),
        (lambda: coded_diffraction((), 3), "shape"),
        (lambda: coded_diffraction(2.5, 3), "shape = 2.5"),
        (lambda: coded_diffraction((10**9, 10**9), 3), "too large for memory"),
        (lambda: coded_diffraction((4, 4), 0), "patterns = 0: give a whole number"),
        (lambda: coded_diffraction((4, 4), 10**30), "too large for memory"),
        (lambda: coded_diffraction((10**6, 10**6), 3), "too large for memory"),
        (lambda: coded_diffraction((4, 4), 3, seed=-1), "seed = -1"),
        (lambda: coded_diffraction((4, 4), 3, masks="octal"), "use one of phase, octanary, binary"),
        (lambda: coded_diffraction((4, 4), 3, masks=HIDDEN), "masked_fourier for your own"),
        (lambda: coded_diffraction((32, 32), 3, masks="binary"), r"1\d\d of 1024 pixels .* take 17 patterns, or"),
        (lambda: masked_fourier(HIDDEN), "2 of 12 pixels are behind zeros of every mask: add patterns"),
        (lambda: masked_fourier([1, 2, 3]), r"masks have shape \(3,\)"),
        (lambda: masked_fourier(np.ones((0, 3))), r"masks have shape \(0, 3\)"),
        (lambda: masked_fourier([[1, 2], [3]]), "masks are ragged"),
        (lambda: masked_fourier([["a", "b"]]), "masks are not numeric"),
        (lambda: masked_fourier([[1, np.nan]]), "every entry must be finite"),
        (lambda: masked_fourier([[1, 1e200j]]), "every entry must be finite"),
        (lambda: oversampled_fourier((4, 4), factor=0.5), "factor = 0.5: give a number, 1 or more"),
        (lambda: oversampled_fourier((4, 4), factor=np.inf), "factor = inf"),
        (lambda: oversampled_fourier((4, 4), factor=1e9), "too large for memory"),
        (lambda: oversampled_fourier(10**14), "too large for memory"),
        (lambda: oversampled_fourier((4, 4), factor=1e300), "factor"),
        (lambda: SMALL["phase, 1-D"].forward(np.ones(11)), r"x has shape \(11,\): give 12 numbers"),
        (lambda: SMALL["phase, 1-D"].adjoint(np.ones((1, 2, 36))), r"z has shape \(1, 2, 36\): give 36 numbers"),
        (lambda: SMALL["phase, 1-D"].forward(["a"] * 12), "x is not numeric"),
        (lambda: keep_rows(SMALL["phase, 1-D"], [0, 36]), "numbers of rows, each once, from 0 to 35"),
        (lambda: keep_rows(SMALL["phase, 1-D"], [0, 0]), "each once"),
        (lambda: keep_rows(SMALL["phase, 1-D"], [-1]), "from 0 to 35"),
        (lambda: keep_rows(SMALL["phase, 1-D"], np.zeros(36, bool)), "at least one row"),
        (lambda: keep_rows(SMALL["phase, 1-D"], np.ones(35, bool)), "a boolean for each of the 36 rows"),
        (lambda: keep_rows(SMALL["phase, 1-D"], 0.5), "which = 0.5"),
        (lambda: keep_rows("nonsense", [0]), "give a linear operator or an array"),
    ],
)
def test_one_line_for_what_cannot_be(call, line):
    with pytest.raises(InputError, match=line) as refused:
        call()
    assert "\n" not in str(refused.value)
