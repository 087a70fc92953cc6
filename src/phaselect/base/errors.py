"""The exceptions a user sees: one for bad input, one for a computation of the theory that did not converge."""


class InputError(ValueError):
    """The data, file or option given is wrong; the message says what, and what to do, in one line."""


class TooLarge(InputError):
    """There is not enough memory for this."""


class TheoryError(ArithmeticError):
    """A computation of the theory did not converge, so there is no answer; the message says where, in one line."""
