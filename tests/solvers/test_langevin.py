import pytest

from phaselect import InputError, Langevin, Schedule, gaussian_instance


def test_the_relaxed_loss_is_no_certificate():
    """As lam -> 0 theta settles inside the cube at a loss far below that of its rounded signs."""
    problem = gaussian_instance(100, 1.2, seed=0)
    schedule = Schedule.fixed_product(0.75, mu_max=1e3, eps=0.1, steps=60, unit="iterations")
    result = Langevin(eager=False).run(problem, schedule)
    last = {name: column[-1] for name, column in result.trace.items()}
    assert not result.certified
    assert last["loss_relaxed"] < 0.1 * last["mse_y"]
    assert last["m_relaxed"] < 0.99


def recovered(**options):
    """Which of 20 instances, fast, on the paper's schedule but for these options."""
    schedule = Schedule.fixed_product(0.75, eps=0.1, steps=100, unit="iterations", **options)
    problems = [gaussian_instance(100, 1.5, seed=seed) for seed in range(20)]
    return [Langevin().run(problem, schedule, seed=seed).truth["mse_x"] < 0.02 for seed, problem in enumerate(problems)]


@pytest.mark.slow
def test_a_colder_end_or_a_longer_one_recovers_hardly_more():
    """The paper has 10^6 steps; fast runs have done all they will at mu = 1000."""
    ours, colder, longer = (
        recovered(**end) for end in ({"mu_max": 1e3}, {"mu_max": 1e5}, {"mu_max": 1e3, "hold": 500})
    )
    assert (sum(ours), sum(colder), sum(longer)) == (6, 6, 7)


def test_bad_step():
    for step_size in (0, -1.0, float("nan"), "a"):
        with pytest.raises(InputError, match="step_size"):
            Langevin(step_size=step_size)
