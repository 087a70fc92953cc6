"""The program as a person runs it, but in this process: starting another takes longer than most commands."""

from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from phaselect.cli.main import main


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(*arguments, cwd=None):
    """`phaselect ARGUMENTS` in a folder; an exception that would show a traceback is raised."""
    with chdir(cwd or Path.cwd()):
        result = CliRunner(catch_exceptions=False).invoke(main, [str(word) for word in arguments], "phaselect")
    return Done(result.exit_code, result.stdout, result.stderr)
