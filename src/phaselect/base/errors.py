"""The one exception a user sees for bad input."""


class InputError(ValueError):
    """The data, file or option given is wrong; the message says what, and what to do, in one line."""
