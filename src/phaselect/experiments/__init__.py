"""Sweeps of solvers over many instances: grids of runs, a store that outlives a crash, the analysis of success."""
