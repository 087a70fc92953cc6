"""The table that ships with the page, and the numbers that its stories tell, against the theory."""

import numpy as np
import pytest

from phaselect import Schedule, theory
from phaselect.explorer.assembly import page
from phaselect.explorer.recovery import LAMS, PRODUCTS, recovery_table

MARGIN = 2e-3
"""At large products thresholds move by 1e-3 with the temperatures that an anneal is cut into."""


def needed(kept, value):
    return recovery_table().where(kept=kept, value=value)["alpha"].item()


def recovers(kept, value, alpha):
    """Does the slowest of anneals, on a grid of temperatures of its own?"""
    if kept == "product":
        return theory.follow(alpha, Schedule.fixed_product(value, mu0=0.5, mu_max=3e4, eps=0.4))["m"][-1] > 0.99
    return theory.follow(alpha, Schedule.fixed_lambda(value, mu0=0.05, mu_max=1e4, eps=0.25))["m"].max() > 0.9


@pytest.mark.parametrize(
    ("kept", "value"), [("product", PRODUCTS[3]), ("product", 1.0), ("product", 20.0), ("lam", 0.0), ("lam", LAMS[18])]
)
def test_the_table_is_what_the_theory_says(kept, value):
    alpha = needed(kept, value)
    assert recovers(kept, value, alpha + MARGIN)
    assert not recovers(kept, value, alpha - MARGIN)


def test_the_table_has_the_rows_that_its_command_makes():
    assert recovery_table().where(kept="product")["value"].tolist() == PRODUCTS.tolist()
    assert recovery_table().where(kept="lam")["value"].tolist() == LAMS.tolist()


def test_the_table_is_fine_enough_to_read_between_its_rows():
    for kept in ("product", "lam"):
        part = recovery_table().where(kept=kept)
        value, alpha = part["value"][part["value"] > 0], part["alpha"][part["value"] > 0]
        read = np.interp(value[1:-1:2], value[::2], alpha[::2])
        assert read == pytest.approx(alpha[1:-1:2], abs=0.003)  # from every other row; a quarter of that from all


def test_what_the_stories_say_is_true():
    text = page()
    assert "= 1.584." in text
    assert needed("lam", 0.0) == pytest.approx(1.584, abs=5e-4)
    assert "from μ ≈ 7 on" in text
    assert theory.transitions(1.5, 0.0).mu_spinodal == pytest.approx(7, abs=0.2)
    assert "= 1.128 even the best product" in text
    assert recovery_table().where(kept="product")["alpha"].min() == pytest.approx(1.128, abs=1e-3)
    assert "an overlap of about 0.6" in text
    cold = theory.follow(1.08, Schedule.matched(mu0=0.3, mu_max=1e4, eps=0.5))
    assert cold["m"][-1] == pytest.approx(0.6, abs=0.05)
