"""NumPy, and Numba for what must be compiled."""
