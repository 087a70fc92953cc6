"""What exit codes say: one table for every command that ends with a Status."""

from __future__ import annotations

from phaselect.cli import interrupts
from phaselect.solvers.result import Result, Status

ANSWERED, NOT_UNIQUE, NOT_RECOVERED, INTERRUPTED = 0, 3, 4, 130
CODES = {
    Status.RECOVERED: ANSWERED,
    Status.LOCALLY_UNIQUE: ANSWERED,
    Status.ESTIMATE: ANSWERED,
    Status.UNCERTIFIED: NOT_UNIQUE,
    Status.AMBIGUOUS: NOT_UNIQUE,
    Status.INEXACT: NOT_RECOVERED,
    Status.NOT_RECOVERED: NOT_RECOVERED,
    Status.TIME_LIMIT: NOT_RECOVERED,
    Status.DIVERGED: NOT_RECOVERED,
    Status.POOR_ESTIMATE: NOT_RECOVERED,
    Status.INTERRUPTED: INTERRUPTED,
}
"""Of each status; 143 for the last one after SIGTERM. Bad input is 2, and 1 is theory that did not converge."""


def code_of(result: Result) -> int:
    """The exit code of a command that ends with this result."""
    return interrupts.exit_code() if result.status is Status.INTERRUPTED else CODES[result.status]
