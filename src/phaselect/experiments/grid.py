"""What a sweep computes: a grid of parameters, written on the command line, in a TOML file or as a preset.

[[grid]]
solver = ["amp", "pa"]
n = [100, 200]
alpha = "1.1:1.475:0.025"
ensemble = "toeplitz"  # a kind of matrix, or several; gaussian by default
field = "complex"      # of A and of the signal, or both fields; real by default
eps = [0.1, 0.01]      # an option, for the solvers that have it; the registry of solvers lists them
instances = 100        # seeds 0 to 99; seed = 100 goes on from there
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib.resources import files
from itertools import product as combinations
from pathlib import Path
from typing import Any

import numpy as np

from phaselect.base.checks import is_count, is_number, shortened
from phaselect.base.errors import InputError
from phaselect.base.ranges import number_range
from phaselect.problem.matrix_kinds import FIELDS, KINDS, check_field, check_kind, is_kind
from phaselect.solvers.registry import OPTIONS, REGISTRY, Recipe, recipe

GAUSSIAN, REAL, COMPLEX = "gaussian", "real", "complex"
USUAL = {"ensemble": GAUSSIAN, "field": REAL}
"""What a run is on that names nothing else: neither its key nor what a store keeps of it does."""
CURVE = ("solver", *USUAL, "n", *OPTIONS, "plan")
"""The columns that tell one curve of success against alpha from another."""
LARGEST_N, LARGEST_ALPHA, LARGEST_SEED, MOST_RUNS = 10_000_000, 1e6, 2**63, 1_000_000
"""Beyond these no run would end, no store could hold its number, or the list of runs would not fit into memory."""
Options = tuple[tuple[str, float], ...]
"""Names and values, sorted by name."""


@dataclass(frozen=True)
class Task:
    """One solver, with all the options it has, on one instance. `seed` draws the instance and the run.

    >>> Task.of("sa", 100, 1.3, seed=0, eps=0.1).record
    '{"eps": 0.1, "product": 1.0}'
    """

    solver: str
    n: int
    alpha: float
    seed: int
    options: Options
    ensemble: str = GAUSSIAN
    field: str = REAL

    @classmethod
    def of(
        cls,
        solver: str,
        n: int,
        alpha: float,
        seed: int,
        ensemble: str = GAUSSIAN,
        field: str = REAL,
        **options: float,
    ) -> Task:
        """The options that are not given have their defaults; 2 and 2.0 are the same run."""
        check_kind(ensemble)
        check_field(field, ensemble)
        recipe(solver).check(options)
        every = sorted((recipe(solver).options | options).items())
        exact = tuple((name, int(value) if OPTIONS[name].whole else float(value)) for name, value in every)
        return cls(solver, int(n), float(alpha), int(seed), exact, ensemble, field)

    @property
    def record(self) -> str:
        """The options as a store keeps them, and with them ensemble and field if they are not the usual ones."""
        return json.dumps(dict(self.options) | self._unusual)

    @property
    def _unusual(self) -> dict[str, str]:
        return {name: getattr(self, name) for name, usual in USUAL.items() if getattr(self, name) != usual}

    @property
    def plan(self) -> str:
        """A digest of what the options come to: the solver's fields, defaults included, and its schedule."""
        return _digest_of_plan(recipe(self.solver), self.options)

    @property
    def key(self) -> str:
        """The name of this run in a store. Another default makes another key; an option of another solver does not."""
        content = [self.solver, self.n, self.alpha, self.seed, self.options, self.plan]
        return _digest([*content, *self._unusual.values()])[:24]

    @property
    def instance(self) -> tuple[str, str, int, float, int]:
        """Ensemble, field, n, alpha and seed: tasks that agree in these run on the same A."""
        return self.ensemble, self.field, self.n, self.alpha, self.seed

    @property
    def kind(self) -> tuple[str, int, str, str]:
        """Solver, n, options with ensemble and field, and plan: what settles how long a run takes."""
        return self.solver, self.n, self.record, self.plan


@cache
def _digest_of_plan(chosen: Recipe, options: Options) -> str:
    return f"plan-{_digest(_content(chosen.plan(**dict(options))))[:12]}"  # never to be read as a number


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, default=lambda value: type(value).__name__)
    return hashlib.sha256(text.encode()).hexdigest()


def _content(value: Any) -> Any:
    """A configuration as names and plain numbers. Arrays in float32: machines differ in the last bits of a power."""
    if isinstance(value, np.ndarray):
        return value.astype(np.float32).tolist()
    if is_dataclass(value):
        return [type(value).__name__, {it.name: _content(getattr(value, it.name)) for it in fields(value)}]
    return [_content(item) for item in value] if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Grid:
    """Every combination of its values, on instances `seed` to `seed + instances - 1`.

    ensemble: kinds of matrices, see `phaselect.ensembles`. field: "real", "complex" or both.
    options: values by name, for the solvers that have the option; one that is not given has each solver's default.

    >>> len(Grid(("amp", "raf"), n=(100,), alpha=(1.2, 1.3), instances=10, options={"eps": (0.1, 0.01)}).tasks())
    60
    """

    solver: tuple[str, ...]
    n: tuple[int, ...]
    alpha: tuple[float, ...]
    instances: int = 20
    seed: int = 0
    options: Mapping[str, tuple[float, ...]] = dataclasses.field(default_factory=dict)
    ensemble: tuple[str, ...] = (GAUSSIAN,)
    field: tuple[str, ...] = (REAL,)

    def __post_init__(self) -> None:
        unknown = [name for name in self.solver if name not in REGISTRY]
        if unknown or not self.solver:
            raise InputError(f"solver {', '.join(unknown) or 'missing'}: use one of {', '.join(REGISTRY)}")
        _check("ensemble", self.ensemble, is_kind, f"names of {', '.join(KINDS)}")
        _check(
            "field", self.field, lambda name: isinstance(name, str) and name in FIELDS, f"names of {', '.join(FIELDS)}"
        )
        for kind, name in combinations(self.ensemble, self.field):
            check_field(name, kind)
        _check("n", self.n, lambda value: is_count(value, 2) and value <= LARGEST_N, f"whole numbers, 2 to {LARGEST_N}")
        _check("alpha", self.alpha, lambda value: is_number(value) and 1 < value <= LARGEST_ALPHA, "numbers above 1")
        for name, values in self.options.items():
            if not any(name in REGISTRY[solver].options for solver in self.solver):
                raise InputError(f"{name}: no such parameter for {', '.join(self.solver)}; leave it out")
            _check(name, values, OPTIONS[name].accepts, OPTIONS[name].wanted)
        if not is_count(self.instances, 1) or not is_count(self.seed) or self.seed + self.instances > LARGEST_SEED:
            raise InputError("instances must be a whole number from 1 on, and seed one from 0 on, below 2^63")
        of_an_instance = sum(1 for name in self.solver for _ in self._options(name))
        matrices = len(self.ensemble) * len(self.field) * len(self.n) * len(self.alpha)
        runs = self.instances * matrices * of_an_instance
        if runs > MOST_RUNS:
            raise InputError(f"this grid has {runs} runs: ask for {MOST_RUNS} at most")
        if round(min(self.alpha) * min(self.n)) <= min(self.n):
            raise InputError(
                f"alpha = {min(self.alpha):g} with n = {min(self.n)} rounds to no more measurements than unknowns"
            )
        if COMPLEX in self.field:
            self._check_complex()

    def _check_complex(self) -> None:
        """Solvers that choose phases, on enough measurements."""
        of_signs = [name for name in self.solver if not takes_phases(name)]
        if of_signs:
            able = ", ".join(filter(takes_phases, REGISTRY))
            raise InputError(f"{', '.join(of_signs)} cannot run in the complex field: use {able}")
        if min(round(min(self.alpha) * n) - 2 * n for n in self.n) < 0:
            raise InputError(f"alpha = {min(self.alpha):g}: complex fields need 2 measurements per unknown, or more")

    def tasks(self) -> list[Task]:
        """All runs of the grid."""
        return [
            Task.of(solver, n, alpha, self.seed + k, ensemble, field, **options)
            for k, n, alpha, ensemble, field, solver in combinations(
                range(self.instances), self.n, self.alpha, self.ensemble, self.field, self.solver
            )
            for options in self._options(solver)
        ]

    def _options(self, solver: str) -> Iterator[dict[str, float]]:
        given = {name: values for name, values in self.options.items() if name in REGISTRY[solver].options}
        for chosen in combinations(*given.values()):
            yield dict(zip(given, chosen, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON and as in a TOML file; what is usual is not worth a word."""
        unsaid = {"options", *(name for name, usual in USUAL.items() if getattr(self, name) == (usual,))}
        own = {it.name: getattr(self, it.name) for it in fields(self) if it.name not in unsaid}
        return own | dict(self.options)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Grid:
        """From a table of a TOML file; lists may be written as single values or as ranges, "1.1:1.5:0.1"."""
        if not isinstance(record, Mapping):
            raise InputError("grid: write a table [[grid]] with solver, n and alpha")
        known = ("solver", "n", "alpha", *USUAL, "instances", "seed", *OPTIONS)
        unknown = sorted(set(record) - set(known))
        missing = sorted({"solver", "n", "alpha"} - set(record))
        if unknown or missing:
            raise InputError(
                f"grid: {', '.join(unknown + missing)} {'unknown' if unknown else 'missing'}; it has {', '.join(known)}"
            )
        return cls(
            _names(record["solver"], "solver", REGISTRY),
            _numbers(record["n"], "n", whole=True),  # type: ignore[arg-type]
            _numbers(record["alpha"], "alpha"),
            **{name: record[name] for name in ("instances", "seed") if name in record},
            ensemble=_names(record.get("ensemble", GAUSSIAN), "ensemble", KINDS),
            field=_names(record.get("field", REAL), "field", FIELDS),
            options={
                name: _numbers(record[name], name, option.whole) for name, option in OPTIONS.items() if name in record
            },
        )


def all_tasks(grids: Sequence[Grid]) -> list[Task]:
    """The runs of several grids, each once; all sizes of the first instance, then of the second, and so on.

    A sweep that stops early has then done the same share of every curve.
    """
    tasks = dict.fromkeys(task for grid in grids for task in grid.tasks())
    return sorted(tasks, key=lambda task: (task.seed, task.n, task.alpha, task.ensemble, task.field))


def takes_phases(solver: str) -> bool:
    """Can it run in the complex field?"""
    return bool(REGISTRY[solver].plan()[0].takes_phases)


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
        raise InputError(f"preset {shortened(name)}: use one of {', '.join(presets)}")
    if scale not in presets[name]:
        raise InputError(f"scale {shortened(scale)}: use one of {', '.join(presets[name])}")
    return [Grid.from_dict(grid) for grid in presets[name][scale]]


def preset_names() -> list[str]:
    """The presets there are."""
    return list(_presets())


def _presets() -> dict[str, Any]:
    return tomllib.loads(files("phaselect.experiments").joinpath("presets.toml").read_text(encoding="utf-8"))


def _names(given: Any, name: str, known: Iterable[str]) -> tuple[str, ...]:
    names = given.split(",") if isinstance(given, str) else given
    if not (isinstance(names, list | tuple) and all(isinstance(it, str) for it in names)):
        raise InputError(f"{name} = {shortened(given)}: give names, such as {', '.join(list(known)[:3])}")
    return tuple(it.strip() for it in names)


def _numbers(given: Any, name: str, whole: bool = False) -> tuple[float, ...]:
    if isinstance(given, str):
        given = number_range(given, name)
    values = given if isinstance(given, list | tuple) else [given]
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} = {shortened(given)}: give numbers") from None
    if not np.isfinite(numbers).all():
        raise InputError(f"{name} = {shortened(given)}: give finite numbers")
    if whole and any(value != int(value) for value in numbers):
        raise InputError(f"{name} = {shortened(given)}: give whole numbers")
    return tuple(int(value) if whole else value for value in numbers)


def _check(name: str, values: Any, good: Callable[[Any], bool], wanted: str) -> None:
    if not isinstance(values, list | tuple):
        raise InputError(f"{name} = {shortened(values)}: give a tuple of {wanted}")
    if not values or not all(good(value) for value in values):
        raise InputError(f"{name} = {', '.join(map(shortened, values)) or 'nothing'}: give {wanted}")
