import pytest

from phaselect import InputError
from phaselect.base.ranges import number_range


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1.1:1.475:0.025", 16), ("1,2,2", 2), ("3", 1), ("0:1:0.1", 11), ("0:0.3:0.1", 4), ("1.1:1.2:0.06", 2)],
)
def test_ranges(text, numbers):
    found = number_range(text, "x")
    assert len(found) == numbers
    assert found == sorted(found)
    assert ":" not in text or found[-1] <= float(text.split(":")[1])


@pytest.mark.parametrize("text", ["", "1:2", "2:1:0.1", "1:2:0", "1:2:1e-9", "a", "1:inf:1"])
def test_bad_ranges(text):
    with pytest.raises(InputError, match="FIRST:LAST:STEP"):
        number_range(text, "x")
