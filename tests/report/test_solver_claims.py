"""Cases for test_verdicts.py: the claims on Langevin dynamics, and on all three solvers."""

from phaselect.report.ledger import Conclusion
from tests.report.handmade import BETTER, fit, sweep, table

HOLDS, CORRECTED, FAILS, OPEN = Conclusion


def langevin(*rows):
    return {"success_langevin": table(*rows)}


def three(amp_50, sa_50, langevin_50, sizes=(200, 400)):
    parts = {"amp": (amp_50, 1.0), "sa": (sa_50, 1.0), "langevin": (langevin_50, 0.75)}
    return {
        f"success_{name}": table(*sweep(name, found, found, sizes, product=product))
        for name, (found, product) in parts.items()
    }


def with_limits(tables, *names, value=1.13):
    """The same where the slow anneals of these solvers have a limit."""
    products = {"amp": 1.0, "sa": 1.0, "langevin": 0.75}
    fits = {f"success_{name}": fit(name, 0.01, value, product=products[name]) for name in names}
    return tables | {name: table(tables[name].columns, row) for name, row in fits.items()}


CLOSE = three((1.14, 1.13), (1.18, 1.17), (1.2, 1.19))

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
        (with_limits(CLOSE, "amp", "sa", "langevin"), HOLDS),
        (with_limits(CLOSE, "amp", "sa", "langevin", value=1.2), FAILS),
        (with_limits(three((1.14, 1.13), (1.18, 1.17), (1.4, 1.39)), "amp", "sa"), FAILS),
        (with_limits(three((1.14, 1.13), (1.18, 1.17), (1.5, 1.4)), "amp", "sa"), OPEN),  # far, and on its way
        (with_limits(CLOSE, "amp", "sa"), OPEN),
        (three((1.14, 1.13), (1.18, 1.17), ()), OPEN),
    ],
}
