"""The solvers as JAX programs: batches of instances, and one huge instance, on a GPU, on several, or on the CPU.

Nothing else in the package needs JAX, which is imported with this.
"""

import importlib

from phaselect.base.errors import InputError

try:
    importlib.import_module("jax")
except ImportError:
    raise InputError("this needs JAX: pip install 'phaselect[cuda]' for a GPU, 'phaselect[jax]' for the CPU") from None
