"""Groups of measurements: what each leaves is the sum of what its members leave."""

import numpy as np
from scipy.linalg import block_diag

from phaselect import Instance
from phaselect.solvers.certificate import groups
from phaselect.solvers.certificate.close_look import looks


def look_at(A, x):
    problem = Instance(A, np.abs(A @ x))
    return next(looks(problem.normalised, x / problem.units.x_scale))


def test_what_a_group_leaves_is_what_its_members_leave():
    rng = np.random.default_rng(0)
    look = look_at(rng.standard_normal((14, 9)), rng.standard_normal(9))
    alone = np.diag(look.v) - look.Q @ look.Q.T * look.v
    stacks = list(groups._flips(look))
    assert [stack.left.shape[1] for stack in stacks] == [26] + 6 * [13]
    for left, members in stacks:
        for k in range(left.shape[1]):
            group = members(k)
            assert 0 < group.sum() < 14
            np.testing.assert_allclose(left[:, k], alone[:, group].sum(axis=1), atol=1e-12 * np.abs(look.v).max())


def test_a_block_is_a_group_that_can_be_flipped():
    rng = np.random.default_rng(1)
    A, x = block_diag(rng.standard_normal((9, 5)), rng.standard_normal((8, 4))), rng.standard_normal(9)
    look = look_at(A, x)
    rival = look.first_rival(groups.rivals(look))
    expected = look.x * np.where(np.arange(9) < 5, 1, -1)
    np.testing.assert_allclose(rival * np.sign(rival[0] * expected[0]), expected, rtol=1e-10)
