"""A photograph behind random masks, and again from its diffraction patterns alone: simulated, then recovered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.checks import is_count, is_number, shortened
from phaselect.base.errors import InputError
from phaselect.base.pictures import Grey
from phaselect.problem.instance import Instance
from phaselect.problem.matrix import numbers
from phaselect.problem.operators import coded_diffraction
from phaselect.problem.streams import Purpose, check_seed, stream
from phaselect.solvers.protocol import ProgressCallback
from phaselect.solvers.result import Result
from phaselect.solvers.solve import from_counts, solve

FEWEST, ENOUGH = 2, {True: 2, False: 3}
"""Patterns with which a picture may be recovered at all; and with which it is, if it is real or not."""
LOUDEST, DIMMEST, BRIGHTEST = 5.0, 1.0, 1e12
"""Decibels, or photons, below which nothing of a picture is left; and more photons than can be drawn."""


@dataclass(frozen=True, eq=False)
class Photographed:
    """A photograph that was taken through its diffraction patterns.

    light: what was behind the masks; estimate: what was found, turned by the global phase, or sign, that brings it
    closest to that; picture: the brightness of what was found, of which nobody had to know the light.
    patterns: the magnitudes measured, one picture each, in the units of the light; error: |estimate - light|/|light|.
    """

    light: NDArray[Any] = field(repr=False)
    estimate: NDArray[Any] = field(repr=False)
    picture: Grey = field(repr=False)
    patterns: NDArray[np.float64] = field(repr=False)
    error: float
    result: Result


def recover_photograph(
    photograph: Grey,
    patterns: int | None = None,
    *,
    real: bool = False,
    masks: str = "phase",
    snr: float | None = None,
    photons: float | None = None,
    seed: Any = 0,
    device: str | None = None,
    progress: ProgressCallback | None = None,
) -> Photographed:
    """Simulate coded diffraction of a photograph, its brightness the magnitude of the light, and solve for the light.

    patterns: how many, each of as many measurements as there are pixels; 3 unless told otherwise, 2 of real light.
    real: the light has no phase, and that is known; else it has that of `wave_front`, and all of it is unknown.
    masks: as of `coded_diffraction`. seed: of masks, noise and solver.
    snr: of the magnitudes, in decibels, if they are noisy. photons: their mean number per measurement, if counted.
    device: where to solve it, as of `solve`.
    """
    photograph = _checked(photograph)
    patterns = ENOUGH[real] if patterns is None else patterns
    if not is_count(patterns, FEWEST):
        more = "" if real else f"; complex light needs {ENOUGH[False]}"
        raise InputError(f"patterns = {shortened(patterns)}: give {FEWEST} or more{more}")
    seed = check_seed(seed)
    A = coded_diffraction(photograph.shape, patterns, seed, masks)
    light: NDArray[Any] = photograph if real else photograph * wave_front(*photograph.shape)
    exact = abs(A.forward(light.ravel()))
    exposure, y, noise = measured(exact, snr, photons, stream(seed, Purpose.NOISE, *A.shape))
    problem = Instance(A, y, exposure * light.ravel(), noise=noise, real=real)
    result = solve(problem, seed=seed, device=device, progress=progress)
    found = result.x.reshape(light.shape) / exposure
    return Photographed(
        light=light,
        estimate=found * turn(found, light),
        picture=found * turn(found, np.ones_like(found)) if real else abs(found),
        patterns=y.reshape(patterns, *light.shape) / exposure,
        error=float(np.sqrt(result.truth["mse_x"])),
        result=result,
    )


def wave_front(rows: int, columns: int) -> NDArray[np.complex128]:
    """Phases of light from a lamp on the axis: one turn more at the middle of each edge than in the centre."""
    down, along = (np.linspace(-1, 1, size) for size in (rows, columns))
    return np.asarray(np.exp(2j * np.pi * np.add.outer(down**2, along**2)))


def measured(
    exact: NDArray[np.float64], snr: float | None, photons: float | None, rng: np.random.Generator
) -> tuple[float, NDArray[np.float64], float | None]:
    """What magnitudes are multiplied by, for the photons to be as many as wanted; then as measured; and their noise."""
    power = float(np.mean(exact**2))
    if snr is not None and photons is not None:
        raise InputError("snr and photons are both noise: give one of them")
    if photons is not None:
        if not is_number(photons) or not DIMMEST <= photons <= BRIGHTEST:
            raise InputError(f"photons = {shortened(photons)}: give their mean number, {DIMMEST:g} to {BRIGHTEST:g}")
        exposure = float(np.sqrt(photons / power))
        return exposure, *from_counts(rng.poisson((exposure * exact) ** 2), None, None)
    if snr is None:
        return 1.0, exact, None
    if not is_number(snr) or snr < LOUDEST:
        raise InputError(f"snr = {shortened(snr)}: give decibels, {LOUDEST:g} or more, as 30")
    variance = power * 10 ** (-snr / 10)
    return 1.0, abs(exact + np.sqrt(variance) * rng.standard_normal(exact.size)), variance


def turn(found: NDArray[Any], towards: NDArray[Any]) -> Any:
    """The phase, or sign, that brings one field closest to another."""
    product = np.vdot(found, towards)
    return product / abs(product) if product else 1.0


def _checked(photograph: Any) -> Grey:
    """Brightness, with something to see."""
    grey = numbers(photograph, "the photograph")
    if grey.ndim != 2 or grey.size == 0 or grey.min() < 0:
        raise InputError(f"the photograph has shape {grey.shape}: give a 2-D array of brightness, 0 or more")
    if not grey.any():
        raise InputError("the photograph is all black: there is nothing to recover")
    return grey
