import pytest

from phaselect import InputError
from phaselect.base.ranges import number_range


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1.1:1.475:0.025", 16), ("1,2,2", 2), ("3", 1), ("0:1:0.1", 11)],
)
def test_ranges(text, numbers):
    found = number_range(text, "x")
    assert len(found) == numbers
    assert found == sorted(found)


@pytest.mark.parametrize("text", ["", "1:2", "2:1:0.1", "1:2:0", "1:2:1e-9", "a", "1:inf:1"])
def test_bad_ranges(text):
    with pytest.raises(InputError, match="FIRST:LAST:STEP"):
        number_range(text, "x")
