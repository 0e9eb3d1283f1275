"""Derivatives in the widths and centres of single kernels are right, and bounds hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from relvec.kernels import Laplacian, ScaledInputs
from relvec.learning.atom_shapes import AtomShape, ShapeEvidence
from relvec.learning.sparse_evidence import SparseEvidence
from relvec.priors import FlatPrior, resolve_prior
from relvec.solvers.gaussian.newton import Objective

KERNELS = [
    ScaledInputs(RBF(1.0), np.array([0.5, 1.5])),
    Matern(1.3, nu=2.5),
    RBF([0.8, 2.0]),
    Laplacian(1.2),
]


def make(kernel, moves, *, prior=None, noise=None, centre=True, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    target, weight = rng.normal(size=30), rng.uniform(0.5, 2.0, size=30)
    others = X[:, :1] ** 2
    share = weight / weight.sum() if centre else np.zeros(30)
    prior = (FlatPrior() if prior is None else resolve_prior(prior)).bind(30.0, np.ones(3), None)
    total = float(weight @ (target - share @ target) ** 2)
    objective = Objective(weight.sum() - centre, total * 1.01, prior, noise)
    evidence = SparseEvidence(
        None, X, np.empty((0, 2)), others, target, weight, centre=centre, objective=objective
    )
    centers = rng.normal(size=(2, 2)) * 0.5
    shapes = [AtomShape.from_kernel(kernel, center) for center in centers]
    shapes[0] = shapes[0]._replace(log_width=0.3)
    return ShapeEvidence(evidence, shapes, moves), rng.normal(size=3)


@pytest.mark.parametrize("moves", ["widths", "centers", "both"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_the_gradient_is_that_of_central_differences(kernel, moves):
    for options in ({}, {"prior": "bic"}, {"noise": 0.3, "centre": False}):
        model, theta = make(kernel, moves, **options)
        vector, h = model.pack(theta, model.shapes), 1e-5
        _, gradient = model.evaluate(vector)
        assert len(gradient) == 3 + 2 * {"widths": 1, "centers": 2, "both": 3}[moves]
        for place in range(len(vector)):
            step = h * np.eye(len(vector))[place]
            found = (model.evaluate(vector + step)[0] - model.evaluate(vector - step)[0]) / (2 * h)
            assert gradient[place] == pytest.approx(found, rel=1e-5, abs=1e-7)


def test_the_derivative_in_a_basis_function_is_the_closed_form_of_one():
    rng = np.random.default_rng(1)
    n, beta, alpha = 25, 4.0, np.array([0.7, 1.9])
    phi, t = rng.normal(size=(n, 2)), rng.normal(size=n)
    # C without the first basis function, brute force.
    C = np.eye(n) / beta + np.outer(phi[:, 1], phi[:, 1]) / alpha[1]
    inverse = np.linalg.inv(C)
    s, q = phi[:, 0] @ inverse @ phi[:, 0], phi[:, 0] @ inverse @ t
    total = alpha[0] + s
    expected = (q * inverse @ t - (1.0 + q**2 / total) * inverse @ phi[:, 0]) / total
    objective = Objective(float(n), float(t @ t), FlatPrior().bind(n, np.ones(2), None), 1.0 / beta)
    evidence = SparseEvidence(
        None, phi, np.empty((0, 2)), np.empty((n, 0)), t, None, centre=False, objective=objective
    )
    norm = np.linalg.norm(phi, axis=0)
    # lam = alpha sigma^2 / |phi|^2; its derivative is that at a held precision of the unit atom,
    # so the part along phi, which changes the norm, is compared after projection.
    _, _, slope = evidence.evaluate_atoms(np.log(alpha / beta / norm**2), phi)
    unit = phi[:, 0] / norm[0]
    across = expected - unit * (unit @ expected)
    np.testing.assert_allclose(slope[:, 0], across, rtol=1e-9, atol=1e-12)


def test_a_step_raises_the_objective_and_stays_in_the_bounds():
    for moves in ("widths", "centers", "both"):
        model, theta = make(KERNELS[0], moves, seed=3)
        before = model.evaluate(model.pack(theta, model.shapes))[0]
        ends, rise = model.maximise(theta, 50)
        assert rise > 0.0
        X = model.evidence.X
        for shape, start in zip(ends, model.shapes, strict=True):
            low, high = start.find_width_bounds(X)
            assert low - 1e-9 <= shape.log_width <= high + 1e-9
            if moves == "widths":
                assert np.array_equal(shape.center, start.center)
            else:
                assert (X.min(axis=0) - 1e-9 <= shape.center).all()
                assert (shape.center <= X.max(axis=0) + 1e-9).all()
            if moves == "centers":
                assert shape.log_width == start.log_width
        assert math.isfinite(before)


def test_widths_are_bounded_by_the_spacing_of_the_inputs():
    X = np.arange(11.0)[:, None]
    low, high = AtomShape.from_kernel(RBF(4.0), np.zeros(1)).find_width_bounds(X)
    assert math.exp(low) * 4.0 == pytest.approx(1.0)
    assert math.exp(high) * 4.0 == pytest.approx(20.0)
    # A kernel that is narrower already is not widened by force.
    assert AtomShape.from_kernel(RBF(0.5), np.zeros(1)).find_width_bounds(X)[0] == 0.0
    scaled = AtomShape.from_kernel(ScaledInputs(RBF(1.0), [0.25]), np.zeros(1))
    assert math.exp(scaled.find_width_bounds(X)[0]) * 2.0 == pytest.approx(1.0)
