"""Writes docs/cli.md from the commands' own help: `python docs/make_cli_reference.py`."""

from collections.abc import Iterator
from pathlib import Path

import click

from phaselect.cli.main import main

HEAD = "# Command line\n\nWritten by `docs/make_cli_reference.py` from `--help`. Also as `python -m phaselect`.\n"


def reference() -> str:
    """Help of the program and of each command."""
    root = click.Context(main, info_name="phaselect", **main.context_settings)
    return "\n".join([HEAD, *sections(main, root)])


def sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """Help of a command, and of its commands if it is a group."""
    yield section(context.command_path, command.get_help(context))
    for name, inner in command.commands.items() if isinstance(command, click.Group) else ():
        yield from sections(inner, click.Context(inner, info_name=name, parent=context))


def section(title: str, text: str) -> str:
    """One heading and its help text."""
    return f"## {title}\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    (Path(__file__).parent / "cli.md").write_text(reference())
