"""What the commands share: one-line errors, examples in the help, tables on the screen and in files."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from phaselect.base.errors import DataWarning, InputError, printable
from phaselect.base.files import check_ending
from phaselect.base.tables import Table
from phaselect.cli import interrupts

OUT_OF_TIME, NOT_READ = 124, 141
"""Exit codes: of a sweep that its time limit stopped, as that of `timeout`; and where whoever reads the output has had
enough, as `head` in `phaselect ... | head -1`, that of any program in a pipe."""


class OneLineErrors(click.Group):
    """Whatever is wrong ends the program with one line on stderr; bad input, and output with no room, with code 2."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """As click's own, with its complaints about options in one line too."""
        try:
            code = super().main(*arguments, **options | {"standalone_mode": False})
        except click.UsageError as error:
            code = _usage(error)
        except InputError as error:
            code = _complain(in_options(str(error)), 2)
        except ArithmeticError as error:  # a computation that did not converge, and says so
            code = _complain(str(error), 1)
        except click.Abort:
            code = interrupts.exit_code()
        except OSError as error:  # a full disk
            _drop_output()
            code = _complain(f"cannot write: {error.strerror or error}", 2)
        interrupts.leave(code if isinstance(code, int) else 0)

    def invoke(self, context: click.Context) -> Any:
        """Run the command."""
        interrupts.command_begins()
        try:
            return super().invoke(context)
        except KeyboardInterrupt as interrupt:
            interrupts.command_ended()  # a second one, while the first is told, would be told by click too
            # here, while the frames that it cut off are alive: what libraries left half made may crash as it goes
            interrupts.leave(_complain(f"interrupted{interrupt}", interrupts.exit_code()))
        except BrokenPipeError:
            _drop_output()
            context.exit(NOT_READ)
        finally:
            interrupts.command_ended()


def in_options(text: str) -> str:
    """A message of the library in the words of the command line: `--noise auto` instead of `noise="auto"`."""
    text = re.sub(r"\breal=True\b", "--real", text)
    return re.sub(r"""(?:solve\(A, y, )?\b(noise|rounding|prior|masks)="?([\w.+-]*\w)"?\)?""", r"--\1 \2", text)


@contextmanager
def printed_warnings(quiet: bool = False) -> Iterator[None]:
    """What is wrong with data, as soon as it is known, in a line on stderr; not if that is to be quiet."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if not quiet:
            click.echo(f"warning: {in_options(str(message))}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        warnings.showwarning = show
        yield


def _usage(error: click.UsageError) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return error.exit_code
    path = error.ctx.command_path if error.ctx else "phaselect"
    return _complain(f"{' '.join(error.format_message().split())} (see {path} --help)", error.exit_code)


def _complain(message: str, code: int) -> int:
    with suppress(OSError):  # nobody can be told
        click.echo(f"phaselect: {printable(message)}", err=True)
    return code


def _drop_output() -> None:
    """What could not be written must not be tried again at the end, where Python would show a traceback."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def example(*lines: str) -> Callable[[Any], Any]:
    """Shows examples at the end of a command's help."""
    text = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)

    def decorate(command: click.Command) -> click.Command:
        command.epilog = text
        return command

    return decorate


def check_writable(path: str | None, *suffixes: str) -> None:
    """Say before the work, not after, that the answer could not be written."""
    if path is None:
        return
    if path:
        check_ending(path, suffixes)
    folder = Path(path).resolve().parent
    if not path or not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise InputError(f"cannot write {path!r}: {folder} is not a folder that can be written to")


def emit(columns: Mapping[str, NDArray[Any]], out: str | None, as_json: bool = False) -> None:
    """Write a table to a .csv file, or print it: aligned for people, or as JSON, one list per column.

    Not by rich, which would fold wide tables at the edge of the screen: a row is one line, for other programs too.
    """
    if out is not None:
        Table(dict(columns)).save(out)
        click.echo(f"wrote {out}: {len(next(iter(columns.values())))} rows, {len(columns)} columns", err=True)
    if as_json:
        from phaselect.solvers.result_files import plain

        click.echo(json.dumps(plain(dict(columns))))
    elif out is None:
        cells = [[name, *map(_shown, column)] for name, column in columns.items()]
        widths = [max(map(len, column)) for column in cells]
        for row in zip(*cells, strict=True):
            click.echo("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _shown(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else printable(str(value))
