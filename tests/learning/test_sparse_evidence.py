"""The evidence of a sparse model in its scales, against dense matrices and differences."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from relvec.kernels import Laplacian, ScaledInputs
from relvec.learning.sparse_evidence import SparseEvidence
from tests.helpers_priors import objective as objective_with

RNG = np.random.default_rng(6)
N, P = 18, 3
X = RNG.normal(size=(N, P))
T = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 2.0 + 0.2 * RNG.normal(size=N)
CENTERS = X[[0, 4, 7, 11]]
LINES = X[:, [1, 2]] * [1.0, 3.0]
NO_LINES = np.empty((N, 0))
SCALE = np.array([0.6, 0.25, 0.05])
WEIGHT = np.tile([1.0, 2.0, 0.5], 6)


def dense(centre, weight, objective, kernel, others, theta, scale, target=T):
    """Explicit covariance of the targets: raw atoms, weights of rows as inverse variances.

    Returns R, the log determinant, the degrees of freedom, what inverts the covariance in units
    of the noise (the flat intercept projected out), the raw atoms, their prior variances and norms.
    """
    w = np.ones(N) if weight is None else weight
    Phi = np.hstack([ScaledInputs(kernel, scale)(X, CENTERS), others])
    middle = (w @ Phi) / w.sum() if centre else np.zeros(Phi.shape[1])
    norm = np.sqrt((w[:, None] * (Phi - middle) ** 2).sum(axis=0))
    prior = 1.0 / (np.exp(theta) * norm**2)
    C = np.diag(1.0 / w) + (Phi * prior) @ Phi.T
    inverse = np.linalg.inv(C)
    log_det = np.linalg.slogdet(C)[1] + np.log(w).sum()
    if centre:
        ones = np.ones(N)
        total = ones @ inverse @ ones
        inverse = inverse - np.outer(inverse @ ones, inverse @ ones) / total
        log_det += np.log(total / w.sum())
    quadratic = target @ inverse @ target
    degrees = np.trace((Phi * prior) @ Phi.T @ inverse)
    return quadratic, log_det, degrees, inverse, Phi, prior, norm


def make(centre=True, weight=None, smoothness=0.0, noise=None, rate=0.0, kernel=None, others=None):
    kernel = RBF(0.9) if kernel is None else kernel
    others = LINES if others is None else others
    w = np.ones(N) if weight is None else weight
    middle = (w @ T) / w.sum() if centre else 0.0
    objective = objective_with(w.sum() - centre, w @ (T - middle) ** 2, smoothness, noise, rate)
    model = SparseEvidence(
        kernel, X, CENTERS, others, T, weight, centre=centre, objective=objective
    )
    return model, objective, kernel, others


CASES = {
    "flat": {},
    "no intercept": {"centre": False},
    "held noise": {"noise": 0.05},
    "smoothness": {"smoothness": 1.7},
    "smoothness, held noise": {"smoothness": 1.7, "noise": 0.05},
    "laplace": {"rate": 0.3},
    "laplace, held noise": {"rate": 0.3, "noise": 0.05},
    "weights": {"weight": WEIGHT},
    "weights, no intercept, smoothness": {"weight": WEIGHT, "centre": False, "smoothness": 0.7},
    "kernels only": {"others": NO_LINES},
    "matern": {"kernel": Matern(1.0, nu=1.5), "weight": WEIGHT},
    "laplacian": {"kernel": Laplacian(0.4)},
    "no known form": {"kernel": RBF([1.0, 2.0, 0.5])},
}


@pytest.fixture(params=list(CASES))
def case(request):
    options = CASES[request.param]
    model, objective, kernel, others = make(**options)
    theta = np.random.default_rng(1).normal(-1.0, 1.5, len(CENTERS) + others.shape[1])

    def matrices(theta, scale):
        return dense(
            options.get("centre", True), options.get("weight"), objective, kernel, others, theta,
            scale,
        )  # fmt: skip

    return model, objective, theta, matrices


def test_value_is_that_of_dense_matrices(case):
    model, objective, theta, matrices = case
    n, _, prior, noise = objective
    c, rate = prior.penalty, prior.rate

    def brute(theta, scale):
        quadratic, log_det, degrees, *_ = matrices(theta, scale)
        fit = n * np.log(quadratic) if noise is None else quadratic / noise
        return -0.5 * (fit + log_det) - c * degrees - 0.5 * rate * np.exp(-theta).sum()

    assert model.evaluate(theta, SCALE).objective == pytest.approx(brute(theta, SCALE), abs=1e-9)
    moved = theta[::-1].copy()
    assert model.evaluate(moved, 2.0 * SCALE).objective == pytest.approx(
        brute(moved, 2.0 * SCALE), abs=1e-9
    )


def test_derivatives(case):
    model, _, theta, _ = case
    point = model.evaluate(theta, SCALE)
    step = 1e-5
    for k, e in enumerate(step * np.eye(len(theta))):
        up, down = model.evaluate(theta + e, SCALE), model.evaluate(theta - e, SCALE)
        slope = (up.objective - down.objective) / (2 * step)
        assert point.theta[k] == pytest.approx(slope, rel=1e-5, abs=1e-6)
    for k, e in enumerate(step * np.eye(P)):
        up, down = model.evaluate(theta, SCALE + e), model.evaluate(theta, SCALE - e)
        slope = (up.objective - down.objective) / (2 * step)
        assert point.scale[k] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def jacobian(kernel, weights, at, inputs=X, step=1e-6):
    """Change of the function with its scales, raw weights held."""
    columns = []
    for e in step * np.eye(P):
        up = ScaledInputs(kernel, at + e)(inputs, CENTERS) @ weights
        down = ScaledInputs(kernel, at - e)(inputs, CENTERS) @ weights
        columns.append((up - down) / (2 * step))
    return np.column_stack(columns)


def posterior_weights(Phi, prior, inverse, target=T):
    return prior * (Phi.T @ (inverse @ target))


def test_information_is_that_of_the_dense_covariance(case):
    model, objective, theta, matrices = case
    quadratic, _, _, inverse, Phi, prior, _ = matrices(theta, SCALE)
    noise = objective.noise_variance or quadratic / objective.n_effective
    weights = posterior_weights(Phi, prior, inverse)[: len(CENTERS)]
    D = jacobian(model.kernel, weights, SCALE)
    expected = D.T @ inverse @ D / noise
    found = model.information(theta, SCALE)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())


def test_weights_count_copies():
    counts = np.tile([1, 2, 3], 6)
    rows = np.repeat(np.arange(N), counts)
    middle = np.average(T, weights=counts)
    objective = objective_with(counts.sum() - 1.0, counts @ (T - middle) ** 2, 0.8, None, 0.1)
    arguments = {"centre": True, "objective": objective}
    weighted = SparseEvidence(RBF(), X, CENTERS, LINES, T, counts.astype(float), **arguments)
    copies = SparseEvidence(RBF(), X[rows], CENTERS, LINES[rows], T[rows], None, **arguments)
    theta = np.linspace(-2.0, 1.0, 6)
    one, other = weighted.evaluate(theta, SCALE), copies.evaluate(theta, SCALE)
    assert one.objective == pytest.approx(other.objective, abs=1e-10)
    np.testing.assert_allclose(one.scale, other.scale, atol=1e-9)
    np.testing.assert_allclose(
        weighted.information(theta, SCALE), copies.information(theta, SCALE), rtol=1e-9
    )


@pytest.mark.parametrize(
    "options", [{"smoothness": 0.5}, {"noise": 0.05, "others": NO_LINES}], ids=["flat", "held"]
)
def test_maximise_raises_the_objective_and_keeps_zeros(options):
    model = make(**options)[0]
    scale = np.array([0.6, 0.0, 0.05])
    theta = np.zeros(len(CENTERS) + model.others.shape[1])
    moved, there, rise = model.maximise(theta, scale, 10)
    assert rise > 0.1
    total = model.evaluate(moved, there).objective - model.evaluate(theta, scale).objective
    assert total == pytest.approx(rise, abs=1e-9)
    assert there[1] == 0.0
    assert (there[[0, 2]] > 0.0).all()
    further = model.maximise(moved, there, 500)
    for _ in range(3):
        further = model.maximise(*further[:2], 500)
    assert further[2] < 1e-3


def test_without_atoms_nothing_moves():
    objective = objective_with(N - 1.0, float(((T - T.mean()) ** 2).sum()), 0.0, None, 0.0)
    empty = SparseEvidence(RBF(), X, X[:0], NO_LINES, T, None, centre=True, objective=objective)
    point = empty.evaluate(np.empty(0), SCALE)
    np.testing.assert_array_equal(point.scale, 0.0)
    _, scale, rise = empty.maximise(np.empty(0), SCALE, 5)
    assert rise == 0.0
    np.testing.assert_array_equal(scale, SCALE)


def test_a_constant_target_has_no_objective_to_maximise():
    objective = objective_with(N - 1.0, 0.0, 0.0, None, 0.0)
    constant = SparseEvidence(
        RBF(), X, X[:0], NO_LINES, np.ones(N), None, centre=True, objective=objective
    )
    _, scale, rise = constant.maximise(np.empty(0), SCALE, 5)
    assert rise == 0.0
    np.testing.assert_array_equal(scale, SCALE)


def test_atoms_that_are_constant_are_not_defined():
    model, *_ = make()
    assert model.evaluate(np.zeros(6), np.zeros(P)) is None
    assert model.information(np.zeros(6), np.zeros(P)) is None
