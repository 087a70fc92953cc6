"""Seconds of a whole population anneal, compiled before: what a kernel comes to from the first temperature to the last.

python -m benchmarks.whole_anneal [--device gpu] [--copies 4096,65536]

Uses what is public alone: PYTHONPATH=OTHER/src:. times another revision, on the same instance.
"""

from __future__ import annotations

import argparse

from phaselect import InputError, PopulationAnnealing, gaussian_instance

N, ALPHA = 400, 1.12


def main(arguments: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu", help="where to anneal (default: cpu)")
    parser.add_argument("--copies", type=counts, default="4096,65536", help="how many (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        for copies in options.copies:
            found = seconds(copies, options.device)
            print(
                f"N = {N}, alpha = {ALPHA}, {copies} copies: {found:.2f} s on the {options.device.upper()}", flush=True
            )
    except InputError as error:
        parser.error(str(error))


def counts(text: str) -> list[int]:
    """Numbers with commas between."""
    return [int(number) for number in text.split(",")]


def seconds(copies: int, device: str) -> float:
    """Of the second of two anneals, followed to their end: the first one compiles."""
    problem = gaussian_instance(N, ALPHA, seed=0)
    problem = problem.to_device(device) if device == "gpu" else problem
    solver = PopulationAnnealing(copies, eager=False)
    return [solver.run(problem, seed=seed).seconds for seed in (0, 1)][-1]


if __name__ == "__main__":
    main()
