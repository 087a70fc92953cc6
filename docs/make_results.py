"""Writes docs/results.md and its figures from the tables in docs/tables: `python docs/make_results.py`.

The tables come from `phaselect figure --all --scale paper --store runs.db --out FOLDER`; the limits in
those of the success figures are fitted anew to their thresholds.
"""

from pathlib import Path

from phaselect.base.tables import Table, load_table
from phaselect.figures.gallery import DIGITS, FIGURES, draw, figure_module
from phaselect.figures.style import save
from phaselect.figures.success_curves import refitted
from phaselect.report.ledger import Entry, Tables, assess_all, summary
from phaselect.report.page import CLAIMS, PAPER_FIGURES
from phaselect.report.sizes import TextGrid, size_grids

HERE = Path(__file__).parent
HEAD = """# Results

Every figure of the paper, recomputed, and each of its claims with what we measured. Written by
`docs/make_results.py` from the tables in `docs/tables`; [how to reproduce them](reproduction.md). Brackets hold
95 % intervals. Those whose first lines say version 0.1 are of a time when
seeds meant [other random numbers](conventions.md#random-numbers).
"""


def main() -> None:
    """Draw the figures and write the page."""
    tables = {name: fitted(load_table(HERE / "tables" / f"{name}.csv")) for name in FIGURES}
    (HERE / "figures").mkdir(exist_ok=True)
    for name, table in tables.items():
        table.save(HERE / "tables" / f"{name}.csv")
        save(draw(name, table), HERE / "figures" / f"{name}.png", dpi=110)
    (HERE / "results.md").write_text("\n".join([HEAD, *page(tables)]) + "\n")


def fitted(table: Table) -> Table:
    """The limits of a success figure follow from its thresholds: they are those of today's fit."""
    return refitted(table).rounded(DIGITS) if "exponent" in table.columns else table


def page(tables: Tables) -> list[str]:
    """The sections."""
    entries = assess_all(CLAIMS, tables)
    return [
        "## Claims of the paper\n",
        *ledger(entries),
        "\n## Thresholds by size\n",
        "alpha at which half of the instances are recovered; N → ∞ from the fit a + b N^-c, none where that says "
        "nothing of the limit. Bayes-optimal: 1.128.\n",
        *(line for grid in size_grids(tables) for line in text_grid(grid)),
        "## Figures of the paper\n",
        *(figure(name, tables[name]) for name in FIGURES[:PAPER_FIGURES]),
        "## Beyond the paper\n",
        *(figure(name, tables[name]) for name in FIGURES[PAPER_FIGURES:]),
    ]


def ledger(entries: list[Entry]) -> list[str]:
    """The claims as a table, with a count of the verdicts."""
    head = ["| the paper says | we measured | verdict |", "|---|---|---|"]
    rows = [
        f"| {claim.text} ({claim.where}) | {finding.measured} ([figure](#{claim.figures[0]})) "
        f"| **{finding.conclusion.value}** |"
        for claim, finding in entries
    ]
    return [f"{len(entries)} claims; {summary(entries)}.\n", *head, *rows]


def text_grid(grid: TextGrid) -> list[str]:
    """A grid as a table."""
    lines = [" | ".join(row) for row in (grid.head, ["---"] * len(grid.head), *grid.rows)]
    return [f"### {grid.title}\n", *(f"| {line} |" for line in lines), ""]


def figure(name: str, table: Table) -> str:
    """A figure with its caption and its provenance."""
    caption, made = figure_module(name).CAPTION.replace("*", "\\*"), table.provenance
    source = f"`{made['command']} --out {name}.pdf`, revision {made['revision'] or 'unknown'}, {made['date']}"
    source += (f", {made['runs']} runs" if "runs" in made else "") + f", took {made['took']}"
    source += f" (caution: {made['caution']})" if "caution" in made else ""
    return f"### {name}\n\n![{name}](figures/{name}.png)\n\n{caption}\n\n{source}. [Table](tables/{name}.csv)\n"


if __name__ == "__main__":
    main()
