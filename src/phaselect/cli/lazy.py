"""What is loaded when it is needed: the commands, and the names that an option may take.

`phaselect --help` and `--version` then need neither the solvers nor the theory.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple, cast

import click

from phaselect.cli.console import OneLineErrors


class Entry(NamedTuple):
    """Where a command is, and the first sentence of its help."""

    module: str
    help: str


class LazyCommands(UserDict[str, Any]):
    """Commands by name, each imported when it is asked for."""

    def __getitem__(self, name: str) -> click.Command:
        return cast(click.Command, getattr(import_module(self.data[name].module), name))


class LazyGroup(OneLineErrors):
    """A group that lists its commands, in the order of their entries, without loading them."""

    def __init__(self, *, entries: Mapping[str, Entry], **options: Any) -> None:
        super().__init__(commands=LazyCommands(entries), **options)
        self.entries = entries

    def list_commands(self, context: click.Context) -> list[str]:
        """Their names."""
        return list(self.entries)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in the help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.entries.items()])


class Names(click.Choice[str]):
    """One of the names that `load` gives, or, with `several`, a list of them: A,B,C."""

    def __init__(self, load: Callable[[], Iterable[str]], several: bool = False) -> None:
        self.load = load
        self.several = several
        self.case_sensitive = True

    @cached_property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names, loaded."""
        return tuple(self.load())

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> str:
        """The text given, once every name in it is known."""
        parts = value.split(",") if self.several else [value]
        return ",".join(super(Names, self).convert(part.strip(), param, context) for part in parts)
