"""What goes wrong on a device stays where it is: no memory, a member that breaks down, Ctrl-C."""

import signal
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from phaselect.devices import backend, batch, matrix
from phaselect.devices.member import Given
from phaselect.devices.programs import Knobs, compiled

import phaselect
from phaselect import (
    AMP,
    InputError,
    Instance,
    Langevin,
    PopulationAnnealing,
    Schedule,
    Status,
    gaussian_batch,
    gaussian_instance,
)
from tests.devices.conftest import ROWS, N
from tests.devices.test_batch import ANNEAL, HEAT, PLAN, same_but_for_rounding, same_results, unsolvable

AT_ONCE = {"device": "cpu", "dtype": "float64"}
SOLVER = AMP(restarts=0)
SEGMENTS = len(PLAN) // 10


@pytest.fixture(scope="module")
def problems(problems):
    """With one in each half that never ends, so that the schedule is always run to its end."""
    return [unsolvable(seed) if seed in (3, 15) else problem for seed, problem in enumerate(problems)]


@pytest.fixture(scope="module")
def undisturbed(problems):
    return SOLVER.run_batch(problems, PLAN, **AT_ONCE)


@pytest.fixture
def room_for_twelve(monkeypatch):
    """A device that holds half the batch at a time."""
    each = SOLVER.program().bytes_a_member(ROWS, N, 8)
    monkeypatch.setattr(batch, "free_bytes", lambda device: 12.5 * each / backend.MARGIN)


def full(*_):
    raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 123 bytes.")


# --------------------------------------------------------------------------------------------------------------- memory


def test_a_small_device_takes_the_batch_in_parts(problems, undisturbed, room_for_twelve, monkeypatch):
    parts, chunk = [], batch._chunk

    def watched(job, drawn, chosen, knobs):
        parts.append(list(chosen))
        return chunk(job, drawn, chosen, knobs)

    monkeypatch.setattr(batch, "_chunk", watched)
    found = SOLVER.run_batch(problems, PLAN, **AT_ONCE)
    assert parts == [list(range(12)), list(range(12, 24))]
    same_but_for_rounding(found, undisturbed)


def test_a_batch_that_does_not_fit_is_halved(problems, undisturbed, monkeypatch):
    """As often as it takes; what is done is not done again, and the size stays."""
    sizes, chunk = [], batch._chunk

    def tight(job, drawn, chosen, knobs):
        sizes.append(len(chosen))
        assert len(knobs.seed) == len(chosen)
        if len(chosen) > 12:
            full()
        return chunk(job, drawn, chosen, knobs)

    monkeypatch.setattr(batch, "_chunk", tight)
    same_but_for_rounding(SOLVER.run_batch(problems, PLAN, **AT_ONCE), undisturbed)
    assert sizes == [24, 12, 12]


def test_what_does_not_fit_at_all_is_told_with_bytes(problems, monkeypatch):
    sizes = []
    monkeypatch.setattr(batch, "_chunk", lambda job, drawn, chosen, knobs: sizes.append(len(chosen)) or full())
    for module in (backend, batch):
        monkeypatch.setattr(module, "free_bytes", lambda device: 5 * 2**29)
    needed = SOLVER.program().bytes_a_member(ROWS, N, 8) / 2**30
    line = f"N = {N} needs (about )?{needed:.3g} GiB on the device, which has 2.5 GiB left"
    with pytest.raises(InputError, match=line) as caught:
        SOLVER.run_batch(problems, PLAN, **AT_ONCE)
    assert "\n" not in str(caught.value)
    assert sizes == [24, 12, 6, 3, 1]


def test_other_errors_are_not_taken_for_memory(problems, monkeypatch):
    def broken(*_):
        raise jax.errors.JaxRuntimeError("INTERNAL: something else")

    monkeypatch.setattr(batch, "_chunk", broken)
    with pytest.raises(jax.errors.JaxRuntimeError, match="something else"):
        SOLVER.run_batch(problems, PLAN, **AT_ONCE)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("solver", [SOLVER, PopulationAnnealing(500), Langevin()], ids=lambda solver: solver.name)
def test_memory_is_planned_for_what_is_used(solver, dtype):
    """By what the compiler says of each program: all it takes fits into what is planned, and the plan is not idle."""
    program, count, n = solver.program(), 3, 200
    with backend.on(jax.devices("cpu")[0]):
        member, _ = gaussian_batch(n, 1.2, seeds=range(count)).members(range(count), jax.devices("cpu")[0], dtype)
        knobs = Knobs(np.arange(count), np.full(count, 0.3), np.ones(count))
        programs = compiled(program)
        state = programs.start(member, jnp.asarray(program.first(knobs, 240, n)))
        ending = jnp.zeros((count, n if solver is SOLVER else 240))
        taken = []
        for function, arguments in [
            (programs.advance, (member, state, knobs, np.ones(4), np.ones(4), 8)),
            (programs.columns, (member, state)),
            (programs.candidate, (member, state)),
            (programs.finish, (member, ending)),
        ]:
            bill = function.lower(*arguments).compile().memory_analysis()
            taken.append(bill.temp_size_in_bytes + bill.argument_size_in_bytes + bill.output_size_in_bytes)
    planned = count * program.bytes_a_member(240, n, np.dtype(dtype).itemsize)
    assert 0.25 * planned < max(taken) < 1.1 * planned  # compilers differ by a little


def test_free_memory_is_what_the_device_says():
    told = SimpleNamespace(memory_stats=lambda: {"bytes_limit": 100, "bytes_in_use": 30})
    assert backend.free_bytes(told) == 70
    assert 2**20 < backend.free_bytes(jax.devices("cpu")[0]) < 2**50
    assert not backend.out_of_memory(ValueError("shapes differ"))
    assert backend.out_of_memory(RuntimeError("CUDA_ERROR_OUT_OF_MEMORY: out of memory"))


# ------------------------------------------------------------------------------------------------------- broken members


class Poisoned(Given):
    """Instances of which the seventh is not a number somewhere on the device."""

    def members(self, chosen, device, dtype):
        member, scale = super().members(chosen, device, dtype)
        places = [place for place, k in enumerate(chosen) if k == 6]
        return member._replace(A=member.A.at[jnp.array(places, int), 3, 4].set(jnp.nan)), scale


@pytest.mark.parametrize(
    ("solver", "schedule", "dtype"),
    [(SOLVER, PLAN, "float64"), (PopulationAnnealing(16), ANNEAL, "float32"), (Langevin(eager=False), HEAT, "float32")],
    ids=["amp", "pa", "langevin"],
)
def test_a_member_that_is_not_a_number_fails_alone(solver, schedule, dtype, problems, monkeypatch):
    options, heard = {"device": "cpu", "dtype": dtype}, []
    good = solver.run_batch(problems, schedule, **options)
    monkeypatch.setattr("phaselect.devices.member.as_batch", Poisoned)
    found = solver.run_batch(problems, schedule, progress=heard.append, **options)
    assert found[6].status is Status.DIVERGED
    assert not found[6].certified
    assert np.isfinite(found[6].x).all()
    assert found[6].to_json()
    assert len(heard) > 1
    same_results(found[:6] + found[7:], good[:6] + good[7:])


def test_a_member_that_diverges_fails_alone(problems, undisturbed):
    """A large common mean, which message passing cannot bear."""
    A = problems[6].A + 1.0
    mixed = [*problems[:6], Instance(A, np.abs(A @ problems[6].x0)), *problems[7:]]
    found = SOLVER.run_batch(mixed, PLAN, **AT_ONCE)
    assert found[6].status in (Status.DIVERGED, Status.NOT_RECOVERED)
    assert np.isfinite(found[6].x).all()
    same_results(found[:6] + found[7:], undisturbed[:6] + undisturbed[7:])


@pytest.mark.parametrize("solver", [SOLVER, PopulationAnnealing(16)], ids=["amp", "pa"])
def test_a_member_without_full_rank_fails_alone(solver, problems):
    """Two equal columns: the couplings at lam = 0 do not exist. It is never certified."""
    A = problems[6].A.copy()
    A[:, 1] = A[:, 0]
    twin = Instance(A, np.abs(A @ problems[6].x0), problems[6].x0)
    schedule, dtype = (PLAN, "float64") if solver is SOLVER else (ANNEAL, "float32")
    good, found = (
        solver.run_batch(some, schedule, device="cpu", dtype=dtype)
        for some in (problems, [*problems[:6], twin, *problems[7:]])
    )
    assert found[6].status in (Status.AMBIGUOUS, Status.NOT_RECOVERED, Status.DIVERGED)
    same_results(found[:6] + found[7:], good[:6] + good[7:])


# --------------------------------------------------------------------------------------------------------------- Ctrl-C


def interrupt_at(number):
    """A progress callback that Ctrl-C meets at its so-many-th call."""
    calls = []

    def progress(_):
        calls.append(None)
        if len(calls) == number:
            raise KeyboardInterrupt

    return progress


def test_an_interrupt_keeps_the_members_that_are_done(problems, undisturbed):
    found = SOLVER.run_batch(problems, PLAN, progress=interrupt_at(13), **AT_ONCE)
    done = [other.steps <= 130 for other in undisturbed]
    assert 0 < sum(done) < 24
    for one, other, before in zip(found, undisturbed, done, strict=True):
        if before:
            same_results([one], [other])
        else:
            assert one.steps == 130
            assert one.status is Status.INTERRUPTED or one.certified  # refined from where it was, some are right
            assert np.isfinite(one.x).all()
    assert sum(one.status is Status.INTERRUPTED for one in found) > 2


def test_an_interrupt_keeps_the_parts_that_are_done(problems, undisturbed, room_for_twelve):
    found = SOLVER.run_batch(problems, PLAN, progress=interrupt_at(SEGMENTS + 1), **AT_ONCE)
    same_but_for_rounding(found[:12], undisturbed[:12])
    assert {one.status for one in found[12:]} == {Status.INTERRUPTED}
    assert {one.steps for one in found[12:]} == {10}
    found = SOLVER.run_batch(problems, PLAN, progress=interrupt_at(1), **AT_ONCE)
    assert {one.status for one in found} == {Status.INTERRUPTED}
    assert [one.steps for one in found] == [10] * 12 + [0] * 12
    assert all(one.x.shape == (N,) and one.signs.shape == (ROWS,) for one in found)
    assert found[-1].to_json()


@pytest.mark.parametrize("restarts", [1, 2])
def test_an_interrupt_of_the_restarts_is_told(restarts):
    """A member that was to start again, or was at it for the last time, is not one that has failed."""
    hopeless = [unsolvable(seed) for seed in range(24)]
    found = AMP(restarts=restarts).run_batch(hopeless, PLAN[:30], progress=interrupt_at(5), **AT_ONCE)
    assert {one.status for one in found} == {Status.INTERRUPTED}
    assert {one.steps for one in found} == {30 + 20}


@pytest.mark.parametrize("where", ["members", "start", "advance", "columns", "finish", "truth"])
def test_ctrl_c_in_the_midst_of_a_program(where, problems, undisturbed, room_for_twelve, monkeypatch):
    """Python raises it when the call returns: what the call took or gave may be gone. The part before is kept."""
    calls, compiled = [], batch.compiled

    def hit(function):
        def called(*arguments):
            result = function(*arguments)
            calls.append(None)
            if len(calls) == first + 1:
                signal.raise_signal(signal.SIGINT)
            return result

        return called

    monkeypatch.setattr(Given, "members", Given.members if where != "members" else hit(Given.members))
    if where != "members":
        monkeypatch.setattr(
            batch, "compiled", lambda program: (it := compiled(program))._replace(**{where: hit(getattr(it, where))})
        )
    first = SEGMENTS if where in ("advance", "columns") else 1  # calls for the first part
    try:
        found = SOLVER.run_batch(problems, PLAN, **AT_ONCE)
    except KeyboardInterrupt:
        pytest.fail("the interrupt got through, and all results are lost")
    assert len(calls) > first
    same_but_for_rounding(found[:12], undisturbed[:12])
    for one, other in zip(found[12:], undisturbed[12:], strict=True):
        assert one.status in (Status.INTERRUPTED, other.status)
    if where not in ("finish", "truth"):
        assert {one.status for one in found[12:]} <= {Status.INTERRUPTED, Status.RECOVERED}
        assert any(one.status is Status.INTERRUPTED for one in found[12:])


def test_ctrl_c_works_as_before_after_a_batch(problems):
    before = signal.getsignal(signal.SIGINT)
    SOLVER.run_batch(problems, PLAN[:20], progress=interrupt_at(1), **AT_ONCE)
    assert signal.getsignal(signal.SIGINT) is before


# --------------------------------------------------------------------------------------------- one instance on a device


def test_a_copy_that_does_not_fit_is_done_without(problems, monkeypatch):
    monkeypatch.setitem(matrix.WORTH_A_COPY, "cpu", 0)
    monkeypatch.setattr(matrix, "free_bytes", lambda device: 0)
    device = problems[0].to_device("cpu")
    assert device.matrix.copy.A is device.A


def test_the_front_door_keeps_its_best_when_a_population_does_not_fit(monkeypatch):
    problem = gaussian_instance(60, 1.1, seed=0)

    def full(*arguments, **options):
        raise InputError("an instance with N = 60 needs about 9 GiB on the device, which has 1 GiB left")

    monkeypatch.setattr("phaselect.devices.batch.run_chunks", full)
    result = phaselect.solve(problem.A, problem.y, device="cpu", dtype="float64")
    assert result.solver == "amp"
    assert result.status is Status.NOT_RECOVERED


def test_a_restart_says_with_which_lam_it_ran():
    problems = [gaussian_instance(60, 1.15, seed=seed) for seed in range(6)]
    short = Schedule.matched(mu0=1e3, mu_max=1e4, steps=1, unit="iterations", hold=20)
    results = AMP(restarts=2).run_batch(problems, short, device="cpu")
    products = [result.schedule.mu[-1] * result.schedule.lam[-1] for result in results]
    assert max(products) > 1.01  # the best attempt was not always the first
    for result, product in zip(results, products, strict=True):
        assert result.trace["mu"][-1] * result.trace["lam"][-1] == pytest.approx(product)


def test_a_run_and_its_instance_are_drawn_apart():
    """Both from one seed, but not from one stream."""
    from phaselect.devices.programs import Knobs, PopulationProgram

    program, seeds = PopulationProgram(400), np.array([7])
    with jax.enable_x64(True):
        member, _ = gaussian_batch(200, 1.5, seeds=[7]).members([0], jax.devices("cpu")[0], "float64")
        first = program.first(Knobs(seeds, seeds, seeds), 300, 200)
        state = program.start(jax.tree.map(lambda array: array[0], member), first[0])
    agree = np.mean(np.sign(np.asarray(state.v[0, :200])) == np.sign(np.asarray(member.x0[0])))
    assert 0.3 < agree < 0.7
