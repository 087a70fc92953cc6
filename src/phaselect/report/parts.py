"""The results in parts: some figures each, with the claims that they show."""

from __future__ import annotations

from typing import NamedTuple

from phaselect.figures.gallery import BEYOND
from phaselect.report.ledger import Entry


class Part(NamedTuple):
    """One page of the results: its name, its title, and its figures."""

    name: str
    title: str
    figures: tuple[str, ...]

    def own(self, entries: list[Entry]) -> list[Entry]:
        """The lines of the ledger that belong here: a claim goes where its first figure is."""
        return [entry for entry in entries if entry.claim.figures[0] in self.figures]


PARTS = (
    Part("formulation", "The formulation", ("landscape", "splitting", "speed")),
    Part("theory", "Replica theory", ("complexity", "branches", "stabilities")),
    Part("regulariser", "The regulariser", ("regularisation", "annealing", "critical_product")),
    Part("stability", "Where replica symmetry fails", ("local_stability", "rsb", "rates")),
    Part("annealing", "Simulated annealing", ("success_sa", "rate_and_size")),
    Part("langevin", "Langevin dynamics", ("success_langevin", "descent")),
    Part("message_passing", "Message passing", ("success_amp", "patience")),
    Part("iterations", "Message passing, iteration by iteration", ("trajectories", "collapse")),
    Part("solvers", "All solvers, and what they cost", ("solvers", "population", "growth")),
    Part("limits", "Fewer measurements, other matrices", ("hard_phase", "ensembles", "spectrum_design", "priors")),
    Part("bits", "Digits as measurements", ("bits",)),
    Part("complex", "Complex phases", ("complex_success",)),
)
"""Every figure is in one of them."""


def part_of(figure: str) -> Part:
    """Where a figure is shown."""
    return next(part for part in PARTS if figure in part.figures)


def beyond_the_paper(figure: str) -> bool:
    """Is this a figure that the paper does not have?"""
    return figure in BEYOND
