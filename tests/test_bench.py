"""`phaselect bench`: what its rows hold, that it survives what is missing, and the page that is made of it."""

import importlib.util
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from phaselect import InputError, ReweightedAmplitudeFlow, Status, gaussian_instance
from phaselect.bench import bandwidth, growth, kernels, on_cpu, plan, rivals, run, solutions
from phaselect.bench.cluster import ETHERNET, INFINIBAND, NVLINK, Cluster, bytes_of_A
from phaselect.bench.instances import Couplings
from phaselect.bench.rivals import Outcome
from phaselect.bench.rows import SECTIONS, Measurement, Report, Row, Task, load_report, measured
from phaselect.bench.target import Footprint
from phaselect.bench.timing import best_seconds, in_turn
from phaselect.cli.main import main
from phaselect.problem.spectrum import spectrum

ROOT = Path(__file__).parent.parent
TINY = plan.Plan(
    kernels=(40,),
    iterations=(100,),
    batches=((30, 3),),
    precisions=("float32",),
    solutions=(40,),
    alphas=(2.0,),
    rivals_up_to=40,
    instances=2,
    time_limit=60.0,
    growth=(50, 100, 200),
)
ROW = Row("kernels", "a kernel", "N = 200", 3.0, "million/s", 2.0, 9.0, "how")
MACHINE = {
    "processor": "An Abacus",
    "cores": 2,
    "memory_bytes": 8 * 10**9,
    "gpu": None,
    "gpu_memory_bytes": None,
    "versions": {"python": "3.11", "jax": None},
}


def no_such_module(name):
    raise ImportError(name)


@pytest.fixture
def tiny(monkeypatch):
    """A bench of a few seconds: memory of a process is measured in a test of its own."""
    monkeypatch.setitem(plan.PLANS, ("cpu", True), TINY)
    monkeypatch.setattr(on_cpu, "PROPOSALS", 20_000)
    monkeypatch.setattr(on_cpu, "BANDWIDTH_BYTES", 8 << 20)
    monkeypatch.setattr(
        on_cpu.OnCPU, "footprint", lambda self, n, alpha, seeds: Footprint(1e-6 * n**2, 8.0 * n**2, 9, 3)
    )
    monkeypatch.setattr(bandwidth, "PAUSE", 0.0)
    on_cpu._movers.cache_clear()
    yield
    on_cpu._movers.cache_clear()


def command(*arguments):
    return CliRunner().invoke(main, ["bench", *map(str, arguments)])


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_prints_and_writes_whole_rows(tiny, tmp_path, section):
    path = tmp_path / "report.json"
    done = command("--quick", "--only", section, "--json", path)
    assert done.exit_code == 0, done.output
    record = json.loads(path.read_text())
    assert set(record) == {"device", "quick", "machine", "rows"}
    assert set(record["machine"]) == set(MACHINE)
    assert {row["section"] for row in record["rows"]} == {section} | ({"model"} if section == "growth" else set())
    for row in record["rows"]:
        assert set(row) == set(Row._fields)
        assert all(isinstance(row[name], str) for name in ("what", "size", "unit", "detail"))
        assert all(row[name] is None or row[name] > 0 for name in ("value", "reference", "bound"))
        assert row["value"] is not None or "certified" in row["detail"] or "pip install" in row["detail"], row
    head, *printed = done.stdout.splitlines()
    assert head.split() == ["what", "size", "value", "reference", "bound", "how"]
    assert len(printed) == len(record["rows"])
    for line, row in zip(printed, record["rows"], strict=True):
        assert line.startswith(row["what"])
        assert line[head.find("size") :].startswith(row["size"])
        assert line[head.find("reference") - 2 :].startswith("  ")
        assert row["detail"] in line


def test_solutions_are_those_of_easy_instances(tiny):
    rows = {row.what: row for row in run.bench("cpu", True, ["solutions"]).rows(lambda done, task: None)}
    ours = rows["phaselect.solve"]
    assert ours.detail == "2 of 2 certified"
    assert ours.bound < ours.value < TINY.time_limit
    assert "0 of" not in rows["reweighted amplitude flow"].detail


def test_a_report_survives_its_file(tmp_path):
    report = Report(
        "cpu", True, MACHINE, [ROW, ROW._replace(value=None, reference=None, detail="naïve | not measured")]
    )
    report.save(tmp_path / "report.json")
    assert load_report(tmp_path / "report.json") == report
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rows": [{"what": 1}]}', '{"rows": []}', '{"rows": 3}'])
def test_what_is_no_report_is_said_in_one_line(tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(InputError, match="not a report"):
        load_report(tmp_path / "bad.json")
    with pytest.raises(InputError, match="no such file"):
        load_report(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "dance"], "use some of kernels,amp,solutions,growth"),
        (["--only", ""], "use some of"),
        (["--json", "never.txt"], "name the file .json"),
        (["--json", "no/such/folder/never.json"], "cannot write"),
        (["--device", "tpu"], "Invalid value"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message):
    done = command(*arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr


def test_nothing_is_not_enough():
    with pytest.raises(InputError, match="use some of"):
        run.bench("cpu", True, [])


def test_without_a_gpu_it_says_so_in_one_line():
    jax = pytest.importorskip("jax")
    if jax.default_backend() == "gpu":
        pytest.skip("there is a GPU")
    done = command("--device", "gpu")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "no GPU" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_command_does_not_import_jax():
    code = "import sys, phaselect.cli.bench, phaselect.bench.run; print('jax' in sys.modules, 'dimod' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_measurement_that_fails_is_a_row_and_the_others_go_on(tiny, monkeypatch, tmp_path):
    def broken(target, plan):
        return [
            Task("kernels", "broken", "", lambda: Measurement(1 / 0, "s")),
            Task("kernels", "whole", "", lambda: Measurement(float("nan"), "s", "fine")),
        ]

    monkeypatch.setitem(run.TASKS, "kernels", broken)
    done = command("--quick", "--only", "kernels", "--json", tmp_path / "report.json")
    assert done.exit_code == 1
    first, second = load_report(tmp_path / "report.json").rows
    assert first.detail == "failed: division by zero"
    assert (second.value, second.detail) == (None, "fine")


def test_ctrl_c_ends_the_bench():
    def press():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(Task("kernels", "", "", press))
    result = ReweightedAmplitudeFlow().run(gaussian_instance(30, 2.0, seed=0))
    assert rivals.outcome(result, 1.0).seconds == 1.0
    with pytest.raises(KeyboardInterrupt):  # solvers swallow it and return the best so far
        rivals.outcome(replace(result, status=Status.INTERRUPTED), 1.0)


def test_without_dwave_the_rows_say_how_to_get_it(tiny, monkeypatch):
    monkeypatch.setattr(rivals, "import_module", no_such_module)
    row = measured(kernels.tasks(on_cpu.OnCPU(), TINY)[0])
    assert row.value > 0
    assert row.reference is None
    assert "pip install 'phaselect[bench]'" in row.detail
    rows = {task.what: measured(task) for task in solutions.tasks(on_cpu.OnCPU(), TINY)}
    assert rows["dwave-samplers annealing"].value is None
    assert "pip install 'phaselect[bench]'" in rows["dwave-samplers annealing"].detail
    assert rows["phaselect.solve"].value > 0


def test_dwave_sees_the_energy_of_the_signs():
    pytest.importorskip("dwave.samplers")
    problem = gaussian_instance(20, 1.5, seed=0)
    spectral, y = spectrum(problem), problem.target.astype(np.float32)
    model = rivals.dwave().model(Couplings(spectral.couplings(0.1), y))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (2, 30))
    ours = spectral.energy(spectral.coordinates(signs * problem.target), 0.1)
    theirs = [model.energy(dict(enumerate(one))) for one in signs]
    assert theirs[1] - theirs[0] == pytest.approx(ours[1] - ours[0], rel=1e-4)


def test_dwave_solves_the_same_problem(tiny):
    pytest.importorskip("dwave.samplers")
    assert rivals.dwave_solve(gaussian_instance(40, 2.0, seed=0), 5.0).certified
    row = measured(kernels.tasks(on_cpu.OnCPU(), TINY)[0])
    assert 0.1 < row.reference < 1e3
    assert row.detail.startswith(f"{row.value / row.reference:.3g} times")


def test_the_best_rival_is_the_one_that_solved_most():
    quick, slow, failed = Outcome(True, 1.0), Outcome(True, 3.0), Outcome(False, 9.0)
    assert solutions.fastest({"a": [quick, failed], "b": [slow, slow]}) == 3.0
    assert solutions.fastest({"a": [slow, slow], "b": [quick, quick]}) == 1.0
    assert solutions.fastest({"a": [failed]}) is None
    assert solutions.summary([quick, slow, failed]) == Measurement(
        2.0, "s", "2 of 3 certified, otherwise stopped after 9 s"
    )
    assert solutions.summary([failed]).value is None
    assert solutions.summary([failed, Outcome(False, 9.0, diverged=True)]).detail.endswith("after 9 s, 1 diverged")


def test_functions_are_timed_in_turn():
    calls = []
    fast, slow = in_turn(lambda: calls.append("a"), lambda: (calls.append("b"), time.sleep(0.002)), repeat=3)
    assert "".join(calls) == "ab" * 4  # once to warm up
    assert fast < 0.002 <= slow


def test_exponents_of_power_laws():
    sizes = [100, 200, 400, 800]
    law = growth.fitted(sizes, [3e-6 * n**1.75 for n in sizes])
    assert law.exponent == pytest.approx(1.75)
    assert law.standard_error == pytest.approx(0, abs=1e-12)
    rng = np.random.default_rng(0)
    noisy = [growth.fitted(sizes, [n**2 * np.exp(0.1 * rng.standard_normal()) for n in sizes]) for _ in range(2000)]
    assert np.mean([one.exponent for one in noisy]) == pytest.approx(2, abs=0.01)
    spread = np.std([one.exponent for one in noisy])
    assert np.sqrt(np.mean([one.standard_error**2 for one in noisy])) == pytest.approx(spread, rel=0.05)
    with pytest.raises(InputError, match="three sizes"):
        growth.fitted([1, 2], [1.0, 2.0])


def test_exponents_are_those_of_the_points(tiny):
    rows = {row.what: row for row in map(measured, growth.tasks(on_cpu.OnCPU(), TINY))}
    assert rows["exponent of time"].value == pytest.approx(2)
    assert rows["exponent of memory"].value == pytest.approx(2)
    assert "N = 50 to 200" in rows["exponent of time"].size


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_limits_of_the_model(device):
    cluster = Cluster(device, bandwidth=4e12, memory=139e9)
    n, alpha = 100_000, 1.3
    one = bytes_of_A(n, alpha) / 4e12
    assert bytes_of_A(n, alpha) == pytest.approx(4 * 1.3e10)
    assert cluster.iteration_seconds(n, alpha, 1) == pytest.approx(one)
    for devices in (2, 8, 64):
        link = cluster.link(devices)
        shared = cluster.iteration_seconds(n, alpha, devices) - one / devices
        assert link.latency < shared < link.latency + 8 * n / link.bytes_per_second
        largest = cluster.largest_n(alpha, devices)
        assert cluster.fits(largest, alpha, devices)
        assert not cluster.fits(largest + 1, alpha, devices)
    assert cluster.largest_n(alpha, 64) == pytest.approx(8 * cluster.largest_n(alpha, 1), rel=1e-4)


def test_links_of_the_model():
    assert Cluster("cpu", 1.0, 1.0).link(2) == ETHERNET
    gpus = Cluster("gpu", 1.0, 1.0)
    assert [gpus.link(devices) for devices in (2, 8, 16)] == [NVLINK, NVLINK, INFINIBAND]


def test_memory_of_a_process_of_its_own():
    taken = on_cpu.OnCPU().footprint(1000, 1.3, range(2))
    assert taken.seconds > 0
    assert taken.iterations > 20
    assert taken.certified == 2
    if Path("/proc/self/clear_refs").exists():
        size = 8 * 1000 * 1300
        assert 0.95 * size < taken.bytes < 1.2 * size  # 1.28 with the test set that was drawn too


def test_the_cpu_reports_sensible_rates(tiny):
    target = on_cpu.OnCPU()
    assert all(1e8 < rate < 1e13 for rate in bandwidth.bandwidth(target).values())
    assert target.fits(100, 1.3, 8)
    assert not target.fits(10**6, 1.3, 8)
    for kernel in target.kernels().values():
        ready = kernel(40)
        found = ready.measurement(best_seconds(ready.run))
        assert 0.1 < found.value < 1e4
        assert found.bound > 0


def test_the_device_side_on_the_cpu_of_jax(monkeypatch):
    jax = pytest.importorskip("jax")
    from phaselect.bench import on_gpu

    target = on_gpu.OnGPU(jax.devices("cpu")[0], copies=8, sweeps=1, bandwidth_bytes=1 << 20, matrix_side=64)
    assert target.machine()["gpu"]
    assert target.matrix_rate > 0
    assert bandwidth.best(target) > 0
    (kernel,) = target.kernels().values()
    ready = kernel(40)
    assert ready.measurement(best_seconds(ready.run, 1)).value > 0
    ready = target.iterations(40, 2.0, "float32")
    ready.run()
    assert ready.number > 0
    for largest in (40, 39):  # from the host, and drawn there
        monkeypatch.setattr(on_gpu, "LARGEST_FROM_HOST", largest)
        assert target.load(40, 2.0, 0)(20.0).certified
    drawn = target.drawn(40, 2.0, 3)
    assert (drawn.m_rows, drawn.n) == (80, 40)
    assert drawn.gain == pytest.approx(1, rel=0.05)
    taken = target.footprint(40, 2.0, range(1))
    assert taken.seconds > 0
    assert taken.certified == 1


def page_maker():
    spec = importlib.util.spec_from_file_location("make_performance", ROOT / "docs" / "make_performance.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_written_from_the_reports(tmp_path):
    solved = Row("solutions", "phaselect.solve", "N = 200, alpha = 2", 0.5, "s", 2.0, 0.1, "3 of 3 certified")
    rows = [
        ROW,
        solved._replace(
            what="alternating minimisation", value=None, bound=None, detail="0 of 3 certified, otherwise ..."
        ),
        solved._replace(what="dwave-samplers annealing", value=None, bound=None, detail="not installed: pip install"),
        solved,
        Row("growth", "exponent of time", "N = 100 to 800", 2.1, "power of N", None, 2.0, "standard error 0.1"),
        Row("model", "MODEL: AMP iteration", "N = 100000, G = 8", 1.5, "ms", 12.0, 1.4, "6.5 GB a device, fits"),
    ]
    Report("cpu", False, MACHINE, rows).save(tmp_path / "cpu.json")
    make = page_maker()
    page = f"# Performance\n\nbefore\n\n{make.BEGIN}\nold\n{make.END}\n\nafter\n"
    text = make.rewritten(page, tmp_path)
    assert text.startswith("# Performance\n\nbefore\n")
    assert text.endswith(f"{make.END}\n\nafter\n")
    assert "old" not in text
    assert "### An Abacus, 2 cores" in text
    assert "| a kernel | N = 200 | 3 million/s | 2 | 9 | how |" in text
    assert "| N = 200, alpha = 2 | 0.5 s (3/3) | - (0/3) | not installed: pip install | 0.1 s |" in text
    assert "| exponent of time | N = 100 to 800 | 2.1 power of N |  | 2 | standard error 0.1 |" in text
    assert "a model, not a measurement" in text
    assert "450 GB/s" in text
    assert make.rewritten(text, tmp_path) == text

    Report("gpu", False, MACHINE | {"gpu": "H200", "gpu_memory_bytes": 10**11}, rows[:1]).save(tmp_path / "h200.json")
    both = make.rewritten(page, tmp_path)
    assert both.index("### An Abacus") < both.index("### H200")
    assert "JAX may use 100 GB" in both
    gpu = load_report(tmp_path / "h200.json")
    gpu._replace(rows=rows[4:]).save(tmp_path / "h200-growth.json")
    assert make.gathered([tmp_path / "h200-growth.json", tmp_path / "h200.json"]).rows == [*rows[4:], ROW]
    in_parts = make.rewritten(page, tmp_path).split("### H200")[1]
    assert in_parts.index("a kernel") < in_parts.index("exponent of time")
    gpu._replace(machine=MACHINE).save(tmp_path / "h200-other.json")
    with pytest.raises(SystemExit, match="different machines"):
        make.rewritten(page, tmp_path)
    with pytest.raises(SystemExit, match="once each"):
        make.rewritten("# no marks\n", tmp_path)
