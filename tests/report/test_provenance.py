"""A table says which sources computed it, and whether they can be had again."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from phaselect.base.tables import load_table
from phaselect.cli.main import main
from phaselect.figures import gallery
from phaselect.figures.gallery import FIGURES, Studio, figure_module, uncommitted, with_caution

TABLES = Path(__file__).parents[2] / "docs" / "tables"


def test_committed_tables_are_of_committed_sources():
    tables = {name: load_table(TABLES / f"{name}.csv") for name in FIGURES}
    assert all(table.provenance["revision"] for table in tables.values())
    assert [name for name, table in tables.items() if uncommitted(table.provenance)] == []


@pytest.mark.parametrize(
    ("provenance", "caution"),
    [
        ({"revision": "a1"}, None),
        ({"revision": ""}, None),  # an installed package: its version says it all
        ({"revision": "a1", "revisions of the runs": "b2"}, None),
        ({"revision": "a1-dirty"}, "computed by uncommitted sources"),
        ({"revision": "a1", "revisions of the runs": "b2-dirty"}, "computed by uncommitted sources"),
        ({"revision": "a1", "revisions of the runs": "b2 c3"}, "its runs are of 2 revisions"),
        (
            {"revision": "a1-dirty", "revisions of the runs": "b2 c3"},
            "computed by uncommitted sources; its runs are of 2 revisions",
        ),
    ],
)
def test_caution(provenance, caution):
    assert with_caution(provenance).get("caution") == caution


def test_runs_that_were_traced_to_a_commit_are_of_that_commit(monkeypatch):
    """Sources that ran where there was no git, or that were committed later, are no others for it."""
    names = {"tree-0a": "b2", "tree-0a-dirty": "b2"}
    monkeypatch.setattr(gallery, "committed", lambda revision: names.get(revision, revision))
    of_one = {"revision": "b2", "revisions of the runs": "b2 tree-0a tree-0a-dirty"}
    assert with_caution(of_one) == {"revision": "b2", "revisions of the runs": "b2"}


@pytest.fixture
def cheap(monkeypatch):
    columns = {"product": np.array([0.5, 1.0]), "alpha": np.array([1.2, 1.1]), "alpha_bayes": np.array([1.1, 1.1])}
    monkeypatch.setattr(figure_module("critical_product"), "compute", lambda context: columns)


@pytest.mark.usefixtures("cheap")
def test_sources_that_were_committed_since_are_no_reason_for_caution(tmp_path, monkeypatch):
    """The cache is by the content of the sources: their commit, once there, is what computed the table."""
    monkeypatch.setattr(gallery, "git_revision", lambda: "a1-dirty")
    assert "caution" in Studio(cache=tmp_path).table("critical_product").provenance
    monkeypatch.setattr(gallery, "git_revision", lambda: "b2")
    again = Studio(cache=tmp_path).table("critical_product").provenance
    assert again["revision"] == "b2"
    assert "caution" not in again


@pytest.mark.usefixtures("cheap")
@pytest.mark.parametrize(("revision", "said"), [("a1", ""), ("a1-dirty", "computed by uncommitted sources")])
def test_the_command_warns_in_one_line(tmp_path, monkeypatch, revision, said):
    monkeypatch.setenv("PHASELECT_CACHE", str(tmp_path))
    monkeypatch.setattr(gallery, "git_revision", lambda: revision)
    table = tmp_path / "table.csv"
    done = CliRunner().invoke(
        main, ["figure", "critical_product", "--out", str(tmp_path / "x.svg"), "--table", str(table)]
    )
    assert done.exit_code == 0
    assert done.stderr == (f"phaselect: critical_product: {said}\n" if said else "")
    assert load_table(table).provenance.get("caution", "") == said
