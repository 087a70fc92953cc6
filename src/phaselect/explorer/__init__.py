"""The explorer: one self-contained page on which the theory moves with sliders and a real instance is annealed."""
