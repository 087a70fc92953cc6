"""What a judge is given: tables that say so, in one way, where they lack what is asked of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.tables import Table


class Missing(Exception):
    """The tables lack what a judge asks for."""


class Evidence(Table):
    """A table that can be searched for what is not there, and then has no rows; but no number is read off no rows."""

    def __getitem__(self, name: str) -> NDArray[Any]:
        self._check(name)
        if len(self) == 0:
            raise Missing(f"no {name} is known")
        return super().__getitem__(name)

    def where(self, **values: Any) -> Table:
        """The rows in which each named column has the given value."""
        self._check(*values)
        return super().where(**values)

    def values(self, name: str) -> list[Any]:
        """The distinct values of a column."""
        self._check(name)
        return super().values(name)

    def _check(self, *names: str) -> None:
        absent = [name for name in names if name not in self.columns]
        if absent:
            raise Missing(f"no {', '.join(absent)} is known")


def known(values: Any, what: str) -> NDArray[np.float64]:
    """Numbers to be judged by, at least one, all of them finite."""
    numbers = np.atleast_1d(np.asarray(values, dtype=float))
    if numbers.size == 0 or not np.isfinite(numbers).all():
        raise Missing(f"{what} is not known")
    return numbers


def matched(one: Any, other: Any, what: str) -> None:
    """Two lines can be held against each other: they are known at the same places."""
    if not np.array_equal(one, other):
        raise Missing(f"{what} is not known at the same places")
