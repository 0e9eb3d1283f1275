"""Group shrinkage: the closed form, the group penalty, the derivative in Stein's estimate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from relvec.denoising import DenoisingTuning
from relvec.denoising.frame import Band
from relvec.denoising.group_shrinkage import compute_group_penalty, shrink_band
from relvec.solvers.gaussian.shrinkage import shrinkage


def band(axes, wraps=True, share=0.5):
    return Band("test", share, axes, wraps)


@pytest.mark.parametrize("c", [0.0, 0.5, 1.0, 3.47, 8.0])
@pytest.mark.parametrize("size", [1, 3, 9, 25, 27])
def test_penalty_of_a_group(c, size):
    """A group has the false-positive rate of one coefficient, or a lower one at zero penalty."""
    penalty = compute_group_penalty(c, size)
    single = chi2.sf(1.0 + 2.0 * c, 1)
    group = chi2.sf(size + 2.0 * penalty, size)
    assert penalty >= 0.0
    if penalty > 0.0:
        assert group == pytest.approx(single)
    else:
        assert group <= single


@pytest.mark.parametrize("c", [0.0, 1.0, 3.47])
def test_width_one_is_the_orthonormal_rule(c):
    random = np.random.default_rng(0)
    values, noise = random.normal(size=(4, 20)) * 3, 0.7
    inside = noise * random.uniform(size=values.shape)
    for axes in ((), (1,), (0, 1)):
        result = shrink_band(values, noise, inside, c, band(axes), width=1)
        kappa = shrinkage(values**2 / noise, c)
        np.testing.assert_allclose(result.factor, kappa, atol=1e-14)
        np.testing.assert_allclose(result.values, kappa * values, atol=1e-14)
        assert result.effective_dof == pytest.approx(0.5 * (inside / noise * kappa).sum())
        assert result.group_c == c


@pytest.mark.parametrize("size", [2, 3, 9])
@pytest.mark.parametrize("c", [0.0, 1.5, 4.0])
def test_closed_form_of_a_group_maximises_its_evidence(size, c):
    """m coefficients with one precision and one penalty of c."""
    random = np.random.default_rng(size)
    noise = 0.5
    for scale in (0.5, 1.0, 2.0, 5.0):
        z = scale * random.normal(size=size)

        def objective(kappa, z=z):
            # under the prior each coefficient has variance noise / (1 - kappa)
            variance = noise / (1.0 - kappa)
            log_normal = -0.5 * (np.log(2 * np.pi * variance) + z**2 / variance)
            return log_normal.sum() - c * kappa

        best = minimize_scalar(
            lambda kappa: -objective(kappa), bounds=(0, 1 - 1e-9), options={"xatol": 1e-12}
        )
        kappa = float(shrinkage(np.mean(z**2) / noise, c / size))
        assert kappa == pytest.approx(best.x, abs=1e-4)
        assert objective(kappa) >= -best.fun - 1e-9


def test_a_window_as_wide_as_the_band_is_one_disjoint_group():
    values = np.random.default_rng(1).normal(size=(5, 3)) * [[0.5], [1], [2], [3], [9]]
    result = shrink_band(values, 1.0, np.ones((5, 3)), 2.0, band((1,)), width=3, group_c=2.0)
    expected = shrinkage((values**2).mean(axis=1), 2.0 / 3)
    np.testing.assert_allclose(result.factor, np.repeat(expected[:, None], 3, axis=1))


CASES = [
    ((2, 12), (1,), True, 3),
    ((2, 12), (1,), False, 3),
    ((2, 12), (1,), False, 5),
    ((3, 9), (1,), False, 9),
    ((2, 8), (1,), False, 7),
    ((2, 5), (1,), True, 5),
    ((2, 2), (1,), False, 3),
    ((1, 6, 7), (1, 2), True, 3),
    ((2, 6, 2, 7), (1, 3), False, 5),
    ((1, 5, 4, 5), (1, 2, 3), True, 3),
    ((1, 9, 2, 4), (1, 2, 3), True, 5),
    ((3, 10), (), True, 3),
]


@pytest.mark.parametrize("heteroscedastic", [False, True])
@pytest.mark.parametrize(("shape", "axes", "wraps", "width"), CASES)
def test_windows_against_padding(shape, axes, wraps, width, heteroscedastic):
    random = np.random.default_rng(2)
    values = 2.0 * random.normal(size=shape)
    noise = random.uniform(0.5, 2.0, size=shape) if heteroscedastic else 0.8
    result = shrink_band(values, noise, np.ones(shape), 1.0, band(axes, wraps), width, group_c=1.0)
    window = [min(width, n - (n + 1) % 2) if axis in axes else 1 for axis, n in enumerate(shape)]
    margins = [(each // 2,) * 2 for each in window]
    padded = np.pad(values**2 / noise, margins, mode="wrap" if wraps else "symmetric")
    means = np.lib.stride_tricks.sliding_window_view(padded, window).mean(
        axis=tuple(range(-len(shape), 0))
    )
    expected = shrinkage(means, 1.0 / np.prod(window))
    np.testing.assert_allclose(result.factor, expected, atol=1e-12)


@pytest.mark.parametrize("heteroscedastic", [False, True])
@pytest.mark.parametrize(("shape", "axes", "wraps", "width"), CASES)
def test_slope_against_finite_differences(shape, axes, wraps, width, heteroscedastic):
    """The divergence is the sum of d value_k / d data_k, weighted by `inside`.

    Under a mirrored window a coefficient near the end is counted twice in its own group.
    """
    random = np.random.default_rng(3)
    values = 2.0 * random.normal(size=shape)
    noise = random.uniform(0.5, 2.0, size=shape) if heteroscedastic else 0.8
    inside = random.uniform(size=shape)
    described = band(axes, wraps)

    def shrunk(data):
        return shrink_band(data, noise, inside, 1.0, described, width, group_c=1.0)

    step, slope = 1e-6, np.zeros(shape)
    for place in np.ndindex(*shape):
        moved = values.copy()
        moved[place] += step
        above = shrunk(moved).values[place]
        moved[place] -= 2 * step
        slope[place] = (above - shrunk(moved).values[place]) / (2 * step)
    expected = described.shift_fraction * (inside * slope).sum()
    assert shrunk(values).divergence == pytest.approx(expected, rel=1e-6)


def stein(values, noise, inside, c, described, width, penalty):
    """Stein's estimate up to constants: squared change plus `stein_factor` times the derivative."""
    result = shrink_band(values, noise, inside, c, described, width, penalty)
    change = float((inside * (result.values - values) ** 2 / noise).sum())
    return change + DenoisingTuning.stein_factor * result.divergence / described.shift_fraction


@pytest.mark.parametrize("density", [0.0, 0.02, 0.3, 1.0])
def test_the_chosen_group_penalty_has_the_lower_risk_estimate(density):
    random = np.random.default_rng(4)
    c, noise, described = 4.0, 1.5, band((1,))
    values = np.sqrt(noise) * random.normal(size=(4, 256))
    values += 4 * random.normal(size=values.shape) * (random.random(values.shape) < density)
    inside = noise * random.uniform(size=values.shape)
    penalties = (c, compute_group_penalty(c, 3))
    risks = [stein(values, noise, inside, c, described, 3, penalty) for penalty in penalties]
    chosen = shrink_band(values, noise, inside, c, described, 3).group_c
    assert chosen == penalties[int(np.argmin(risks))]
    if density == 1.0:
        assert chosen == c  # dense content: the lower penalty
    if density == 0.0:
        assert chosen == penalties[1]


def test_array_of_equal_noise_equals_a_number():
    random = np.random.default_rng(5)
    values, inside = 2.0 * random.normal(size=(3, 30)), random.uniform(size=(3, 30))
    one = shrink_band(values, 0.6, inside, 2.0, band((1,), False), 5)
    many = shrink_band(values, np.full((3, 30), 0.6), inside, 2.0, band((1,), False), 5)
    np.testing.assert_allclose(many.values, one.values)
    assert many[2:] == pytest.approx(one[2:])


def test_input_is_not_overwritten():
    values = np.random.default_rng(6).normal(size=(2, 16)) * 3
    kept = values.copy()
    for width in (1, 3):
        shrink_band(values, 1.0, np.ones((2, 16)), 1.0, band((1,)), width)
    np.testing.assert_array_equal(values, kept)
