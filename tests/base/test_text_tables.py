"""Numbers as people, programs and spreadsheets write them."""

import numpy as np
import pytest

from phaselect.base.errors import InputError
from phaselect.base.text_tables import as_number, read_text_table

NUMBERS = np.array([[1.5, -2.25, 3.0], [0.125, 40.0, -5.5]])
AS_WRITTEN = {
    "plain": "1.5,-2.25,3\n0.125,40,-5.5\n",
    "spaces after commas": "1.5, -2.25, 3\n0.125, 40, -5.5\n",
    "tabs": "1.5\t-2.25\t3\n0.125\t40\t-5.5",
    "columns of a printer": "  1.5   -2.25   3\n  0.125 40     -5.5\n",
    "comments": "# made by hand\n% twice\n1.5,-2.25,3\n# halfway\n0.125,40,-5.5\n#\n",
    "names": "a,b,c\n1.5,-2.25,3\n0.125,40,-5.5\n",
    "names of several words": "first one\tb\tthe c\n1.5\t-2.25\t3\n0.125\t40\t-5.5\n",
    "byte order mark, ends of Windows, blank lines": "\ufeffa,b,c\r\n1.5,-2.25,3\r\n0.125,40,-5.5\r\n\r\n,,\r\n",
    "ends of old Macs": "a,b,c\r1.5,-2.25,3\r0.125,40,-5.5\r",
    "quotes": '"a","b","c"\n"1.5","-2.25","3"\n"0.125","40","-5.5"\n',
    "separators at the ends": "a,b,c,\n1.5,-2.25,3,\n0.125,40,-5.5,\n",
    "decimal commas": "1,5;-2,25;3\n0,125;40;-5,5\n",
    "decimal commas and names": "a;b;c\n1,5;-2,25;3\n0,125;40;-5,5\n;;\n",
    "decimal commas and tabs": "1,5\t-2,25\t3\n0,125\t40\t-5,5\n",
    "decimal commas and spaces": "1,5 -2,25 3\n0,125 40 -5,5\n",
    "decimal commas in quotes": '"1,5","-2,25","3"\n"0,125","40","-5,5"\n',
    "a separator that is told": 'sep=;\n"1,5";-2,25;3\n0,125;40;-5,5\n',
    "a separator that is odd": "sep=|\n1.5|-2.25|3\n0.125|40|-5.5\n",
    "pandas": ",0,1,2\n0,1.5,-2.25,3.0\n1,0.125,40.0,-5.5\n",
    "pandas without an index": "0,1,2\n1.5,-2.25,3.0\n0.125,40.0,-5.5\n",
    "pandas with an index of texts": ",a,b,c\nred,1.5,-2.25,3.0\nblue,0.125,40.0,-5.5\n",
    "R, write.csv": '"","V1","V2","V3"\n"1",1.5,-2.25,3\n"2",0.125,40,-5.5\n',
    "R, write.table": '"V1" "V2" "V3"\n"1" 1.5 -2.25 3\n"2" 0.125 40 -5.5\n',
    "a minus sign of print": "1.5,\N{MINUS SIGN}2.25,3\n0.125,40,\N{MINUS SIGN}5.5\n",
    "powers of ten": "15E-1,-2.25e0,3\n1.25E-01,4e+1,-5.5\n",
}


def table(tmp_path, text, **options):
    (tmp_path / "t.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    return read_text_table(tmp_path / "t.csv", **options)


@pytest.mark.parametrize("kind", AS_WRITTEN)
def test_the_same_numbers(tmp_path, kind):
    found = table(tmp_path, AS_WRITTEN[kind])
    np.testing.assert_array_equal(found.numbers(), NUMBERS)
    assert [[as_number(text) for text in row] for row in found.texts()] == NUMBERS.tolist()


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_other_alphabets(tmp_path, encoding):
    text = "Größe\tHöhe\tTiefe\r\n1,5\t-2,25\t3\r\n0,125\t40\t-5,5\r\n"
    np.testing.assert_array_equal(table(tmp_path, text.encode(encoding)).numbers(), NUMBERS)


def test_all_digits_stay(tmp_path):
    digits = "3,14159265358979323846264338327950288"
    assert table(tmp_path, f"a;b\n{digits};2/7\n").texts().tolist() == [[digits.replace(",", "."), "2/7"]]


@pytest.mark.parametrize("text", ["1+2j,3-4j\n(5+6j),7\n", "1+2i;3 - 4i\n5+6i;7\n", "1,0+2,0i;3,0-4,0i\n5+6i;7\n"])
def test_complex_numbers(tmp_path, text):
    np.testing.assert_array_equal(table(tmp_path, text).numbers(), [[1 + 2j, 3 - 4j], [5 + 6j, 7]])


def test_whole_numbers_that_look_like_numbers_of_columns_stay(tmp_path):
    np.testing.assert_array_equal(table(tmp_path, "0,1\n2,3\n").numbers(), [[0, 1], [2, 3]])


def test_a_first_column_of_numbers_stays(tmp_path):
    """Though it has no name: it does not count the rows."""
    np.testing.assert_array_equal(table(tmp_path, ",b\n1.5,2\n2.5,3\n").numbers(), [[1.5, 2], [2.5, 3]])


def test_one_column(tmp_path):
    for text in ("1.5\n2\n", "y in volts\n1.5\n2\n", '"y"\n"1.5"\n"2"\n'):
        assert table(tmp_path, text).numbers().tolist() == [[1.5], [2]]
    assert table(tmp_path, "1,5\n2\n", decimal_comma=True).numbers().tolist() == [[1.5], [2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n \n;;\n", "is empty"),
        ("1,2\n3\n", "is ragged: it has 2 columns in line 1, 1 in line 2"),
        ("1 2\n3 4 5\n", "is ragged: it has 2 columns in line 1, 3 in line 2"),
        ("a,b\n1,2\n3,four\n", "line 3, column 2: 'four' is not a number"),
        ("a;b\n1,5;2\n3;x,y\n", "line 3, column 2: 'x,y' is not a number"),
        ("not,a\nnumber,here\n", "line 2, column 1: 'number' is not a number"),
        ("1,2\n3,\n5,6\n", "line 2, column 2: there is no number"),
        (",1.5\n2,3\n", "line 1, column 1: there is no number"),
        ("1,2\n#N/A,3\n", "line 2, column 1: '#N/A' is not a number$"),
        ("1,2\n1/3,3\n", "line 2, column 1: '1/3' is not a number; fractions are for exact data"),
        ("1_0,2\n3,4\n", "'1_0' is not a number"),
        ("1,2\n\n3,4\n", "line 2 is blank"),
        ("1.5;2,5\n", "such as 2,5: write them without separators of thousands"),
        ('"1,234","2,345"\n', "such as 1,234: write them without separators of thousands"),
        ('"1,234.5","2"\n', "such as 1,234.5: write"),
        ("a\x1b]0;b\n1;2\n\x1b]0;3\n", r"'\\\\x1b\]0' is not"),
        ("1,2\0\n", "is not a text file"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as caught:
        table(tmp_path, text).numbers()
    assert str(caught.value).isprintable()


def test_numbers_and_what_is_none():
    assert [as_number(text) for text in ("1e3", " 2 ", "-i", "1 + 2j")] == [1000, 2, -1j, 1 + 2j]
    assert [as_number(text) for text in ("", "one", "1_0", "1,5", "0x10", "1/2")] == [None] * 6
