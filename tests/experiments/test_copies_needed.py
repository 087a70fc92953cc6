"""Copies for half of the instances, and their growth, from runs that are made up."""

import numpy as np
import pytest

from phaselect.base.tables import Table, stack
from phaselect.experiments import copies_needed
from phaselect.experiments.copies_needed import FEW, copies_50, growths, hard_phase_rows, lattice_50, lattice_rows
from phaselect.experiments.limits import Interval, bad_fit

REPLICAS = 2.0 ** np.arange(2, 14, 2)


def runs(n, alpha, middle, instances=100, power=6.0, seed=0):
    """Runs of which half succeed with 2^middle copies; their odds are this power of log2(copies) over the middle."""
    rng = np.random.default_rng([n, int(1000 * alpha), seed])
    copies, seeds = (it.ravel() for it in np.meshgrid(REPLICAS, np.arange(instances)))
    good = rng.random(copies.size) < 1 / (1 + (np.log2(copies) / middle) ** -power)
    columns = {"n": n, "alpha": alpha, "replicas": copies, "seed": seeds, "status": "SCHEDULE_DONE"}
    return columns | {
        "m": np.where(good, 1.0, 0.3),
        "mse_x": np.where(good, 0.0, 1.0),
        "mse_y": np.where(good, 1e-20, 1e-3),
    }


def of_one_need(rng, sizes, instances=40, power=2.0):
    """Runs of instances that succeed from a number of copies on: with one number all is said of those above."""
    parts = []
    for n in sizes:
        need = exponential(n) * np.exp(rng.logistic(size=instances) / power)
        good = (np.log2(REPLICAS)[:, None] > need).ravel()
        copies, seeds = (it.ravel() for it in np.meshgrid(REPLICAS, np.arange(instances), indexing="ij"))
        columns = {"n": n, "alpha": 1.1, "replicas": copies, "seed": seeds, "status": "SCHEDULE_DONE"}
        parts.append(columns | {"m": 1.0 * good, "mse_x": 1.0 - good, "mse_y": 1.0 - good})
    return Table(stack(parts), {})


def at_one(rows):
    """The laws at the one alpha of these runs, and the gain."""
    found = growths(rows)
    (laws,) = found.at.values()
    return laws, found.gain


@pytest.mark.parametrize("draw", ["together", "apart", "apart, few"])
def test_the_right_law_is_doubted_no_more_often_than_it_should_be(monkeypatch, draw):
    """At the 5 % level, by 60 sweeps, whether all runs of an instance hang together or not: three deviations, 8."""
    monkeypatch.setattr(copies_needed, "REPLICATES", 2)
    rng, instances = np.random.default_rng(0), 24 if "few" in draw else 100
    sweeps = (
        of_one_need(rng, SIZES) if draw == "together" else sweep(exponential, SIZES, instances=instances, seed=seed)
        for seed in range(60)
    )
    doubts = [at_one(rows)[0]["exponential"].doubt for rows in sweeps]
    assert sum(map(bool, doubts)) <= 8


def test_runs_that_repeat_one_another_are_no_more_evidence():
    """The same runs under the names of six numbers of copies that hardly differ: chi2 tells what one of them would."""
    rows = sweep(exponential, SIZES[:5], instances=60, seed=2)
    again = [rows.columns | {"replicas": rows["replicas"] * 2 ** (1e-4 * k)} for k in range(6)]
    once, often = (at_one(Table(stack(parts), {}))[0]["power"] for parts in ([rows.columns], again))
    assert often.chi2 / often.dof == pytest.approx(once.chi2 / once.dof, rel=0.15)
    assert often.dof == pytest.approx(once.dof, rel=0.15)


def test_chi2_is_what_its_degrees_of_freedom_say(monkeypatch):
    """On average, within three deviations, over 60 sweeps in which most shares are 0 or 1 and say nothing."""
    monkeypatch.setattr(copies_needed, "REPLICATES", 2)
    fits = [at_one(sweep(exponential, SIZES, power=12.0, seed=seed))[0]["exponential"] for seed in range(60)]
    dof = np.mean([fit.dof for fit in fits])
    assert dof < 18  # of 36 shares
    assert np.mean([fit.chi2 for fit in fits]) == pytest.approx(dof, abs=3 * np.sqrt(2 * dof / 60))


def test_copies():
    found = copies_50(Table(stack([runs(50, 1.1, 6.5)]), {}))
    assert found.low < 6.5 < found.high
    assert found.high - found.low < 0.8  # four standard errors of 0.15 are 0.6 by Fisher; a bootstrap is a little wider
    never = copies_50(Table(stack([runs(50, 1.1, 40.0)]), {}))
    assert (never.low, never.high) == (pytest.approx(12.0), np.inf)


def sweep(middle, sizes, alpha=1.1, **options):
    """Runs at some sizes, of which half succeed with 2^middle(n) copies."""
    return Table(stack([runs(n, alpha, middle(n), **options) for n in sizes]), {})


def exponential(n):
    return 2 + 0.04 * n


def power(n):
    return 4 + 4 * np.log2(n / 50)


SIZES = [50, 75, 100, 150, 200, 400]
"""Half of the instances are beyond the largest population at 400, and by the exponential law at 200 nearly so."""


def test_the_law_of_growth_is_told():
    laws, gain = at_one(sweep(exponential, SIZES))
    rate = laws["exponential"].rate
    assert rate.low < 0.04 < rate.high < rate.low + 0.01
    assert not laws["exponential"].doubt
    assert laws["power"].doubt
    assert gain.low > 0
    laws, gain = at_one(sweep(power, SIZES, seed=1))
    assert laws["power"].rate.low < 4 < laws["power"].rate.high
    assert laws["power"].offset + laws["power"].rate.value * np.log2(50) == pytest.approx(4, abs=0.5)
    assert not laws["power"].doubt
    assert laws["exponential"].doubt
    assert gain.high < 0


def test_all_alphas_tell_together_what_none_tells():
    """Few instances and sizes: by the sum of what each says the power is surely worse, and its misfit shows."""
    alphas = (1.02, 1.04, 1.06, 1.08, 1.1, 1.12)
    parts = [sweep(exponential, SIZES[:4], alpha, instances=50) for alpha in alphas]
    found = growths(Table(stack([part.columns for part in parts]), {}))
    assert sum(bool(laws["power"].doubt) for laws in found.at.values()) < 3
    assert found.gain.low > 0
    assert "χ²" in found.together["power"].doubt
    assert not found.together["exponential"].doubt
    fits = [fit for laws in found.at.values() for fit in laws.values()]
    assert [fit.doubt for fit in fits] == [bad_fit(fit.chi2, fit.dof, among=6) for fit in fits]
    assert any(bad_fit(fit.chi2, fit.dof) and not fit.doubt for fit in fits)
    for law, fit in found.together.items():
        ratios = [laws[law].chi2 / laws[law].dof for laws in found.at.values()]
        assert min(ratios) < fit.chi2 / fit.dof < max(ratios)
        assert fit.dof > max(laws[law].dof for laws in found.at.values())


def test_alphas_that_share_their_instances_are_no_independent_ones():
    """The same runs at a second alpha: twice the deviance, of as many degrees of freedom, and twice as unsure."""
    rows = sweep(exponential, SIZES, instances=40)
    again = rows.columns | {"alpha": np.full(len(rows), 1.05)}
    once, twice = growths(rows), growths(Table(stack([rows.columns, again]), {}))
    for law, fit in twice.together.items():
        assert fit.chi2 / fit.dof == pytest.approx(once.together[law].chi2 / once.together[law].dof, rel=0.05)
        assert fit.dof == pytest.approx(once.together[law].dof, abs=1)
    assert twice.gain == pytest.approx(2 * np.array(once.gain))


def test_few_instances_come_before_a_bad_fit():
    """A bootstrap of so few is not to be trusted, whatever chi2 says: the needs level off, which neither law does."""
    found = growths(sweep(lambda n: min(3 + 0.08 * n, 11.0), SIZES, instances=9))
    assert any(bad_fit(fit.chi2, fit.dof) for fit in found.together.values())
    assert {fit.doubt for fit in found.together.values()} == {FEW}
    assert {fit.doubt for laws in found.at.values() for fit in laws.values()} == {FEW}


def test_one_bad_chi2_among_many_says_less():
    assert bad_fit(66.2, 43)
    assert not bad_fit(66.2, 43, among=5)
    assert bad_fit(80.0, 43, among=5)


def test_steps_may_be_sharper_for_larger_sizes():
    parts = [runs(n, 1.1, exponential(n), power=6 * n / 100) for n in SIZES]
    assert not at_one(Table(stack(parts), {}))[0]["exponential"].doubt


def test_a_size_that_is_never_solved_counts():
    laws, _ = at_one(sweep(lambda n: exponential(n) if n < 200 else 60.0, SIZES[:5]))
    assert "χ²" in laws["exponential"].doubt


def test_too_little_to_tell():
    laws, gain = at_one(sweep(exponential, SIZES[:2]))
    assert all("freedom" in fit.doubt for fit in laws.values())
    laws, gain = at_one(sweep(exponential, SIZES[:3], instances=10))
    assert not any(fit.doubt for fit in laws.values())
    assert gain.low < 0 < gain.high
    assert growths(sweep(exponential, SIZES[:1])).at == {}
    assert growths(sweep(lambda n: 60.0, SIZES)).at == {}


def close(value, error=0.1):
    return Interval(value, value - 1.96 * error, value + 1.96 * error)


def test_the_rows_of_the_figure():
    alphas = (1.03, 1.07, 1.11)
    parts = [runs(n, alpha, 2.5 + (1.2 - alpha) * n / 3) for n in (50, 100, 150) for alpha in alphas]
    table = Table(stack(hard_phase_rows(Table(stack(parts), {}))), {})
    kinds = ("copies", "exponential", "power", "exponential together", "power together", "gain", "vanishing")
    assert [len(table.where(kind=kind)) for kind in kinds] == [9, 3, 3, 1, 1, 1, 3]
    assert set(table.where(kind="copies")["instances"].tolist()) == {100}
    end = table.where(kind="vanishing", exponent=1.0)
    assert end["low"][0] < 1.2 < end["high"][0]
    assert not end["doubt"][0]
    assert end["alpha"][0] == 1.03


def test_the_laws_are_held_together_below_the_threshold_only():
    parts = [runs(n, alpha, 2.5 + n / 50) for n in (50, 100, 150) for alpha in (1.07, 1.11, 1.15)]
    table = Table(stack(hard_phase_rows(Table(stack(parts), {}))), {})
    assert table.where(kind="exponential")["alpha"].tolist() == [1.07, 1.11]
    assert table.where(kind="copies").values("alpha") == [1.07, 1.11, 1.15]


def test_where_lattices_recover_half():
    """Fewer at more unknowns: of 100 instances at each N the middle is known to a few unknowns."""
    rng, sizes = np.random.default_rng(0), np.arange(50, 200, 25)
    n, seed = (it.ravel() for it in np.meshgrid(sizes, np.arange(100)))
    good = rng.random(n.size) < 1 / (1 + np.exp((n - 117.0) / 12.0))
    rows = {"n": n, "alpha": 1.1, "seed": seed, "status": "RECOVERED", "m": 1.0 * good, "mse_x": 1.0 - good}
    rows |= {"mse_y": 1.0 - good, "block": 40.0}
    (row,) = lattice_rows(Table(stack([rows]), {}))
    assert row["low"] < 117 < row["high"] < row["low"] + 12
    assert (row["instances"], row["block"]) == (100, 40.0)
    never = lattice_50(Table(stack([rows | {"mse_x": 1.0}]), {}))
    assert (never.value != never.value, never.low, never.high) == (True, 0.0, 50.0)
    always = lattice_50(Table(stack([rows | {"m": 1.0, "mse_x": 0.0, "mse_y": 0.0}]), {}))
    assert (always.value != always.value, always.low, always.high) == (True, 175.0, np.inf)
    crashed = rows | {"status": np.where(seed == 3, "FAILED", "RECOVERED")}
    (row,) = lattice_rows(Table(stack([crashed]), {}))
    assert row["instances"] == 99


def test_no_fewer_copies_than_one():
    rows = runs(50, 1.1, 2.0, instances=12)
    assert copies_50(Table(stack([rows]), {})).low >= 0.0


def test_the_pull_of_the_level_is_a_derivative():
    """Also where the law has come down to as few copies as it may, and no longer moves."""
    place, size, y = np.array([-1.0, 0.0, 1.0]), np.array([-0.5, 0.0, 0.4]), np.array([1.0, 4.0, 8.0])
    fits = np.array([[3.0, 1.0, 0.7, 0.1], [1.0, 2.0, 0.7, 0.1]])
    ahead, behind = (
        copies_needed._step(fits + np.array([shift, 0, 0, 0]), place, size, y)[1] for shift in (1e-6, -1e-6)
    )
    pull, _ = copies_needed._step(fits, place, size, y)
    assert pull == pytest.approx((behind - ahead) / 2e-6, abs=1e-8)
    assert np.sum(pull == 0.0) == 1
