"""The list of commands, and the program as a process."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

import phaselect
from phaselect.cli.main import COMMANDS, main
from tests.cli.program import run


def test_version_of_the_program():
    done = subprocess.run([sys.executable, "-m", "phaselect", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"phaselect, version {phaselect.__version__}\n"


def test_the_list_says_what_the_commands_say():
    """The sentences are written twice, so that the list loads nothing: they are the same."""
    own = {name: command.get_short_help_str(limit=1000) for name, command in main.commands.items()}
    assert {name: entry.help for name, entry in COMMANDS.items()} == own
    shown = run("--help").stdout.split("Commands:\n")[1]
    listed = shown.split("\n\n")[0]
    assert " ".join(listed.split()) == " ".join(f"{name} {text}" for name, text in own.items())
    assert run().stderr.endswith(shown)  # no command: the help, and exit code 2
    assert run().returncode == 2


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "theory"])
def test_help_has_an_example(name):
    done = run(name, "--help")
    assert done.returncode == 0
    assert f"phaselect {name}" in done.stdout.split("Examples:")[1]


@pytest.mark.parametrize(
    ("words", "completed"),
    [("phaselect so", "plain,solve"), ("phaselect solve --solver v", "plain,vmp"), ("phaselect solve A", "file,A")],
)
def test_the_shell_completes(words, completed, monkeypatch):
    """As the help says, which names the variable."""
    assert "_PHASELECT_COMPLETE=bash_source" in run("--help").stdout
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    monkeypatch.setenv("_PHASELECT_COMPLETE", "bash_complete")
    done = CliRunner().invoke(main, prog_name="phaselect")
    assert completed in done.stdout.splitlines()
