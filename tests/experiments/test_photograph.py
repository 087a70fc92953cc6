import numpy as np
import pytest

from phaselect import InputError, Status
from phaselect.experiments.photograph import recover_photograph, wave_front

PHOTO = np.add.outer(np.linspace(0, 0.4, 16) ** 2, np.linspace(0.1, 0.8, 12))


@pytest.mark.parametrize(
    ("real", "masks", "patterns"), [(False, "phase", None), (True, "phase", 3), (False, "octanary", 4)]
)
def test_a_photograph_is_recovered_to_rounding(real, masks, patterns):
    taken = recover_photograph(PHOTO, patterns, real=real, masks=masks)
    assert taken.result.status is Status.LOCALLY_UNIQUE
    assert taken.patterns.shape == (patterns or 3, 16, 12)
    assert taken.error < 1e-12
    np.testing.assert_allclose(taken.picture, PHOTO, atol=1e-12)
    np.testing.assert_allclose(taken.estimate, PHOTO if real else PHOTO * wave_front(16, 12), atol=1e-12)


def test_real_light_needs_two_patterns_by_default():
    assert len(recover_photograph(PHOTO, real=True).patterns) == 2


@pytest.mark.parametrize("noise", [{"snr": 30.0}, {"photons": 250.0}])
def test_noise_leaves_the_error_that_it_must(noise):
    """250 photons have magnitudes of sqrt(250), whose noise, of variance 1/4, is 30 dB below."""
    taken = recover_photograph(PHOTO, 4, **noise)
    assert taken.result.status is Status.ESTIMATE
    expected = np.sqrt(np.sum(taken.result.x_std**2) / np.sum(abs(taken.result.x) ** 2))
    assert expected == pytest.approx(0.039, abs=0.003)
    assert taken.error == pytest.approx(expected, rel=0.2)
    assert np.linalg.norm(taken.picture - PHOTO) < taken.error * np.linalg.norm(PHOTO)


def test_the_wave_front_turns_once_from_the_centre_to_an_edge():
    phases = np.unwrap(np.angle(wave_front(101, 3)[:, 1]))
    assert phases[50] == pytest.approx(phases.min())
    assert phases[[0, -1]] - phases[50] == pytest.approx(2 * np.pi)


def test_the_seed_is_of_masks_and_noise():
    small, noisy = PHOTO[:6, :6], {"real": True, "snr": 30.0}
    one, same, other = (recover_photograph(small, 4, seed=seed, **noisy).patterns for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert abs(one - other).max() > 0.01


@pytest.mark.parametrize(
    ("photo", "options", "message"),
    [
        (PHOTO[0], {}, "2-D array of brightness"),
        (PHOTO - 1, {}, "0 or more"),
        (0 * PHOTO, {}, "all black"),
        (PHOTO * np.nan, {}, "must be finite"),
        (PHOTO, {"patterns": 1}, "give 2 or more; complex light needs 3"),
        (PHOTO, {"snr": 1.0}, "decibels"),
        (PHOTO, {"photons": 0.0}, "mean number"),
        (PHOTO, {"snr": 30.0, "photons": 9.0}, "give one of them"),
        (PHOTO, {"masks": "binary"}, "behind zeros of every mask"),
    ],
)
def test_bad_input(photo, options, message):
    with pytest.raises(InputError, match=message):
        recover_photograph(photo, **options)
