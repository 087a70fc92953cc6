"""The explorer's page, assembled into one file: style, theory, solvers, pictures, and the table of thresholds."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import phaselect
from phaselect.base.files import atomic_write
from phaselect.explorer.recovery import recovery_table

ENGINE = (
    "quadrature.js",
    "small_matrices.js",
    "saddle.js",
    "diagram.js",
    "trust.js",
    "schedule.js",
    "instance.js",
    "spectrum.js",
    "metropolis.js",
    "message_passing.js",
    "anneal.js",
)
"""What computes, in the page and in its workers."""
VIEW = ("settings.js", "stories.js", "python_code.js", "chart.js", "panels.js", "app.js")
"""What shows, in the page alone; a file uses what files before it define."""


def write_page(path: str | Path) -> None:
    """Write the page, whole or not at all."""
    with atomic_write(path) as stream:
        stream.write(page().encode())


def page() -> str:
    """The whole page: it asks for no other file and no network."""
    return Template(_text("page.html")).substitute(
        version=phaselect.__version__,
        style=_text("style.css"),
        recovery=json.dumps(_thresholds()),
        engine="\n".join(map(_text, ENGINE)),
        worker=_text("worker.js"),
        view="\n".join(map(_text, VIEW)),
    )


def _thresholds() -> dict[str, Any]:
    """The table as the page reads it: by what is kept fixed, the values and the alphas."""
    table = recovery_table()
    return {
        part["kept"][0].item(): {"value": part["value"].tolist(), "alpha": part["alpha"].tolist()}
        for part in table.by("kept")
    }


def _text(name: str) -> str:
    return files("phaselect.explorer").joinpath(name).read_text(encoding="utf-8")
