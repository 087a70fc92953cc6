"""The exceptions and warnings that a user sees: for bad input, and for theory that did not converge; their texts."""

from __future__ import annotations

import sys
import warnings

ON_THE_WAY = (__name__.partition(".")[0], "contextlib")
"""What is called between a user's line and a warning: this package, and what decorates its functions."""


def printable(text: str) -> str:
    """Text that nobody should trust, for a message: what could command a terminal is shown as its escape sequence."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class InputError(ValueError):
    """The data, file or option given is wrong; the message says what, and what to do, in one line."""


class DataWarning(UserWarning):
    """The data look as if something were wrong with them, or too few; the message says what, in one line."""


class Unsuitable(InputError):
    """These data are not for this solver; another may take them."""


class TooLarge(InputError):
    """There is not enough memory for this."""


class DeviceLost(InputError):
    """A device has stopped to answer in this process, whatever it is asked."""


class TheoryError(ArithmeticError):
    """A computation of the theory did not converge, so there is no answer; the message says where, in one line."""


def warn_user(line: str, category: type[Warning]) -> None:
    """Warn at the line outside of this package that led here."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ON_THE_WAY:
        frame, level = frame.f_back, level + 1
    warnings.warn(line, category, stacklevel=level)
