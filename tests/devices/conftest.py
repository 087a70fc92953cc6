"""Compilation is what takes time here: tests share a few shapes, and how long it takes must not decide what is run."""

import jax
import numpy as np
import pytest
from phaselect.devices import batch

from phaselect import gaussian_instance

N, ROWS = 60, 81
"""Of most instances: hard enough that some fail, and rows that two or four devices cannot share equally."""


@pytest.fixture(scope="session", autouse=True)
def _keep_batches_whole():
    """A batch shrinks, and is compiled anew, when the rest of it looks long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "WORTH_SHRINKING", np.inf)
        yield


@pytest.fixture(autouse=True)
def _narrow_types_stay_the_default():
    """Programs switch to 64-bit types for themselves alone."""
    assert not jax.config.jax_enable_x64
    yield
    assert not jax.config.jax_enable_x64


@pytest.fixture(scope="session")
def problems():
    """A batch of instances, x0 known."""
    return [gaussian_instance(N, ROWS / N, seed=seed) for seed in range(24)]
