"""The report: every figure, the thresholds by size, and each claim of the paper with what we measured."""
