"""What the field uses otherwise, for comparison: published updates and constants, all from one spectral start."""
