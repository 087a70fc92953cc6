"""Shared set-up: property tests draw the same examples everywhere, and have no deadline on a busy machine."""

from hypothesis import settings

settings.register_profile("phaselect", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("phaselect")
