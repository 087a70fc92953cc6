"""Docstrings of the house, which are plain prose, as reStructuredText.

`name: what it is`, where a function or a class has a parameter of that name, becomes a field; stars, bars and
underscores are what they are and mark nothing up.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.inspect import TypeAliasForwardRef

CODE = re.compile(r"(`[^`]*`)")
FIELD = re.compile(r"(\w+(?:, \w+)*): (.*)", re.DOTALL)
ANYTHING = "(*args, **kwargs)"
"""A signature that says nothing: of a protocol, or of what functions make."""


def translate(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring in place; one in numpydoc's form has headings that are underlined, and stays."""
    if not any(re.fullmatch(r"-{3,}", line.strip()) for line in lines):
        known = parameters(obj) if what in ("class", "function", "method") else set()
        lines[:] = [line for block in paragraphs(lines) for line in [*as_rst(block, known), ""]]


def parameters(obj: Callable[..., Any]) -> set[str]:
    """Names of what it takes."""
    try:
        return set(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        return set()


def paragraphs(lines: list[str]) -> list[list[str]]:
    """What blank lines set apart."""
    return [block.splitlines() for block in re.split(r"\n\s*\n", "\n".join(lines)) if block.strip()]


def as_rst(block: list[str], known: set[str]) -> list[str]:
    """A paragraph, escaped, or fields; an example as it is."""
    if block[0].startswith(">>>"):
        return block
    starts = [k for k, line in enumerate(block) if begins_field(line, known)]
    if not starts:
        return [escaped(line) for line in block]
    prose = [escaped(line) for line in block[: starts[0]]]
    texts = (" ".join(line.strip() for line in block[a:b]) for a, b in zip(starts, [*starts[1:], None], strict=True))
    fields = [part for text in texts for part in one_by_one(text, known)]
    return [*prose, *([""] if prose else []), *fields]


def begins_field(line: str, known: set[str]) -> bool:
    """Is it `name: what it is`, of names that are known?"""
    found = FIELD.match(line)
    return found is not None and set(found[1].split(", ")) <= known


def one_by_one(text: str, known: set[str]) -> Iterator[str]:
    """Fields that share a line."""
    first, *others = re.split(r"(?<=[.;]) (?=\w+: )", text)
    for part in others:
        if begins_field(part, known):
            yield from one_by_one(first, set())
            first = part
        else:
            first = f"{first} {part}"
    name, said = FIELD.match(first).groups()
    yield f":param {name}: {escaped(said)}"


def escaped(line: str) -> str:
    """No mark-up but code and bullets."""
    bullet, rest = re.fullmatch(r"(\s*(?:\* )?)(.*)", line).groups()
    parts = CODE.split(rest)
    return bullet + "".join(part if CODE.fullmatch(part) else re.sub(r"([*|\\]|_\b)", r"\\\1", part) for part in parts)


def plain_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None] | None:
    """What a dataclass makes anew for each object has no name in Python, and would keep a signature from being read."""
    if what == "class" and signature == ANYTHING:
        return "", None
    return signature and (signature.replace("<factory>", "..."), returns)


def skip(app: Sphinx, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Fields of a NamedTuple have no text of their own, and are in its signature; scikit-learn adds requests."""
    return str(getattr(obj, "__doc__", "")).startswith("Alias for field number") or name.endswith("_request") or None


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    TypeAliasForwardRef.__repr__ = lambda self: self.name  # in `Vector | None` too
    app.connect("autodoc-process-signature", plain_signature)
    app.connect("autodoc-process-docstring", translate, priority=400)  # before numpydoc's own
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
