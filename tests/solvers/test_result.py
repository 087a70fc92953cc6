"""What a result says of itself, to people and in files."""

import json
import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import phaselect
from phaselect import Certificate, Result, Status

ROOT = Path(__file__).parents[2]
UNIQUE = re.compile(r"unique,? up to")


@pytest.fixture(scope="module")
def result():
    return phaselect.solve(phaselect.gaussian_instance(20, 2.0, seed=0))


@pytest.mark.parametrize("certificate", [None, *Certificate])
@pytest.mark.parametrize("status", Status)
def test_unique_is_said_of_what_was_enumerated_alone(result, status, certificate):
    own = replace(result, status=status, certificate=certificate, reason="why")
    assert bool(UNIQUE.search(own.message)) == (certificate is Certificate.ENUMERATED)
    assert own.message.startswith(status.value)
    assert own.message.endswith("why") == (certificate is None)


def test_unique_is_written_of_what_was_enumerated_alone():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    said = [line for page in pages for line in page.read_text().splitlines() if UNIQUE.search(line)]
    assert len(pages) > 5
    assert all("every other" in line for line in said), said


def test_a_file_has_everything_but_the_state(result):
    own = replace(result, reason="why", truth={"m": 1.0, "O": 0.5, "mse_x": np.nan})
    stored = json.loads(own.to_json())
    assert {field.name for field in fields(Result)} - {"state"} <= set(stored)
    assert stored["reason"] == "why"
    assert stored["truth"] == {"m": 1.0, "O": 0.5, "mse_x": None}
    assert stored["certificate"] == result.certificate == "enumerated"


def test_noise_that_could_not_be_learned_is_not_known(result):
    lines = str(replace(result, noise=np.nan, reason="no noise could be learned")).splitlines()
    assert "noise     not known" in lines
    assert not any(line.startswith("noise") for line in str(replace(result, noise=0.0)).splitlines())
