"""A ledger of claims: what the paper says, what our tables say, and a verdict that follows from the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from phaselect.base.tables import Table

Tables = Mapping[str, Table]


class Outcome(Enum):
    """What became of a claim."""

    HOLDS = "holds"
    CORRECTED = "holds with a correction"
    FAILS = "does not hold"
    OPEN = "not settled at this scale"


class Finding(NamedTuple):
    """What was measured, in a sentence with its numbers, and the verdict."""

    measured: str
    outcome: Outcome


Check = Callable[[Tables], Finding]


class Claim(NamedTuple):
    """A claim of the paper, in our words; `figures` are those it is judged by, the first of which shows it."""

    where: str
    text: str
    figures: tuple[str, ...]
    check: Check

    def commands(self, tables: Tables) -> list[str]:
        """What recomputes the numbers, at the scale at which they were computed."""
        return [tables[name].provenance.get("command", f"phaselect figure {name}") for name in self.figures]


class Entry(NamedTuple):
    """A line of the ledger."""

    claim: Claim
    finding: Finding


def claims_into(ledger: list[Claim]) -> Callable[..., Callable[[Check], Check]]:
    """A decorator, `@claim(where, text, figure, ...)`, that enters the function below it as the check of a claim."""

    def claim(where: str, text: str, *figures: str) -> Callable[[Check], Check]:
        def enter(check: Check) -> Check:
            ledger.append(Claim(where, text, figures, check))
            return check

        return enter

    return claim


def check_all(claims: Sequence[Claim], tables: Tables) -> list[Entry]:
    """Every claim with its finding."""
    return [Entry(claim, _checked(claim, tables)) for claim in claims]


def _checked(claim: Claim, tables: Tables) -> Finding:
    try:
        return claim.check(tables)
    except (IndexError, KeyError, TypeError, ValueError):
        return Finding("the tables lack what this needs", Outcome.OPEN)


def summary(entries: Sequence[Entry]) -> str:
    """How many claims met which verdict."""
    counts = Counter(entry.finding.outcome for entry in entries)
    return ", ".join(f"{outcome.value}: {counts[outcome]}" for outcome in Outcome if counts[outcome])


def outcome(right: bool, otherwise: Outcome = Outcome.FAILS) -> Outcome:
    """HOLDS if right, else what is given."""
    return Outcome.HOLDS if right else otherwise


def numbers(values: object, digits: int = 3) -> str:
    """Numbers in a sentence."""
    return ", ".join(f"{value:.{digits}g}" for value in np.asarray(values, dtype=float).tolist())


def regulariser_threshold(tables: Tables, line: str, lam: float) -> float:
    """alpha of "merge" or "recovery" at one lam, from the phase diagram."""
    return float(tables["regularisation"].where(panel="b", line=line, lam=lam)["alpha"][0])
