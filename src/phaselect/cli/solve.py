"""`phaselect generate` and `phaselect solve`: an instance into a file, and the signal out of one."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import phaselect
from phaselect.base.array_files import TEXTS
from phaselect.base.errors import InputError
from phaselect.cli.console import check_writable, example, in_options, printed_warnings
from phaselect.cli.exit_codes import NOT_RECOVERED, code_of
from phaselect.cli.lazy import Names
from phaselect.cli.progress import progress_bar
from phaselect.problem.matrix_kinds import FIELDS, KINDS, check_parameters
from phaselect.solvers.registry import REGISTRY
from phaselect.solvers.result import noise_facts
from phaselect.solvers.result_files import ENDINGS, WHOLE

if TYPE_CHECKING:
    from phaselect import Instance, Result

ANSWER, BEST = "x.csv", "x_best.csv"
"""Where x goes if nothing is said: an answer, which is not to be lost, and the best so far, which may be replaced."""
FLOAT64 = float(np.finfo(np.float64).eps)


class Noise(click.ParamType[Any]):
    """A variance, or "auto"."""

    name = "variance|auto"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        """What `phaselect.solve` takes."""
        return value if value == "auto" else click.FLOAT.convert(value, param, context)


@example(
    "phaselect generate --n 400 --alpha 1.25 --seed 0 --out inst.npz",
    "phaselect generate --ensemble toeplitz --n 400 --alpha 1.5 --parameter rho=0.5 --out correlated.npz",
    "phaselect generate --n 400 --alpha 0.9 --density 0.1 --out sparse.npz",
    "phaselect generate --n 200 --alpha 2.3 --field complex --out complex.npz",
)
@click.command()
@click.option("--n", type=int, required=True, help="Number of unknowns.")
@click.option("--alpha", type=float, required=True, help="Measurements per unknown; above 1, unless x0 is sparse.")
@click.option(
    "--ensemble", type=Names(lambda: KINDS), default="gaussian", show_default=True, help="Kind of the matrix."
)
@click.option("--parameter", multiple=True, metavar="NAME=NUMBER", help="Of that kind, as rho=0.5; may be repeated.")
@click.option("--field", type=Names(lambda: FIELDS), default="real", show_default=True, help="Of A and x0.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random numbers.")
@click.option("--signal-variance", type=float, default=1.0, show_default=True, help="|x0|^2 / n.")
@click.option("--density", type=float, default=1.0, show_default=True, help="Fraction of nonzero entries of x0.")
@click.option("--nonnegative", is_flag=True, help="Make x0 of magnitudes.")
@click.option(
    "--noise", type=float, default=0.0, show_default=True, help="Variance of the noise on the sensor's reading."
)
@click.option("--activation", default="abs", show_default=True, help="What the sensor reports: abs or square.")
@click.option("--out", type=click.Path(dir_okay=False), required=True, help="The .npz file to write.")
def generate(ensemble: str, parameter: tuple[str, ...], out: str, **options: Any) -> None:
    """Draw a random instance: A of some kind, Gaussian x0, y = |A x0|.

    Gaussian matrices, the default, come with a test set.
    """
    check_writable(out, ".npz")
    parameters: dict[str, Any] = dict(map(_parameter, parameter))
    check_parameters(ensemble, parameters)
    problem = phaselect.ensemble_instance(ensemble, **options, dense=True, **parameters)
    problem.save(out)
    hint = f"; solve it with --noise {options['noise']:g}" if options["noise"] else ""
    click.echo(f"wrote {out}: {problem}{hint}")


def _parameter(given: str) -> tuple[str, float]:
    """NAME=NUMBER, where whole numbers stay whole."""
    name, _, number = given.partition("=")
    try:
        value = float(number)
    except ValueError:
        raise InputError(f"--parameter {given}: give a name and a number, as rho=0.5") from None
    return name, int(value) if value.is_integer() else value


@example(
    "phaselect solve A.csv y.csv",
    "phaselect solve inst.npz --out result.npz",
    "phaselect solve data.mat --solver pa --time-limit 60",
    "phaselect solve A.csv y.csv --json",
    "phaselect solve noisy.npz --noise auto",
    "phaselect solve large.npz --device gpu",
    "phaselect solve sparse.npz --prior sparse",
    "phaselect solve A.npy photons.npy --counts",
    "phaselect solve A.csv y.csv --exact --solver lattice",
)
@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE [Y_FILE]")
@click.option(
    "--solver",
    type=Names(lambda: list(REGISTRY)),
    default="auto",
    show_default=True,
    help="auto tries message passing, a lattice where digits are enough for it, then population annealing.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random numbers.")
@click.option("--device", type=click.Choice(["gpu", "cpu"]), help="Put A there, as JAX arrays, and solve there.")
@click.option("--dtype", type=click.Choice(["float32", "float64"]), help="Precision of A there; float32 by default.")
@click.option(
    "--time-limit", type=float, help="Search for so many seconds, past where it would give up; then the best so far."
)
@click.option("--real", is_flag=True, help="x is real, though A is complex: then half as many measurements do.")
@click.option("--noise", type=Noise(), help="Variance of the noise on y, if any; auto to learn it.")
@click.option("--counts", is_flag=True, help="y holds numbers of photons: their noise is known.")
@click.option("--exact", is_flag=True, help="Take all digits of the numbers in two text files, fractions as 3/7 too.")
@click.option(
    "--rounding",
    type=float,
    help="Relative precision of rounded data: 1e-6 for six digits; if left out, texts tell it by their digits.",
)
@click.option(
    "--prior",
    default="gaussian",
    show_default=True,
    help="What is known of x: gaussian for nothing, sparse, sparse:0.1 for a density, nonnegative.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole result, trace included, as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors, and what --json asks for.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    help="Where x goes (.csv, .npy, .mat), or the whole result (.npz, .json); else x.csv (x_best.csv) beside FILE.",
)
@click.pass_context
def solve(
    context: click.Context,
    /,
    files: tuple[str, ...],
    exact: bool,
    rounding: float | None,
    as_json: bool,
    quiet: bool,
    out: str | None,
    **options: Any,
) -> None:
    """Recover x from the magnitudes y = |A x| in a file.

    FILE holds A and y by name (.npz, .mat, .h5); or give two files, A then y, each with one array (.csv, .tsv, .txt,
    .npy too). Texts may have a header, and commas, semicolons, tabs or spaces between numbers. A may be complex, in a
    text with numbers such as 1+2j: then so is x, and the signs are phases.

    x is written to x.csv beside FILE, unless that exists, or to --out; what is no answer, the best so far, to
    x_best.csv, which is replaced. With --json x is printed, and written only to --out.

    \b
    Exit code:
      0    recovered: certified if x is real, locally unique if complex;
           or estimated, from noisy data
      2    bad input
      3    fits, but is not shown to be the only x that does, or is shown
           not to be
      4    not recovered, or out of time; x_best.csv is written
      130  interrupted by Ctrl-C, 143 by SIGTERM; x_best.csv is written
    """
    from phaselect.problem.data_files import load_named

    if len(files) > 2:
        raise InputError("give one file that holds A and y (.npz, .mat, .h5), or two files: A and y")
    destination = _destination(files, out, as_json)
    with printed_warnings(quiet):
        problem, names = load_named(files[0], files[1] if len(files) == 2 else None, exact, rounding)
    result = _solve(problem, quiet=quiet, **options)
    if destination is not None:
        destination = destination if out is not None or _is_answer(result) else destination.with_name(BEST)
        result.save(destination, names)
    if as_json:
        click.echo(result.to_json())
    elif not quiet:
        told = rounding is None and not exact and any(Path(name).suffix.lower() in TEXTS for name in files)
        _report(result, destination, problem.rounding if told else 0.0)
    context.exit(code_of(result))


def _is_answer(result: Result) -> bool:
    """Is it more than the best so far?"""
    return code_of(result) < NOT_RECOVERED


def _destination(files: tuple[str, ...], out: str | None, as_json: bool) -> Path | None:
    """Where an answer goes; told before the work, not after, if it cannot."""
    if out is not None:
        check_writable(out, *ENDINGS)
        if Path(out).resolve() in [Path(name).resolve() for name in files]:
            raise InputError(f"--out {out} would overwrite the data: give another name")
        return Path(out)
    if as_json:
        return None
    path = Path(files[0]).parent / ANSWER
    if not all(Path(name).exists() for name in files):
        return path  # which is told next
    if path.exists():
        others = ", ".join(ending for ending in ENDINGS if ending != ".csv")
        raise InputError(f"{path} is there already: say where x is to go, as --out other.csv (or {others})")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"{ANSWER} cannot be written beside {files[0]}: say where x is to go, as --out FILE")
    if path.with_name(BEST).resolve() in [Path(name).resolve() for name in files]:
        raise InputError(f"{BEST} is where the best so far may go: name the data otherwise, or say --out FILE")
    return path


def _solve(
    problem: Instance,
    quiet: bool,
    real: bool,
    counts: bool,
    noise: Any,
    device: str | None,
    dtype: str | None,
    **options: Any,
) -> Result:
    if dtype is not None and device is None:
        raise InputError("--dtype goes with --device: it is the precision of A there")
    if real:
        problem = replace(problem, real=True)
    if counts:
        problem, noise = _with_counts(problem, noise), None
    options |= {"noise": noise, "device": device, "dtype": dtype or "float32"}
    with progress_bar(quiet=quiet) as bar, printed_warnings(quiet):
        return phaselect.solve(problem, progress=bar, **options)


def _with_counts(problem: Instance, noise: Any) -> Instance:
    """The instance whose y turned out to be numbers of photons."""
    from phaselect.solvers.solve import from_counts

    if noise is not None or problem.noise is not None:
        raise InputError("--counts says what the noise is: leave out --noise, and the array noise in the file")
    y, variance = from_counts(problem.y, None, None)
    return replace(problem, y=y, noise=variance)


def _report(result: Result, out: Path | None, rounding: float) -> None:
    """rounding: what texts tell of it by their digits."""
    lines = {
        "status": in_options(result.message),
        **_rival(result, out),
        "certified": _certified(result),
        "solver": result.solver,
        "mse_y": f"{result.mse_y:.3e}",
        **noise_facts(result),
        **({"rounding": f"{rounding:.1g}, from the digits in the files"} if rounding > FLOAT64 else {}),
        "seconds": f"{result.seconds:.2f}",
        **{name: f"{value:.6g}" for name, value in result.truth.items()},
        "wrote": f"{out}{'' if _is_answer(result) else ', the best so far'}",
    }
    for name, text in lines.items():
        click.echo(f"{name:10}{text}")


def _rival(result: Result, out: Path | None) -> dict[str, str]:
    """Another x that fits as well: it is in a file that holds the whole result."""
    if result.rival is None:
        return {}
    kept = out is not None and out.suffix.lower() in WHOLE
    return {"rival": f"in {out}" if kept else "found; --out result.npz writes it beside x"}


def _certified(result: Result) -> str:
    """What the certificate rests on; impostors are counted only among signs, and where none was found."""
    told = not np.isnan(result.log10_impostors) and result.rival is None
    counted = f" (log10 impostors {result.log10_impostors:.1f})" if told else ""
    return f"{result.certificate or 'no'}{counted}"
