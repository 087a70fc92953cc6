"""How arrays move: on the host with NumPy and Numba, on devices with JAX. Arrays only, no instances.

Both have the same parts: `loops` (control flow), `random`, `flips` (Metropolis), `ridge` (regression of signs on A),
and the matrix (`in_memory`, `on_device`: products with A). A matrix names its backend; whoever uses it need not know.
"""
