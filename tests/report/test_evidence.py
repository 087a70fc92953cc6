import numpy as np
import pytest

from phaselect.base.tables import Table
from phaselect.report.evidence import Evidence, Missing, known


def test_evidence_says_what_is_missing():
    evidence = Evidence({"alpha": np.array([1.2, 1.3])})
    assert evidence.where(alpha=1.3)["alpha"].tolist() == [1.3]
    nothing = evidence.where(alpha=9)
    assert len(nothing.where(alpha=1.2)) == len(nothing.values("alpha")) == 0
    for ask in (lambda: evidence["mu"], lambda: evidence.where(mu=1), lambda: nothing["alpha"]):
        with pytest.raises(Missing):
            ask()
    with pytest.raises(Missing, match="m is not known"):
        known([1.0, np.nan], "m")
    with pytest.raises(KeyError):
        Table({})["mu"]
