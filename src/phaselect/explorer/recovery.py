"""How many measurements an infinitely slow anneal needs, as a table that ships with the page.

`python -m phaselect.explorer.recovery` computes it anew, in a minute and a half, into recovery.csv beside this file.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np

import phaselect
from phaselect.base.tables import Table, load_table

PRODUCTS = np.geomspace(0.05, 20.0, 41).round(4)
LAMS = np.array([0.0, *np.geomspace(1e-3, 0.32, 26).round(6)])
TOLERANCE = 1e-5


def compute() -> Table:
    """alpha against the product, or against lam, whichever is kept fixed."""
    from phaselect.theory import alpha_recovery, critical_alpha

    rows = [("product", value, critical_alpha(value, tolerance=TOLERANCE)) for value in PRODUCTS.tolist()]
    rows += [("lam", value, alpha_recovery(value, tolerance=TOLERANCE)) for value in LAMS.tolist()]
    kept, values, alphas = zip(*rows, strict=True)
    columns = {"kept": np.array(kept), "value": np.array(values), "alpha": np.array(alphas).round(5)}
    command = "python -m phaselect.explorer.recovery"
    return Table(columns, {"command": command, "version": phaselect.__version__})


def recovery_table() -> Table:
    """The table that ships."""
    return load_table(str(files("phaselect.explorer").joinpath("recovery.csv")))


if __name__ == "__main__":
    compute().save(Path(__file__).with_name("recovery.csv"))
