import numpy as np
from scipy.optimize import minimize

from relvec.learning.structures.stacking import stack_densities, stack_means


def test_weights_of_densities_maximise_the_log_mixture():
    rng = np.random.default_rng(0)
    log_density = rng.normal(size=(3, 200)) + np.array([[0.0], [0.2], [-0.5]])
    weight = rng.integers(1, 4, size=200).astype(float)

    def loss(free):
        w = np.exp(np.append(free, 0.0))
        w /= w.sum()
        return -weight @ np.log(w @ np.exp(log_density))

    best = minimize(loss, np.zeros(2), tol=1e-12).x
    expected = np.exp(np.append(best, 0.0)) / np.exp(np.append(best, 0.0)).sum()
    found = stack_densities(log_density, weight, n_steps=5000)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_weight_two_is_a_row_given_twice():
    rng = np.random.default_rng(1)
    log_density, target = rng.normal(size=(4, 30)), rng.normal(size=30)
    predicted = target + rng.normal(size=(4, 30))
    fold = np.repeat([0, 1, 2], 10)
    weight = rng.integers(1, 3, size=30)
    twice = np.repeat(np.arange(30), weight)
    ones = np.ones(len(twice))
    np.testing.assert_allclose(
        stack_densities(log_density, weight.astype(float)),
        stack_densities(log_density[:, twice], ones),
        atol=1e-12,
    )
    np.testing.assert_allclose(
        stack_means(predicted, target, fold, weight.astype(float)),
        stack_means(predicted[:, twice], target[twice], fold[twice], ones),
        atol=1e-9,
    )


def test_impossible_targets_do_not_break_the_weights():
    log_density = np.array([[0.0, -np.inf, -1.0], [-1.0, -np.inf, -np.inf]])
    weights = stack_densities(log_density, np.ones(3))
    assert np.isclose(weights.sum(), 1.0)
    assert weights[0] > weights[1]
    nothing = stack_densities(np.full((2, 3), -np.inf), np.ones(3))
    np.testing.assert_allclose(nothing, 0.5)


def test_combination_of_means_has_the_smallest_error():
    rng = np.random.default_rng(2)
    target = rng.normal(size=400)
    first, second = target + rng.normal(size=400), target + rng.normal(size=400)
    useless = target + 10.0 * rng.normal(size=400)
    weights = stack_means(
        np.array([first, second, useless]), target, np.zeros(400, int), np.ones(400)
    )
    assert np.isclose(weights.sum(), 1.0)
    assert abs(weights[0] - 0.5) < 0.1
    assert weights[2] < 0.02


def test_fold_of_large_errors_does_not_dominate():
    rng = np.random.default_rng(3)
    fold = np.repeat([0, 1], 100)
    scale = np.where(fold == 0, 1.0, 1000.0)
    target = np.zeros(200)
    good_in_first = rng.normal(size=200) * scale * np.where(fold == 0, 0.1, 1.0)
    good_in_second = rng.normal(size=200) * scale * np.where(fold == 1, 0.5, 1.0)
    weights = stack_means(np.array([good_in_first, good_in_second]), target, fold, np.ones(200))
    assert weights[0] > 0.5
