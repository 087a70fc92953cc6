"""Formulas as MathML, by the converter of docutils: browsers draw them without a script or a network.

They want a font that knows how formulas are set; STIX Two Math, under the Open Font License, comes with ziamath.
"""

from importlib.resources import files
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)
FONT = "STIXTwoMath-Regular.ttf"


def inline(translator: nodes.NodeVisitor, node: nodes.math) -> None:
    """A formula in a line of text."""
    translator.body.append(converted(node))
    raise nodes.SkipNode


def displayed(translator: nodes.NodeVisitor, node: nodes.math_block) -> None:
    """A formula on a line of its own, which scrolls where it is too wide."""
    translator.body.append(f'<div class="formula">{converted(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def converted(node: nodes.Element, as_block: bool = False) -> str:
    """The formula; where it cannot be read, a warning."""
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("%s in %s", error, node.astext(), location=node)
        return node.astext()


def copy_font(app: Sphinx) -> None:
    """The font, into the folder of the style sheets."""
    static = Path(app.outdir) / "_static"
    static.mkdir(parents=True, exist_ok=True)
    (static / FONT).write_bytes((files("ziamath") / "fonts" / FONT).read_bytes())


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    app.connect("builder-inited", copy_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
