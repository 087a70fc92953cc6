import numpy as np
import pytest

from phaselect.experiments.limits import Interval, Limit, large_n_limit
from phaselect.report.comparisons import agreed, arrives, gains, limits_from_each_size, mean_gain, told


def test_mean_gain_of_many_draws():
    """Its interval covers the gain that was put in; wide sizes weigh little."""
    rng = np.random.default_rng(0)
    spread, gain = np.array([0.01, 0.02, 0.1]), 0.03

    def drawn(middle):
        values = middle + spread * rng.standard_normal(3)
        return {n: Interval(v, v - 1.96 * s, v + 1.96 * s) for n, v, s in zip((1, 2, 3), values, spread, strict=True)}

    found = [mean_gain(drawn(1.2), drawn(1.2 - gain)) for _ in range(400)]
    assert 367 <= sum(it.low <= gain <= it.high for it in found) <= 393  # 380 and three standard deviations
    assert np.std([it.value for it in found]) == pytest.approx((np.sum(1 / (2 * spread**2))) ** -0.5, rel=0.15)


def test_open_intervals_count_against_but_not_in_the_mean():
    fast = {100: Interval(1.25, 1.24, 1.26), 200: Interval(1.2, 1.19, 1.21)}
    slow = {100: Interval(1.2, 1.19, 1.21), 200: Interval(np.nan, 1.5, np.inf)}
    assert mean_gain(fast, slow).value == pytest.approx(0.05)
    assert gains(fast, slow) is None
    assert gains({100: fast[100]}, {100: slow[100]}) is True


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1.12, 1.14, True),
        (1.13, 1.14, False),
        (1.10, 1.126, False),
        (1.1285, 1.14, None),  # at the very end: other draws would say something else
        (1.11, 1.1275, None),
        (1.11, 1.1285, None),
        (1.10, 1.151, None),  # wide
        (np.nan, np.nan, None),
    ],
)
def test_where_a_limit_arrives(low, high, said):
    fit = Limit(Interval(1.13, low, high), 1.0, 0.5, 1.0, 3, "")
    assert arrives(fit) is said
    assert arrives(fit._replace(doubt="bad")) is None
    assert arrives(fit._replace(amplitude=0.0)) is (said or None)  # no trend seen: small sizes may hide one
    assert arrives(None) is None


def test_limits_do_not_depend_on_the_order_of_the_sizes():
    found = {n: Interval(1.13 + 1 / n, 1.129 + 1 / n, 1.131 + 1 / n) for n in (200, 400, 100, 800, 1600)}
    fits = limits_from_each_size(found)
    assert fits[100] == large_n_limit(list(found), list(found.values()))
    assert {n: fit.dof for n, fit in fits.items()} == {100: 2, 200: 1}
    assert told(fits) == f"limit from N = 100 on {fits[100]}; from N = 200 on {fits[200]}"
    del found[1600], found[800]
    assert [fit.dof for fit in limits_from_each_size(found).values()] == [0]  # too few to leave one out


def test_agreed():
    """Fits that are bad by chi^2 do not count; the first two others must tell the same."""
    yes, no = (Limit(Interval(1.13, low, low + 0.02), 1.0, 0.5, 1.0, 3, "") for low in (1.12, 1.15))
    unsure, bad = yes._replace(doubt="exponent"), no._replace(chi2=20.0, doubt="χ²")
    assert agreed([bad, None, yes, yes, unsure]) is True
    assert agreed([no]) is False
    assert (
        agreed([yes, yes, no])
        is agreed([yes, unsure])
        is agreed([unsure, yes])
        is agreed([bad])
        is agreed([None])
        is agreed([])
        is None
    )
