"""What the tables of coded diffraction rest on."""

import numpy as np
import pytest
from benchmarks.coded import coded
from benchmarks.rows import Measurement, Report, Row

from benchmarks import deepinv_descent, diffraction, diffraction_rows, page
from phaselect import InputError, operators, solve
from tests.benchmarks.conftest import MACHINE


@pytest.mark.parametrize("per_unknown", [3.0, 2.5])
def test_all_contenders_get_the_same_measurements(per_unknown):
    case = coded(8, per_unknown, seed=1)
    assert case.complete == (per_unknown == 3)
    assert case.y.size == case.problem.m_rows == round(64 * per_unknown)
    whole = operators.coded_diffraction((8, 8), 3, seed=1)
    np.testing.assert_allclose(case.y, np.abs(whole @ case.x0)[case.kept])
    assert case.error(1j * case.x0) < 1e-15
    assert case.error(1.1 * case.x0) == pytest.approx(0.1)
    assert not np.iscomplexobj(coded(8, 2, seed=1, real=True).x0)


@pytest.mark.parametrize("per_unknown", [6.0, 5.5])
def test_deepinv_has_our_operator(per_unknown):
    torch = pytest.importorskip("torch")
    cases = [coded(8, per_unknown, seed) for seed in range(2)]
    own = deepinv_descent.Operator(torch, cases)
    z = own.forward(torch.tensor(np.stack([case.x0.reshape(1, 8, 8) for case in cases]).astype(np.complex64)))
    expected = np.stack([case.problem.measure(case.x0) for case in cases]) / np.sqrt(per_unknown)
    np.testing.assert_allclose(z.numpy(), expected, rtol=1e-4, atol=1e-4)
    x, w = torch.randn(2, 1, 8, 8, dtype=z.dtype), torch.randn(z.shape, dtype=z.dtype)
    there, back = torch.vdot(own.forward(x).flatten(), w.flatten()), torch.vdot(x.flatten(), own.adjoint(w).flatten())
    assert complex(there) == pytest.approx(complex(back), rel=1e-4)
    pytest.importorskip("deepinv")
    assert max(deepinv_descent.deepinv_errors(cases, 1e-5)) < 1e-5


def test_without_deepinv_its_rows_say_so(monkeypatch):
    def no_such_module(name):
        raise ImportError(name)

    monkeypatch.setattr(deepinv_descent, "import_module", no_such_module)
    with pytest.raises(InputError, match="pip install deepinv"):
        diffraction_rows.recovered("deepinv", 6.0, {})


def test_a_solution_in_parts():
    found = diffraction_rows.over_transforms(8)
    assert 0 < found.reference < found.value
    assert "batches" in found.detail
    assert diffraction_rows.target(8, 4, False, instances=2).value == 2
    peaks = {}
    first, second = (diffraction_rows.memory(8, stage, peaks) for stage in diffraction_rows.STAGES)
    assert 1 < first.value <= second.value


def test_fewer_measurements_are_not_tried_in_vain():
    with pytest.raises(InputError, match="from more"):
        diffraction_rows.recovered("wf", 2.2, {3.0: 4, 2.7: 0})


def test_the_limit_is_for_what_is_close_enough():
    names = diffraction_rows.DIGITS
    for error, limits in ((1e-3, [None, 0.15, None]), (1e-5, [0.15, None, None])):
        errors, seconds = (error, 1e-7, 1e-15), (0.1, 0.2, 0.3)
        found = dict(zip(names, map(diffraction_rows.Found, errors, seconds), strict=True))
        rows = [diffraction_rows.of_run(None, 1024, name, [diffraction_rows.Run(found, "how")]) for name in names]
        assert [row.limit for row in rows] == limits
        assert [row.value for row in rows] == [0.1, 0.2, 0.3]


def test_the_fewest_is_where_a_success_without_gaps_begins():
    assert diffraction.fewest({"2": None, "2.5": 19, "3": 18, "4": 19, "6": 20}) == "4"
    assert diffraction.fewest({"2": 20, "3": 20}) == "2"
    assert diffraction.fewest({"2": 20, "3": 18}) == "-"


def test_the_page_keeps_machines_apart(monkeypatch, tmp_path):
    (tmp_path / "bench").mkdir()
    ours, missing = Measurement(2.0, "s", "relative error 1e-15", 2.0), Measurement(None, "", "not installed")
    rows = [
        Row("patterns", "phaselect.solve", "2.3", Measurement(20, "of 20")),
        Row("patterns", "wf", "2.3", Measurement(3, "of 20")),
        Row("patterns", "deepinv", "2.3", missing),
        Row("time", "phaselect.solve", "4", ours),
        Row("time", "wf", "4", ours._replace(value=6.0)),
        Row("time", "deepinv", "4", missing),
    ]
    monkeypatch.setattr(page, "DOCS", tmp_path)
    monkeypatch.setattr(diffraction, "CONTENDERS", ("phaselect.solve", "wf", "deepinv"))
    (tmp_path / "complex.md").write_text("\n".join(page.marks()))
    Report("cpu", False, MACHINE, rows).save(tmp_path / "bench" / "diffraction-cpu.json")
    large = Row("device", "all digits", "512 x 512", Measurement(0.1, "s", "how"))
    Report("gpu", False, MACHINE | {"gpu": "H200"}, [large]).save(tmp_path / "bench" / "diffraction-gpu.json")
    text = "\n".join(diffraction.measured_part(tmp_path / "bench"))
    assert "| phaselect.solve | 20 | 2.3 | 2 s (relative error 1e-15) |" in text
    assert "| wf | 3 | - | 6 s, 3 times ours (relative error 1e-15) |" in text
    assert "deepinv was not installed." in text
    assert "`python -m benchmarks.diffraction --device gpu` on An Abacus" in text
    assert text.index("### An Abacus") < text.index("### H200") < text.index("| all digits | 512 x 512 | 0.1 s |")


def test_the_published_page_is_what_the_reports_say():
    text = (page.DOCS / "complex.md").read_text()
    assert page.replaced(text, diffraction.measured_part(page.DOCS / "bench")) == text


def test_what_cannot_be_published_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(diffraction, "device", None)  # nothing is measured, should it not be refused
    assert diffraction.main(["--device", "cpu", "--write"]) == 2
    assert diffraction.main(["--device", "cpu", "--sides", "big"]) == 2
    refused = capsys.readouterr().err.splitlines()
    assert "leave out --device" in refused[0]
    assert "--sides big" in refused[1]


def test_refinement_needs_little_memory():
    """At this size Python's own objects are a part of it."""
    solve(coded(16, 3, 0).problem)  # compiled
    assert diffraction_rows.memory(96, diffraction_rows.STAGES[1], {}).value < 7.5


def test_a_section_measured_anew_leaves_the_others():
    old, new = (Row("cost", "solution", "8 x 8", Measurement(value, "s")) for value in (2.0, 1.0))
    other = Row("targets", "complex", "8 x 8", Measurement(20, "of 20"))
    machine = {"versions": {"phaselect": "0.2.0 abc"}}
    found = diffraction.with_section(Report("cpu", False, MACHINE, [old, other]), Report("cpu", False, machine, [new]))
    assert found.machine == MACHINE
    assert found.rows[0] == other
    assert (found.rows[1].found.value, found.rows[1].found.detail) == (1.0, "; package at revision abc")
