"""One function per equation, for arrays of NumPy and of JAX."""
