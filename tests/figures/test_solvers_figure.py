"""The figure of all solvers from sweeps that are not finished."""

import numpy as np
import pytest

from phaselect import InputError
from phaselect.base.tables import Table, load_table
from phaselect.figures.gallery import draw
from phaselect.figures.solvers import on_common_instances
from tests.figures.test_earlier_table import TABLES


def test_no_instance_was_met_by_every_solver():
    columns = {"solver": ["amp", "raf"], "n": [200, 200], "alpha": [1.2, 1.3], "seed": [0, 0]}
    rows = Table({name: np.array(column) for name, column in columns.items()})
    with pytest.raises(InputError, match="every solver was run on"):
        on_common_instances(rows)


def test_shares_without_times_are_drawn(tmp_path):
    """Nothing was recovered, and the last panel has no points: neither has an axis of logarithms of nothing."""
    table = load_table(TABLES / "solvers.csv")
    early = table.where(kind="share", alpha=1.05)
    nothing = {name: np.full(len(early), np.inf) for name in ("tts_50", "tts_99")}
    draw("solvers", Table(early.columns | nothing, table.provenance)).savefig(tmp_path / "solvers.png")
