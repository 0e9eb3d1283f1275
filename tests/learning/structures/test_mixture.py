import numpy as np
import pytest
from scipy.integrate import quad

from relvec.learning.structures.mixture import Normal, StructureMixture
from relvec.learning.structures.rows import OutputScaling
from relvec.learning.structures.transforms import TRANSFORMS


def make_mixture():
    members = [
        Normal(OutputScaling(TRANSFORMS["identity"], 5.0, 2.0), np.array([0.3]), np.array([0.5])),
        Normal(OutputScaling(TRANSFORMS["log"], 1.0, 0.5), np.array([1.0]), np.array([0.7])),
        Normal(OutputScaling(TRANSFORMS["sqrt"], 2.0, 0.4), np.array([-0.5]), np.array([0.6])),
    ]
    return StructureMixture(members, np.array([0.5, 0.3, 0.2]))


def test_density_integrates_to_the_distribution_function():
    mixture = make_mixture()
    density = lambda y: float(np.exp(mixture.log_density(np.array([y])))[0])  # noqa: E731
    for y in (2.0, 5.0, 9.0):
        below = quad(density, -20.0, 0.0)[0] + quad(density, 1e-12, y, limit=200)[0]
        assert np.isclose(below, mixture.cdf(np.array([y]))[0], atol=1e-6)


@pytest.mark.parametrize("level", [0.001, 0.025, 0.3, 0.5, 0.975])
def test_quantile_inverts_the_distribution_function(level):
    mixture = make_mixture()
    assert np.isclose(mixture.cdf(mixture.quantile(level))[0], level, atol=1e-9)


def test_draws_follow_the_distribution():
    mixture = make_mixture()
    draws = mixture.sample(40_000, random_state=0)
    for level in (0.05, 0.5, 0.95):
        assert abs(np.mean(draws[0] <= mixture.quantile(level)[0]) - level) < 0.006


def test_one_normal_member():
    output = OutputScaling(TRANSFORMS["identity"], 10.0, 2.0)
    mixture = StructureMixture([Normal(output, np.array([1.0]), np.array([0.5]))], np.ones(1))
    assert np.isclose(mixture.centre[0], 12.0)
    assert np.isclose(mixture.std[0], 1.0)
    np.testing.assert_allclose(mixture.interval(0.95)[0], [12 - 1.96, 12 + 1.96], atol=1e-3)


def test_targets_outside_the_domain_have_no_density():
    output = OutputScaling(TRANSFORMS["log"], 0.0, 1.0)
    normal = Normal(output, np.zeros(2), np.ones(2))
    mixture = StructureMixture([normal], np.ones(1))
    target = np.array([-1.0, 1.0])
    assert mixture.log_density(target)[0] == -np.inf
    np.testing.assert_allclose(mixture.cdf(target), [0.0, 0.5])


def test_square_roots_below_zero_are_a_target_of_zero():
    output = OutputScaling(TRANSFORMS["sqrt"], 0.0, 1.0)
    normal = Normal(output, np.array([-1.0]), np.ones(1))
    assert normal.quantile(0.1)[0] == 0.0
    assert normal.cdf(np.array([0.0]))[0] > 0.5
    assert normal.cdf(np.array([-1e-9]))[0] == 0.0
