"""Fuzzes the certificate: instances of many kinds, each answer checked against all signs or a search for rivals.

Exit code 1 when a certified answer is wrong or not the only one, when what is called a rival is none, when a search
that starts at an exact answer denies that it is one, on a crash, or when more than 1 % of those due are refused.

The table: instances, and how many of them have a rival (ambiguous); answers, from the truth, from a rival, from the
nearest that does not fit and, of one instance in eight, from nothing; answers that fit, that are certified, by which
certificate; right answers in general position (due) and how many of them were not certified (refused); failures.
Instances of more than 41 unknowns (large) and 200 measurements (long) are where nobody can try all signs.
"""

import argparse
import os
import signal
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tests.fuzz.cases import all_cases, case_of
from tests.fuzz.kinds import NAMES
from tests.fuzz.signals import SIGNALS
from tests.fuzz.trial import FAILURES, outcome_of, too_many_refused

EXAMPLE = """example:
  python -m tests.fuzz --instances 500 --kinds mirrored,waves --signals padded
  python -m tests.fuzz --only mirrored:padded:3      (an instance that has failed, once more)

kinds:
  {}
signals:
  {}"""
COLUMNS = (
    "instances",
    "large",
    "long",
    "ambiguous",
    "answers",
    "fits",
    "enumerated",
    "general position",
    "due",
    "refused",
    *FAILURES,
)


def main(arguments=None):
    options = parser().parse_args(arguments)
    made = all_cases(options.instances, options.kinds, options.signals, options.seed)
    cases = [options.only] if options.only else list(made)
    try:
        totals, failed = run(cases, options.processes)
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    everything = sum(totals.values(), Counter())
    print_table(totals, everything)
    return 1 if failed or too_many_refused(everything) else 0


def parser():
    made = argparse.ArgumentParser(
        "python -m tests.fuzz",
        description=__doc__,
        epilog=EXAMPLE.format(", ".join(NAMES), ", ".join(SIGNALS)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--instances", type=int, default=10_000, help="how many (default: %(default)s)")
    made.add_argument("--kinds", type=some_of(NAMES), default=NAMES, metavar="A,B", help="of matrix (default: all)")
    made.add_argument("--signals", type=some_of(SIGNALS), default=list(SIGNALS), metavar="A,B", help="(default: all)")
    made.add_argument("--seed", type=int, default=0, help="of the first instances (default: %(default)s)")
    made.add_argument("--processes", type=int, default=os.cpu_count(), help="(default: one for each core)")
    made.add_argument("--only", type=case_of, metavar="KIND:SIGNAL:SEED", help="a single instance")
    return made


def some_of(names):
    def chosen(text):
        unknown = set(text.split(",")) - set(names)
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: there is {', '.join(names)}")
        return text.split(",")

    return chosen


def run(cases, processes):
    """Counts by kind, and how many failures; these are printed as they come."""
    totals, failed, started = defaultdict(Counter), 0, time.monotonic()
    for done, outcome in enumerate(outcomes(cases, processes), start=1):
        totals[outcome.kind].update(outcome.counts)
        failed += outcome.failed
        print("".join(f"{remark}\n" for remark in outcome.remarks), end="", flush=True)
        if done % 20 == 0 or done == len(cases):
            seconds = time.monotonic() - started
            print(f"\r{done} of {len(cases)}, {failed} failed, {seconds:.0f} s ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return totals, failed


def outcomes(cases, processes):
    if processes == 1:
        yield from map(outcome_of, cases)
        return
    with ProcessPoolExecutor(processes, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        yield from pool.map(outcome_of, cases)


def print_table(totals, everything):
    print(" " * 20 + "".join(f"  {name}" for name in COLUMNS))
    for kind, counts in [*sorted(totals.items()), ("all", everything)]:
        print(f"{kind:20}" + "".join(f"  {counts[name]:{len(name)}}" for name in COLUMNS))


if __name__ == "__main__":
    sys.exit(main())
