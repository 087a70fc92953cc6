"""A result in a file: everything comes back, bit for bit, and what is not a result is refused."""

import json
import os
from dataclasses import fields, replace

import numpy as np
import pytest

import phaselect
from phaselect import Certificate, InputError, Result, Schedule, Status
from phaselect.solvers.result import StageRecord
from phaselect.solvers.result_files import ENDINGS

WHOLE = pytest.mark.parametrize("ending", [".npz", ".json"])


def drawn(kind, **more):
    """A result of which no number is a round one."""
    rng = np.random.default_rng(3)
    own = {"float64": lambda n: rng.standard_normal(n), "complex128": lambda n: rng.standard_normal((n, 2)) @ [1, 1j]}
    values = own[kind]
    signs = np.sign(values(5)) if kind == "float64" else values(5)
    trace = {"mu": np.array([0.1, 1 / 3]), "m": np.array([np.nan, np.inf]), "copies": np.array([2, 3])}
    options = {
        "certificate": None,
        "log10_impostors": np.nan,
        "truth": {"m": 1 / 3, "O": np.nan},
        "reason": 'why "so"; \u03bc',
        "rival": values(3),
        "stages": (StageRecord("amp", "why", 2, "diverged", np.inf, 0.1), StageRecord("pa", "", 1, "fits", 1e-30, 7.0)),
        "noise": rng.random(5),
        "noise_std": 0.1 + 0.2,
        "x_std": rng.random(3),
        "warnings": ("one", "two, longer"),
    }
    schedule = Schedule.fixed_product(0.7, steps=3, unit="iterations")
    rest = (1 / 7, 2.5, 0.3, trace, "pa", schedule, 2**80)
    made = Result(values(3), signs, Status.ESTIMATE, None, np.nan, *rest)
    return replace(made, **options | more)


NOTHING_KNOWN = {"noise_std": None, "x_std": None, "rival": None, "stages": (), "truth": {}}
CERTIFIED = {"certificate": Certificate.ENUMERATED, "status": Status.RECOVERED}
CASES = [
    drawn("float64"),
    drawn("complex128"),
    drawn("float64", **NOTHING_KNOWN, warnings=(), trace={}, seed=0, noise=np.nan, **CERTIFIED),
    drawn("float64", mse_y=np.inf, log10_impostors=-np.inf, status=Status.DIVERGED, state="not stored"),
]


def same(one, other):
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for name in one:
            same(one[name], other[name])
    elif isinstance(one, StageRecord | float):
        assert type(one) is type(other)
        np.testing.assert_equal(one, other)
    else:
        assert type(one) is type(other)
        assert one == other


@WHOLE
@pytest.mark.parametrize("case", CASES)
def test_everything_comes_back(tmp_path, case, ending):
    path = tmp_path / f"own{ending}"
    case.save(path)
    again = Result.load(path)
    for field in fields(Result):
        if field.name != "state":
            same(getattr(case, field.name), getattr(again, field.name))
    assert again.state is None
    assert again.message == case.message
    assert os.listdir(tmp_path) == [path.name]


@WHOLE
def test_a_result_of_a_run_comes_back(tmp_path, ending):
    result = phaselect.solve(phaselect.gaussian_instance(20, 2.0, seed=0))
    result.save(str(tmp_path / f"own{ending}"))
    again = Result.load(str(tmp_path / f"own{ending}"))
    assert result.to_dict() == again.to_dict()
    same(result.trace, again.trace)


def test_x_can_be_read_elsewhere(tmp_path):
    from scipy.io import loadmat

    for case in CASES:
        x, x_std = case.x, case.x_std
        for ending in (".csv", ".npy", ".mat"):
            case.save(tmp_path / f"x{ending}")
        np.testing.assert_array_equal(np.load(tmp_path / "x.npy", allow_pickle=False), x)
        header = (tmp_path / "x.csv").read_text().splitlines()[0]
        assert header == ("x" if x_std is None else "x,x_std")
        table = np.loadtxt(tmp_path / "x.csv", delimiter=",", skiprows=1, dtype=x.dtype, ndmin=2)
        np.testing.assert_array_equal(table[:, 0], x)
        mat = loadmat(tmp_path / "x.mat")
        np.testing.assert_array_equal(mat["x"][:, 0], x)
        if x_std is not None:
            np.testing.assert_array_equal(table[:, 1], x_std)
            np.testing.assert_array_equal(mat["x_std"][:, 0], x_std)


def test_names_of_entries(tmp_path):
    result = replace(CASES[0], x=np.array([1.5, -2.0]), x_std=None)
    result.save(tmp_path / "x.csv", names=["left", "right, or so"])
    assert (tmp_path / "x.csv").read_text() == ',x\nleft,1.5\n"right, or so",-2.0\n'
    with pytest.raises(InputError, match=r"names has 3 entries: give 2, one for each entry of x"):
        result.save(tmp_path / "other.csv", names="abc")
    assert os.listdir(tmp_path) == ["x.csv"]


def test_a_csv_file_of_complex_numbers_has_no_brackets(tmp_path):
    replace(CASES[1], x=np.array([1 + 2j, -0.5j, complex(0.0, np.inf)]), x_std=None).save(tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "x\n1+2j\n-0-0.5j\ninfj\n"


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_left_of_a_file_that_cannot_be_written(tmp_path, ending):
    with pytest.raises(InputError, match="cannot write"):
        CASES[0].save(tmp_path / "nowhere" / f"x{ending}")
    broken = replace(CASES[0], x=np.array([object()]), x_std=None)
    if ending in (".npz", ".npy"):
        with pytest.raises((AssertionError, ValueError)):  # rather than pickle
            broken.save(tmp_path / f"x{ending}")
    assert os.listdir(tmp_path) == []


def test_other_endings_are_refused_in_a_line(tmp_path):
    for name in ("x.pkl", "x", "x.csv.gz"):
        with pytest.raises(InputError, match=r"name the file \.npz, \.json, \.csv, \.npy or \.mat$"):
            CASES[0].save(tmp_path / name)
    with pytest.raises(InputError, match=r"x\.csv: name the file \.npz or \.json$"):
        Result.load(tmp_path / "x.csv")
    assert os.listdir(tmp_path) == []


def damaged(record):
    yield "it lacks signs, status", {name: value for name, value in record.items() if name not in ("signs", "status")}
    yield "cannot be read", record | {"status": "WONDERFUL"}
    yield "cannot be read", record | {"x": ["one"]}
    yield "cannot be read", record | {"x": 1.0}
    yield "cannot be read", record | {"x": [[1.0, 2.0, 3.0]]}
    yield "cannot be read", record | {"stages": [{"solver": "amp"}]}
    yield "schedule", record | {"schedule": {"mu": [1.0]}}
    yield "not of one length", record | {"rival": [1.0]}
    yield "not of one length", record | {"trace": {"mu": [1.0], "mse_y": [1.0, 2.0]}}
    yield "contradict", record | {"certificate": None, "status": "RECOVERED"}
    yield "it lacks", [1, 2]


def test_what_is_not_a_result_is_refused_in_a_line(tmp_path):
    path = tmp_path / "own.json"
    for message, record in damaged(json.loads(CASES[0].to_json())):
        path.write_text(json.dumps(record))
        with pytest.raises(InputError, match=message) as caught:
            Result.load(path)
        assert "\n" not in str(caught.value)
    path.write_text(CASES[0].to_json()[:100])
    with pytest.raises(InputError, match="cannot be read, or is truncated"):
        Result.load(path)
    with pytest.raises(InputError, match="no such file"):
        Result.load(tmp_path / "other.npz")


def test_no_code_of_a_stranger_runs(tmp_path):
    CASES[0].save(tmp_path / "own.npz")
    arrays = dict(np.load(tmp_path / "own.npz"))
    np.savez(tmp_path / "own.npz", **arrays | {"x": np.array([{"a": 1}], dtype=object)})
    with pytest.raises(InputError, match="Python objects, which are never loaded"):
        Result.load(tmp_path / "own.npz")
    (tmp_path / "own.npz").write_bytes(b"\x80\x04K\x01.")  # a pickle
    with pytest.raises(InputError, match=r"own\.npz"):
        Result.load(tmp_path / "own.npz")
    np.save(tmp_path / "x.npy", np.ones(3))
    (tmp_path / "x.npy").rename(tmp_path / "x.npz")
    with pytest.raises(InputError, match=r"x\.npz is not an \.npz archive"):
        Result.load(tmp_path / "x.npz")


def test_what_is_no_archive_is_said_to_be_none(tmp_path):
    (tmp_path / "own.npz").write_bytes(b"hello")
    with pytest.raises(InputError, match=r"not an \.npz archive"):
        Result.load(tmp_path / "own.npz")
