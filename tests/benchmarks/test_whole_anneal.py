"""A benchmark that stands alone: older revisions are timed by it."""

import ast
from pathlib import Path

import pytest

import phaselect
from benchmarks import whole_anneal


def test_it_times_what_is_asked_for(monkeypatch, capsys):
    monkeypatch.setattr(whole_anneal, "N", 12)
    whole_anneal.main(["--copies", "2,4"])
    assert [line.split(": ")[0] for line in capsys.readouterr().out.splitlines()] == [
        "N = 12, alpha = 1.12, 2 copies",
        "N = 12, alpha = 1.12, 4 copies",
    ]
    for wrong in ("x", "0"):
        with pytest.raises(SystemExit):
            whole_anneal.main(["--copies", wrong])
        assert len(capsys.readouterr().err.splitlines()) == 2


def test_it_uses_what_is_public_alone():
    tree = ast.parse(Path(whole_anneal.__file__).read_text())
    named = {node.module: [it.name for it in node.names] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert set(named) == {"__future__", "phaselect"}
    assert set(named["phaselect"]) <= set(phaselect.__all__)
