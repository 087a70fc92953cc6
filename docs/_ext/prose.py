"""Docstrings of the house, which are plain prose, as reStructuredText.

`name: what it is`, where a function or a class has a parameter of that name, becomes a field; stars, bars and
underscores are what they are and mark nothing up.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any

from sphinx.application import Sphinx

CODE = re.compile(r"(`[^`]*`)")


def translate(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring in place; one in numpydoc's form has headings that are underlined, and stays."""
    if not any(re.fullmatch(r"-{3,}", line.strip()) for line in lines):
        lines[:] = as_rst(lines, parameters(obj) if what in ("class", "function", "method") else set())


def parameters(obj: Callable[..., Any]) -> set[str]:
    """Names of what it takes."""
    try:
        return set(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        return set()


def as_rst(lines: list[str], known: set[str]) -> list[str]:
    """Paragraphs of prose, escaped, and of fields; examples as they are."""
    written, example, in_fields = [], False, False
    for line in lines:
        field = re.match(r"(\w+(?:, \w+)*): (.*)", line)
        example = line.startswith(">>>") or (example and bool(line.strip()))
        if example:
            written.append(line)
        elif field and set(field[1].split(", ")) <= known:
            if written and written[-1].strip() and not in_fields:
                written.append("")
            written.append(f":param {field[1]}: {escaped(field[2])}")
            in_fields = True
            continue
        else:
            if in_fields and line[:1].strip():  # prose right after the last field
                written.append("")
            written.append(escaped(line))
        in_fields = in_fields and (not line[:1].strip()) and bool(line.strip())
    return written


def escaped(line: str) -> str:
    """No mark-up but code and bullets."""
    bullet, rest = re.fullmatch(r"(\s*(?:\* )?)(.*)", line).groups()
    parts = CODE.split(rest)
    return bullet + "".join(part if CODE.fullmatch(part) else re.sub(r"([*|\\]|_\b)", r"\\\1", part) for part in parts)


def plain_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None] | None:
    """What a dataclass makes anew for each object has no name in Python, and would keep a signature from being read."""
    if signature is None:
        return None
    named = re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", signature)
    return named.replace("<factory>", "..."), returns


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("autodoc-process-signature", plain_signature)
    app.connect("autodoc-process-docstring", translate, priority=400)  # before numpydoc's own
    return {"parallel_read_safe": True, "parallel_write_safe": True}
