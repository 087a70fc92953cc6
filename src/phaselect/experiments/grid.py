"""What a sweep computes: a grid of parameters, written on the command line, in a TOML file or as a preset.

[[grid]]
solver = ["amp", "pa"]
n = [100, 200]
alpha = "1.1:1.475:0.025"
eps = [0.1, 0.01]      # for the solvers that have it; also product, replicas
instances = 100        # seeds 0 to 99; seed = 100 goes on from there
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from itertools import product as combinations
from pathlib import Path
from typing import Any

import numpy as np

from phaselect.base.errors import InputError
from phaselect.base.ranges import number_range
from phaselect.experiments.contenders import CONTENDERS
from phaselect.problem.instance import is_count

OPTIONS = ("eps", "product", "replicas")
KIND = ("solver", "n", *OPTIONS)
"""What tells one curve of success against alpha from another, and settles how long a run takes."""


@dataclass(frozen=True)
class Task:
    """One solver on one instance; an option the solver does not have is None. `seed` draws the instance and the run."""

    solver: str
    n: int
    alpha: float
    seed: int
    eps: float | None = None
    product: float | None = None
    replicas: int | None = None

    @property
    def key(self) -> str:
        """The name of this run in a store: a digest of its parameters."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @property
    def options(self) -> dict[str, float]:
        """The parameters to hand to the contender."""
        return {name: getattr(self, name) for name in CONTENDERS[self.solver].defaults}

    @property
    def instance(self) -> tuple[int, float, int]:
        """n, alpha and seed: tasks that agree in these run on the same A."""
        return self.n, self.alpha, self.seed

    @property
    def kind(self) -> tuple[Any, ...]:
        """The values of `KIND`."""
        return tuple(getattr(self, name) for name in KIND)


@dataclass(frozen=True)
class Grid:
    """Every combination of its values, on instances `seed` to `seed + instances - 1`.

    An option (eps, product, replicas) that is None takes each solver's default; one that is given holds for the
    solvers that have it.

    >>> len(Grid(solver=("amp",), n=(100, 200), alpha=(1.2, 1.3), instances=10).tasks())
    40
    """

    solver: tuple[str, ...]
    n: tuple[int, ...]
    alpha: tuple[float, ...]
    instances: int = 20
    seed: int = 0
    eps: tuple[float, ...] | None = None
    product: tuple[float, ...] | None = None
    replicas: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        unknown = [name for name in self.solver if name not in CONTENDERS]
        if unknown or not self.solver:
            raise InputError(f"solver {', '.join(unknown) or 'missing'}: use one of {', '.join(CONTENDERS)}")
        for name in OPTIONS:
            if getattr(self, name) is not None and not any(name in CONTENDERS[it].defaults for it in self.solver):
                raise InputError(f"{name}: no such parameter for {', '.join(self.solver)}; leave it out")
        _check("n", self.n, lambda value: is_count(value, 2), "whole numbers, 2 or more")
        _check("alpha", self.alpha, lambda value: 1 < value < np.inf, "numbers above 1")
        _check("eps", self.eps, lambda value: 0 < value < np.inf, "positive numbers")
        _check("product", self.product, lambda value: 0 <= value < np.inf, "numbers, 0 (for lam = 0) or more")
        _check("replicas", self.replicas, lambda value: is_count(value, 2), "whole numbers, 2 or more")
        if not is_count(self.instances, 1) or not is_count(self.seed):
            raise InputError("instances must be a whole number from 1 on, and seed one from 0 on")
        if round(min(self.alpha) * min(self.n)) <= min(self.n):
            raise InputError(
                f"alpha = {min(self.alpha):g} with n = {min(self.n)} rounds to no more measurements than unknowns"
            )
        for name in ("alpha", "eps", "product"):  # so that 2 and 2.0 are the same run
            if getattr(self, name) is not None:
                object.__setattr__(self, name, tuple(float(value) for value in getattr(self, name)))

    def tasks(self) -> list[Task]:
        """All runs of the grid."""
        return [
            Task(solver, n, alpha, self.seed + k, **options)
            for k, n, alpha, solver in combinations(range(self.instances), self.n, self.alpha, self.solver)
            for options in self._options(solver)
        ]

    def _options(self, solver: str) -> Iterator[dict[str, Any]]:
        defaults = CONTENDERS[solver].defaults
        values = [getattr(self, name) or (default,) for name, default in defaults.items()]
        for chosen in combinations(*values):
            yield dict(zip(defaults, chosen, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON; what is None is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Grid:
        """From a table of a TOML file; lists may be written as single values or as ranges, "1.1:1.5:0.1"."""
        if not isinstance(record, Mapping):
            raise InputError("grid: write a table [[grid]] with solver, n and alpha")
        unknown = sorted(set(record) - set(cls.__dataclass_fields__))
        missing = sorted({"solver", "n", "alpha"} - set(record))
        if unknown or missing:
            known = ", ".join(cls.__dataclass_fields__)
            raise InputError(
                f"grid: {', '.join(unknown + missing)} {'unknown' if unknown else 'missing'}; it has {known}"
            )
        values: dict[str, Any] = dict(record)
        for name in ("n", "alpha", *OPTIONS):
            if values.get(name) is not None:
                values[name] = _numbers(values[name], name, whole=name in ("n", "replicas"))
        solver = values["solver"]
        names = solver.split(",") if isinstance(solver, str) else solver
        if not (isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)):
            raise InputError(f"solver = {solver!r}: give names, such as {', '.join(list(CONTENDERS)[:3])}")
        values["solver"] = tuple(name.strip() for name in names)
        return cls(**values)


def all_tasks(grids: Sequence[Grid]) -> list[Task]:
    """The runs of several grids, each once; all sizes of the first instance, then of the second, and so on.

    A sweep that stops early has then done the same share of every curve.
    """
    tasks = dict.fromkeys(task for grid in grids for task in grid.tasks())
    return sorted(tasks, key=lambda task: (task.seed, task.n, task.alpha))


def load_grids(path: str | Path) -> list[Grid]:
    """The grids of a TOML file."""
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    grids = content.get("grid")
    if set(content) != {"grid"} or not isinstance(grids, list) or not grids:
        raise InputError(f"{path} must hold one or more tables [[grid]] with solver, n and alpha, and nothing else")
    return [Grid.from_dict(grid) for grid in grids]


def preset(name: str, scale: str) -> list[Grid]:
    """The grids of a preset, `small` or at the scale of the `paper`."""
    presets = _presets()
    if name not in presets:
        raise InputError(f"preset {name}: use one of {', '.join(presets)}")
    if scale not in presets[name]:
        raise InputError(f"scale {scale}: use one of {', '.join(presets[name])}")
    return [Grid.from_dict(grid) for grid in presets[name][scale]]


def preset_names() -> list[str]:
    """The presets there are."""
    return list(_presets())


def _presets() -> dict[str, Any]:
    return tomllib.loads(files("phaselect.experiments").joinpath("presets.toml").read_text(encoding="utf-8"))


def _numbers(given: Any, name: str, whole: bool) -> tuple[float, ...]:
    if isinstance(given, str):
        given = number_range(given, name)
    values = given if isinstance(given, list | tuple) else [given]
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError):
        raise InputError(f"{name} = {given!r}: give numbers") from None
    if not np.isfinite(numbers).all():
        raise InputError(f"{name} = {given!r}: give finite numbers")
    if whole and any(value != int(value) for value in numbers):
        raise InputError(f"{name} = {given!r}: give whole numbers")
    return tuple(int(value) if whole else value for value in numbers)


def _check(name: str, values: Sequence[Any] | None, good: Any, wanted: str) -> None:
    if values is not None and (not values or not all(good(value) for value in values)):
        raise InputError(f"{name} = {', '.join(map(str, values)) or 'nothing'}: give {wanted}")
