"""The report as one HTML page that needs no other file: claims and figures part by part, thresholds by size."""

from __future__ import annotations

import base64
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import phaselect
from phaselect.base.files import atomic_write
from phaselect.base.style import shown_size
from phaselect.base.tables import Table
from phaselect.figures.gallery import figure_module
from phaselect.report.annealing_claims import ANNEALING_CLAIMS
from phaselect.report.formulation_claims import FORMULATION_CLAIMS
from phaselect.report.generality_claims import GENERALITY_CLAIMS
from phaselect.report.ledger import Tables, assess_all, command_of, summary
from phaselect.report.message_passing_claims import MESSAGE_PASSING_CLAIMS
from phaselect.report.parts import PARTS, beyond_the_paper
from phaselect.report.regulariser_claims import REGULARISER_CLAIMS
from phaselect.report.sizes import size_grids
from phaselect.report.solver_claims import SOLVER_CLAIMS
from phaselect.report.stability_claims import STABILITY_CLAIMS
from phaselect.report.theory_claims import THEORY_CLAIMS

CLAIMS = (
    *FORMULATION_CLAIMS,
    *THEORY_CLAIMS,
    *REGULARISER_CLAIMS,
    *STABILITY_CLAIMS,
    *ANNEALING_CLAIMS,
    *MESSAGE_PASSING_CLAIMS,
    *SOLVER_CLAIMS,
    *GENERALITY_CLAIMS,
)


class Shown(NamedTuple):
    """A figure as the page shows it; made: its provenance in words, without the command."""

    caption: str
    command: str
    made: str
    width: int
    image: str
    beyond: bool


def build_report(tables: Tables, folder: Path) -> Path:
    """Write `index.html` into a folder that has the figures as NAME.png, and return its path."""
    from jinja2 import Environment, StrictUndefined

    entries, own = assess_all(CLAIMS, tables), files("phaselect.report")
    page = Environment(autoescape=True, trim_blocks=True, undefined=StrictUndefined, keep_trailing_newline=True)
    text = page.from_string(own.joinpath("page.html").read_text(encoding="utf-8")).render(
        style=own.joinpath("page.css").read_text(encoding="utf-8"),
        version=phaselect.__version__,
        entries=entries,
        summary=summary(entries),
        parts=PARTS,
        tables=tables,
        figures={name: _shown(name, tables[name], folder) for part in PARTS for name in part.figures},
        grids=size_grids(tables),
    )
    path = folder / "index.html"
    with atomic_write(path) as stream:
        stream.write(text.encode())
    return path


def _shown(name: str, table: Table, folder: Path) -> Shown:
    picture = folder / f"{name}.png"
    made = ", ".join(f"{key}: {text}" for key, text in table.provenance.items() if key not in ("figure", "command"))
    image = base64.b64encode(picture.read_bytes()).decode()
    width, _ = shown_size(picture)
    return Shown(figure_module(name).CAPTION, command_of(name, table), made, width, image, beyond_the_paper(name))
