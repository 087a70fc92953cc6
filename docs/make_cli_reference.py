"""Writes docs/cli.md from the commands' own help: `python docs/make_cli_reference.py`."""

from pathlib import Path

import click

from phaselect.cli import main

HEAD = "# Command line\n\nWritten by `docs/make_cli_reference.py` from `--help`. Also as `python -m phaselect`.\n"


def reference() -> str:
    """Help of the program and of each command."""
    root = click.Context(main, info_name="phaselect", **main.context_settings)
    parts = [section("phaselect", main.get_help(root))]
    for name, command in main.commands.items():
        context = click.Context(command, info_name=name, parent=root)
        parts.append(section(f"phaselect {name}", command.get_help(context)))
    return "\n".join([HEAD, *parts])


def section(title: str, text: str) -> str:
    """One heading and its help text."""
    return f"## {title}\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    (Path(__file__).parent / "cli.md").write_text(reference())
