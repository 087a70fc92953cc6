"""What a judge is given: tables that say so, in one way, where they lack what is asked of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.tables import Table


class Missing(Exception):
    """The tables lack what a judge asks for."""


class Evidence(Table):
    """A table of which nothing can be asked that is not there: a column that it lacks, or any column of no rows."""

    def __getitem__(self, name: str) -> NDArray[Any]:
        if len(self) == 0 or name not in self.columns:
            raise Missing(f"no {name} is known")
        return super().__getitem__(name)


def known(values: Any, what: str) -> NDArray[np.float64]:
    """Numbers to be judged by, at least one, all of them finite."""
    numbers = np.atleast_1d(np.asarray(values, dtype=float))
    if numbers.size == 0 or not np.isfinite(numbers).all():
        raise Missing(f"{what} is not known")
    return numbers
