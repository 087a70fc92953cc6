"""The documentation keeps up with the code."""

import re
from pathlib import Path

import click
import pytest

import phaselect
from phaselect.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_every_command_and_option_is_in_the_reference():
    text = (ROOT / "docs" / "cli.md").read_text()
    groups = {"phaselect": main, "phaselect theory": main.commands["theory"]}
    for path, command in (
        (f"{top} {name}", inner) for top, group in groups.items() for name, inner in group.commands.items()
    ):
        assert f"## {path}\n" in text, "run python docs/make_cli_reference.py"
        for parameter in command.params:
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert option in text, f"{path} {option}: run python docs/make_cli_reference.py"


def test_every_file_is_in_the_architecture():
    text = (ROOT / "docs" / "architecture.md").read_text()
    top = ROOT / "src" / "phaselect"
    files = [path.name for path in [*top.glob("*.py"), *top.glob("theory/*.py")] if not path.name.startswith("__")]
    assert [name for name in files if f"`{name}`" not in text and f"`theory/{name}`" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_the_text_exist(page):
    """`phaselect.something` in the docs is something phaselect has."""
    for name in re.findall(r"\bphaselect\.(\w+)", page.read_text()):
        assert hasattr(phaselect, name) or (ROOT / "src" / "phaselect" / f"{name}.py").exists(), name
