"""Kernel searches among scikit-learn's tools: copies, pipelines, callbacks, resumption."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import KernelSearchRegressor
from relvec.io import load, save
from tests.estimators.test_callbacks import Recorder

N = 60
T = np.arange(float(N))[:, np.newaxis]
Y = (
    0.05 * T[:, 0]
    + np.sin(2 * np.pi * T[:, 0] / 12)
    + 0.2 * np.random.default_rng(0).normal(size=N)
)
QUICK = {"factors": ("linear", "smooth", "walk"), "transforms": ("identity",), "max_components": 2}


def make_model(**options):
    return KernelSearchRegressor(**QUICK | options)


# ---------------------------------------------------------------------- copies


def test_options_come_back():
    model = KernelSearchRegressor(periods=[12.0], effort="fast", horizon=0.2)
    assert clone(model).get_params() == model.get_params()
    model.set_params(mode="interpretable", periods=None)
    assert model.mode == "interpretable"
    assert repr(model) == (
        "KernelSearchRegressor(effort='fast', horizon=0.2, mode='interpretable')"
    )
    with pytest.raises(ValueError, match="Invalid parameter 'kernel'"):
        model.set_params(kernel="rbf")


@pytest.mark.parametrize("mode", ["accuracy", "interpretable"])
def test_copies_predict_the_same(mode, tmp_path):
    model = make_model(mode=mode).fit(T, Y)
    joblib.dump(model, tmp_path / "model.joblib")
    copies = [
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        load(save(model, tmp_path / "model.relvec")),
    ]
    ahead = model.future_inputs(5)
    for copy in copies:
        np.testing.assert_array_equal(copy.predict(T), model.predict(T))
        np.testing.assert_array_equal(copy.predict_interval(ahead), model.predict_interval(ahead))
        np.testing.assert_array_equal(copy.decompose(ahead).mean, model.decompose(ahead).mean)
        assert str(copy.structures_) == str(model.structures_)
        assert str(copy.components_) == str(model.components_)


def test_files_are_small(tmp_path):
    """Posteriors are computed again; of the rows there are a few columns."""
    T_long = np.arange(600.0)[:, np.newaxis]
    y = np.sin(T_long[:, 0] / 40) + 0.2 * np.random.default_rng(0).normal(size=600)
    model = make_model().fit(T_long, y)
    model.predict(T_long)
    assert len(pickle.dumps(model)) < 200_000
    assert save(model, tmp_path / "model.relvec").stat().st_size < 100_000


def test_a_model_that_is_not_fitted_says_so():
    for call in (
        lambda model: model.predict(T),
        lambda model: model.predict_interval(T),
        lambda model: model.decompose(T),
        lambda model: model.future_inputs(3),
    ):
        with pytest.raises(NotFittedError):
            call(KernelSearchRegressor())


# ---------------------------------------------------------------------- pipelines and searches


def test_pipelines_and_scores():
    model = make_model()
    pipeline = make_pipeline(StandardScaler(), model).fit(T, Y)
    np.testing.assert_allclose(pipeline.predict(T), clone(model).fit(T, Y).predict(T), rtol=1e-6)
    scaled = TransformedTargetRegressor(make_model(), transformer=StandardScaler()).fit(T, Y)
    assert scaled.score(T, Y) > 0.5
    scores = cross_val_score(make_model(), T, Y, cv=TimeSeriesSplit(2))
    assert np.isfinite(scores).all()


def test_options_can_be_searched():
    search = GridSearchCV(make_model(), {"mode": ["accuracy", "interpretable"]}, cv=2).fit(T, Y)
    assert search.best_params_["mode"] in ("accuracy", "interpretable")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_give_names(frame):
    X = frame({"year": T[:, 0]})
    model = make_model().fit(X, Y)
    assert list(model.feature_names_in_) == ["year"]
    np.testing.assert_array_equal(model.predict(X), make_model().fit(T, Y).predict(T))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame({"month": T[:, 0]}))


def test_a_series_of_pandas_is_a_target():
    model = make_model().fit(pd.DataFrame({"year": T[:, 0]}), pd.Series(Y, name="level"))
    assert np.isfinite(model.predict(T)).all()


# ---------------------------------------------------------------------- the same result


@pytest.mark.slow
def test_results_do_not_depend_on_jobs_nor_on_the_order_of_rows():
    y = np.exp(Y)  # so that transforms are compared
    options = {"factors": ("linear", "smooth", "walk"), "max_components": 3}
    first = KernelSearchRegressor(**options).fit(T, y)
    order = np.random.default_rng(1).permutation(N)
    others = [
        KernelSearchRegressor(**options).fit(T, y),
        KernelSearchRegressor(**options, n_jobs=2).fit(T, y),
        KernelSearchRegressor(**options).fit(T[order], y[order]),
    ]
    for other in others:
        assert [each.name for each in other.structures_] == [
            each.name for each in first.structures_
        ]
        np.testing.assert_array_equal(other.weights_, first.weights_)
        np.testing.assert_array_equal(other.predict(T), first.predict(T))


def test_weights_are_repetitions():
    weight = 1.0 + (np.arange(N) % 3 == 0)
    rows = np.repeat(np.arange(N), weight.astype(int))
    weighted = make_model().fit(T, Y, sample_weight=weight)
    repeated = make_model().fit(T[rows], Y[rows])
    np.testing.assert_allclose(weighted.predict(T), repeated.predict(T), rtol=1e-8)
    assert weighted.score_ == pytest.approx(repeated.score_)


# ---------------------------------------------------------------------- callbacks


def test_callbacks_are_called_after_every_fit():
    recorder = Recorder()
    model = make_model().set_callbacks(recorder).fit(T, Y)
    assert recorder.events[:2] == ["setup", "begin"]
    assert recorder.events[-2:] == ["end", "teardown"]
    assert recorder.n_steps >= 5
    np.testing.assert_array_equal(model.predict(T), make_model().fit(T, Y).predict(T))


def test_a_callback_can_end_the_search():
    recorder = Recorder(stop_after=3)
    model = KernelSearchRegressor().set_callbacks(recorder).fit(T, Y)
    assert model.n_iter_ < KernelSearchRegressor(effort="fast").fit(T, Y).n_iter_
    assert np.isfinite(model.predict(T)).all()


def test_a_progress_bar_runs_to_its_end(capsys):
    make_model().set_callbacks(ProgressBar()).fit(T, Y)
    assert "KernelSearchRegressor" in capsys.readouterr().out


# ---------------------------------------------------------------------- limits of time


def test_a_limit_of_time_is_told_and_can_be_extended():
    model = KernelSearchRegressor(time_limit=0.05, warm_start=True)
    with pytest.warns(ConvergenceWarning, match=r"time_limit=0.05 seconds after \d+ fits"):
        model.fit(T, Y)
    n_before, score = model.n_iter_, model.score_
    assert np.isfinite(model.predict(T)).all()
    with pytest.warns(ConvergenceWarning):
        model.set_params(time_limit=0.5).fit(T, Y)
    assert model.n_iter_ > n_before
    assert model.score_ >= score


@pytest.mark.slow
def test_a_warm_start_ends_where_a_cold_one_does():
    model = make_model(warm_start=True, time_limit=0.02)
    with pytest.warns(ConvergenceWarning):
        model.fit(T, Y)
    model.set_params(time_limit=None).fit(T, Y)
    cold = make_model().fit(T, Y)
    assert model.expression_ == cold.expression_
    assert model.score_ >= cold.score_ - 0.5  # a gain of which ends the search
    model.fit(T, Y + 1.0)  # other data start anew
    assert model.predict(T).mean() == pytest.approx(Y.mean() + 1.0, abs=0.1)
