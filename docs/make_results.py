"""Writes docs/results.md, the pages in docs/results and their figures from the tables: `python docs/make_results.py`.

The tables, in docs/tables, come from `phaselect figure --all --scale paper --store runs.db --out FOLDER`; thresholds
and limits in those of success figures are computed anew from their shares.
"""

from pathlib import Path

from phaselect.base.style import save, shown_size
from phaselect.base.tables import Table, load_table
from phaselect.figures.gallery import DIGITS, FIGURES, draw, figure_module
from phaselect.figures.success_curves import refitted, with_thresholds
from phaselect.report.ledger import Entry, Tables, assess_all, summary
from phaselect.report.page import CLAIMS
from phaselect.report.parts import PARTS, Part, beyond_the_paper, part_of
from phaselect.report.sizes import TextGrid, size_grids

HERE = Path(__file__).parent
HEAD = """# Results

Every figure of the paper, recomputed, and each of its claims with what we measured. Written by
`docs/make_results.py` from the tables in `docs/tables`; [how to reproduce them](reproduction.md). Brackets hold
95 % intervals.
"""
SIZES = """# Thresholds by size

alpha at which half of the instances are recovered; N → ∞ from the fit a + b N^-c, none where that says nothing of the
limit. Bayes-optimal: 1.128. [All results](../results.md)
"""


def main() -> None:
    """Draw the figures and write the pages."""
    tables = {name: fitted(load_table(HERE / "tables" / f"{name}.csv")) for name in FIGURES}
    for folder in ("figures", "results"):
        (HERE / folder).mkdir(exist_ok=True)
    for name, table in tables.items():
        table.save(HERE / "tables" / f"{name}.csv")
        save(draw(name, table), HERE / "figures" / f"{name}.png")
    for name, text in pages(tables).items():
        (HERE / name).write_text(text)


def fitted(table: Table) -> Table:
    """Thresholds of a success figure follow from its shares, limits from these: they are those of today's fits."""
    if not {"share", "threshold"} <= set(table["kind"].tolist() if "kind" in table else ()):
        return table
    table = with_thresholds(table).rounded(DIGITS)
    return refitted(table).rounded(DIGITS) if "exponent" in table else table


def pages(tables: Tables) -> dict[str, str]:
    """The text of each page by its file: an index, the parts, and the thresholds."""
    entries = assess_all(CLAIMS, tables)
    thresholds = [SIZES, *(line for grid in size_grids(tables) for line in text_grid(grid))]
    written = {"results.md": index(entries), "results/thresholds.md": thresholds}
    written |= {f"results/{part.name}.md": page(part, entries, tables) for part in PARTS}
    return {name: "\n".join(lines).rstrip() + "\n" for name, lines in written.items()}


def index(entries: list[Entry]) -> list[str]:
    """The pages there are, and the verdict on each claim."""
    links = [f"| [{part.title}](results/{part.name}.md) | {', '.join(part.figures)} |" for part in PARTS]
    claims = [
        f"| {claim.text} ({claim.where}) "
        f"| [{finding.conclusion.value}](results/{part_of(claim.figures[0]).name}.md#claims) |"
        for claim, finding in entries
    ]
    return [
        HEAD,
        *("| page | figures |", "|---|---|", *links),
        "| [Thresholds by size](results/thresholds.md) | |\n",
        f"## Claims of the paper\n\n{len(entries)} claims; {summary(entries)}.\n",
        *("| the paper says | verdict |", "|---|---|", *claims),
        "\n```{toctree}\n:hidden:\n",
        *(f"results/{part.name}" for part in PARTS),
        "results/thresholds\n```",
    ]


def page(part: Part, entries: list[Entry], tables: Tables) -> list[str]:
    """The claims of a part with what was measured, if it has any, and its figures."""
    rows = [
        f"| {claim.text} ({claim.where}) | {finding.measured} ([figure](#{claim.figures[0]})) "
        f"| **{finding.conclusion.value}** |"
        for claim, finding in part.own(entries)
    ]
    claims = ["## Claims\n", "| the paper says | we measured | verdict |", "|---|---|---|", *rows, ""] if rows else []
    head = f"# {part.title}\n\n[All results](../results.md)\n"
    return [head, *claims, *(figure(name, tables[name]) for name in part.figures)]


def text_grid(grid: TextGrid) -> list[str]:
    """A grid as a table."""
    lines = [" | ".join(row) for row in (grid.head, ["---"] * len(grid.head), *grid.rows)]
    return [f"## {grid.title}\n", *(f"| {line} |" for line in lines), ""]


def figure(name: str, table: Table) -> str:
    """A figure with its caption and its provenance."""
    caption, made = figure_module(name).CAPTION.replace("*", "\\*"), table.provenance
    caption += " Not in the paper." if beyond_the_paper(name) else ""
    source = f"`{made['command']} --out {name}.pdf`, revision {made['revision'] or 'unknown'}, {made['date']}"
    source += (f", {made['runs']} runs" if "runs" in made else "") + f", took {made['took']}"
    source += f" (caution: {made['caution']})" if "caution" in made else ""
    width, _ = shown_size(HERE / "figures" / f"{name}.png")
    picture = f'<img src="../figures/{name}.png" width="{width}" alt="{name}">'
    return f"## {name}\n\n{picture}\n\n{caption}\n\n{source}. [Table](../tables/{name}.csv)\n"


if __name__ == "__main__":
    main()
