"""Data as other libraries have them: taken if all numbers are there; else a line names the first that is not."""

import numpy as np
import pandas as pd
import pytest

from phaselect import InputError, Instance, gaussian_instance, solve

PROBLEM = gaussian_instance(20, 2.0, seed=0)
A, Y = PROBLEM.A, PROBLEM.y


@pytest.mark.parametrize("dtype", ["float64", "Float64", "double[pyarrow]", "mixed"])
def test_tables_of_pandas_are_taken(dtype):
    frame, series = pd.DataFrame(A, columns=[f"channel {i}" for i in range(20)]), pd.Series(Y, index=np.arange(40) + 7)
    if dtype == "mixed":
        frame = frame.astype({"channel 3": "Float64", "channel 4": "object"})
    else:
        frame, series = frame.astype(dtype), series.astype(dtype)
    own = Instance(frame, series)
    np.testing.assert_array_equal(own.A, A)
    np.testing.assert_array_equal(own.y, Y)


def test_a_table_of_pandas_is_solved():
    np.testing.assert_array_equal(solve(pd.DataFrame(A), pd.Series(Y)).x, solve(A, Y).x)


def test_whole_numbers_and_single_precision_of_pandas():
    whole = pd.DataFrame([[1, 0], [0, 2], [3, 1]])
    for dtype in ("int64", "Int64", "UInt8"):
        np.testing.assert_array_equal(Instance(whole.astype(dtype), pd.Series([1, 2, 4], dtype=dtype)).A, whole)
    single = pd.Series(Y, dtype="Float32")
    assert Instance(A, single).rounding == Instance(A, Y.astype(np.float32)).rounding == np.finfo(np.float32).eps


def with_gap(values, gap, dtype):
    own = np.array(values, dtype=object)
    own[(3, 1)[: own.ndim]] = gap
    return (pd.DataFrame if own.ndim == 2 else pd.Series)(own).astype(dtype) if dtype else own


@pytest.mark.parametrize(
    ("gap", "dtype", "shown"),
    [
        (None, None, r"missing \(None\)"),
        (np.nan, None, r"missing \(nan\)"),
        (pd.NaT, None, r"missing \(NaT\)"),
        (pd.NA, "Float64", r"missing \(<NA>\)|nan"),
        (pd.NA, "double[pyarrow]", r"missing \(<NA>\)|nan"),
        (None, "object", r"missing \(None\)"),
        (np.nan, "float64", "nan: every entry must be finite"),
    ],
)
def test_what_is_missing_is_named(gap, dtype, shown):
    with pytest.raises(InputError, match=rf"^y\[3\] is ({shown})") as caught:
        Instance(A, with_gap(Y, gap, dtype))
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=rf"^A\[3, 1\] is ({shown})"):
        Instance(with_gap(A, gap, dtype), Y)


def test_the_first_masked_entry_is_named():
    mask = np.zeros(A.shape, dtype=bool)
    mask[5, 2] = mask[7, 0] = True
    with pytest.raises(InputError, match=r"A has masked entries, as A\[5, 2\]: drop those measurements"):
        Instance(np.ma.array(A, mask=mask), Y)
    with pytest.raises(InputError, match=r"y has masked entries, as y\[5\]"):
        Instance(A, np.ma.array(Y, mask=mask[:, 2]))
    with pytest.raises(InputError, match=r"counts has masked entries, as counts\[5\]"):
        solve(A, counts=np.ma.array(np.round(Y), mask=mask[:, 2]))
    np.testing.assert_array_equal(Instance(np.ma.array(A, mask=False), np.ma.array(Y)).A, A)


def test_lists_with_gaps_and_texts():
    with pytest.raises(InputError, match=r"y\[1\] is missing \(None\)"):
        Instance([[1.0], [2.0], [3.0]], [1.0, None, 3.0])
    with pytest.raises(InputError, match="A is not numeric"):
        Instance(pd.DataFrame({"a": ["x", "y", "z"], "b": [1, 2, 3]}), [1.0, 2.0, 3.0])
