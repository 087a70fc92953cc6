"""`phaselect demo`: four solvers on one instance."""

from __future__ import annotations

import click

import phaselect
from phaselect.base.errors import InputError
from phaselect.base.style import SUFFIXES, save
from phaselect.cli.console import check_writable, example
from phaselect.cli.interrupts import exit_code, interrupted
from phaselect.cli.progress import progress_bar


@example("phaselect demo --out demo.png")
@click.command()
@click.option("--n", type=int, default=400, show_default=True, help="Number of unknowns.")
@click.option("--alpha", type=float, default=1.25, show_default=True, help="Measurements per unknown.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random numbers.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    default="demo.png",
    show_default=True,
    help="The figure to write (.png, .pdf or .svg).",
)
@click.pass_context
def demo(context: click.Context, n: int, alpha: float, seed: int, out: str) -> None:
    """Run four solvers on one instance; print a table, draw the anneals."""
    from rich.console import Console
    from rich.table import Table

    from phaselect.figures.demo import compare, draw, row

    check_writable(out, *SUFFIXES)
    problem = phaselect.gaussian_instance(n, alpha, seed=seed)
    if problem.m_rows <= n:
        raise InputError(
            f"--n {n} --alpha {alpha:g}: M = {problem.m_rows} for N = {n}; M/N has to exceed 1: give a larger --alpha"
        )
    results: list[phaselect.Result] = []
    with progress_bar() as bar:
        for result in compare(problem, seed, bar):
            results.append(result)
            if stopped := interrupted() or result.status is phaselect.Status.INTERRUPTED:
                break
    table = Table("solver", "status", "m", "mse_y", "seconds", title=f"N = {n}, alpha = {alpha:g}, seed {seed}")
    for result in results:
        table.add_row(*row(result))
    Console().print(table)
    save(draw(problem, results), out)
    click.echo(f"wrote {out}: overlap and residual along each anneal")
    if stopped:
        context.exit(exit_code())
