"""The report as one HTML page that needs no other file: claims and figures part by part, thresholds by size."""

from __future__ import annotations

import base64
from html import escape
from importlib.resources import files
from pathlib import Path

import phaselect
from phaselect.base.files import atomic_write
from phaselect.base.style import shown_size
from phaselect.base.tables import Table
from phaselect.figures.gallery import figure_module
from phaselect.report.formulation_claims import FORMULATION_CLAIMS
from phaselect.report.generality_claims import GENERALITY_CLAIMS
from phaselect.report.ledger import Conclusion, Entry, Tables, assess_all, summary
from phaselect.report.parts import PARTS, Part, beyond_the_paper
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
    *SOLVER_CLAIMS,
    *GENERALITY_CLAIMS,
)
MARKS = {
    Conclusion.HOLDS: "holds",
    Conclusion.CORRECTED: "corrected",
    Conclusion.FAILS: "fails",
    Conclusion.OPEN: "open",
}


def build_report(tables: Tables, folder: Path) -> Path:
    """Write `index.html` into a folder that has the figures as NAME.png, and return its path."""
    entries = assess_all(CLAIMS, tables)
    body = "\n".join(
        [
            _head(entries),
            *(_part(part, entries, tables, folder) for part in PARTS),
            "<h2 id='thresholds'>Thresholds by size</h2>",
            _sizes(tables),
        ]
    )
    page = (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'><link rel='icon' href='data:,'>"
        f"<title>Phase selection, reproduced</title><style>{_style()}</style></head>\n<body>\n{body}\n</body></html>\n"
    )
    path = folder / "index.html"
    with atomic_write(path) as stream:
        stream.write(page.encode())
    return path


def _style() -> str:
    return files("phaselect.report").joinpath("page.css").read_text(encoding="utf-8")


def _head(entries: list[Entry]) -> str:
    links = "".join(f"<a href='#part-{part.name}'>{part.title}</a>" for part in PARTS)
    return (
        "<h1>Phase selection, reproduced</h1>"
        "<p>Every figure of D. Straziota and L. Saglietti, <i>Isolating the hard core of phaseless inference: the "
        "Phase selection formulation</i>, recomputed with phaselect: theory and measurement side by side, and "
        "each claim of "
        f"the paper with what we measured. {len(entries)} claims; {escape(summary(entries))}.</p>"
        f"<p class='note'>phaselect {phaselect.__version__}; each figure says which command, runs and revision made "
        "it. Brackets hold 95 % intervals.</p>"
        f"<nav>{links}<a href='#thresholds'>Thresholds by size</a></nav>"
    )


def _part(part: Part, entries: list[Entry], tables: Tables, folder: Path) -> str:
    figures = (_figure(name, tables[name], folder) for name in part.figures)
    own = part.own(entries)
    claims = [_ledger(own, tables)] if own else []
    return "\n".join([f"<h2 id='part-{part.name}'>{part.title}</h2>", *claims, *figures])


def _ledger(entries: list[Entry], tables: Tables) -> str:
    rows = [
        f"<tr><td>{escape(entry.claim.text)}<div class='note'>{escape(entry.claim.where)}</div></td>"
        f"<td>{escape(entry.finding.measured)}{_commands(entry, tables)}</td>"
        f"<td class='verdict {MARKS[entry.finding.conclusion]}'>{escape(entry.finding.conclusion.value)}</td></tr>"
        for entry in entries
    ]
    head = "<thead><tr><th>The paper says</th><th>We measured</th><th>Verdict</th></tr></thead>"
    return f"<table class='ledger'>{head}<tbody>{''.join(rows)}</tbody></table>"


def _commands(entry: Entry, tables: Tables) -> str:
    commands = zip(entry.claim.figures, entry.claim.commands(tables), strict=True)
    return "".join(f"<div><a href='#{name}'><code>{escape(command)}</code></a></div>" for name, command in commands)


def _sizes(tables: Tables) -> str:
    parts = [
        "<p>The ratio alpha at which half of the instances are recovered, and its limit for large N from the fit "
        "alpha_50 = a + b N<sup>-c</sup>; none where the fit says nothing of it. The Bayes-optimal threshold is "
        "1.128.</p>"
    ]
    return "\n".join([*parts, *(_grid(*grid) for grid in size_grids(tables))])


def _grid(title: str, head: list[str], rows: list[list[str]]) -> str:
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<h3>{escape(title)}</h3><table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"


def _figure(name: str, table: Table, folder: Path) -> str:
    caption = figure_module(name).CAPTION
    picture = folder / f"{name}.png"
    image = base64.b64encode(picture.read_bytes()).decode()
    made = ", ".join(f"{key}: {text}" for key, text in table.provenance.items() if key not in ("figure", "command"))
    command = table.provenance.get("command", f"phaselect figure {name}")
    return (
        f"<h3 id='{name}'>{escape(name)}{' (beyond the paper)' if beyond_the_paper(name) else ''}</h3>"
        f"<figure><img alt='{escape(caption, quote=True)}' width='{shown_size(picture)[0]}' "
        f"src='data:image/png;base64,{image}'><figcaption>{escape(caption)}<br>"
        f"<code>{escape(command)} --out {name}.pdf</code><br>{escape(made)}</figcaption></figure>"
    )
