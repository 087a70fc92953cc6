"""The command line: every command is one call of one public function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

import phaselect
from phaselect.base.errors import InputError
from phaselect.base.files import save_arrays
from phaselect.cli.bench import bench
from phaselect.cli.console import INTERRUPTED, OneLineErrors, check_writable, example
from phaselect.cli.figures import figure, report
from phaselect.cli.sweeps import export, merge, success, sweep
from phaselect.cli.theory import theory
from phaselect.problem.instance import Instance, gaussian_instance, load
from phaselect.problem.observables import against_truth
from phaselect.solvers.registry import SINGLE, recipe
from phaselect.solvers.result import Result, Status
from phaselect.solvers.solve import solve_instance


@click.group(cls=OneLineErrors, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(phaselect.__version__, prog_name="phaselect")
def main() -> None:
    """Real phase retrieval: find x from the magnitudes y = |A x|."""


@example("phaselect generate --n 400 --alpha 1.25 --seed 0 --out inst.npz")
@main.command()
@click.option("--n", type=int, required=True, help="Number of unknowns.")
@click.option("--alpha", type=float, required=True, help="Measurements per unknown; must exceed 1.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random numbers.")
@click.option("--signal-variance", type=float, default=1.0, show_default=True, help="|x0|^2 / n.")
@click.option("--density", type=float, default=1.0, show_default=True, help="Fraction of nonzero entries of x0.")
@click.option(
    "--noise", type=float, default=0.0, show_default=True, help="Variance of the noise on the sensor's reading."
)
@click.option("--activation", default="abs", show_default=True, help="What the sensor reports: abs or square.")
@click.option("--out", type=click.Path(dir_okay=False), required=True, help="The .npz file to write.")
def generate(out: str, **options: Any) -> None:
    """Draw a random instance: Gaussian A and x0, y = |A x0|, and a test set."""
    check_writable(out, ".npz")
    problem = gaussian_instance(**options)
    problem.save(out)
    click.echo(f"wrote {out}: {problem}")


@example(
    "phaselect solve inst.npz",
    "phaselect solve inst.npz --solver pa --time-limit 60 --out x.npz",
    "phaselect solve A.csv y.csv --json",
    "phaselect solve large.npz --device gpu",
)
@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE [Y_FILE]")
@click.option(
    "--solver",
    type=click.Choice(["auto", *SINGLE]),
    default="auto",
    show_default=True,
    help="auto tries message passing, then population annealing.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random numbers.")
@click.option("--device", type=click.Choice(["gpu", "cpu"]), help="Put A there, as JAX arrays, and solve there.")
@click.option("--dtype", type=click.Choice(["float32", "float64"]), help="Precision of A there; float32 by default.")
@click.option("--time-limit", type=float, help="Seconds after which the best so far is returned.")
@click.option("--noise", type=float, help="Variance of the noise on y, if any (solver auto only).")
@click.option("--json", "as_json", is_flag=True, help="Print the whole result, trace included, as JSON.")
@click.option("--out", type=click.Path(dir_okay=False), help="Write x and the signs to this .npz file.")
@click.pass_context
def solve(
    context: click.Context,
    files: tuple[str, ...],
    solver: str,
    seed: int,
    device: str | None,
    dtype: str | None,
    time_limit: float | None,
    noise: float | None,
    as_json: bool,
    out: str | None,
) -> None:
    """Recover x from an .npz file with arrays A and y, or from two .npy or .csv files, A then y.

    Exit code: 0 when a result was found, whatever its status; 2 for bad input; 130 when interrupted, with
    the best so far printed and written all the same.
    """
    if len(files) > 2:
        raise InputError("give one .npz file, or two files: A and y")
    if noise is not None and solver != "auto":
        raise InputError("--noise goes with --solver auto")
    check_writable(out, ".npz")
    if out is not None and Path(out).resolve() in [Path(name).resolve() for name in files]:
        raise InputError(f"--out {out} would overwrite the data: give another name")
    problem = load(*files)
    if device is not None:
        problem = problem.to_device(device, dtype or "float32")
    elif dtype is not None:
        raise InputError("--dtype goes with --device: it is the precision of A there")
    result = _run(problem, solver, seed=seed, time_limit=time_limit, noise=noise)
    truth = against_truth(problem, result.x, result.signs)
    if out is not None:
        save_arrays(out, {"x": result.x, "signs": result.signs, "certified": np.array(result.certified)})
    if as_json:
        click.echo(json.dumps(result.to_dict() | truth, allow_nan=False))
    else:
        _report(result, truth)
    if result.status is Status.INTERRUPTED:
        context.exit(INTERRUPTED)


@example("phaselect demo --out demo.png")
@main.command()
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
    """Run four solvers on one random instance; print a table and draw their anneals."""
    from rich.console import Console
    from rich.table import Table

    from phaselect.cli.progress import progress_bar
    from phaselect.figures import demo as show
    from phaselect.figures.style import SUFFIXES, save

    check_writable(out, *SUFFIXES)
    problem = gaussian_instance(n, alpha, seed=seed)
    with progress_bar() as bar:
        results = show.compare(problem, seed, bar)
    table = Table("solver", "status", "m", "mse_y", "seconds", title=f"N = {n}, alpha = {alpha:g}, seed {seed}")
    for result in results:
        table.add_row(*show.row(problem, result))
    Console().print(table)
    save(show.draw(problem, results), out)
    click.echo(f"wrote {out}: overlap and residual along each anneal")
    if results[-1].status is Status.INTERRUPTED:
        context.exit(INTERRUPTED)


def _run(problem: Instance, name: str, *, noise: float | None, **options: Any) -> Result:
    from phaselect.cli.progress import progress_bar

    with progress_bar() as bar:
        if name == "auto":
            return solve_instance(problem, noise=noise, progress=bar, **options)
        chosen, schedule = recipe(name).plan()
        result: Result = chosen.run(problem, schedule, progress=bar, **options)
        return result


def _report(result: Result, truth: dict[str, float]) -> None:
    lines = {
        "status": result.status.value,
        "certified": f"{'yes' if result.certified else 'no'} (log10 impostors {result.log10_impostors:.1f})",
        "solver": result.solver,
        "mse_y": f"{result.mse_y:.3e}",
        "seconds": f"{result.seconds:.2f}",
        **{name: f"{value:.6g}" for name, value in truth.items()},
    }
    for name, text in lines.items():
        click.echo(f"{name:10}{text}")


for command in (bench, theory, sweep, success, export, merge, figure, report):
    main.add_command(command)
