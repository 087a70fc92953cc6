"""How arrays move: on the host with NumPy and Numba, on devices with JAX. Arrays only, no instances.

Both have the same parts under the same names: `loops` (control flow), `matrix` (products with A), `ridge` (the
regression of signs on A), `flips` (Metropolis), `random`. A matrix names its backend; whoever uses it need not know.
"""
