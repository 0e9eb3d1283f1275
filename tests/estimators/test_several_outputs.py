"""Several targets are separate models with the same candidate basis functions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis
from tests.estimators.problems import smooth

X, _ = smooth()
RNG = np.random.default_rng(5)
NOISE = RNG.standard_normal((60, 3))
TARGETS = (
    np.column_stack([np.sin(X[:, 0]), 1e3 * X[:, 1] ** 2, np.zeros(60)])
    + NOISE * [0.1, 30.0, 1.0]
    + [0.0, 50.0, -5.0]
)

MODELS = [
    RVMRegressor(gamma=0.1),
    RVMRegressor(gamma=0.1, error_bars="augmented", prior="bic"),
    RVMRegressor(gamma=0.1, low_memory=True, centers=20, random_state=0),
    RVMRegressor(gamma=0.1, solver="textbook"),
    SparseBayesRegressor(LinearBasis() + KernelBasis(gamma=0.1)),
]


@pytest.fixture(params=MODELS, ids=str, scope="module")
def fits(request):
    """Return a model of all targets, and one of each."""
    together = clone(request.param).fit(X, TARGETS)
    return together, [clone(request.param).fit(X, target) for target in TARGETS.T]


@pytest.mark.slow
def test_predictions_are_those_of_separate_fits(fits):
    together, apart = fits
    answers = {
        "mean": lambda model: model.predict(X),
        "std": lambda model: model.predict(X, return_std=True)[1],
        "interval": lambda model: model.predict_interval(X, 0.8),
        "cov": lambda model: model.predict(X[:7], return_cov=True)[1],
    }
    for name, ask in answers.items():
        whole = ask(together)
        for number, model in enumerate(apart):
            np.testing.assert_allclose(
                whole[..., number], ask(model), rtol=1e-7, atol=1e-12, err_msg=name
            )


@pytest.mark.slow
def test_densities_and_left_out_predictions_are_those_of_separate_fits(fits):
    together, apart = fits
    density, (mean, std) = (
        together.log_predictive_density(X, TARGETS),
        together.leave_one_out(X, TARGETS),
    )
    assert density.shape == mean.shape == std.shape == (60, 3)
    for number, model in enumerate(apart):
        target = TARGETS[:, number]
        np.testing.assert_allclose(
            density[:, number], model.log_predictive_density(X, target), rtol=1e-7, atol=1e-9
        )
        np.testing.assert_allclose(mean[:, number], model.leave_one_out(X, target)[0], rtol=1e-7)


@pytest.mark.slow
def test_attributes_are_those_of_separate_fits(fits):
    together, apart = fits
    union = together.relevance_
    np.testing.assert_array_equal(union, np.unique(np.concatenate([m.relevance_ for m in apart])))
    assert together.coef_.shape == together.weight_precision_.shape == (3, len(union))
    names = "intercept_", "noise_variance_", "log_evidence_", "objective_", "effective_dof_"
    for name in names:
        values = getattr(together, name)
        assert values.shape == (3,), name
        np.testing.assert_allclose(values, [getattr(m, name) for m in apart], rtol=1e-8)
    for number, model in enumerate(apart):
        mine = np.isin(union, model.relevance_)
        np.testing.assert_allclose(together.coef_[number, mine], model.coef_, rtol=1e-6)
        np.testing.assert_array_equal(together.coef_[number, ~mine], 0.0)
        np.testing.assert_array_equal(together.weight_precision_[number, ~mine], np.inf)
        np.testing.assert_allclose(
            together.weight_covariance_[number], model.weight_covariance_, rtol=1e-5
        )
        np.testing.assert_allclose(together.well_determined_[number], model.well_determined_)
        mine, its = together.candidates_[number], model.candidates_
        assert [each.n_active for each in mine] == [each.n_active for each in its]


@pytest.mark.slow
def test_coefficients_give_the_predictions(fits):
    together, _ = fits
    if together.get_params().get("error_bars") == "augmented":
        return  # the mean has one more atom there
    atoms = together.atoms_.evaluate(X)
    assert atoms.shape == (60, len(together.relevance_))
    assert len(together.atom_names()) == len(together.relevance_)
    np.testing.assert_allclose(
        atoms @ together.coef_.T + together.intercept_, together.predict(X), rtol=1e-6, atol=1e-9
    )


def test_draws():
    model = RVMRegressor(gamma=0.1).fit(X, TARGETS)
    draws = model.sample_y(X[:4], n_samples=6)
    assert draws.shape == (4, 3, 6)
    many = model.sample_y(X[:4], n_samples=4000)
    mean, std = model.predict(X[:4], return_std=True)
    assert np.abs((many.mean(axis=2) - mean) / std).max() < 4.5 / np.sqrt(4000)
    np.testing.assert_allclose(many.std(axis=2), std, rtol=0.06)
    correlation = np.corrcoef(many[0])
    assert np.abs(correlation - np.eye(3)).max() < 0.07  # outputs are independent


def test_shapes_of_a_single_output():
    model = RVMRegressor(gamma=0.1).fit(X, TARGETS[:, 0])
    n_relevant = len(model.relevance_)
    assert n_relevant > 1
    for name in ("coef_", "weight_precision_", "well_determined_"):
        assert getattr(model, name).shape == (n_relevant,), name
    assert model.weight_covariance_.shape == (n_relevant, n_relevant)
    assert model.relevance_vectors_.shape == (n_relevant, 3)
    for name in "intercept_", "noise_variance_", "log_evidence_", "objective_", "effective_dof_":
        assert type(getattr(model, name)) is float, name
    assert type(model.reached_max_active_) is bool
    assert type(model.converged_) is bool
    assert type(model.n_iter_) is int
    assert model.predict(X[:5]).shape == (5,)
    assert model.predict_interval(X[:5]).shape == (5, 2)
    assert model.predict(X[:5], return_cov=True)[1].shape == (5, 5)
    assert model.sample_y(X[:5], 3).shape == (5, 3)


def test_one_column_stays_a_column():
    model = RVMRegressor(gamma=0.1).fit(X, TARGETS[:, :1])
    assert model.predict(X).shape == (60, 1)
    assert model.predict(X, return_std=True)[1].shape == (60, 1)
    assert model.coef_.shape == (1, len(model.relevance_))
    assert model.predict_interval(X).shape == (60, 2, 1)
    assert model.sample_y(X, 2).shape == (60, 1, 2)
    np.testing.assert_allclose(
        model.predict(X)[:, 0], RVMRegressor(gamma=0.1).fit(X, TARGETS[:, 0]).predict(X)
    )


@pytest.mark.slow
def test_weights_serve_every_output():
    weight = np.random.default_rng(7).choice([0, 1, 2], p=[0.2, 0.6, 0.2], size=60)
    rows = np.repeat(np.arange(60), weight)
    model = RVMRegressor(gamma=0.1).fit(X, TARGETS, weight)
    repeated = RVMRegressor(gamma=0.1).fit(X[rows], TARGETS[rows])
    np.testing.assert_allclose(model.predict(X), repeated.predict(X), rtol=1e-6)


@pytest.mark.slow
def test_score_is_the_mean_over_outputs():
    model = RVMRegressor(gamma=0.1).fit(X, TARGETS)
    apart = [RVMRegressor(gamma=0.1).fit(X, t).score(X, t) for t in TARGETS.T]
    assert model.score(X, TARGETS) == pytest.approx(np.mean(apart))
