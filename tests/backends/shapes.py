"""Instances that tests with JAX share: compiling is what takes their time, so they have one shape and few schedules."""

import jax
import numpy as np

from phaselect import AMP, Instance, Schedule

N, ROWS, BATCH = 40, 55, 6
"""Hard enough that some fail; rows that no two devices can share equally, and that fill no blocks."""


def own_instance(seed):
    """A Gaussian one that stays what it is, whatever a seed comes to mean in the package."""
    draw_A, draw_x = (np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k,))) for k in (1, 2))
    A, x0 = draw_A.standard_normal((ROWS, N)) / np.sqrt(N), draw_x.standard_normal(N)
    x0 *= np.sqrt(N) / np.linalg.norm(x0)
    return Instance(A, np.abs(A @ x0), x0)


PROBLEMS = [own_instance(seed) for seed in range(24)]
PROBLEM = PROBLEMS[3]
PLAN = AMP().default_schedule()[:160]
ANNEAL = Schedule.matched(mu0=0.2, mu_max=40.0, eps=0.2, steps=4)[:30]
EXACT = {"device": "cpu", "dtype": "float64"}


def there(problem, dtype="float64"):
    """The problem as solvers see it, with A on a device."""
    return problem.to_device("cpu", dtype).normalised


def result_of(problem, function, *arguments):
    """What a function of a problem gives where its matrix is, as arrays of NumPy."""
    return jax.tree.map(np.asarray, problem.compiled(function)(problem, *arguments))


def random_signs(shape, seed=0):
    return np.random.default_rng(seed).choice([-1.0, 1.0], size=shape)


def narrowed(problem, unit=1.0):
    """A in float32, in another unit, with the measurements that this A makes."""
    A = (unit * problem.A).astype(np.float32)
    return Instance(A, np.abs(A.astype(float) @ problem.x0), problem.x0)


def unsolvable(seed):
    """An instance whose y belongs to no x."""
    return Instance(PROBLEMS[seed].A, np.abs(np.random.default_rng(seed).standard_normal(ROWS)))


def close_to(found, expected, sigmas=4):
    """The mean of independent runs is what is expected, or is the mean of other runs, within its standard error."""
    found, expected = np.asarray(found, float), np.atleast_1d(np.asarray(expected, float))
    variance = found.var(ddof=1) / found.size + (expected.var(ddof=1) / expected.size if expected.size > 1 else 0)
    return abs(found.mean() - expected.mean()) < sigmas * np.sqrt(variance)
