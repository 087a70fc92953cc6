import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

import phaselect
from phaselect.base.array_files import read_array
from phaselect.cli.exit_codes import CODES
from phaselect.solvers import front_door
from tests.cli.program import run

PROGRAM = [sys.executable, "-m", "phaselect"]

TOEPLITZ = ["generate", "--ensemble", "toeplitz", "--n", 10, "--alpha", 1.5]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    done = run("generate", "--n", 100, "--alpha", 1.5, "--seed", 0, "--out", "inst.npz", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "M=150, N=100" in done.stdout
    return folder


def test_solve_prints_what_a_person_wants_to_know(folder):
    done = run("solve", "inst.npz", "--out", "x.npz", cwd=folder)
    assert done.returncode == 0
    assert done.stderr == ""
    report = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert report["status"].startswith("recovered")
    assert report["certified"].startswith("general position")
    assert {"mse_y", "seconds", "m", "O", "mse_x"} <= set(report)
    assert report["wrote"] == "x.npz"
    assert float(report["m"]) == pytest.approx(1)
    with np.load(folder / "x.npz") as saved, np.load(folder / "inst.npz") as instance:
        assert bool(saved["certified"])
        assert saved["certificate"].item() == "general position"
        np.testing.assert_allclose(np.abs(instance["A"] @ saved["x"]), instance["y"], atol=1e-12)
        np.testing.assert_allclose(saved["signs"] * instance["y"], instance["A"] @ saved["x"], atol=1e-12)


def test_other_kinds_of_matrices(folder):
    size = "--n", 30, "--alpha", 1.5, "--seed", 4, "--out", "t.npz"
    done = run("generate", "--ensemble", "toeplitz", "--parameter", "rho=0.5", *size, cwd=folder)
    assert done.returncode == 0, done.stderr
    with np.load(folder / "t.npz") as saved:
        assert set(saved) == {"A", "y", "x0", "rounding"}
        np.testing.assert_array_equal(saved["A"], phaselect.ensembles.matrix("toeplitz", 45, 30, 4, rho=0.5))


def test_complex_instances(folder):
    size = "--n", 30, "--alpha", 3, "--seed", 4, "--out", "c.npz"
    done = run("generate", "--field", "complex", "--ensemble", "orthogonal", *size, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "wrote c.npz: Instance(M=90, N=30, alpha=3, complex, x0 known)\n"
    with np.load(folder / "c.npz") as saved:
        A = phaselect.ensembles.matrix("orthogonal", 90, 30, 4, field="complex")
        np.testing.assert_array_equal(saved["A"], A)
        np.testing.assert_array_equal(saved["y"], np.abs(A @ saved["x0"]))


@pytest.mark.parametrize("solver", ["amp", "sa", "pa", "langevin", "raf", "wf", "altmin"])
def test_every_solver_by_name_and_json(folder, solver):
    done = run("solve", "inst.npz", "--solver", solver, "--json", "--seed", 3, "--time-limit", 20, cwd=folder)
    record = json.loads(done.stdout)
    assert done.returncode == CODES[phaselect.Status[record["status"]]], done.stderr
    assert record["solver"] == solver
    assert record["seed"] == 3
    assert record["status"] in phaselect.Status.__members__
    assert len(record["x"]) == 100
    assert 0 <= record["truth"]["m"] <= 1.5


def test_noise_that_is_not_known(folder, monkeypatch):
    """Told of on stderr, in the words of the command line, before the search is over; learned with --noise auto."""
    monkeypatch.setattr(front_door, "LADDER", ())
    monkeypatch.setattr(front_door, "LARGEST_LATTICE", 0)
    made = run("generate", "--n", 60, "--alpha", 2.5, "--noise", 0.01, "--out", "noisy.npz", cwd=folder)
    assert "--noise 0.01" in made.stdout
    done = run("solve", "noisy.npz", "--out", "noisy.csv", cwd=folder)
    assert done.returncode == 4
    assert done.stdout.rstrip().endswith("noisy.csv, the best so far")
    assert re.match(r"warning: y looks noisy, by about \d+ % of it \(a variance of 0.009\d*\)", done.stderr)
    assert "if it is, --noise auto" in done.stderr
    assert "if it is, --noise auto" in done.stdout
    done = run("solve", "noisy.npz", "--noise", "auto", "--out", "x.npz", cwd=folder)
    report = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    variance, spread = map(float, report["noise"].split(" +- "))
    assert abs(variance - 0.01) < 3 * spread
    with np.load(folder / "x.npz") as saved:
        assert saved["noise"] == pytest.approx(variance, rel=1e-3)
        assert saved["noise_std"] == pytest.approx(spread, rel=1e-1)
        assert np.sqrt(np.mean(saved["x_std"] ** 2)) == pytest.approx(float(report["x_std"]), rel=1e-3)


def test_a_user_s_own_files(folder):
    problem = phaselect.load(folder / "inst.npz")
    np.savetxt(folder / "A.csv", problem.A, delimiter=",")
    np.savetxt(folder / "y.csv", problem.y, delimiter=",")
    done = run("solve", "A.csv", "y.csv", "--out", "own.csv", cwd=folder)
    assert done.returncode == 0
    assert "recovered" in done.stdout
    assert "mse_x" not in done.stdout


@pytest.mark.parametrize("noise", [[], ["--noise", "1e-6"]])
def test_names_of_columns_are_those_of_entries_of_x(tmp_path, noise):
    names = ["Länge", "# of x", "a, b", 'say "yes"', "U_1", "% x"]
    problem = phaselect.gaussian_instance(6, 3.0, seed=0)
    pd.DataFrame(problem.A, columns=names).to_csv(tmp_path / "A.csv", sep=";")
    np.savetxt(tmp_path / "y.csv", problem.y)
    done = run("solve", "A.csv", "y.csv", *noise, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    frame = pd.read_csv(tmp_path / "x.csv", index_col=0)
    assert list(frame.index) == names
    assert list(frame.columns) == (["x", "x_std"] if noise else ["x"])
    np.testing.assert_allclose(np.abs(problem.A @ frame["x"]), problem.y, atol=1e-2 if noise else 1e-12)
    np.testing.assert_array_equal(read_array(tmp_path / "x.csv"), frame.to_numpy())  # and so do we


@pytest.mark.parametrize("header", ["", "0,1,2,3,4,5\n", ",,,,,\n"])
def test_without_names_x_stands_alone(tmp_path, header):
    problem = phaselect.gaussian_instance(6, 3.0, seed=0)
    rows = "".join(",".join(map(repr, row)) + "\n" for row in problem.A.tolist())
    (tmp_path / "A.csv").write_text(header + rows)
    np.savetxt(tmp_path / "y.csv", problem.y)
    assert run("solve", "A.csv", "y.csv", cwd=tmp_path).returncode == 0
    assert (tmp_path / "x.csv").read_text().splitlines()[0] == "x"


def test_x_is_written_beside_the_first_file_unless_something_is_there(folder, tmp_path, monkeypatch):
    problem = phaselect.load(folder / "inst.npz")
    (tmp_path / "data").mkdir()
    np.savetxt(tmp_path / "data" / "A.csv", problem.A, delimiter=";")
    np.savetxt(tmp_path / "y.csv", problem.y)
    done = run("solve", "data/A.csv", "y.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].split() == ["wrote", str(Path("data/x.csv"))]
    x = read_array(tmp_path / "data" / "x.csv")[:, 0]
    np.testing.assert_allclose(np.abs(problem.A @ x), problem.y, atol=1e-12)
    monkeypatch.setattr(phaselect, "solve", None)  # nothing is solved
    before = (tmp_path / "data" / "x.csv").read_bytes()
    done = run("solve", "data/A.csv", "y.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "x.csv is there already" in done.stderr
    assert "--out other.csv (or .npz, .json, .npy, .mat)" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (tmp_path / "data" / "x.csv").read_bytes() == before


@pytest.mark.parametrize("name", ["x.npy", "x.mat", "x.npz", "x.json", "x.csv"])
def test_the_ending_says_what_is_written(folder, tmp_path, name):
    assert run("solve", folder / "inst.npz", "--out", name, cwd=tmp_path).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == [name]
    x = phaselect.Result.load(tmp_path / name).x if name in ("x.npz", "x.json") else read_array(tmp_path / name).ravel()
    problem = phaselect.load(folder / "inst.npz")
    np.testing.assert_allclose(np.abs(problem.A @ x), problem.y, atol=1e-12)


def test_quiet(folder, tmp_path):
    done = run("solve", folder / "inst.npz", "--quiet", "--out", "x.csv", cwd=tmp_path)
    assert done == (0, "", "")
    assert (tmp_path / "x.csv").exists()
    phaselect.gaussian_instance(100, 1.03, seed=0).save(tmp_path / "hard.npz")
    hard = "solve", "hard.npz", "--json", "--solver", "auto", "--time-limit", 0.01
    assert run(*hard, cwd=tmp_path).stderr.startswith("warning: expected to fail")
    done = run(*hard, "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (4, "")
    assert json.loads(done.stdout)["status"] == "TIME_LIMIT"
    assert run("solve", "none.npz", "--quiet", cwd=tmp_path).stderr == "phaselect: none.npz: no such file\n"


def test_every_status_has_an_exit_code():
    assert set(CODES) == set(phaselect.Status)
    shown = run("solve", "--help").stdout
    assert all(f"  {code} " in shown for code in {2, *CODES.values()})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "missing.npz"], "no such file"),
        (["solve", "garbage.npz"], "is not an .npz archive"),
        (["solve", "inst.npz", "y.csv", "z.csv"], "or two files: A and y"),
        (["solve", "inst.npz", "--out", "never.xlsx"], "name the file .npz, .json, .csv, .npy or .mat"),
        (["solve", "inst.npz", "--time-limit", -1], "time_limit"),
        (["solve", "inst.npz", "--seed", -1], "seed"),
        (["solve", "inst.npz", "--noise", -0.1, "--solver", "sa"], "a variance, 0 or more"),
        (["solve", "inst.npz", "--noise", "loud"], "'loud' is not a valid float"),
        (["solve", "wide.npz", "--out", "never.npz"], "alpha = M/N exceeds 1"),
        (["solve", "inst.npz", "--out", "no/such/folder/x.npz"], "cannot write"),
        (["solve", "inst.npz", "--out", "inst.npz"], "would overwrite the data"),
        (["solve", "inst.npz", "--out", ""], "cannot write"),
        (["generate", "--n", 10, "--alpha", 0.01, "--out", "never.npz"], "there must be a measurement"),
        (["generate", "--n", 10, "--alpha", 1.5, "--out", "no/such/x.npz"], "cannot write"),
        ([*TOEPLITZ, "--parameter", "rho", "--out", "never.npz"], "give a name and a number, as rho=0.5"),
        ([*TOEPLITZ, "--parameter", "seed=1", "--out", "never.npz"], "ensemble toeplitz has rho"),
        (["demo", "--out", "never.docx"], "name the file .png, .pdf or .svg"),
        (["demo", "--alpha", 0.9, "--out", "never.png"], "has to exceed 1: give a larger --alpha\n"),
        (["generate", "--n", 10, "--alpha", 1.5, "--out", "never.txt"], "name the file .npz"),
        (["solve", "inst.npz", "--solver", "magic"], "Invalid value"),
        (["slove"], "No such command 'slove'. Did you mean 'solve'?"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(folder, arguments, message):
    (folder / "garbage.npz").write_bytes(b"garbage")
    np.savez(folder / "wide.npz", A=np.ones((2, 3)), y=np.ones(2))
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert not list(folder.glob("*never*"))


def test_demo_prints_its_table_and_draws(tmp_path):
    done = run("demo", "--n", 60, "--alpha", 1.6, "--out", tmp_path / "demo.png")
    assert done.returncode == 0, done.stderr
    for word in ("message passing", "simulated annealing", "population annealing", "Langevin", "mse_y", "seconds"):
        assert word in done.stdout
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_a_closed_pipe_is_no_crash(folder):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*PROGRAM, "solve", "inst.npz", "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("words", ["--version", "--help", "generate --n 5 --alpha 2 --out full.npz"])
def test_output_that_has_no_room_is_one_line(words, tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, *words.split()], stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False
        )
    assert (done.returncode, done.stderr) == (2, "phaselect: cannot write: No space left on device\n")


def test_closed_output_is_no_crash(tmp_path):
    command = f"{sys.executable} -m phaselect generate --n 5 --alpha 2 --out x.npz >&-"
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "x.npz").exists()


def test_names_from_a_file_cannot_command_the_terminal(tmp_path):
    np.savez(tmp_path / "evil.npz", **{"A": np.eye(2), "\x1b]0;owned\x07": np.ones(2)})
    done = run("solve", "evil.npz", cwd=tmp_path)
    assert done.returncode == 2
    assert "\\x1b]0;owned\\x07" in done.stderr
    assert done.stderr.rstrip("\n").isprintable()


def test_solve_on_a_device(folder, monkeypatch):
    """By the programs of `tests/solvers/test_on_device.py`, which need not be compiled again."""
    from tests.backends.shapes import PROBLEMS

    monkeypatch.setattr("phaselect.solvers.loop.temperatures_between_looks", lambda work, temperatures: 10)
    PROBLEMS[1].save(folder / "shared.npz")
    where = ["--solver", "amp", "--device", "cpu", "--dtype", "float64"]
    done = run("solve", "shared.npz", *where, "--out", "device.csv", cwd=folder)
    assert done.returncode == 0
    assert "recovered" in done.stdout
    assert run("solve", "inst.npz", "--dtype", "float64", "--json", cwd=folder).stderr.startswith(
        "phaselect: --dtype goes with"
    )


def test_a_rival_is_told_and_written(tmp_path):
    A, x0 = np.kron(np.eye(2), np.random.default_rng(0).standard_normal((6, 3))), np.arange(1.0, 7.0)
    np.savez(tmp_path / "blocks.npz", A=A, y=np.abs(A @ x0))
    done = run("solve", "blocks.npz", cwd=tmp_path)
    assert done.returncode == 3
    assert "another x" in done.stdout
    assert "--out result.npz writes it" in done.stdout
    done = run("solve", "blocks.npz", "--out", "x.npz", cwd=tmp_path)
    assert "in x.npz" in done.stdout
    with np.load(tmp_path / "x.npz") as saved:
        np.testing.assert_allclose(np.abs(A @ saved["rival"]), np.abs(A @ x0), rtol=1e-12)
        assert abs(saved["x"] @ saved["rival"]) < 0.99 * np.linalg.norm(saved["x"]) * np.linalg.norm(saved["rival"])


def test_rounded_data_are_said_to_be(tmp_path):
    """The precision that is advised is one with which the data are solved."""
    problem = phaselect.gaussian_instance(60, 2.0, seed=0)
    np.savez(tmp_path / "rounded.npz", A=problem.A.round(4), y=problem.y.round(4))
    done = run("solve", "rounded.npz", cwd=tmp_path)
    assert done.returncode == 4
    advice = re.search(r"if data are rounded, give (--rounding) (\S+),", done.stdout)
    assert float(advice[2]) == 1e-3
    done = run("solve", "rounded.npz", *advice.groups(), cwd=tmp_path)
    assert "fits the data exactly" in done.stdout or "recovered" in done.stdout
    assert "from the digits" not in done.stdout


@pytest.mark.parametrize("digits", [6, 9, 12])
def test_texts_tell_their_own_precision(tmp_path, digits):
    """As a spreadsheet writes them, with decimal commas."""
    problem = phaselect.gaussian_instance(40, 1.5, seed=3)
    for name, array in (("A", problem.A), ("y", problem.y[:, None])):
        rows = (";".join(f"{value:.{digits}f}".replace(".", ",") for value in row) for row in array)
        (tmp_path / f"{name}.csv").write_text("\n".join(rows))
    done = run("solve", "A.csv", "y.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    report = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert report["rounding"].endswith(", from the digits in the files")
    assert 0.1 < float(report["rounding"].split(",")[0]) * 10.0**digits < 10
    assert distance(read_array(tmp_path / "x.csv")[:, 0], problem.x0) < 100 * 10.0**-digits


def test_what_is_no_answer_does_not_stand_in_the_way(tmp_path):
    """The best so far is replaced by the next; an answer is not."""
    phaselect.gaussian_instance(100, 1.3, seed=0).save(tmp_path / "inst.npz")
    for seed in (0, 1):
        done = run("solve", "inst.npz", "--solver", "sa", "--time-limit", 0.001, "--seed", seed, cwd=tmp_path)
        assert done.returncode == 4, done.stderr
        assert done.stdout.splitlines()[-1].split(maxsplit=1) == ["wrote", "x_best.csv, the best so far"]
        assert [path.name for path in tmp_path.glob("*.csv")] == ["x_best.csv"]
    before = (tmp_path / "x_best.csv").read_bytes()
    assert run("solve", "inst.npz", cwd=tmp_path).returncode == 0
    assert (tmp_path / "x_best.csv").read_bytes() == before
    done = run("solve", "inst.npz", cwd=tmp_path)
    assert (done.returncode, "x.csv is there already" in done.stderr) == (2, True)


def test_the_destination_is_looked_at_before_the_data(tmp_path):
    for name in ("A.csv", "y.csv", "x.csv"):
        (tmp_path / name).write_text("not numbers, 1\nnor these, 2\n")
    assert "x.csv is there already" in run("solve", "A.csv", "y.csv", cwd=tmp_path).stderr
    (tmp_path / "x.csv").unlink()
    (tmp_path / "x_best.csv").write_text("1\n2\n")
    assert "name the data otherwise" in run("solve", "A.csv", "x_best.csv", cwd=tmp_path).stderr


def test_what_was_generated_with_noise_is_to_be_solved_with_it(tmp_path):
    done = run("generate", "--n", 20, "--alpha", 2, "--noise", 0.01, "--out", "n.npz", cwd=tmp_path)
    assert done.stdout.strip().endswith("solve it with --noise 0.01")


@pytest.fixture(scope="module")
def complex_data():
    """A, y and x of a complex problem."""
    rng = np.random.default_rng(0)
    A, x = rng.standard_normal((2, 90, 20)), rng.standard_normal((2, 20))
    A, x = A[0] + 1j * A[1], x[0] + 1j * x[1]
    return A, np.abs(A @ x), x


def distance(found, x):
    """Up to a global phase."""
    return np.linalg.norm(found * np.vdot(found, x) / abs(np.vdot(found, x)) - x) / np.linalg.norm(x)


def test_complex_numbers_from_any_file(complex_data, tmp_path):
    A, y, x = complex_data
    np.savez(tmp_path / "c.npz", A=A, y=y)
    for name, array in (("A", A), ("y", y)):
        np.save(tmp_path / f"{name}.npy", array)
        np.savetxt(tmp_path / f"{name}.csv", array, delimiter=",")
    savemat(tmp_path / "c.mat", {"A": A, "y": y})
    for files in (["c.npz"], ["c.mat"], ["A.npy", "y.npy"], ["A.csv", "y.csv"]):
        done = run("solve", *files, "--out", "x.npz", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        report = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
        assert report["status"].startswith("fits the data exactly")
        assert report["certified"] == "no"
        with np.load(tmp_path / "x.npz") as saved:
            assert distance(saved["x"], x) < 1e-12
            np.testing.assert_allclose(saved["signs"] * y, A @ saved["x"], atol=1e-12)


def test_a_complex_x_can_be_read_again(complex_data, tmp_path):
    A, y, x = complex_data
    np.savez(tmp_path / "c.npz", A=A, y=y)
    assert run("solve", "c.npz", cwd=tmp_path).returncode == 0
    assert distance(read_array(tmp_path / "x.csv")[:, 0], x) < 1e-12
    result = phaselect.solve(A, y)
    result.save(tmp_path / "again.csv")
    np.testing.assert_array_equal(read_array(tmp_path / "again.csv")[:, 0], result.x)


def test_x_is_said_to_be_real(complex_data, tmp_path):
    A, x = complex_data[0][:35], complex_data[2].real
    np.savez(tmp_path / "r.npz", A=A, y=np.abs(A @ x))
    assert "if x is real, say so: --real" in run("solve", "r.npz", "--json", cwd=tmp_path).stderr
    record = json.loads(run("solve", "r.npz", "--real", "--json", cwd=tmp_path).stdout)
    assert record["status"] == "LOCALLY_UNIQUE"
    assert distance(np.array(record["x"]), x) < 1e-12


def test_photons_are_counted(complex_data, tmp_path):
    A, y, x = complex_data
    np.savez(tmp_path / "n.npz", A=10 * A, y=np.random.default_rng(1).poisson((10 * y) ** 2))
    done = run("solve", "n.npz", "--counts", "--out", "x.npz", cwd=tmp_path)
    assert "estimate for noisy data" in done.stdout
    with np.load(tmp_path / "x.npz") as saved:
        assert saved["noise"] == 0.25
        assert distance(saved["x"], x) < 0.02
    assert "leave out --noise" in run("solve", "n.npz", "--counts", "--noise", 1, "--json", cwd=tmp_path).stderr
