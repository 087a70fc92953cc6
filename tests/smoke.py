"""What an installed phaselect must do, with what it asks for and no more: `python smoke.py TABLE`, in an empty folder.

TABLE is one of figure rsb. `make package` runs this in clean environments.
"""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

import phaselect
from phaselect import theory

PROGRAM = Path(sys.executable).with_name("phaselect")


def program(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, timeout=300, check=True).stdout


def main(table):
    assert Path(phaselect.__file__).is_relative_to(sys.prefix), f"{phaselect.__file__} is not what was installed"
    assert program("--version").split()[-1] == phaselect.__version__ == version("phaselect")
    assert "solve" in program("--help")

    rng = np.random.default_rng(0)
    A, x0 = rng.standard_normal((75, 50)), rng.standard_normal(50)
    y = np.abs(A @ x0)
    result = phaselect.solve(A, y)
    assert result.certified
    assert found(result.x, x0)

    np.savetxt("A.csv", A, delimiter=",")
    np.savetxt("y.csv", y)
    assert "recovered" in program("solve", "A.csv", "y.csv", "--out", "x.npz")
    assert found(np.load("x.npz")["x"], x0)

    assert abs(theory.critical_alpha(product=1.0) - 1.128) < 1e-3  # the published Bayes-optimal threshold
    assert "complexity" in program("theory", "point", "--alpha", "1.2", "--mu", "5")

    program("figure", "rsb", "--from", table, "--out", "rsb.png")
    assert Path("rsb.png").read_bytes().startswith(b"\x89PNG")


def found(x, x0):
    return np.allclose(x * np.sign(x @ x0), x0, rtol=0, atol=1e-9)


if __name__ == "__main__":
    main(*sys.argv[1:])
