"""`phaselect theory ...`: the replica theory on the command line, one table or figure per call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from phaselect.base.array_files import read_array
from phaselect.base.errors import InputError
from phaselect.base.ranges import number_range
from phaselect.base.style import SUFFIXES
from phaselect.base.tables import Table
from phaselect.cli.console import check_writable, emit, example
from phaselect.cli.progress import work_bar

MOST_POINTS = 10_000
START = click.Choice(["uninformed", "informed"])


@click.group()
def theory() -> None:
    """What the replica theory predicts, of a Gaussian A if not told otherwise.

    The signal has unit variance.
    """


def outputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """The three options that every table has."""
    command = click.option("--plot", type=click.Path(dir_okay=False), help="Draw it (.png, .pdf or .svg).")(command)
    command = click.option("--out", type=click.Path(dir_okay=False), help="Write the table to this .csv file.")(command)
    return click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")(command)


def _check_outputs(out: str | None, plot: str | None) -> None:
    check_writable(out, ".csv")
    check_writable(plot, *SUFFIXES)


def _warn_unconverged(converged: NDArray[np.bool_]) -> None:
    if not converged.all():
        click.echo(
            f"{int(np.sum(~converged))} of {converged.size} rows did not converge: their numbers are no answer",
            err=True,
        )


def _plot(figure: Callable[[], Any], path: str | None) -> None:
    from phaselect.base.style import save, style

    if path is not None:
        with style():
            save(figure(), path)
        click.echo(f"wrote {path}", err=True)


@example(
    "phaselect theory point --alpha 1.2 --mu 5",
    "phaselect theory point --alpha 1.2 --mu 100 --start informed --json",
    "phaselect theory point --alpha 1.7 --mu 2.5 --phi 0.1 --plot gaps.png",
)
@theory.command()
@click.option("--alpha", type=float, required=True, help="Measurements per unknown.")
@click.option("--mu", type=float, required=True, help="Inverse temperature of the signs.")
@click.option("--lam", type=float, default=0.0, show_default=True, help="L2 regulariser.")
@click.option("--phi", type=float, default=0.0, show_default=True, help="Chemical potential of right signs.")
@click.option("--start", type=START, default="uninformed", show_default=True, help="Where the search begins.")
@outputs
def point(
    alpha: float, mu: float, lam: float, phi: float, start: str, as_json: bool, out: str | None, plot: str | None
) -> None:
    """One saddle point: order parameters, free entropy, observables, stability; the figure shows its gaps."""
    from phaselect.figures.plots import draw_point
    from phaselect.theory import saddle_point

    _check_outputs(out, plot)
    found = saddle_point(alpha, mu, lam, phi=phi, start=start)
    record = found.to_dict()
    if out is not None:
        Table({name: np.array([value]) for name, value in record.items() if name != "message"}).save(out)
        click.echo(f"wrote {out}", err=True)
    if as_json:
        click.echo(json.dumps(record))
    elif out is None:
        for name, value in record.items():
            click.echo(f"{name:22}{value:.8g}" if isinstance(value, float) else f"{name:22}{value}")
    _warn_unconverged(np.array([found.converged]))
    _plot(lambda: draw_point(found), plot)


@example(
    "phaselect theory branch --alpha 1.2 --product 1",
    "phaselect theory branch --alpha 1.6 --lam 0 --mu0 1 --mu-max 50 --folds --plot s_curve.png",
)
@theory.command()
@click.option("--alpha", type=float, required=True, help="Measurements per unknown.")
@click.option("--lam", type=float, help="Anneal mu at this fixed regulariser.")
@click.option("--product", type=float, help="Anneal at this fixed mu*lam; 1, the matched prior, by default.")
@click.option("--mu0", type=float, default=0.5, show_default=True, help="First inverse temperature.")
@click.option("--mu-max", type=float, default=3e4, show_default=True, help="Last inverse temperature.")
@click.option("--eps", type=float, help="mu grows by a factor 1 + eps per row; 0.2 by default.")
@click.option("--start", type=START, help="Which branch; uninformed by default.")
@click.option(
    "--folds", is_flag=True, help="The curve with m > 0 through the informed point at mu-max, unstable part included."
)
@outputs
def branch(
    alpha: float,
    lam: float | None,
    product: float | None,
    mu0: float,
    mu_max: float,
    eps: float | None,
    start: str | None,
    folds: bool,
    as_json: bool,
    out: str | None,
    plot: str | None,
) -> None:
    """Saddle points along an infinitely slow anneal, with the column names of a solver's trace."""
    from phaselect.problem.schedule import Schedule
    from phaselect.theory import curve_through_folds, follow
    from phaselect.theory.control import check_positive

    _check_outputs(out, plot)
    if lam is not None and product is not None:
        raise InputError("give --lam or --product, not both")
    if folds and (eps is not None or start is not None):
        raise InputError("--folds sets its own steps and starts from the signal: leave out --eps and --start")
    if not 0 < mu0 < mu_max < np.inf:
        raise InputError(f"need 0 < mu0 < mu-max, got mu0 = {mu0:g}, mu-max = {mu_max:g}")
    eps = 0.2 if eps is None else eps
    if folds:
        rule: dict[str, float] = {"lam": lam} if lam is not None else {"product": 1.0 if product is None else product}
        table = curve_through_folds(alpha, mu_max, **rule, start="informed", mu_range=(mu0, mu_max))
    else:
        if lam is not None:
            schedule = Schedule.fixed_lambda(lam, mu0=mu0, mu_max=mu_max, eps=eps)
        else:
            steady = 1.0 if product is None else product
            check_positive("product", steady)
            schedule = Schedule.fixed_product(steady, mu0=mu0, mu_max=mu_max, eps=eps)
        table = follow(alpha, schedule, start=start or "uninformed")
    shown = ["mu", "lam", "m", "O", "mse_y", "free_entropy", "complexity", "replicon", "trusted"]
    shown += ["stable"] if folds else []
    emit(table.columns if out or as_json else {name: table[name] for name in shown}, out, as_json)
    _warn_unconverged(table["converged"])
    _plot(lambda: table.plot(), plot)


def matrices(command: Callable[..., Any]) -> Callable[..., Any]:
    """The two options that say which matrices."""
    command = click.option(
        "--field", type=click.Choice(["real", "complex"]), default="real", show_default=True, help="Of A and x."
    )(command)
    return click.option(
        "--spectrum",
        default="gaussian",
        show_default=True,
        metavar="NAME|FILE",
        help="Of A: gaussian, orthogonal (columns), or a .npy or .csv file of squared singular values.",
    )(command)


def _spectrum(given: str) -> str | NDArray[Any]:
    if given in ("gaussian", "orthogonal"):
        return given
    if not given.lower().endswith((".npy", ".csv")):
        raise InputError(
            f"--spectrum {given}: use gaussian, orthogonal, or a .npy or .csv file of squared singular values"
        )
    from phaselect.problem.matrix import numbers

    return numbers(read_array(given).ravel(), "--spectrum")


@example(
    "phaselect theory threshold --product 1",
    "phaselect theory threshold --product 0.5 --product 1 --product 2",
    "phaselect theory threshold --spectrum orthogonal --field complex",
    "phaselect theory threshold --prior sparse:0.2",
)
@theory.command()
@click.option(
    "--product", type=float, multiple=True, default=(1.0,), show_default=True, help="mu*lam; may be repeated."
)
@matrices
@click.option("--prior", default="gaussian", show_default=True, help="Of x: gaussian, sparse:0.2, nonnegative.")
@click.option("--tolerance", type=float, default=1e-5, show_default=True, help="Precision of alpha.")
@outputs
def threshold(
    product: tuple[float, ...],
    spectrum: str,
    field: str,
    prior: str,
    tolerance: float,
    as_json: bool,
    out: str | None,
    plot: str | None,
) -> None:
    """Smallest alpha at which an infinitely slow anneal at fixed mu*lam recovers the signal.

    Singular values keep their shape: those of A^T A / alpha are the same at every alpha.
    """
    from phaselect.figures.plots import draw_thresholds
    from phaselect.theory import critical_alpha
    from phaselect.theory.control import check_positive

    _check_outputs(out, plot)
    law, products = _spectrum(spectrum), sorted(product)
    for value in products:
        check_positive("product", value)
    alphas = []
    with work_bar("thresholds") as bar:
        for count, value in enumerate(products):
            bar.share(count / len(products))
            alphas.append(critical_alpha(value, spectrum=law, field=field, prior=prior, tolerance=tolerance))
    emit({"product": np.array(products), "critical_alpha": np.array(alphas)}, out, as_json)
    _plot(lambda: draw_thresholds(products, alphas, critical_alpha(spectrum=law, field=field, prior=prior)), plot)


@example(
    "phaselect theory diagram --lam 0.005", "phaselect theory diagram --lam 0 --alphas 1.1:1.7:0.1 --plot diagram.png"
)
@theory.command()
@click.option("--lam", type=float, default=0.0, show_default=True, help="L2 regulariser.")
@click.option("--alphas", default="1.1:1.7:0.05", show_default=True, help="FIRST:LAST:STEP, or a list A,B,C.")
@outputs
def diagram(lam: float, alphas: str, as_json: bool, out: str | None, plot: str | None) -> None:
    """Where informed and uninformed branches coexist at fixed lam: spinodals, first-order line, thresholds.

    Columns: mu_spinodal, the informed branch is born; mu_first_order, equal free entropy; mu_uninformed_end, an anneal
    would jump (inf: never). nan: no such point. alpha_recovery: from here an anneal at this lam reaches m > 0.9 (inf:
    nowhere); alpha_merge: from here there is one branch at every mu (nan: there always is).
    """
    from phaselect.figures.plots import draw_diagram
    from phaselect.theory import phase_diagram

    _check_outputs(out, plot)
    grid = number_range(alphas, "--alphas")
    with work_bar("phase diagram") as bar:
        found = phase_diagram(grid, lam, progress=bar.share)
    thresholds = {"alpha_recovery": found.alpha_recovery, "alpha_merge": found.alpha_merge}
    everywhere = {name: np.full(len(grid), value) for name, value in thresholds.items()}
    emit(found.lines.columns | everywhere if out or as_json else found.lines.columns, out, as_json)
    for name, value in thresholds.items():
        click.echo(f"{name:15}{value:.5g}", err=True)
    _warn_unconverged(found.lines["converged"])
    _plot(lambda: draw_diagram(found), plot)


@example("phaselect theory complexity --alpha 1.7 --sign-overlap 0.4 --plot complexity.png")
@theory.command()
@click.option("--alpha", type=float, default=1.7, show_default=True, help="Measurements per unknown.")
@click.option("--sign-overlap", type=float, required=True, help="Overlap O of the signs with the truth, in (-1, 1).")
@click.option("--lam", type=float, default=0.0, show_default=True, help="L2 regulariser.")
@click.option("--mu0", type=float, default=0.01, show_default=True, help="First inverse temperature.")
@click.option("--mu-max", type=float, default=300.0, show_default=True, help="Last inverse temperature.")
@click.option("--points", type=int, default=40, show_default=True, help="How many.")
@outputs
def complexity(
    alpha: float,
    sign_overlap: float,
    lam: float,
    mu0: float,
    mu_max: float,
    points: int,
    as_json: bool,
    out: str | None,
    plot: str | None,
) -> None:
    """How many sign vectors have a given overlap and misfit: complexity against mse_y and m at fixed overlap."""
    from phaselect.figures.plots import draw_complexity
    from phaselect.theory import complexity_curve

    _check_outputs(out, plot)
    if not (0 < mu0 < mu_max < np.inf) or not 2 <= points <= MOST_POINTS:
        raise InputError(f"need 0 < mu0 < mu-max and 2 to {MOST_POINTS} points")
    table = complexity_curve(alpha, np.geomspace(mu0, mu_max, points).tolist(), lam, sign_overlap=sign_overlap)
    shown = ("mu", "phi", "complexity", "mse_y", "m", "replicon", "trusted")
    emit(table.columns if out or as_json else {name: table[name] for name in shown}, out, as_json)
    _warn_unconverged(table["converged"])
    _plot(lambda: draw_complexity(table), plot)


@example("phaselect theory bayes --alpha 1.1", "phaselect theory bayes --alpha 0.7 --alpha 1.1 --plot mmse.png")
@theory.command()
@click.option("--alpha", type=float, multiple=True, required=True, help="Measurements per unknown; may be repeated.")
@matrices
@outputs
def bayes(
    alpha: tuple[float, ...], spectrum: str, field: str, as_json: bool, out: str | None, plot: str | None
) -> None:
    """Mean squared error of Bayes-optimal inference: by message passing, and by the best estimator there is.

    Columns: mse_x, reached by message passing; mse_x_informed, by any means; free_entropy, E log p(y|A) per unknown
    (inf: x is determined); phase: easy (the first error is 0), hard (only the second is), impossible.
    """
    from phaselect.figures.plots import draw_bayes
    from phaselect.theory import bayes_optimal

    _check_outputs(out, plot)
    law = _spectrum(spectrum)
    results = [bayes_optimal(value, spectrum=law, field=field) for value in sorted(alpha)]
    names = ("alpha", "mse_x", "mse_x_informed", "free_entropy", "phase")
    emit({name: np.array([getattr(result, name) for result in results]) for name in names}, out, as_json)
    _plot(lambda: draw_bayes(results, law, field), plot)


@example(
    "phaselect theory clusters --alpha 1.5",
    "phaselect theory clusters --alpha 1.3 --alpha 1.5 --plot trap.png",
    "phaselect theory clusters --alpha 1.2 --product 1",
)
@theory.command()
@click.option("--alpha", type=float, multiple=True, required=True, help="Measurements per unknown; may be repeated.")
@click.option("--lam", type=float, help="L2 regulariser; 0 if neither it nor a product is given.")
@click.option("--product", type=float, help="Keep mu*lam fixed at this instead.")
@outputs
def clusters(
    alpha: tuple[float, ...], lam: float | None, product: float | None, as_json: bool, out: str | None, plot: str | None
) -> None:
    """One step of replica symmetry breaking: where sign vectors gather in clusters, and how well the best of them fit.

    Without overlap: mu_leave, an overlap with the signal begins to grow (inf: never); mu_dynamical, clusters form;
    mu_static, few of them dominate; mse_y_dynamical, the misfit where they form; mse_y_ground, that of the best (nan:
    there are none, or, where not converged, not found). On the way of an infinitely slow anneal to the signal:
    mu_followed, clusters form (inf: never), m_followed, the overlap there or the last one, growth_followed, the largest
    growth of clusters (1: they form).
    """
    from phaselect.figures.plots import draw_traps
    from phaselect.theory import traps

    _check_outputs(out, plot)
    with work_bar("traps") as bar:
        table = traps(sorted(alpha), lam, product=product, progress=bar.share)
    emit(table.columns, out, as_json)
    _warn_unconverged(table["converged"])
    _plot(lambda: draw_traps(table), plot)
