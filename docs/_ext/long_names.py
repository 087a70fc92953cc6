"""Dotted names in running text may break after a dot, so that columns of tables need not be as wide as they are."""

import re
from typing import Any

from sphinx.application import Sphinx

NAME = re.compile(r'(?<=<span class="pre">)phaselect(?:\.\w+){2,}')


def breakable(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Say where."""
    if "body" in context:
        context["body"] = NAME.sub(lambda name: name[0].replace(".", ".<wbr>"), context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("html-page-context", breakable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
