import json

import numpy as np

from phaselect.cli.console import emit

COLUMNS = {
    "name": np.array(["amp", "sa"]),
    "alpha": np.array([1.25, np.nan]),
    "mu": np.array([np.inf, 1e-9]),
    "trusted": np.array([True, False]),
}


def test_a_table_for_people(capsys):
    emit(COLUMNS, None)
    assert capsys.readouterr().out.splitlines() == [
        "name  alpha     mu  trusted",
        " amp   1.25    inf      yes",
        "  sa    nan  1e-09       no",
    ]


def test_a_table_for_programs(capsys):
    """JSON has no infinity and no nan."""
    emit(COLUMNS, None, as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert shown == {"name": ["amp", "sa"], "alpha": [1.25, None], "mu": ["inf", 1e-9], "trusted": [True, False]}
