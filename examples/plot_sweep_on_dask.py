"""
A sweep on Dask
===============

Many instances, on a cluster; one row per run in a file that a killed sweep goes on from.
"""

# %%
# ``Dask(workers=2)`` starts a cluster of two processes here; ``Dask("tcp://host:8786")`` joins one that is there.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from phaselect.experiments.executors import Dask
from phaselect.experiments.grid import Grid
from phaselect.experiments.limits import alpha_50
from phaselect.experiments.store import Store
from phaselect.experiments.success import success_table
from phaselect.experiments.sweep import run_sweep

if __name__ == "__main__":  # the processes of a cluster begin by reading this file
    path = Path(tempfile.mkdtemp()) / "runs.db"
    alphas = tuple(np.arange(1.1, 1.5, 0.1).round(2))
    grid = Grid(solver=("amp",), n=(50, 100), alpha=alphas, instances=12, options={"restarts": (0,)})
    print(run_sweep([grid], path, Dask(workers=2)))
    with Store(path, read_only=True) as store:
        rows = store.table()

# %%
# Shares of recovered instances with Wilson's intervals, and where half of them are.

if __name__ == "__main__":
    fig, ax = plt.subplots(figsize=(4.5, 3))
    for n in (50, 100):
        own = rows.where(n=n)
        share, half = success_table(own), alpha_50(own)
        bars = np.abs([share["p_low"], share["p_high"]] - share["p"])
        ax.errorbar(
            share["alpha"], share["p"], bars, fmt="o-", lw=0.8, label=f"N = {n}: half at {half.interval.value:.3f}"
        )
    ax.set(xlabel=r"measurements per unknown $\alpha$", ylabel="recovered")
    ax.legend()
    plt.show()
