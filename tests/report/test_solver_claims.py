"""Cases for test_verdicts.py: the claims on Langevin dynamics, and on all three solvers."""

from phaselect.report.ledger import Conclusion
from tests.report.handmade import BETTER, joint, long_runs, sweep, table

HOLDS, CORRECTED, FAILS, OPEN = Conclusion


def langevin(*rows):
    return {"success_langevin": table(*rows)}


def three(amp_50, sa_50, langevin_50, sizes=(200, 400)):
    parts = {"amp": (amp_50, 1.0), "sa": (sa_50, 1.0), "langevin": (langevin_50, 0.75)}
    return {
        f"success_{name}": table(*sweep(name, found, found, sizes, product=product))
        for name, (found, product) in parts.items()
    }


def tending(patient=1.128, sa=1.128, langevin=1.128):
    """The limits of slow anneals; alpha_50 of message passing, within all iterations, and of Langevin dynamics."""
    sizes = (100, 200, 400, 800, 1600, 3200)
    values = [langevin + n ** (-2 / 3) for n in sizes]
    found = {"success_langevin": table(*sweep("langevin", (), values, sizes, width=0.004, product=0.75))}
    return found | joint(1.0, sa) | long_runs(patient, patient)


CASES = {
    "slower_langevin_is_better": [
        (langevin(*sweep("langevin", *BETTER, product=0.75)), HOLDS),
        (langevin(*sweep("langevin", *BETTER[::-1], product=0.75)), FAILS),
        (langevin(*sweep("langevin", *BETTER, width=0.3, product=0.75)), OPEN),
    ],
    "langevin_is_poorest": [
        (three((1.15, 1.14), (1.2, 1.2), (1.4, 1.4)), HOLDS),
        (three((1.15,), (1.2, 1.2), (1.4, 1.4)), HOLDS),
        (three((1.15, 1.14), (1.5, 1.5), (1.4, 1.4)), CORRECTED),
        (three((1.5, 1.5), (1.5, 1.5), (1.4, 1.4)), FAILS),
        (three((1.15, 1.14), (1.4, 1.2), (1.4, 1.4)), OPEN),
        (three((1.15, 1.14), (1.2, 1.2), ()), OPEN),
    ],
    "all_approach_bayes": [
        (tending(), HOLDS),
        (tending(sa=1.2), FAILS),
        (tending(patient=1.2), FAILS),
        (tending() | langevin(*sweep("langevin", (), (1.4, 1.39), product=0.75)), FAILS),
        (tending() | langevin(*sweep("langevin", (), (1.4,), product=0.75)), OPEN),  # of one size nothing tends
        (tending() | langevin(*sweep("langevin", (), (1.5, 1.4), product=0.75)), OPEN),  # far, and on its way
        (tending() | langevin(*sweep("langevin", (), (1.2, 1.19), product=0.75)), OPEN),
    ],
}
