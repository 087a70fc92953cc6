"""JAX: programs for a GPU, for several, or for the CPU. Nothing else in the package needs it; it is imported here."""

import importlib

from phaselect.base.errors import InputError

try:
    importlib.import_module("jax")
except ImportError:
    raise InputError("this needs JAX: pip install 'phaselect[cuda]' for a GPU, 'phaselect[jax]' for the CPU") from None
