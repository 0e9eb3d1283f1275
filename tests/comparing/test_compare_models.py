"""`compare_models`: refits, evidences, probabilities, folds, results."""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.gaussian_process.kernels import RBF, ExpSineSquared
from sklearn.linear_model import BayesianRidge, Lasso, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import (
    DRVMRegressor,
    RVMClassifier,
    RVMRegressor,
    SparseBayesClassifier,
    SparseBayesCountRegressor,
    SparseBayesRegressor,
    compare_models,
)
from relvec.bases import KernelBasis, LinearBasis, PeriodicBasis
from relvec.comparing.evidences import measure_evidences
from relvec.comparing.splits import make_rolling_folds

LINE = SparseBayesRegressor(LinearBasis())


def a_wave(n_rows=60, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-5, 5, size=(n_rows, 1))
    return X, np.sin(X[:, 0]) + noise * rng.normal(size=n_rows)


@pytest.fixture(scope="module")
def comparison():
    X, y = a_wave()
    models = {
        "line": LINE,
        "kernels": RVMRegressor(gamma=0.5),
        "ridge": make_pipeline(StandardScaler(), BayesianRidge()),
        "lasso": Lasso(0.1),
    }
    return compare_models(models, X, y)


def test_verdict_and_order(comparison):
    assert comparison.best_ == "kernels"
    assert comparison.decided
    assert comparison.models[0].name == "kernels"
    assert comparison.models[-1].name == "lasso"  # no density
    assert comparison["kernels"].difference == (0.0, 0.0)
    assert "Not ranked, without predictive distributions: lasso" in comparison.verdict.text
    with pytest.raises(KeyError, match="'kernel' is not among"):
        comparison["kernel"]


def test_scores_are_those_of_refits_to_every_fold(comparison):
    X, y = a_wave()
    density, squared = [], []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        model = RVMRegressor(gamma=0.5).fit(X[train], y[train])
        density.append(model.log_predictive_density(X[test], y[test]))
        squared.append((y[test] - model.predict(X[test])) ** 2)
    found = comparison["kernels"]
    assert found.mlpd.mean == pytest.approx(np.mean(np.concatenate(density)))
    assert found.error.mean == pytest.approx(np.sqrt(np.mean(np.concatenate(squared))))


def test_density_of_other_regressors_is_normal(comparison):
    X, y = a_wave()
    density = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        model = make_pipeline(StandardScaler(), BayesianRidge()).fit(X[train], y[train])
        mean, std = model.predict(X[test], return_std=True)
        density.append(-0.5 * ((y[test] - mean) / std) ** 2 - np.log(std * np.sqrt(2 * np.pi)))
    assert comparison["ridge"].mlpd.mean == pytest.approx(np.mean(np.concatenate(density)))


def test_differences_are_paired(comparison):
    """The error of a difference is not the sum of the errors of the two models."""
    line, ridge = comparison["line"], comparison["ridge"]
    assert line.difference.mean == pytest.approx(comparison["kernels"].mlpd.mean - line.mlpd.mean)
    # two linear models: nearly the same difference row by row
    assert abs(line.difference.mean - ridge.difference.mean) < 0.1 * line.mlpd.se


class Recorder(RegressorMixin, BaseEstimator):
    """Checks that no held-out row is used."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.rows_ = set(X[:, 0].tolist())
        return self

    def predict(self, X):
        assert not self.rows_ & set(X[:, 0].tolist())
        Recorder.seen.append(len(X))
        return np.zeros(len(X))


def test_no_model_is_fitted_to_rows_that_it_predicts():
    Recorder.seen.clear()
    X, y = a_wave(30)
    compare_models({"a": Recorder(), "line": LINE}, X, y, cv=3)
    assert Recorder.seen == [10, 10, 10]


def test_models_are_not_changed():
    X, y = a_wave(30)
    fitted = clone(LINE).fit(X[:10], y[:10])
    before = fitted.coef_.copy()
    found = compare_models([fitted, LINE], X, y, cv=2)
    np.testing.assert_array_equal(fitted.coef_, before)
    assert not hasattr(LINE, "coef_")
    assert [each.name for each in found.models] == [
        "SparseBayesRegressor 1",
        "SparseBayesRegressor 2",
    ]
    assert found.estimators["SparseBayesRegressor 1"].n_features_in_ == 1


def test_equal_models_are_undecided():
    X, y = a_wave(40)
    found = compare_models({"a": LINE, "b": clone(LINE)}, X, y)
    assert not found.decided
    assert found["a"].probability == pytest.approx(0.5)
    assert found["b"].difference == (0.0, 0.0)


def test_results_do_not_depend_on_the_order_of_models_nor_on_jobs():
    X, y = a_wave(40)
    models = {"line": LINE, "kernels": RVMRegressor(gamma=0.5)}
    one = compare_models(models, X, y, cv=3)
    other = compare_models(dict(reversed(models.items())), X, y, cv=3, n_jobs=2)
    assert one.to_dict() == other.to_dict()


def test_sample_weights_are_frequencies():
    X, y = a_wave(40)
    weight = np.where(np.arange(40) % 3 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(40), weight.astype(int))
    folds = [
        (np.flatnonzero(np.arange(40) % 4 != k), np.flatnonzero(np.arange(40) % 4 == k))
        for k in range(4)
    ]
    repeated = [
        (np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(rows, test)))
        for train, test in folds
    ]
    models = {"line": LINE, "ridge": make_pipeline(StandardScaler(), BayesianRidge())}
    plain = {"line": LINE, "other": SparseBayesRegressor(KernelBasis(RBF(3.0)))}
    weighted = compare_models(plain, X, y, cv=folds, sample_weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows are repeated
        copied = compare_models(plain, X[rows], y[rows], cv=repeated)
    for one, other in zip(weighted.models, copied.models, strict=True):
        assert one.name == other.name
        assert one.mlpd == pytest.approx(other.mlpd, rel=1e-6)
        assert one.evidences.tied_evidence == pytest.approx(other.evidences.tied_evidence)
    compare_models(models, X, y, cv=2, sample_weight=weight)  # pipelines take weights too


# evidence


def test_penalised_evidence_counts_what_was_fitted():
    X, y = a_wave(80)
    model = RVMRegressor(gamma=0.5).fit(X, y)
    found = measure_evidences(model, X, y)
    assert found.n_hyperparameters == len(model.relevance_) + 1
    penalty = 0.5 * np.log(80) * found.n_hyperparameters
    assert found.penalised_evidence == pytest.approx(model.log_evidence_ - penalty)
    known = RVMRegressor(gamma=0.5, noise_variance=0.04).fit(X, y)
    assert measure_evidences(known, X, y).n_hyperparameters == len(known.relevance_)
    learnt = RVMRegressor(length_scales="isotropic").fit(X, y)
    assert measure_evidences(learnt, X, y).n_hyperparameters == len(learnt.relevance_) + 2


def test_tied_evidence_is_that_of_one_precision_for_each_basis():
    X, y = a_wave(80)
    basis = KernelBasis(RBF(1.0)) + LinearBasis()
    found = measure_evidences(SparseBayesRegressor(basis).fit(X, y), X, y)
    tied = SparseBayesRegressor(basis, precision="tied").fit(X, y)
    assert found.tied_evidence == pytest.approx(tied.log_evidence_ - 0.5 * 3 * np.log(80))
    assert measure_evidences(tied, X, y).tied_evidence == pytest.approx(found.tied_evidence)


def test_tied_evidence_is_the_density_of_the_contrasts():
    """Brute force: the best of a grid over precision and noise of the dense density."""
    X, y = a_wave(25)
    scale = 1.3
    model = SparseBayesRegressor(KernelBasis(RBF(scale))).fit(X, y)
    found = measure_evidences(model, X, y)
    phi = np.exp(-0.5 * (X - X.T) ** 2 / scale**2)
    contrasts = np.linalg.svd(np.ones((1, 25)))[2][1:]
    target, columns = contrasts @ y, contrasts @ phi
    values, vectors = np.linalg.eigh(columns @ columns.T)
    square = (vectors.T @ target) ** 2
    best = -np.inf
    for variance in np.exp(np.linspace(-8, 3, 221)):
        for noise in np.exp(np.linspace(-6, 1, 141)):
            total = variance * np.maximum(values, 0.0) + noise
            best = max(best, -0.5 * np.sum(np.log(2 * np.pi * total) + square / total))
    log_evidence = found.tied_evidence + 0.5 * 2 * np.log(25)
    assert best - 1e-9 <= log_evidence < best + 0.02


@pytest.mark.parametrize(
    "model",
    [
        RVMRegressor(),
        DRVMRegressor(),
        RVMRegressor(gamma=0.5, noise="student_t"),
        SparseBayesRegressor(KernelBasis(ExpSineSquared(1.0, 6.0)), length_scales="kernel"),
        make_pipeline(StandardScaler(), RVMRegressor(kernel="matern52")),
    ],
    ids=str,
)
def test_every_regressor_has_all_evidences(model):
    X, y = a_wave(50)
    found = measure_evidences(clone(model).fit(X, y), X, y)
    assert None not in found
    assert np.isfinite([float(each) for each in found]).all()


def test_pure_noise_has_evidences():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    found = measure_evidences(RVMRegressor().fit(X, y), X, y)
    assert None not in found


def test_posterior_probabilities_follow_from_tied_evidence_and_prior():
    X, y = a_wave(60, noise=1.0)
    models = {"a": LINE, "b": SparseBayesRegressor(KernelBasis(RBF(1.0)))}
    found = compare_models(models, X, y, cv=2, prior={"b": 1.0, "a": 3.0})
    assert found["a"].prior == 0.75
    odds = np.exp(found["a"].evidences.tied_evidence - found["b"].evidences.tied_evidence) * 3.0
    assert found["a"].probability == pytest.approx(odds / (1.0 + odds))


def test_models_with_and_without_intercept_have_no_common_probabilities():
    X, y = a_wave(40)
    models = {"a": LINE, "b": SparseBayesRegressor(LinearBasis(), fit_intercept=False)}
    found = compare_models(models, X, y, cv=2)
    assert found["a"].probability is None
    assert "fit_intercept" in found.notes[0]
    assert found.notes[0] in str(found)


def test_evidence_that_prefers_narrow_kernels_is_reported():
    rng = np.random.default_rng(3)
    X = rng.uniform(-10, 10, size=(100, 1))
    y = np.sinc(X[:, 0] / np.pi) + 0.4 * rng.normal(size=100)
    models = {f"{s}": SparseBayesRegressor(KernelBasis(RBF(s))) for s in (0.05, 1.6)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = compare_models(models, X, y)
    assert found["0.05"].evidences.log_evidence > found["1.6"].evidences.log_evidence
    assert found["0.05"].probability < 0.01
    assert found.best_ == "1.6"
    assert any("Criteria disagree: the log evidence" in str(each.message) for each in caught)
    assert found.disagreements


# classes and counts


def test_classifiers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=80) > 0, "yes", "no")
    models = {
        "linear": SparseBayesClassifier(LinearBasis()),
        "kernels": RVMClassifier(gamma=0.5),
        "logistic": LogisticRegression(),
        "ridge": RidgeClassifier(),
    }
    found = compare_models(models, X, y, cv=4)
    assert found.task == "classification"
    assert found["ridge"].mlpd is None
    assert 0.0 < found["ridge"].error.mean < 0.4
    assert found["linear"].probability + found["kernels"].probability == pytest.approx(1.0)
    assert found["logistic"].probability is None
    assert "error_rate" in found.to_records()[0]
    assert "log loss" in str(found)


def test_tied_evidence_of_classifiers_has_the_same_intercept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=50) > 0.3
    basis = KernelBasis(RBF(1.0))
    models = {
        "atoms": SparseBayesClassifier(basis),
        "tied": SparseBayesClassifier(basis, precision="tied", fit_intercept=False),
    }
    first, second = (measure_evidences(each.fit(X, y), X, y) for each in models.values())
    assert first.tied_evidence == pytest.approx(second.tied_evidence)
    assert first.penalised_evidence != pytest.approx(second.penalised_evidence)


def test_three_classes_have_no_tied_evidence():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    found = compare_models([SparseBayesClassifier(LinearBasis()), LogisticRegression()], X, y, cv=2)
    evidences = found["SparseBayesClassifier"].evidences
    assert evidences.tied_evidence is None
    assert evidences.penalised_evidence < evidences.log_evidence


def test_counts():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(60, 1))
    y = rng.poisson(np.exp(1.0 + X[:, 0])).astype(float)
    models = {"counts": SparseBayesCountRegressor(LinearBasis()), "line": LINE}
    found = compare_models(models, X, y, cv=3)
    assert found["counts"].mlpd.mean > found["line"].mlpd.mean
    assert found["counts"].evidences.penalised_evidence is not None


class ManyKernels(RegressorMixin, BaseEstimator):
    """A regressor with evidence and standard deviations, but not of relvec."""

    def fit(self, X, y):
        self.model_ = RVMRegressor(gamma=0.5).fit(X, y)
        self.log_evidence_ = self.model_.log_evidence_
        return self

    def predict(self, X, return_std=False):
        return self.model_.predict(X, return_std=return_std)


def test_any_regressor_with_standard_deviations_and_evidence():
    X, y = a_wave(40)
    found = compare_models({"line": LINE, "many": ManyKernels()}, X, y, cv=3)
    assert found.best_ == "many"
    assert found["many"].evidences.log_evidence > found["line"].evidences.log_evidence
    assert found["many"].evidences.penalised_evidence is None


class Interpolator(RegressorMixin, BaseEstimator):
    """States that its predictions have no error."""

    def fit(self, X, y):
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X, return_std=False):
        mean = np.full(len(X), self.mean_)
        return (mean, np.zeros(len(X))) if return_std else mean


def test_a_density_of_zero_is_the_worst():
    X, y = a_wave(30)
    found = compare_models({"sure": Interpolator(), "line": LINE}, X, y, cv=3)
    assert found.best_ == "line"
    assert found["sure"].mlpd.mean == -np.inf
    assert "-inf" in str(found)


# folds


def test_rolling_folds_are_in_the_order_of_time():
    X, y = a_wave(60)
    order = np.argsort(X[:, 0])
    models = {"line": LINE, "kernels": RVMRegressor(gamma=0.5)}
    found = compare_models(models, X, y, cv="rolling", n_splits=3, horizon=5)
    folds = [(order[train], order[test]) for train, test in make_rolling_folds(60, 3, 5)]
    given = compare_models(models, X, y, cv=folds)
    assert found["kernels"].mlpd == given["kernels"].mlpd
    assert found.folds == "3 rolling origins"
    assert [len(train) for train, _ in folds] == [45, 50, 55]


def test_splitters_are_applied_to_rows_as_they_are():
    X, y = a_wave(40)
    found = compare_models([LINE, BayesianRidge()], X, y, cv=TimeSeriesSplit(3))
    given = compare_models([LINE, BayesianRidge()], X, y, cv=list(TimeSeriesSplit(3).split(X)))
    assert found["BayesianRidge"].mlpd == given["BayesianRidge"].mlpd
    groups = np.arange(40) // 4
    folds = list(GroupKFold(4).split(X, y, groups))
    assert compare_models([LINE, BayesianRidge()], X, y, cv=folds).folds == "4 given folds"


def test_dates_are_time():
    dates = np.datetime64("2020-01-01") + np.arange(20)[::-1]
    from relvec.comparing.splits import order_rows

    assert order_rows(dates[:, np.newaxis]).tolist() == list(range(20))[::-1]
    with pytest.raises(ValueError, match="numbers or dates; got <U1"):
        order_rows(np.array([["b"], ["a"]]))


def test_precomputed_kernels_are_split_by_rows_and_columns():
    X, y = a_wave(40)
    K = np.exp(-0.5 * (X - X.T) ** 2)
    kernels = RVMRegressor("precomputed", error_bars="plain", length_scales=None)
    found = compare_models({"a": kernels, "b": clone(kernels)}, K, y, cv=2)
    assert found["a"].error.mean < 0.5


# results


def test_exports(comparison):
    records = comparison.to_records()
    assert [each["name"] for each in records] == [each.name for each in comparison.models]
    assert records[-1]["mlpd"] is None
    assert json.loads(json.dumps(comparison.to_dict()))["verdict"]["best"] == "kernels"
    text = str(comparison)
    assert text.splitlines()[0] == "4 models, 60 rows, 5 shuffled folds"
    assert comparison.verdict.text in text
    assert "<td>kernels</td>" in comparison._repr_html_()


def test_frame(comparison):
    pandas = pytest.importorskip("pandas")
    frame = comparison.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.loc["kernels", "mlpd"] == comparison["kernels"].mlpd.mean


def test_frame_without_pandas(comparison, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_records"):
        comparison.to_frame()


def test_names_are_escaped_in_html():
    X, y = a_wave(20)
    found = compare_models({"<b>": LINE, "c": BayesianRidge()}, X, y, cv=2)
    assert "&lt;b&gt;" in found._repr_html_()


def test_bases_of_series_are_tied_and_their_learnt_length_scales_count():
    rng = np.random.default_rng(3)
    months = np.arange(96.0)[:, np.newaxis]
    y = 0.1 * months[:, 0] + np.sin(2 * np.pi * months[:, 0] / 12) + 0.3 * rng.normal(size=96)
    for season, n_learnt in ((PeriodicBasis(12.0), 1), (PeriodicBasis(12.0, length_scale=1.0), 0)):
        model = SparseBayesRegressor(LinearBasis() + season).fit(months, y)
        found = measure_evidences(model, months, y)
        assert found.n_hyperparameters == 2 + 1 + n_learnt  # two precisions and the noise
        expected = model.log_evidence_ - 0.5 * np.log(96.0) * found.n_hyperparameters
        assert found.penalised_evidence == pytest.approx(expected)
        assert found.tied_evidence == pytest.approx(expected)
