"""Why an instance is slow: what is compared."""

import sys

import numpy as np
import pytest

from benchmarks import slow_instance
from phaselect.base.tables import Table


def test_half_precision_leaves_eleven_digits():
    A = (np.random.default_rng(0).standard_normal((700, 30)) / 1000).astype(np.float32)
    halved = A.copy()
    slow_instance.halve(halved)
    error = abs(halved / A - 1)
    assert 2.0**-13 < np.median(error) < error.max() < 2.0**-10
    assert halved.dtype == np.float32


def test_where_a_run_arrives():
    trace = Table({"sweeps": np.array([0, 20, 40]), "m": np.array([0.1, 0.5, 0.995])})
    assert slow_instance.arrival(trace) == "40 iterations"
    assert slow_instance.arrival(trace.take(np.arange(2))) == "m = 0.50 after 20 iterations"


def test_each_run_has_a_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["slow_instance", "--n", "500", "--alpha", "1.3"])
    slow_instance.main()
    lines = capsys.readouterr().out.splitlines()
    found = {words: float(text.removesuffix(" iterations")) for words, text in (line.split(": ") for line in lines)}
    assert len(found) == 5
    assert found["all digits"] == pytest.approx(found["state evolution, damping 0.3"], abs=15)
