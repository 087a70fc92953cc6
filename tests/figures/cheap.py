"""Figures on small grids: each computed when first asked for, written to a file and read again."""

import importlib
from itertools import pairwise

import pytest

from phaselect.base.tables import Table, load_table
from phaselect.figures.context import Context


def no_rows(name):
    raise AssertionError("this figure needs no sweep")


def tables_of(cheap, folder):
    """The table of a figure by its name; cheap: what takes the place of constants of its module."""
    found = {}

    def table(name):
        if name not in found:
            shares = []
            with pytest.MonkeyPatch.context() as patch:
                module = importlib.import_module(f"phaselect.figures.{name}")
                for constant, value in cheap[name].items():
                    patch.setattr(module, constant, value)
                Table(module.compute(Context("small", no_rows, shares.append))).save(folder / f"{name}.csv")
            assert shares
            assert shares[0] >= 0
            assert shares[-1] < 1
            assert all(before <= after for before, after in pairwise(shares))
            found[name] = load_table(folder / f"{name}.csv")
        return found[name]

    return table
