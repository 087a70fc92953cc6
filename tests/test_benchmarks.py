"""The benchmarks: what their rows hold, that they survive what is missing, and the page that is made of them."""

import json
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from benchmarks import (
    fresh,
    growth,
    measuring,
    metropolis,
    on_cpu,
    page,
    performance_page,
    plan,
    rivals,
    run,
    solutions,
    startup,
    timing,
)
from benchmarks.internals import couplings, spectrum
from benchmarks.machine import Footprint
from benchmarks.performance_page import gathered, measured_part
from benchmarks.rivals import Outcome
from benchmarks.rows import Measurement, Report, Row, Task, load_report, measured
from benchmarks.table import line, markdown

from phaselect import AMP, InputError, ReweightedAmplitudeFlow, SimulatedAnnealing, Status, gaussian_instance

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
RATE = Measurement(3.0, "million/s", "how", 2.0, 9.0, more_is_better=True, least_ratio=1.4)
ROW = Row("metropolis", "a kernel", "N = 200", RATE)
MACHINE = {
    "processor": "An Abacus",
    "cores": 2,
    "memory_bytes": 8 * 10**9,
    "gpu": None,
    "gpu_memory_bytes": None,
    "versions": {"python": "3.11", "jax": None},
}


@pytest.fixture
def tiny(monkeypatch):
    """Benchmarks of a few seconds: memory of a process is measured in a test of its own."""
    monkeypatch.setitem(plan.PLANS, ("cpu", True), TINY)
    monkeypatch.setattr(on_cpu, "PROPOSALS", 20_000)
    monkeypatch.setattr(on_cpu, "BANDWIDTH_BYTES", 8 << 20)
    monkeypatch.setattr(
        on_cpu.OnCPU, "footprint", lambda self, n, alpha, seeds: Footprint(1e-6 * n**2, 8.0 * n**2, 9, 3)
    )
    monkeypatch.setattr(timing, "PAUSE", 0.0)
    on_cpu._movers.cache_clear()
    yield
    on_cpu._movers.cache_clear()


# rows


def test_better_means_more_of_a_rate_and_less_of_a_time():
    assert RATE.ratio == pytest.approx(1.5)
    assert RATE.of_bound == pytest.approx(1 / 3)
    seconds = Measurement(3.0, "s", "", 6.0, 1.5)
    assert (seconds.ratio, seconds.of_bound) == (2.0, 0.5)
    assert Measurement(0.0, "s", "", 6.0).ratio == np.inf
    assert Measurement(None, "s", "", 6.0, 1.5).ratio is None


@pytest.mark.parametrize(
    ("found", "missed"),
    [
        (RATE, False),
        (RATE._replace(least_ratio=1.6), True),
        (RATE._replace(reference=None), False),  # the rival is not installed
        (Measurement(3.0, "s", limit=3.1), False),
        (Measurement(3.0, "s", limit=2.9), True),
        (Measurement(0.9, "of all", more_is_better=True, limit=0.95), True),
        (Measurement(0.96, "of all", more_is_better=True, limit=0.95), False),
        (Measurement(None, "s", limit=2.9, least_ratio=2.0), False),
    ],
)
def test_a_target_is_missed_when_it_is(found, missed):
    assert found.missed == missed
    assert ("MISSED" in line(Row("", "", "", found))) == missed
    assert ("**missed**" in markdown([Row("", "", "", found)])[-1]) == missed


def test_a_report_survives_its_file(tmp_path):
    nothing = Row("theory", "none", "", Measurement(None, "", "naïve | not measured"))
    report = Report("cpu", True, MACHINE, [ROW, nothing])
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


def test_functions_are_timed_in_turn(monkeypatch):
    monkeypatch.setattr(timing, "PAUSE", 0.0)
    calls = []
    fast, slow = timing.in_turn(lambda: calls.append("a"), lambda: (calls.append("b"), time.sleep(0.002)), repeat=3)
    assert "".join(calls) == "ab" * 4  # once to warm up
    assert fast < 0.002 <= slow


# the runner


@pytest.mark.parametrize("section", ["solutions", "growth"])
def test_a_section_prints_and_writes_whole_rows(tiny, tmp_path, capsys, section):
    path = tmp_path / "report.json"
    assert run.main(["--quick", "--only", section, "--json", str(path)]) == 0
    report = load_report(path)
    assert set(report.machine) == set(MACHINE)
    assert {row.section for row in report.rows} == {section}
    for row in report.rows:
        assert all(number is None or number >= 0 for number in (row.found.value, row.found.reference, row.found.bound))
        assert row.found.value is not None or "certified" in row.found.detail or "installed" in row.found.detail, row
    head, *printed = capsys.readouterr().out.splitlines()
    assert head.split()[:5] == ["what", "size", "value", "reference", "ratio"]
    for text, row in zip(printed, report.rows, strict=True):
        assert text.startswith(row.what)
        assert row.found.detail in text


def test_a_measurement_that_fails_is_a_row_and_the_others_go_on(tiny, monkeypatch, tmp_path):
    broken = [
        Task("metropolis", "broken", "", lambda: Measurement(1 / 0, "s")),
        Task("metropolis", "gone", "", lambda: __import__("phaselect.no_such_room")),
        Task("metropolis", "whole", "", lambda: Measurement(float("nan"), "s", "fine")),
        Task("metropolis", "missing", "", lambda: __import__("no_such_rival")),
    ]
    monkeypatch.setattr(metropolis, "tasks", lambda machine, plan: broken)
    path = tmp_path / "report.json"
    assert run.main(["--quick", "--only", "metropolis", "--json", str(path)]) == 1
    first, gone, whole, missing = load_report(path).rows
    assert first.found.detail == "failed: division by zero"
    assert gone.failed
    assert (whole.found.value, whole.found.detail) == (None, "fine")
    assert missing.found.detail == "no_such_rival is not installed"
    monkeypatch.setattr(metropolis, "tasks", lambda machine, plan: broken[2:])
    assert run.main(["--quick", "--only", "metropolis"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "dance"], "use some of metropolis,message_passing,solutions"),
        (["--only", ""], "use some of"),
        (["--json", "never.txt"], "name the file .json"),
        (["--json", "no/such/folder/never.json"], "cannot write"),
        (["--quick", "--write"], "leave out --quick"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, capsys):
    assert run.main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert message in said.err


def test_without_a_gpu_it_says_so_in_one_line(capsys):
    jax = pytest.importorskip("jax")
    if jax.default_backend() == "gpu":
        pytest.skip("there is a GPU")
    assert run.main(["--device", "gpu"]) == 2
    assert "no GPU" in capsys.readouterr().err


def test_it_runs_with_little_more_than_numpy():
    """A machine for measuring may have neither the packages of the command line nor rivals."""
    absent = ["click", "rich", "matplotlib", "dwave", "dimod", "threadpoolctl", "psutil", "distributed"]
    code = f"""
import sys
sys.modules.update(dict.fromkeys({absent}))
from benchmarks import run, timing, on_cpu
assert "jax" not in sys.modules
for quick in (False, True):
    assert len(run.planned(run.machine_on("cpu"), quick, list(run.SECTIONS))) > 30
"""
    assert fresh.printed("-c", code) == ""


def test_ctrl_c_ends_the_benchmarks():
    def press():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(Task("metropolis", "", "", press))
    result = ReweightedAmplitudeFlow().run(gaussian_instance(30, 2.0, seed=0))
    assert rivals.outcome(result, 1.0).seconds == 1.0
    with pytest.raises(KeyboardInterrupt):  # solvers swallow it and return the best so far
        rivals.outcome(replace(result, status=Status.INTERRUPTED), 1.0)


# sections


def test_without_dwave_the_rows_say_how_to_get_it(tiny, monkeypatch):
    def no_such_module(name):
        raise ImportError(name)

    monkeypatch.setattr(rivals, "import_module", no_such_module)
    found = measured(metropolis.tasks(on_cpu.OnCPU(), TINY)[0]).found
    assert found.value > 0
    assert found.reference is None
    assert "pip install 'phaselect[bench]'" in found.detail
    rows = {task.what: measured(task).found for task in solutions.tasks(on_cpu.OnCPU(), TINY)}
    assert rows["dwave-samplers annealing"].value is None
    assert "pip install 'phaselect[bench]'" in rows["dwave-samplers annealing"].detail
    ours = rows["phaselect.solve"]
    assert ours.detail == "2 of 2 certified"
    assert 0 < ours.bound < ours.value < TINY.time_limit


def test_dwave_sees_the_energy_of_the_signs(tiny):
    pytest.importorskip("dwave.samplers")
    problem = gaussian_instance(20, 1.5, seed=0)
    spectral, y = spectrum(problem), problem.target
    model = rivals.dwave().model(couplings(problem, 0.1))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (2, 30))
    ours = spectral.energy(spectral.coordinates(signs * y), 0.1)
    theirs = [model.energy(dict(enumerate(one))) for one in signs]
    assert theirs[1] - theirs[0] == pytest.approx(ours[1] - ours[0], rel=1e-4)
    assert rivals.dwave_solve(gaussian_instance(40, 2.0, seed=0), 5.0).certified
    assert 0.1 < measured(metropolis.tasks(on_cpu.OnCPU(), TINY)[0]).found.reference < 1e3


def test_the_best_rival_is_the_one_that_solved_most():
    quick, slow, failed = Outcome(True, 1.0), Outcome(True, 3.0), Outcome(False, 9.0)
    assert solutions.fastest({"a": [quick, failed], "b": [slow, slow]}) == 3.0
    assert solutions.fastest({"a": [slow, slow], "b": [quick, quick]}) == 1.0
    assert solutions.fastest({"a": [failed]}) is None
    found = solutions.summary([quick, slow, failed])
    assert (found.value, found.detail) == (2.0, "2 of 3 certified, otherwise stopped after 9 s")
    assert solutions.summary([failed]).value is None
    assert solutions.summary([failed, Outcome(False, 9.0, diverged=True)]).detail.endswith("after 9 s, 1 diverged")


def test_exponents_of_power_laws(tiny):
    sizes = [100, 200, 400, 800]
    law = growth.fitted(sizes, [3e-6 * n**1.75 for n in sizes])
    assert law.exponent == pytest.approx(1.75)
    assert law.standard_error == pytest.approx(0, abs=1e-12)
    rng = np.random.default_rng(0)
    noisy = [growth.fitted(sizes, [n**2 * np.exp(0.1 * rng.standard_normal()) for n in sizes]) for _ in range(2000)]
    spread = np.std([one.exponent for one in noisy])
    assert np.sqrt(np.mean([one.standard_error**2 for one in noisy])) == pytest.approx(spread, rel=0.05)
    with pytest.raises(InputError, match="three sizes"):
        growth.fitted([1, 2], [1.0, 2.0])
    rows = {row.what: row for row in map(measured, growth.tasks(on_cpu.OnCPU(), TINY))}
    assert rows["exponent of time"].found.value == pytest.approx(2)
    assert rows["exponent of memory"].found.value == pytest.approx(2)


def test_memory_of_a_process_of_its_own():
    taken = on_cpu.OnCPU().footprint(1000, 1.3, range(1))
    assert taken.seconds > 0
    assert taken.iterations > 20
    assert taken.certified == 1
    if taken.bytes is not None:
        size = 8 * 1000 * 1300
        assert 0.95 * size < taken.bytes < 1.2 * size  # 1.28 with the test set that was drawn too


@pytest.mark.parametrize("solver", [AMP(restarts=0), SimulatedAnnealing()])
def test_measuring_is_what_the_solver_measures(monkeypatch, solver):
    """A measurement that is made slow takes nearly all of the loop; the finish does not count."""
    honest, quick = type(solver).measure, measuring.share(solver, None, 30, repeat=1)
    assert 0 < quick.value < 0.9

    def slow(self, problem, state):
        time.sleep(0.002)
        return honest(self, problem, state)

    monkeypatch.setattr(type(solver), "measure", slow)
    found = measuring.share(solver, None, 30, repeat=1)
    assert quick.value + 0.1 < found.value < 1
    assert type(solver).measure is slow  # as it was before


def test_a_fresh_process_says_what_it_misses(monkeypatch):
    monkeypatch.setattr(timing, "PAUSE", 0.0)
    found = startup.process(("-c", "import time; time.sleep(0.3)"), 0.5, 1)
    assert found.value > 0.3
    assert found.ratio == pytest.approx(found.reference / found.value)
    with pytest.raises(InputError, match="no_such_rival is not installed"):
        fresh.printed("-c", "import no_such_rival")
    with pytest.raises(RuntimeError, match="division"):
        fresh.printed("-c", "1 / 0")
    assert json.loads(fresh.printed("-c", "import sys; print(len(sys.argv))")) == 1
    assert 0.05 < fresh.seconds_inside("time.sleep(0.05)") < 0.3
    assert sys.modules.get("no_such_rival") is None


def small_device(kind):
    jax = pytest.importorskip("jax")
    from benchmarks import bandwidth, on_gpu

    try:
        (found, *_) = jax.devices(kind)
    except RuntimeError:
        pytest.skip(f"no {kind}")
    machine = on_gpu.OnGPU(found, copies=8, sweeps=1, bandwidth_bytes=1 << 20, matrix_side=64)
    assert machine.described()["gpu"]
    assert bandwidth.best(machine) > 0
    assert machine.matrix_rate > 0
    return machine


def test_the_rates_of_a_device(monkeypatch):
    monkeypatch.setattr(timing, "PAUSE", 0.0)
    assert small_device("cpu").fits(100, 1.3, 4)


@pytest.mark.gpu
def test_a_device_does_all_that_is_measured(monkeypatch):
    """Compiles for half a minute; passes on the CPU of JAX too."""
    from benchmarks import on_gpu

    monkeypatch.setattr(timing, "PAUSE", 0.0)
    machine = small_device("gpu")
    (kernel,) = machine.kernels().values()
    ready = kernel(40)
    assert ready.measurement(timing.best_seconds(ready.run, 1)).of_bound > 0
    ready = machine.iterations(40, 2.0, "float32")
    assert all(seconds > 0 for seconds in timing.in_turn(ready.run, ready.products, repeat=1))
    for largest in (40, 39):  # from the host, and drawn there
        monkeypatch.setattr(on_gpu, "LARGEST_FROM_HOST", largest)
        assert machine.load(40, 2.0, 0)(20.0).certified
    assert machine.footprint(40, 2.0, range(1)).certified == 1


# the page


def test_what_is_published_is_written_at_the_end(monkeypatch, tmp_path):
    """Until then the rows published before stay."""
    (tmp_path / "bench").mkdir()
    published = tmp_path / "bench" / "cpu.json"
    (tmp_path / "performance.md").write_text(f"{page.BEGIN}\n{page.END}\n")
    for module in (run, page, performance_page):
        monkeypatch.setattr(module, "DOCS", tmp_path)
    tasks = [Task("theory", "late", "", lambda: Measurement(7.0, "s", f"there: {published.exists()}"))]
    monkeypatch.setattr(run, "planned", lambda *arguments, **options: tasks)
    assert run.main(["--write"]) == 0
    assert load_report(published).rows[0].found == Measurement(7.0, "s", "there: False")
    assert "| late |  | 7 s |" in (tmp_path / "performance.md").read_text()


def test_the_page_is_written_from_the_reports(tmp_path):
    solved = Row(
        "solutions", "phaselect.solve", "N = 200, alpha = 2", Measurement(0.5, "s", "3 of 3 certified", 2, 0.1)
    )
    none = Measurement(None, "s", "0 of 3 certified, otherwise ...")
    often = Measurement(0.97, "of all", "many", 0.0, 1.0, more_is_better=True, limit=0.98)
    rows = [
        ROW,
        solved._replace(what="alternating minimisation", found=none),
        solved._replace(what="dwave-samplers annealing", found=none._replace(detail="not installed: pip install")),
        solved,
        Row("solutions", "share certified in 10 s", "N = 400", often),
        Row("growth", "exponent of time", "N = 100 to 800", Measurement(2.1, "power of N", "how", bound=2.0)),
    ]
    Report("cpu", False, MACHINE, rows).save(tmp_path / "cpu.json")
    text = "\n".join(measured_part(tmp_path))
    assert "### An Abacus, 2 cores" in text
    assert "| a kernel | N = 200 | 3 million/s | 2 | 1.5 | 9 | 0.333 | 1.4 times the reference | how |" in text
    assert "| N = 200, alpha = 2 | 0.5 s (3/3) | - (0/3) | not installed: pip install | 0.1 s |" in text
    assert (
        "| share certified in 10 s | N = 400 | 0.97 of all | 0 | inf | 1 | 0.97 | >= 0.98 of all **missed** |" in text
    )

    gpu = Report("gpu", False, MACHINE | {"gpu": "H200", "gpu_memory_bytes": 10**11}, rows[:1])
    gpu.save(tmp_path / "gpu.json")
    gpu._replace(rows=rows[5:]).save(tmp_path / "gpu-growth.json")
    assert gathered([tmp_path / "gpu-growth.json", tmp_path / "gpu.json"]).rows == [rows[5], ROW]
    both = "\n".join(measured_part(tmp_path))
    assert both.index("### An Abacus") < both.index("### H200") < both.index("JAX may use 100 GB")
    in_parts = both.split("### H200")[1]
    assert in_parts.index("a kernel") < in_parts.index("exponent of time")
    gpu._replace(machine=MACHINE).save(tmp_path / "gpu-other.json")
    with pytest.raises(SystemExit, match="different machines"):
        measured_part(tmp_path)


def test_only_what_is_between_the_marks_is_replaced():
    text = f"# Page\n\nbefore\n\n{page.BEGIN}\nold\n{page.END}\n\nafter\n"
    assert page.replaced(text, ["new"]) == text.replace("old", "new")
    with pytest.raises(SystemExit, match="once each"):
        page.replaced("# no marks\n", [])


def test_the_published_page_is_what_the_reports_say():
    text = (page.DOCS / "performance.md").read_text()
    assert page.replaced(text, measured_part(page.DOCS / "bench")) == text, "run python -m benchmarks.performance_page"
