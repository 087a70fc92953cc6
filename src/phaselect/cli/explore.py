"""`phaselect explore`: the theory under sliders, and a real instance annealed, in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from phaselect.cli.console import check_writable, example


@example("phaselect explore", "phaselect explore --out explorer.html --no-open")
@click.command()
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    default="explorer.html",
    show_default=True,
    help="The page to write (.html); one that is there is replaced.",
)
@click.option("--open/--no-open", "show", default=True, help="Open the page in the browser.  [default: open]")
def explore(out: str, show: bool) -> None:
    """Write and open a page to explore: theory under sliders, an anneal in the browser.

    The page is one file that needs no network: the predicted branches and the phase diagram move with alpha,
    mu, lam and N, and message passing and Metropolis run on a real instance in the page itself.
    """
    from phaselect.explorer.assembly import write_page

    check_writable(out, ".html", ".htm")
    write_page(out)
    click.echo(f"wrote {out}")
    if show and not webbrowser.open(Path(out).resolve().as_uri()):
        click.echo(f"phaselect: found no browser: open {out} in one", err=True)
