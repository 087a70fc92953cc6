"""`phaselect bench`: kernel rates, bandwidth, time to solution and growth with N, on a CPU or a GPU, in one table."""
