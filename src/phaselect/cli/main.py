"""`phaselect`: the list of its commands; one file per group of them, and every command is one call of one function."""

import click

import phaselect
from phaselect.cli.lazy import Entry, LazyGroup

COMMANDS = {
    "generate": Entry("phaselect.cli.solve", "Draw a random instance: A of some kind, Gaussian x0, y = |A x0|."),
    "solve": Entry("phaselect.cli.solve", "Recover x from the magnitudes y = |A x| in a file."),
    "image": Entry("phaselect.cli.image", "Recover a photograph from its coded diffraction patterns, simulated."),
    "demo": Entry("phaselect.cli.demo", "Run four solvers on one instance; print a table, draw the anneals."),
    "theory": Entry("phaselect.cli.theory", "What the replica theory predicts, of a Gaussian A if not told otherwise."),
    "explore": Entry(
        "phaselect.cli.explore", "Write and open a page to explore: theory under sliders, an anneal in the browser."
    ),
    "sweep": Entry("phaselect.cli.sweeps", "Run solvers on many random instances, one row per run in a store."),
    "success": Entry("phaselect.cli.sweeps", "The alpha at which half of the instances in a store are recovered."),
    "export": Entry("phaselect.cli.sweeps", "Write the rows of a store to a table, also while a sweep runs."),
    "merge": Entry("phaselect.cli.sweeps", "Add the runs of other stores to STORE; each run is kept once."),
    "figure": Entry("phaselect.cli.figures", "Compute and draw a figure."),
    "report": Entry("phaselect.cli.figures", "Build one page with all figures and the verdict on each claim."),
    "doctor": Entry("phaselect.cli.doctor", "Print versions, devices, BLAS, threads and caches, for a bug report."),
}
"""In the order of a first visit; each with the first sentence of its own help, known here without loading it."""

COMPLETION = """\b
The shell completes commands, options and file names after one of
  eval "$(_PHASELECT_COMPLETE=bash_source phaselect)"    in ~/.bashrc
  eval "$(_PHASELECT_COMPLETE=zsh_source phaselect)"     in ~/.zshrc
  _PHASELECT_COMPLETE=fish_source phaselect | source     in ~/.config/fish/config.fish"""


@click.group(
    cls=LazyGroup,
    entries=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=COMPLETION,
)
@click.version_option(phaselect.__version__, prog_name="phaselect")
def main() -> None:
    """Phase retrieval: find x from the magnitudes y = |A x|."""
