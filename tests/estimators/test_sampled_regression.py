"""Regression by sampling: predictions, inclusion, chains and degenerate data."""

from __future__ import annotations

import itertools
import math
import pickle
from functools import cache, partial

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.special import betaln
from sklearn.exceptions import ConvergenceWarning

from relvec import (
    RVMRegressor,
    SampledRVMRegressor,
    SampledSparseBayesRegressor,
    SparseBayesRegressor,
)
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis
from relvec.estimators import _drawn_functions, _sampled_output
from relvec.estimators._sampling_plan import RegressionSamplingPlan, SamplingTuning
from relvec.kernels import StringSpectrum
from relvec.sampling import compute_mcse_mean

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:The chains of Sampled:sklearn.exceptions.ConvergenceWarning"
    ),
]

SHORT = {"n_chains": 2, "n_draws": 40, "max_doublings": 0, "random_state": 0}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.2 * RNG.normal(size=40) + 3.0
LINEAR = {"basis": LinearBasis(), **SHORT}
MODELS = {
    "kernels": SampledRVMRegressor(**SHORT),
    "fixed kernels": SampledRVMRegressor(gamma=0.3, error_bars="plain", **SHORT),
    "factors": SampledRVMRegressor(gamma=0.3, sample_length_scales="ard", **SHORT),
    "columns": SampledSparseBayesRegressor(**LINEAR),
    "student": SampledSparseBayesRegressor(noise="student_t", **LINEAR),
    "horseshoe": SampledSparseBayesRegressor(weight_prior="horseshoe", **LINEAR),
    "union": SampledSparseBayesRegressor(LinearBasis() + KernelBasis(), **SHORT),
}
EVERY = pytest.mark.parametrize("name", MODELS)


@cache
def fitted(name):
    return pickle.loads(pickle.dumps(MODELS[name])).fit(X, Y)


@EVERY
def test_predictions_agree_with_draws(name):
    model = fitted(name)
    draws = model.sample_y(X[:6], 8000, random_state=1)
    mean, std = model.predict(X[:6], return_std=True)
    assert (np.abs(draws.mean(axis=1) - mean) < 5.0 * std / math.sqrt(8000)).all()
    for level in (0.5, 0.9):
        low, high = model.predict_interval(X[:6], level).T
        for end, share in ((low, 0.5 - 0.5 * level), (high, 0.5 + 0.5 * level)):
            np.testing.assert_allclose((draws <= end[:, None]).mean(axis=1), share, atol=0.03)


@EVERY
@pytest.mark.parametrize("include_noise", [True, False])
def test_std_is_the_diagonal_of_the_covariance(name, include_noise):
    model, rows = fitted(name), np.vstack([X[:4], 3.0 * X[:2]])
    mean, std = model.predict(rows, return_std=True, include_noise=include_noise)
    again, covariance = model.predict(rows, return_cov=True, include_noise=include_noise)
    np.testing.assert_allclose(again, mean, rtol=1e-9)
    np.testing.assert_allclose(np.diag(covariance), std**2, rtol=1e-9)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9 * covariance.max()


@EVERY
@pytest.mark.parametrize("row", [X[:1], 5.0 * X[:1]], ids=["near", "far"])
def test_density_integrates_to_one(name, row):
    model = fitted(name)
    mean, std = model.predict(row, return_std=True)
    targets = mean + std * np.sinh(np.linspace(-6.0, 6.0, 3001))
    density = np.exp(model.log_predictive_density(np.repeat(row, 3001, axis=0), targets))
    assert np.trapezoid(density, targets) == pytest.approx(1.0, abs=2e-3)


@pytest.mark.parametrize("name", ["kernels", "factors"])
def test_far_from_the_data(name):
    mean, std = fitted(name).predict(1e3 * X[:3], return_std=True)
    # the mean returns part of the way, as that of the model of highest evidence
    assert (np.abs(mean - Y.mean()) < std).all()
    assert ((std > 0.7 * Y.std()) & (std < 5.0 * Y.std())).all()
    assert (fitted(name).extrapolating(1e3 * X[:3]) > 0.99).all()


@EVERY
def test_blocks_of_rows(name, monkeypatch):
    model, rows = fitted(name), X[:20]

    def ask():
        return [
            model.predict(rows),
            *model.predict(rows, return_std=True),
            model.predict_interval(rows),
            model.log_predictive_density(rows, Y[:20]),
        ]

    whole = ask()
    for module in (_drawn_functions, _sampled_output):
        monkeypatch.setattr(module, "BLOCK_ENTRIES", 7 * 80)  # blocks of seven rows
    for one, other in zip(whole, ask(), strict=True):
        # quantiles are found to a millionth of the scale
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-5 * Y.std())


@EVERY
def test_files_and_copies(name, tmp_path):
    model = fitted(name)
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(copy.predict_interval(X), model.predict_interval(X))
        if name == "horseshoe":
            np.testing.assert_array_equal(copy.kept_share_, model.kept_share_)
        else:
            assert copy.rival_models(3)[0].names == model.rival_models(3)[0].names


@EVERY
def test_seeds(name):
    again = pickle.loads(pickle.dumps(MODELS[name])).fit(X, Y)
    np.testing.assert_array_equal(again.predict(X), fitted(name).predict(X))
    other = pickle.loads(pickle.dumps(MODELS[name])).set_params(random_state=1).fit(X, Y)
    assert (other.predict(X) != again.predict(X)).any()


@pytest.mark.parametrize("name", ["kernels", "columns", "union"])
def test_processes_do_not_change_the_draws(name):
    parallel = pickle.loads(pickle.dumps(MODELS[name])).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(parallel.predict(X), fitted(name).predict(X))


@pytest.mark.parametrize("name", ["fixed kernels", "factors", "columns", "union"])
def test_order_of_rows(name):
    order = np.random.default_rng(1).permutation(len(X))
    other = pickle.loads(pickle.dumps(MODELS[name])).fit(X[order], Y[order])
    scale = {"rtol": 0.0, "atol": 1e-8 * Y.std()}
    np.testing.assert_allclose(other.predict(X), fitted(name).predict(X), **scale)


@pytest.mark.parametrize("name", ["fixed kernels", "factors", "columns", "union"])
def test_weights_are_repeated_rows(name):
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    weighted, repeated = (pickle.loads(pickle.dumps(MODELS[name])) for _ in range(2))
    weighted.fit(X, Y, sample_weight=weight)
    repeated.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    for one, other in zip(
        weighted.predict(X, return_std=True), repeated.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-8 * Y.std())


def test_weights_that_are_all_zero():
    with pytest.raises(ValueError, match="at least one non-zero number"):
        SampledSparseBayesRegressor(**LINEAR).fit(X, Y, sample_weight=np.zeros(40))


@pytest.mark.parametrize("name", MODELS)
def test_warm_start_continues(name):
    model = pickle.loads(pickle.dumps(MODELS[name])).set_params(warm_start=True, thin=2).fit(X, Y)
    n_steps, before = model.n_iter_, model.traces_["noise_std"]
    model.set_params(thin=4).fit(X, Y)
    assert model.n_iter_ == n_steps + 4 * 40  # without warm-up
    assert not np.array_equal(before, model.traces_["noise_std"])
    with pytest.warns(UserWarning, match="starts new chains"):
        model.fit(X, Y[::-1])
    assert model.n_iter_ == 80 + 4 * 40
    with pytest.raises(ValueError, match="Leave n_chains as it was"):
        model.set_params(n_chains=3).fit(X, Y[::-1])


def test_thin():
    model = SampledSparseBayesRegressor(**LINEAR | {"thin": 3, "max_doublings": 5}).fit(X, Y)
    assert model.n_iter_ == 60 + 3 * 40


def test_draws_in_single_precision():
    single = SampledSparseBayesRegressor(draw_dtype="float32", **LINEAR).fit(X, Y)
    double = fitted("columns")
    assert single.outputs_[0].functions.coef.dtype == np.float32
    assert single.predict(X).dtype == np.float64
    np.testing.assert_allclose(single.predict(X), double.predict(X), rtol=1e-6)
    np.testing.assert_allclose(single.predict_interval(X), double.predict_interval(X), rtol=1e-5)


def test_names_of_a_table():
    table = pd.DataFrame(X, columns=["height", "depth", "width"])
    model = SampledSparseBayesRegressor(**LINEAR).fit(table, Y)
    assert model.inclusion_table(1)[0][0] == "height"
    assert sorted(name for name, _ in model.inclusion_table()) == ["depth", "height", "width"]
    assert "height" in model.rival_models(1)[0].names
    np.testing.assert_array_equal(model.predict(table), fitted("columns").predict(X))


@pytest.mark.parametrize(
    "basis",
    [
        LinearBasis(),
        PolynomialBasis(degree=2),
        KernelBasis(gamma=0.3),
        LinearBasis() + KernelBasis(gamma=0.3),
    ],
    ids=str,
)
def test_inclusion_of_features(basis):
    target = 2.0 * X[:, 0] + 0.1 * np.random.default_rng(2).normal(size=40)
    model = SampledSparseBayesRegressor(basis, **SHORT).fit(X, target)
    share = model.feature_inclusion_probability_
    assert share.shape == (3,)
    assert share[0] > 0.99
    assert ((share >= 0.0) & (share <= 1.0)).all()
    # a feature is in at least as often as any basis function that depends on it
    uses = model.candidate_atoms_.find_used_features(3)
    for feature in range(3):
        assert share[feature] >= model.inclusion_probability_[uses[:, feature]].max() - 1e-12


def enumerate_columns(columns, target, grid):
    """Return the probability of every set of columns, by the covariance of the target.

    The columns are centred and of unit norm; the intercept has a flat prior, the noise variance one
    that is flat in its logarithm, and all sizes are equally probable.
    """
    n, n_columns = columns.shape
    Phi, t = columns - columns.mean(axis=0), target - target.mean()
    Phi /= np.linalg.norm(Phi, axis=0)
    log = {}
    for size in range(n_columns + 1):
        prior = betaln(1 + size, 1 + n_columns - size) - size * math.log(len(grid))
        for members in itertools.combinations(range(n_columns), size):
            total = -math.inf
            for precisions in itertools.product(grid, repeat=size):
                part = Phi[:, members]
                inner = np.diag(precisions) + part.T @ part
                inverse = np.eye(n) - part @ np.linalg.solve(inner, part.T)
                determinant = np.linalg.slogdet(inner)[1] - np.log(precisions).sum()
                fit = -0.5 * determinant - 0.5 * (n - 1) * math.log(t @ inverse @ t)
                total = np.logaddexp(total, fit)
            log[members] = total + prior
    values = np.array(list(log.values()))
    return dict(zip(log, np.exp(values - np.logaddexp.reduce(values)), strict=True))


def test_inclusion_agrees_with_enumeration():
    rng = np.random.default_rng(5)
    columns = rng.normal(size=(15, 4))
    columns[:, 2] = 0.7 * columns[:, 0] + 0.7 * columns[:, 2]
    target = 0.7 * columns[:, 0] + 0.45 * columns[:, 1] + rng.normal(size=15)
    model = SampledSparseBayesRegressor(LinearBasis(), random_state=0).fit(columns, target)
    assert model.converged_
    exact = enumerate_columns(columns, target, np.geomspace(1e-8, 0.1, 8))
    expected = [sum(p for members, p in exact.items() if i in members) for i in range(4)]
    assert min(expected) > 0.05  # none is certain, or there would be nothing to compare
    assert max(expected) < 0.95
    functions = model.outputs_[0].functions
    present = np.zeros((len(functions), 4))
    present[:, model.outputs_[0].active] = functions.weights.toarray() != 0.0
    np.testing.assert_allclose(present.mean(axis=0), model.inclusion_probability_)
    error = compute_mcse_mean(present.reshape(4, -1, 4))
    assert (np.abs(model.inclusion_probability_ - expected) < 4.0 * error).all()
    rivals = model.rival_models()
    assert sum(each.probability for each in rivals) <= 1.0 + 1e-12
    assert [each.probability for each in rivals] == sorted((p for *_, p, _ in rivals), reverse=True)
    for each in rivals[:5]:
        chosen = (present != 0.0) == np.isin(np.arange(4), each.atoms)
        indicator = chosen.all(axis=1).astype(float)
        assert each.probability == pytest.approx(indicator.mean())
        away = each.probability - exact[tuple(map(int, each.atoms))]
        assert abs(away) < 4.0 * compute_mcse_mean(indicator.reshape(4, -1))
        assert each.names == tuple(f"x{i}" for i in each.atoms)


DEGENERATE = {
    "two rows": (X[:2], Y[:2]),
    "three rows": (X[:3], Y[:3]),
    "constant target": (X, np.full(40, 3.0)),
    "zero target": (X, np.zeros(40)),
    "constant inputs": (np.ones((40, 2)), Y),
    "copied columns": (np.hstack([X, X]), Y),
    "no noise": (X, X @ [1.0, -2.0, 0.0] + 3.0),
    "tiny targets": (X, 1e-130 * Y),
    "huge targets": (X, 1e130 * Y),
    "tiny inputs": (1e-130 * X, Y),
    "huge inputs": (1e130 * X, Y),
    "columns of all scales": (X * [1e-100, 1.0, 1e100], Y),
    "targets far from zero": (X, Y + 1e9),
    "whole numbers": ((3.0 * X).astype(int), (3.0 * Y).astype(int)),
    "more columns than rows": (
        np.random.default_rng(3).normal(size=(20, 300)),
        np.random.default_rng(4).normal(size=20),
    ),
}


@pytest.mark.parametrize("name", ["fixed kernels", "columns", "student", "horseshoe"])
@pytest.mark.parametrize("data", DEGENERATE)
@pytest.mark.filterwarnings("ignore:Rows are repeated")
def test_degenerate_data(name, data):
    rows, target = DEGENERATE[data]
    short = {"n_draws": 20}
    model = pickle.loads(pickle.dumps(MODELS[name])).set_params(**short).fit(rows, target)
    mean, std = model.predict(rows, return_std=True)
    size = np.std(target) + 1e-9 * np.abs(target).max()
    assert (np.abs(mean - target) <= 5.0 * size + 1e-100).all()
    assert np.isfinite(std).all()
    assert (std > 0.0).all()
    assert np.median(std) <= 15.0 * size + 1e-100
    assert np.isfinite(model.predict_interval(rows)).all()
    assert np.isfinite(model.log_predictive_density(rows, target)).all()
    shares = model.kept_share_ if name == "horseshoe" else model.inclusion_probability_
    assert np.isfinite(shares).all()
    assert all(np.isfinite(each.mean) for each in model.diagnostics_)


def test_one_row():
    for model in (SampledRVMRegressor(**SHORT), SampledSparseBayesRegressor(**LINEAR)):
        with pytest.warns(UserWarning, match=f"^{type(model).__name__} cannot estimate") as caught:
            model.fit(X[:1], Y[:1])
        assert {each.filename for each in caught} == {__file__}
        assert model.predict(X[:1]) == pytest.approx(Y[0])
    horseshoe = SampledSparseBayesRegressor(weight_prior="horseshoe", **LINEAR)
    with (
        pytest.warns(UserWarning, match="cannot estimate"),
        pytest.raises(ValueError, match="one sample is not enough"),
    ):
        horseshoe.fit(X[:1], Y[:1])


@pytest.mark.parametrize(
    ("rows", "target", "message"),
    [
        (np.where(X > 2.0, np.nan, X), Y, "X must be finite"),
        (X, np.where(Y > 4.0, np.nan, Y), "y must be finite"),
        (1e150 * X, Y, "X has values .* Rescale X"),
        (1e-150 * X, Y, "X has values .* Rescale X"),
        (X, 1e150 * Y, "y has values .* Rescale y"),
        (X, 1e-150 * Y, "y has values .* Rescale y"),
        (X, np.column_stack([Y, Y]), "1d array"),
        (X, Y[:-1], "inconsistent numbers of samples"),
    ],
)
def test_refused_data(rows, target, message):
    with pytest.raises(ValueError, match=message):
        SampledRVMRegressor(**SHORT).fit(rows, target)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_draws": 0}, "n_draws"),
        ({"n_chains": 0}, "n_chains"),
        ({"thin": "often"}, "thin must be a whole number or"),
        ({"thin": 0}, "thin"),
        ({"max_doublings": -1}, "max_doublings"),
        ({"draw_dtype": "float16"}, "draw_dtype"),
        ({"size_prior": "small"}, "size_prior"),
        ({"size_prior": -1.0}, "size_prior"),
        ({"precision_grid": [1.0]}, "precision_grid must be a PrecisionGrid"),
        ({"noise_prior": 1.0}, "noise_prior must be an InverseGamma"),
        ({"noise": "laplace"}, "noise"),
        ({"noise": "student_t", "weight_prior": "horseshoe"}, "weight_prior"),
        ({"noise": "student_t", "noise_variance": 1.0}, "noise_variance"),
        ({"noise": "student_t", "fit_intercept": False}, "fit_intercept"),
        ({"weight_prior": "horseshoe", "noise_variance": 1.0}, "noise_variance"),
        ({"noise_variance": 0.0}, "noise_variance"),
    ],
)
def test_refused_options(options, message):
    model = SampledSparseBayesRegressor(**LINEAR).set_params(**options)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, Y)


def test_student_noise_resists_outliers():
    target = 2.0 * X[:, 0] + 0.1 * np.random.default_rng(2).normal(size=40)
    target[[3, 17, 30]] += [40.0, -25.0, 60.0]
    longer = {**LINEAR, "n_draws": 200}
    robust = SampledSparseBayesRegressor(noise="student_t", **longer).fit(X, target)
    plain = SampledSparseBayesRegressor(**longer).fit(X, target)
    assert np.abs(robust.predict(X) - 2.0 * X[:, 0]).max() < 0.2
    assert np.abs(plain.predict(X) - 2.0 * X[:, 0]).max() > 1.0
    assert 2.5 <= robust.df_ < 6.0
    assert "log_df" in robust.traces_
    robust.set_params(noise="gaussian").fit(X, target)
    assert not hasattr(robust, "df_")


def test_horseshoe_shrinks_noise():
    target = 2.0 * X[:, 0] + 0.1 * np.random.default_rng(2).normal(size=40)
    wide = np.hstack([X, np.random.default_rng(1).normal(size=(40, 20))])
    model = SampledSparseBayesRegressor(weight_prior="horseshoe", **{**LINEAR, "n_draws": 200}).fit(
        wide, target
    )
    kept = model.kept_share_
    assert kept[0] > 0.95
    assert np.delete(kept, 0).max() < 0.5
    assert "log_global_scale" in model.traces_


def test_known_noise():
    model = SampledSparseBayesRegressor(noise_variance=0.04, **LINEAR).fit(X, Y)
    assert model.noise_variance_ == pytest.approx(0.04)
    assert np.isfinite(model.r_hat_)  # the noise, which is constant, is left out


def test_sparse_inputs():
    model = SampledSparseBayesRegressor(**LINEAR).fit(csr_array(X), Y)
    np.testing.assert_allclose(model.predict(csr_array(X)), fitted("columns").predict(X))
    with pytest.raises(TypeError, match="[Ss]parse"):
        SampledRVMRegressor(**SHORT).fit(csr_array(X), Y)


def test_precomputed_kernel():
    kernel = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    model = SampledRVMRegressor("precomputed", **SHORT).fit(kernel, Y)
    assert np.corrcoef(model.predict(kernel), Y)[0, 1] > 0.9
    assert model.predict_interval(kernel[:2]).shape == (2, 2)


def test_kernels_of_texts_and_functions():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abc"), size=6)) for _ in range(40)]
    target = np.array([word.count("ab") for word in words]) + 0.1 * rng.normal(size=40)
    texts = SampledRVMRegressor(StringSpectrum(2), **SHORT).fit(words, target)
    assert np.corrcoef(texts.predict(words), target)[0, 1] > 0.9
    assert texts.sample_y(words[:2], 3, random_state=0).shape == (2, 3)

    def kernel(A, B):
        return np.exp(-0.3 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    own = SampledRVMRegressor(kernel, error_bars="plain", **SHORT).fit(X, Y)
    assert np.corrcoef(own.predict(X), Y)[0, 1] > 0.9


@pytest.mark.parametrize("target", [Y, X @ [1.0, 2.0, 0.0] + 0.1 * RNG.normal(size=40)])
def test_sampling_from_a_fitted_model(target):
    for model in (RVMRegressor(), SparseBayesRegressor(LinearBasis()), SparseBayesRegressor()):
        model.fit(X, target)
        sampled = model.sample_posterior(X, target, **SHORT)
        assert sampled.evidence_model_ is model
        away = sampled.predict(X) - model.predict(X)
        assert np.abs(away).max() < 5.0 * target.std()
        assert np.isfinite(sampled.predict_interval(X)).all()


def test_sampling_from_models_of_noise_and_of_a_line():
    rng = np.random.default_rng(3)
    line = X @ [1.0, 2.0, -1.0] + 0.1 * rng.normal(size=40)
    for target in (rng.normal(size=40), line):
        model = RVMRegressor().fit(X, target)
        sampled = model.sample_posterior(X, target, **SHORT)
        assert np.isfinite(sampled.predict(X)).all()
        assert sampled.predict(X).std() < 1.5 * target.std()


def test_models_that_cannot_be_sampled():
    pair = RVMRegressor().fit(X, np.column_stack([Y, -Y]))
    with pytest.raises(ValueError, match="models of one output; this model has 2"):
        pair.sample_posterior(X, Y)
    robust = SparseBayesRegressor(LinearBasis(), noise="student_t").fit(X, Y)
    with pytest.raises(ValueError, match="noise='student_t'"):
        robust.sample_posterior(X, Y)
    rows = SparseBayesRegressor(LinearBasis()).fit(X, Y, noise_variance=np.full(40, 0.1))
    with pytest.raises(ValueError, match="noise_variance of each row"):
        rows.sample_posterior(X, Y)


class Watch:
    def __init__(self, stop_after=None):
        self.stop_after, self.names = stop_after, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        if context.parent is None:
            return False
        self.names.append(context.task_name)
        return self.stop_after is not None and len(self.names) >= self.stop_after


@pytest.mark.filterwarnings("error")
def test_callbacks():
    watch = Watch()
    rounds = {**LINEAR, "max_doublings": 2, "n_draws": 20}
    model = SampledSparseBayesRegressor(**rounds).set_callbacks(watch).fit(X, Y)
    assert watch.names == [f"round {i} of chains" for i in (1, 2, 3)]
    stopped = SampledSparseBayesRegressor(**rounds).set_callbacks(Watch(1)).fit(X, Y)
    assert stopped.n_iter_ < model.n_iter_
    assert not stopped.converged_
    assert np.isfinite(stopped.predict(X)).all()


def test_convergence():
    model = SampledSparseBayesRegressor(**LINEAR)
    with pytest.warns(ConvergenceWarning, match="have not converged: .*Increase n_draws"):
        model.fit(X, Y)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, Y)
    assert caught[0].filename == __file__
    assert not model.converged_
    assert model.r_hat_ > 1.01 or model.ess_ < 400.0
    judged = [each for each in model.diagnostics_ if np.isfinite(each.r_hat)]
    assert model.r_hat_ == max(each.r_hat for each in judged)
    assert model.ess_ == min(min(each.ess_bulk, each.ess_tail) for each in judged)
    assert {each.shape for each in model.traces_.values()} == {(2, 40)}


def test_arviz():
    pytest.importorskip("arviz")
    data = fitted("columns").to_arviz()
    assert data["posterior"]["noise_std"].shape == (2, 40)
    assert data["sample_stats"]["lp"].shape == (2, 40)


def test_stored_weights_are_a_copy():
    model = pickle.loads(pickle.dumps(fitted("columns")))
    before = model.predict(X)
    draws = model.weight_draws()
    assert (draws != 0).sum() > 0  # SciPy sorts the entries of `draws` in place
    draws *= 0.0
    np.testing.assert_array_equal(model.predict(X), before)


def test_warm_starts_go_on_with_the_same_steps_and_without_warm_up():
    model = SampledSparseBayesRegressor(
        LinearBasis(), n_draws=20, n_chains=2, max_doublings=2, warm_start=True, random_state=0
    )
    first = model.fit(X, Y).n_iter_
    assert first == 20 + 20 * (2 + 4 + 8)  # so few draws do not converge
    assert model.chains_[0]["thin"] == 8
    model.set_params(max_doublings=1)
    assert model.fit(X, Y).n_iter_ == first + 20 * (8 + 16)
    model.set_params(thin=3)
    assert model.fit(X, Y).n_iter_ == first + 20 * (8 + 16 + 3)
    with pytest.warns(UserWarning, match="starts new chains: warm_start=True continues"):
        model.fit(X, Y + 1.0)
    assert model.n_iter_ == 30 + 60


def test_length_scales_that_are_not_sampled_are_named(monkeypatch):
    few = SamplingTuning(max_scale_operations=10.0)
    monkeypatch.setattr(
        "relvec.estimators.sampled_regression.RegressionSamplingPlan",
        partial(RegressionSamplingPlan, tuning=few),
    )
    model = SampledRVMRegressor(gamma=0.31, sample_length_scales="shared", **SHORT)
    with pytest.warns(UserWarning, match="Length-scales are fixed: to sample them"):
        model.fit(X, Y)
    assert not any(name.startswith("log_length_scale") for name in model.traces_)
