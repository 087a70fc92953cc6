"""Ctrl-C and SIGTERM, from the first line of the program to its last: one line on stderr, exit code 130 or 143.

Before a command runs, and after, there is nothing to lose: the program ends at once. While one runs, KeyboardInterrupt
is raised, for it to keep what it has; SIGTERM does whatever Ctrl-C would do. What is just being imported would be
left in pieces, and some libraries drop exceptions: then it is raised again a little later. What comes while Python
itself starts, before our first line, is Python's.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # what is imported here delays the moment from which signals are ours
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

AGAIN = 0.02
"""Seconds after which an interrupt that came at a bad moment is tried again."""


class _State:
    running = False  # is there a command that may have something to lose?
    arrived = False
    number = signal.SIGINT


def watch() -> None:
    """Take charge of both signals; Ctrl-C stays ignored where it is, as in a job in the background."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _as_ctrl_c)
    sys.unraisablehook = _unraisable
    signal.signal(signal.SIGTERM, _terminate)


def command_begins() -> None:
    """From now on there may be something to lose."""
    _State.running = True


def command_ended() -> None:
    """All is written, and an interrupt that was to be tried again has nothing left to stop."""
    _State.running = False
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def interrupted() -> bool:
    """Was there an interrupt, whatever became of it? A solver that has just found the answer does not tell."""
    return _State.arrived


def check() -> None:
    """Interrupt whoever goes on after an interrupt that something else has taken for its own."""
    if interrupted():
        raise KeyboardInterrupt


def exit_code() -> int:
    """Exit code after an interrupt."""
    return 128 + _State.number


def leave(code: int) -> NoReturn:
    """End the program; after an interrupt at once, without waiting for threads of libraries that it cut off."""
    from contextlib import suppress

    if _State.arrived:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, AttributeError):  # full, or closed
                stream.flush()
        os._exit(code)
    sys.exit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if not _State.running:
        os.write(2, b"phaselect: interrupted\n")
        os._exit(exit_code())
    _State.arrived = True
    if hasattr(signal, "setitimer") and _importing(frame):
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
    else:
        raise KeyboardInterrupt


def _terminate(number: int, frame: FrameType | None) -> None:
    _State.number = signal.SIGTERM
    _as_ctrl_c(number, frame)


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """What Ctrl-C does now: a sweep, for one, first finishes the runs in hand."""
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else _interrupt)(signal.SIGINT, frame)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _unraisable(dropped: sys.UnraisableHookArgs) -> None:
    """An exception in a callback of C or in a finaliser, where it cannot be raised.

    After an interrupt libraries find things half made, which is no news.
    """
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        if not _State.arrived:
            sys.__unraisablehook__(dropped)
    elif hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
