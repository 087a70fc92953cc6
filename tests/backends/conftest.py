import jax
import pytest


@pytest.fixture(autouse=True)
def _narrow_types_stay_the_default():
    """Programs switch to 64-bit types for themselves alone."""
    assert not jax.config.jax_enable_x64
    yield
    assert not jax.config.jax_enable_x64
