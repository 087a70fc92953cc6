"""`phaselect image`: a photograph from its diffraction patterns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from phaselect.base.errors import InputError
from phaselect.base.style import SUFFIXES, save
from phaselect.cli.console import check_writable, example, in_options, printed_warnings
from phaselect.cli.exit_codes import code_of
from phaselect.cli.lazy import Names
from phaselect.cli.progress import progress_bar

if TYPE_CHECKING:
    from phaselect.experiments.photograph import Photographed


def _masks() -> tuple[str, ...]:
    from phaselect.problem.operators import MASKS

    return tuple(MASKS)


@example(
    "phaselect image photo.png --patterns 3 --out recovered.png",
    "phaselect image photo.jpg --real --patterns 2",
    "phaselect image photo.png --snr 30 --patterns 4",
    "phaselect image photo.png --photons 100",
    "phaselect image",
)
@click.command()
@click.argument("photo", required=False, type=click.Path())
@click.option("--patterns", type=int, help="How many; 3 by default, 2 with --real.")
@click.option("--real", is_flag=True, help="The light is real, and known to be: no phases.")
@click.option(
    "--masks",
    type=Names(_masks),
    default="phase",
    show_default=True,
    help="What the light goes through: random phases, eight values, open or shut.",
)
@click.option("--snr", type=float, help="Decibels of the magnitudes over their noise, if there is any.")
@click.option("--photons", type=float, help="Mean number per measurement, if photons are counted.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of masks, noise and solver.")
@click.option("--device", type=click.Choice(["gpu", "cpu"]), help="Solve it there, with JAX.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    default="recovered.png",
    show_default=True,
    help="The picture to write (.png).",
)
@click.option(
    "--panel", type=click.Path(dir_okay=False), help="Before and after in one figure; default: OUT_panel.png."
)
@click.pass_context
def image(context: click.Context, /, photo: str | None, out: str, panel: str | None, **options: Any) -> None:
    """Recover a photograph from its coded diffraction patterns, simulated.

    PHOTO is a PNG or JPEG file, taken in grey and at its full size; without one, a picture that comes with matplotlib
    is taken. Light as bright as the photograph, with the smooth phase of a curved wave front, goes through random
    masks; the magnitudes of its Fourier transforms are all that is kept, and the light is recovered from them, up to a
    global phase. Its magnitude is the picture that is written; with --real, the light itself.

    Exit code: that of phaselect solve: 0 recovered or estimated, 3 fits, but not shown to be unique, 4 not recovered, 2
    bad input, 130 interrupted by Ctrl-C, 143 by SIGTERM; but for 2 a picture is written all the same.
    """
    from phaselect.base.pictures import read_picture, sample_path, save_picture
    from phaselect.experiments.photograph import recover_photograph
    from phaselect.figures.picture_panel import draw

    source = Path(photo) if photo is not None else sample_path()
    check_writable(out, ".png")
    panel = panel if panel is not None else str(Path(out).with_name(f"{Path(out).stem}_panel.png"))
    check_writable(panel, *SUFFIXES)
    if len({path.resolve() for path in (source, Path(out), Path(panel))}) < 3:
        raise InputError("the photograph, --out and --panel must be three files: give other names")
    photograph = read_picture(source)
    with progress_bar() as bar, printed_warnings():
        taken = recover_photograph(photograph, progress=bar, **options)
    save_picture(out, taken.picture)
    save(draw(taken), panel)
    _report(source, taken)
    click.echo(f"wrote {out} and {panel}")
    context.exit(code_of(taken.result))


def _report(source: Path, taken: Photographed) -> None:
    rows, columns = taken.light.shape
    result, kind = taken.result, "complex" if np.iscomplexobj(taken.light) else "real"
    lines = {
        "photograph": f"{source.name}, {columns} x {rows} pixels, in grey",
        "patterns": f"{len(taken.patterns)} for {taken.light.size} {kind} unknowns",
        "status": f"{result.status.words}{': ' if result.reason else ''}{in_options(result.reason)}",
        "error": f"{taken.error:.2e}, relative, up to a global {'phase' if kind == 'complex' else 'sign'}",
        "solver": f"{result.solver}, {result.sweeps:.0f} iterations",
        "seconds": f"{result.seconds:.2f}",
    }
    for name, text in lines.items():
        click.echo(f"{name:12}{text}")
