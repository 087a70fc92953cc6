"""Solvers by name (to be merged)."""

from __future__ import annotations

import importlib
from typing import Any

from phaselect.base.errors import InputError

CLASSES = {
    "amp": ("message_passing", "AMP"),
    "sa": ("simulated_annealing", "SimulatedAnnealing"),
    "pa": ("population_annealing", "PopulationAnnealing"),
    "langevin": ("langevin", "Langevin"),
    "raf": ("baselines", "ReweightedAmplitudeFlow"),
    "altmin": ("baselines", "AlternatingMinimisation"),
}


def solver_named(name: str) -> Any:
    """The solver of this name, with its defaults."""
    if name not in CLASSES:
        raise InputError(f"solver {name!r}: use auto, {', '.join(CLASSES)}")
    module, kind = CLASSES[name]
    return getattr(importlib.import_module(f"phaselect.solvers.{module}"), kind)()


def solver_names() -> list[str]:
    """The names of all."""
    return list(CLASSES)
