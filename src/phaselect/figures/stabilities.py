"""The gaps of the measurements at fixed overlap of the signs: theory over samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.style import BLUE, RED, legend, letter, panels
from phaselect.base.tables import Columns, Table, stack
from phaselect.experiments.fixed_overlap import predicted_measurements, sample_signs
from phaselect.figures.context import Context
from phaselect.problem.ensembles import gaussian_instance
from phaselect.theory import gap_density, saddle_point_at_sign_overlap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "Distribution of the gaps, the measurements that the estimate predicts, where three quarters of the signs are "
    "right (O = 0.5) at 1.7 measurements per unknown: all gaps, and those whose sign is right. "
    "Lines: theory. Points: histograms of Metropolis at that overlap, means over finite instances."
)
ALPHA_SHOWN, SIGN_OVERLAP = 1.7, 0.5
CONTROLS = ((2.5, 0.0), (3.5, 0.0), (2.5, 0.5))
EDGES = np.linspace(-4.0, 4.0, 65)
GRID = np.linspace(-4.0, 4.0, 321)
SIZES = {"small": (200, 32, 10), "paper": (400, 60, 40)}
"""Unknowns, instances, samples of each."""
SWEEPS = 20


def compute(context: Context) -> Columns:
    """Theory and histogram at each (mu, lam)."""
    unknowns, instances, samples = SIZES[context.scale]
    counts = np.zeros((len(CONTROLS), 2, EDGES.size - 1))
    for seed in range(instances):
        context.progress(seed / instances)
        counts += histograms(unknowns, samples, seed)
    parts = []
    for control, (P, P_right) in zip(CONTROLS, counts / instances, strict=True):
        parts += [_part("theory", control, *theory(*control))]
        parts += [_part("sampled", control, 0.5 * (EDGES[1:] + EDGES[:-1]), P, P_right)]
    return stack(part | {"n": unknowns, "instances": instances} for part in parts)


def theory(mu: float, lam: float) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Gaps and the densities P and P_*."""
    found = gap_density(saddle_point_at_sign_overlap(ALPHA_SHOWN, mu, lam, sign_overlap=SIGN_OVERLAP), GRID)
    return found.gap, found.P, found.P_right


def histograms(unknowns: int, samples: int, seed: int) -> NDArray[np.float64]:
    """Densities of all gaps and of those of right signs, for each (mu, lam), on one instance.

    As in the theory a gap is `(A x)_nu` itself: a right sign is one equal to that of `(A x0)_nu`, either +1 or -1.
    """
    problem = gaussian_instance(unknowns, ALPHA_SHOWN, seed=seed)
    result = np.empty((len(CONTROLS), 2, EDGES.size - 1))
    for row, (mu, lam) in zip(result, CONTROLS, strict=True):
        signs = sample_signs(problem, mu, lam, SIGN_OVERLAP, samples=samples, sweeps=SWEEPS, seed=seed)
        gaps = predicted_measurements(problem, signs, lam)
        for density, chosen in zip(row, (gaps, gaps[signs == problem.signs]), strict=True):
            density[:] = np.histogram(chosen, EDGES)[0] / (gaps.size * (EDGES[1] - EDGES[0]))
    return result


def _part(
    source: str, control: tuple[float, float], gap: NDArray[Any], P: NDArray[Any], P_right: NDArray[Any]
) -> dict[str, Any]:
    return {"mu": control[0], "lam": control[1], "source": source, "gap": gap, "P": P, "P_right": P_right}


def draw(table: Table) -> Figure:
    """A panel for each (mu, lam)."""
    figure, axes = panels(3)
    controls = list(dict.fromkeys(zip(table["mu"].tolist(), table["lam"].tolist(), strict=True)))
    samples = f"Metropolis, $N = {table['n'][0]}$, {table['instances'][0]} instances"
    styles = (("P", BLUE, "-", "o", "all gaps"), ("P_right", RED, "--", "s", "gaps of right signs"))
    for panel, (mu, lam) in zip(axes, controls, strict=True):
        rows = table.where(mu=mu, lam=lam)
        sampled, line = rows.where(source="sampled"), rows.where(source="theory")
        for name, colour, dash, marker, label in styles:
            panel.plot(line["gap"], line[name], dash, color=colour, label=f"{label}: theory")
            look: dict[str, Any] = {"ms": 2.5, "mew": 0.6, "mfc": "none", "color": colour}
            panel.plot(sampled["gap"], sampled[name], marker, label=f"{label}: {samples}", **look)
        panel.set(xlabel=r"gap $\Delta = (A\hat{x})_\nu$", xlim=(-3.5, 3.5), ylim=(0, 1.1 * float(table["P"].max())))
        fixed = rf"$\alpha = {ALPHA_SHOWN:g}$, $O = {SIGN_OVERLAP:g}$"
        panel.set(ylabel="density", title=rf"{fixed}, $\mu = {mu:g}$, $\lambda = {lam:g}$")
    letter(axes)
    legend(figure, *axes)
    return figure
