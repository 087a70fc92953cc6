"""How much is measured: sizes for a CPU and a GPU, whole or quick."""

from __future__ import annotations

from dataclasses import dataclass

ALPHAS = (1.15, 1.2, 1.3, 1.5, 2.0)
NOT_IID = ("toeplitz", "uneven_rows", "uneven_columns", "biased", "sparse")


@dataclass(frozen=True)
class Plan:
    """Sizes of everything that is measured."""

    kernels: tuple[int, ...]
    iterations: tuple[int, ...]  # N of the single AMP iterations
    batches: tuple[tuple[int, int], ...]  # N and the number of instances
    precisions: tuple[str, ...]  # of both
    solutions: tuple[int, ...]
    alphas: tuple[float, ...]
    rivals_up_to: int  # N
    instances: int  # solved at each N and alpha
    time_limit: float  # seconds per solve, up to N = 1000
    growth: tuple[int, ...]
    finish: tuple[tuple[int, float, float | None], ...] = ()  # N, alpha, seconds wanted; A must grow
    shares: tuple[tuple[int, float, int, float | None], ...] = ()  # N, alpha, instances, least share wanted
    kinds: tuple[tuple[int, float, int, tuple[str, ...], float], ...] = ()  # N, alpha, instances, which, times an SVD
    huge_kinds: tuple[tuple[str, int, float], ...] = ()  # kind, N, alpha: as an operator, or on the device
    annealers_memory: tuple[int, ...] = ()  # N of the peaks of memory of SVD and SA
    comparisons: tuple[int, ...] = ()  # N of the Metropolis kernels against the paper's pseudo-code and one another
    measuring: tuple[int, ...] = ()  # N of the runs whose measuring is timed
    instances_per_sweep: int = 0  # at each of three alphas
    fresh_processes: int = 0  # per time of a start
    whole: bool = False  # with the rows that take tens of seconds

    def instances_at(self, n: int) -> int:
        """Two at most beyond N = 1000, one beyond 3000."""
        return min(self.instances, 1 if n > 3000 else 2 if n > 1000 else self.instances)

    def time_limit_at(self, n: int) -> float:
        """More where an iteration takes long."""
        return max(self.time_limit, 60.0 if n > 5000 else 6.0 if n > 1000 else 0.0)


PLANS = {
    ("cpu", False): Plan(
        kernels=(200, 400, 800),
        iterations=(3200, 10_000),
        batches=((200, 64), (400, 64)),
        precisions=("float32", "float64"),
        solutions=(200, 400, 800, 1600, 3200),
        alphas=ALPHAS,
        rivals_up_to=3200,
        instances=3,
        time_limit=2.0,
        growth=(400, 800, 1600, 3200),
        finish=tuple((n, alpha, None) for n in (1600, 3200, 6000) for alpha in (1.2, 1.3, 2.0)),
        shares=((400, 1.2, 100, 0.95), (400, 1.15, 20, None)),
        kinds=((300, 1.5, 20, (), 6.0), (1000, 1.4, 3, NOT_IID, 6.0), (3000, 1.4, 1, NOT_IID, 3.0)),
        huge_kinds=(("dct", 2**20, 2.0), ("dct", 2**20, 1.8)),
        annealers_memory=(2000,),
        comparisons=(100, 200, 400, 800),
        measuring=(100, 400, 800),
        instances_per_sweep=300,
        fresh_processes=10,
        whole=True,
    ),
    ("cpu", True): Plan(
        kernels=(200, 400),
        iterations=(3200,),
        batches=((200, 16),),
        precisions=("float32", "float64"),
        solutions=(200, 400),
        alphas=(1.3, 2.0),
        rivals_up_to=3200,
        instances=2,
        time_limit=1.0,
        growth=(300, 600, 1200),
        finish=((1600, 1.3, None),),
        kinds=((300, 1.5, 4, (), 6.0),),
        annealers_memory=(1000,),
        comparisons=(200,),
        measuring=(100, 400),
        instances_per_sweep=20,
        fresh_processes=3,
    ),
    ("gpu", False): Plan(
        kernels=(200, 400),
        iterations=(10_000, 100_000),
        batches=((400, 1024), (1600, 64)),
        precisions=("float32",),
        solutions=(400, 3200, 30_000, 100_000),
        alphas=(1.15, 1.2, 1.3, 2.0),
        rivals_up_to=3200,
        instances=3,
        time_limit=3.0,
        growth=(3200, 10_000, 30_000, 100_000),
        finish=((10_000, 1.3, None), (100_000, 1.15, 10.0), (100_000, 1.3, 5.0)),
        huge_kinds=(("toeplitz", 20_000, 1.4),),
    ),
    ("gpu", True): Plan(
        kernels=(200,),
        iterations=(10_000,),
        batches=((200, 256),),
        precisions=("float32", "float64"),
        solutions=(400, 10_000),
        alphas=(1.3, 2.0),
        rivals_up_to=800,
        instances=2,
        time_limit=2.0,
        growth=(3200, 10_000, 30_000),
        finish=((10_000, 1.3, None),),
    ),
}
"""Plans by device and by whether it is to be quick; a section that a plan has no sizes for has no rows."""
