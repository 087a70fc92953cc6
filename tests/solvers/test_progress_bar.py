"""`progress=True`: a bar on terminals and in notebooks, silence elsewhere; and what else may be given."""

import io
import sys
from types import SimpleNamespace

import pytest
from rich.console import Console

from phaselect import AMP, InputError, Progress, Schedule, gaussian_instance, solve, theory
from phaselect.base import bars
from phaselect.solvers.progress_bar import TimeLeft, progress_bar, stage

PROBLEM = gaussian_instance(20, 2.0, seed=0)


@pytest.fixture
def screen(monkeypatch):
    """A terminal to look at."""
    stream = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda stderr: Console(file=stream, force_terminal=True, width=120))
    return stream


@pytest.fixture
def cell(monkeypatch):
    """The line that a notebook shows, as it changes."""
    lines = []
    handle = SimpleNamespace(update=lines.append)
    fake = SimpleNamespace(HTML=str, display=lambda line, display_id: lines.append(line) or handle)
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    monkeypatch.setattr("rich.console.Console", lambda stderr: Console(file=io.StringIO(), force_jupyter=True))
    monkeypatch.setattr(bars, "PAUSE", 0.0)
    return lines


SCHEDULE = Schedule.matched(mu_max=1e4, steps=1, unit="iterations")
CALLS = {
    "solve": lambda progress: solve(PROBLEM, progress=progress),
    "auto noise": lambda progress: solve(PROBLEM, progress=progress, noise="auto"),
    "run": lambda progress: AMP().run(PROBLEM, SCHEDULE, progress=progress),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_bar_on_a_terminal(screen, call):
    CALLS[call](True)
    assert "amp" in screen.getvalue()
    assert "mse_y" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")  # gone in the end


@pytest.mark.parametrize("call", CALLS)
def test_a_line_in_a_notebook(cell, call):
    CALLS[call](True)
    assert cell[0] == cell[-1] == ""
    assert any(line.startswith('<progress value="0.') and "amp" in line for line in cell)


def test_silence_elsewhere_and_without(capfd, screen):
    solve(PROBLEM, progress=False)
    assert screen.getvalue() == ""
    with progress_bar(Console(file=sys.stderr, force_terminal=False)) as bar:
        solve(PROBLEM, progress=bar)
    with progress_bar(quiet=True) as bar:
        solve(PROBLEM, progress=bar)
    assert screen.getvalue() == ""
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("progress", ["yes", 1, [print]])
def test_nonsense_is_refused(call, progress):
    with pytest.raises(InputError, match="give True for a bar, or a function that takes"):
        CALLS[call](progress)


def test_what_is_left(monkeypatch):
    now, left = [100.0], TimeLeft()
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    event = Progress("amp", 0.0, 1.0, 0.1, 0.0)
    left.note(event)
    assert str(left) == ""
    now[0] += 10
    left.note(event._replace(fraction=0.25))
    assert str(left) == "about 30 s left of this attempt"
    now[0] += 5  # the clock goes on without news
    assert str(left) == "about 25 s left of this attempt"
    left.note(event._replace(fraction=0.5, time_left=7.0))
    assert str(left) == "7 s left"


def test_an_attempt_that_ends_early_is_refined():
    events = []
    AMP().run(PROBLEM, Schedule.matched(mu_max=1e12, steps=8, unit="iterations"), progress=events.append)
    assert events[-1].fraction == 1 > events[-1].mu / 1e12
    assert stage(events[-1]) == f"amp, refining, attempt {events[-1].attempt}/{events[-1].attempts}"
    assert "refining" not in stage(events[-2])


def test_theory_that_takes_long_has_a_bar_too(screen, monkeypatch):
    for name in ("alpha_merge", "alpha_recovery"):
        monkeypatch.setattr(f"phaselect.theory.coexistence.{name}", lambda lam: 1.6)
    monkeypatch.setattr("phaselect.theory.coexistence.transitions", lambda alpha, lam: (1.0, 2.0, 3.0))
    monkeypatch.setattr("phaselect.theory.glass._trap", lambda path: theory.glass.Trap(1.0))
    shares = []
    theory.phase_diagram([1.5, 1.6], progress=shares.append)
    assert shares == [0, 1 / 8]
    theory.phase_diagram([1.5], progress=True)
    theory.traps([1.5], progress=True)
    assert "phase diagram" in screen.getvalue()
    assert "traps" in screen.getvalue()
    with pytest.raises(InputError, match="give True for a bar, or a function of the share"):
        theory.traps([1.5], progress="yes")
