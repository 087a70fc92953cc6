"""A ledger of claims: what the paper says, what our tables say, and a conclusion that follows from the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from phaselect.base.errors import InputError
from phaselect.base.tables import Table
from phaselect.report.evidence import Evidence, Missing, known

Tables = Mapping[str, Table]
Said = bool | None
"""Yes, no, or not known."""


class Conclusion(Enum):
    """What became of a claim."""

    HOLDS = "holds"
    CORRECTED = "holds with a correction"
    FAILS = "does not hold"
    OPEN = "not settled at this scale"


class Finding(NamedTuple):
    """What was measured, in a sentence with its numbers, and the conclusion from it."""

    measured: str
    conclusion: Conclusion


Assessment = Callable[[Tables], Finding]


class Claim(NamedTuple):
    """A claim of the paper, in our words; `figures` are those it is assessed by, the first of which shows it."""

    where: str
    text: str
    figures: tuple[str, ...]
    assess: Assessment

    def commands(self, tables: Tables) -> dict[str, str]:
        """What recomputes the numbers of each figure."""
        return {name: command_of(name, tables[name]) for name in self.figures}


def command_of(figure: str, table: Table) -> str:
    """What recomputes a figure, at the scale at which it was computed."""
    return table.provenance.get("command", f"phaselect figure {figure}")


class Entry(NamedTuple):
    """A line of the ledger."""

    claim: Claim
    finding: Finding


def claims_into(ledger: list[Claim]) -> Callable[..., Callable[[Assessment], Assessment]]:
    """A decorator, `@claim(where, text, figure, ...)`, that enters a claim with the function below it to assess it."""

    def claim(where: str, text: str, *figures: str) -> Callable[[Assessment], Assessment]:
        def enter(assess: Assessment) -> Assessment:
            ledger.append(Claim(where, text, figures, assess))
            return assess

        return enter

    return claim


def assess_all(claims: Sequence[Claim], tables: Tables) -> list[Entry]:
    """Every claim with its finding."""
    return [Entry(claim, assessed(claim, tables)) for claim in claims]


def assessed(claim: Claim, tables: Tables) -> Finding:
    """What the claim's own figures say; it is not settled where they lack what the judge asks for."""
    own = {name: Evidence(tables[name].columns) for name in claim.figures if name in tables}
    absent = [name for name in claim.figures if name not in own]
    if absent:
        return Finding(f"there is no table of {', '.join(absent)}", Conclusion.OPEN)
    try:
        return claim.assess(own)
    except Missing as missing:
        return Finding(str(missing), Conclusion.OPEN)
    except InputError:
        raise
    except (ArithmeticError, TypeError, ValueError) as error:
        raise InputError(f"the table of {' or '.join(claim.figures)} is damaged: {error}") from error


def summary(entries: Sequence[Entry]) -> str:
    """How many claims came to which conclusion."""
    counts = Counter(entry.finding.conclusion for entry in entries)
    return ", ".join(f"{it.value}: {counts[it]}" for it in Conclusion if counts[it])


def verdict(*parts: Said) -> Conclusion:
    """A claim holds if all of its parts do and fails if none does; some, and it needs a correction."""
    if not parts or any(part is None for part in parts):
        return Conclusion.OPEN
    return Conclusion.HOLDS if all(parts) else Conclusion.CORRECTED if any(parts) else Conclusion.FAILS


def every(answers: Iterable[Said]) -> Said:
    """Is the answer yes to all of them? One no decides; else one that is not known, or none at all, leaves it open."""
    said = list(answers)
    if any(answer is not None and not answer for answer in said):
        return False
    return None if not said or None in said else True


def holds_if(right: bool, otherwise: Conclusion = Conclusion.FAILS) -> Conclusion:
    """HOLDS if right, else what is given."""
    return Conclusion.HOLDS if right else otherwise


def numbers(values: object, digits: int = 3) -> str:
    """Numbers in a sentence."""
    return ", ".join(f"{value:.{digits}g}" for value in np.asarray(values, dtype=float).tolist())


def regulariser_threshold(tables: Tables, line: str, lam: float) -> float:
    """alpha of "merge" or "recovery" at one lam, from the phase diagram."""
    found = tables["regularisation"].where(panel="b", line=line, lam=lam)["alpha"]
    return float(known(found, f"alpha of {line} at lam = {lam:g}")[0])
