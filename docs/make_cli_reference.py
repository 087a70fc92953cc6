"""Writes docs/cli.md, and docs/cli, a page for each command, from their help: `python docs/make_cli_reference.py`."""

from collections.abc import Iterator
from pathlib import Path

import click

from phaselect.cli.main import main

HERE = Path(__file__).parent
HEAD = "# Command line\n\nWritten by `docs/make_cli_reference.py` from `--help`. Also as `python -m phaselect`.\n"
TREE = "```{toctree}\n:hidden:\n\n%s\n```"
"""The pages in the order of the program."""


def pages() -> dict[str, str]:
    """The text of each page by its file: the program, and its commands."""
    root = click.Context(main, info_name="phaselect", **main.context_settings)
    written = {}
    for name, command in main.commands.items():
        context = click.Context(command, info_name=name, parent=root)
        written[f"cli/{name}.md"] = "\n".join([f"# phaselect {name}\n", *sections(command, context)])
    links = [f"* [phaselect {name}](cli/{name}.md)" for name in main.commands]
    tree = TREE % "\n".join(f"cli/{name}" for name in main.commands)
    return {"cli.md": "\n".join([HEAD, helped(main, root), *links, "", tree, ""])} | written


def sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """Help of a command, and of its commands if it is a group."""
    yield helped(command, context)
    for name, inner in command.commands.items() if isinstance(command, click.Group) else ():
        within = click.Context(inner, info_name=name, parent=context)
        yield f"## {within.command_path}\n"
        yield from sections(inner, within)


def helped(command: click.Command, context: click.Context) -> str:
    """What `--help` prints."""
    return f"```text\n{command.get_help(context)}\n```\n"


def write() -> None:
    """Write the pages; those of commands that are no more go."""
    (HERE / "cli").mkdir(exist_ok=True)
    written = pages()
    for path in (HERE / "cli").glob("*.md"):
        if f"cli/{path.name}" not in written:
            path.unlink()
    for name, text in written.items():
        (HERE / name).write_text(text)


if __name__ == "__main__":
    write()
