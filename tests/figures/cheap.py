"""Figures on small grids: each computed when first asked for, written to a file and read again."""

import importlib
from itertools import pairwise

import numpy as np
import pytest

from phaselect.base.style import style
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


def check_drawing(name, table, panels):
    """A figure is drawn from its table alone: so many panels, with words, a legend, and most of the lines in sight."""
    module = importlib.import_module(f"phaselect.figures.{name}")
    with style():
        figure = module.draw(table)
        figure.draw_without_rendering()
    assert len(figure.axes) == panels
    assert any(axes.get_legend() for axes in figure.axes) or figure.legends
    for axes in figure.axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel() or axes is not figure.axes[0]
        x, y = np.concatenate([line.get_xydata() for line in axes.get_lines()]).T
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        inside = (left <= x) & (x <= right) & (low <= y) & (y <= high)
        assert inside.sum() >= 4
        assert inside.mean() > 0.3
    assert 60 < len(module.CAPTION) < 700
