"""scikit-learn's callbacks: watching a fit, and ending it early."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import FitCallback, ProgressBar
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVMRegressor
from tests.estimators.problems import sinc, smooth

X, Y = smooth()
SOLVERS = ["sequential", "mackay", "em", "textbook"]


class Recorder:
    """Count steps, and ask to stop after some of them."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.events = []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append("begin" if context.parent is None else "begin step")

    def on_fit_task_end(self, estimator, context):
        if context.parent is None:
            self.events.append("end")
            return False
        self.events.append(context.task_name)
        return self.stop_after is not None and self.n_steps >= self.stop_after

    @property
    def n_steps(self):
        return self.events.count("begin step")


@pytest.mark.parametrize("solver", SOLVERS)
def test_callbacks_are_called_after_every_step(solver):
    recorder = Recorder()
    assert isinstance(recorder, FitCallback)
    model = RVMRegressor(gamma=0.1, solver=solver)
    model.set_callbacks(recorder).fit(X, Y)
    assert recorder.events[:2] == ["setup", "begin"]
    assert recorder.events[-2:] == ["end", "teardown"]
    assert recorder.n_steps >= 3
    silent = RVMRegressor(gamma=0.1, solver=solver).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), silent.predict(X))
    assert model.n_iter_ == silent.n_iter_


@pytest.mark.parametrize(
    ("solver", "n_steps"), [("sequential", 20), ("mackay", 2), ("em", 2), ("textbook", 2)]
)
def test_early_stop(solver, n_steps):
    recorder = Recorder(stop_after=n_steps)
    model = RVMRegressor(gamma=0.1, solver=solver).set_callbacks(recorder).fit(X, Y)
    free = RVMRegressor(gamma=0.1, solver=solver).fit(X, Y)
    assert recorder.n_steps == n_steps
    assert recorder.events[-2:] == ["end", "teardown"]
    assert model.n_iter_ < free.n_iter_
    assert not model.converged_
    assert model.objective_ <= free.objective_ + 1e-9
    # usable: whatever was asked of a converged model can be asked of this one
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert (std > 0).all()
    assert np.isfinite(model.log_evidence_)
    assert model.coef_.shape == model.relevance_.shape
    assert np.isfinite(model.sample_y(X, 2)).all()


@pytest.mark.parametrize("n_steps", [2, 5])
def test_a_fit_that_is_stopped_early_keeps_what_it_has(n_steps):
    model = RVMRegressor(gamma=0.1).set_callbacks(Recorder(stop_after=n_steps)).fit(X, Y)
    assert not model.converged_
    assert len(model.relevance_) > 0


def test_early_stop_after_the_first_step_of_each_output():
    recorder = Recorder(stop_after=1)
    targets = np.column_stack([Y, -Y])
    model = RVMRegressor(gamma=0.1).set_callbacks(recorder).fit(X, targets)
    assert recorder.n_steps == 2
    assert model.predict(X).shape == (60, 2)


def test_callbacks_are_torn_down_after_an_error():
    recorder = Recorder()
    model = RVMRegressor(gamma=0.1, solver="no such").set_callbacks(recorder)
    with pytest.raises(ValueError, match="solver must be one of"):
        model.fit(X, Y)
    assert recorder.events.count("setup") == recorder.events.count("teardown")


def test_nothing_is_left_on_the_estimator():
    model = RVMRegressor(gamma=0.1).fit(X, Y)
    assert not [name for name in vars(model) if "callback" in name]
    with_recorder = RVMRegressor(gamma=0.1).set_callbacks(Recorder()).fit(X, Y)
    assert [name for name in vars(with_recorder) if "callback" in name] == ["_skl_callbacks"]
    with_recorder.set_callbacks()
    assert not [name for name in vars(with_recorder) if "callback" in name]
    assert len(pickle.dumps(with_recorder)) == len(pickle.dumps(model))


def test_clones_have_the_callbacks_scikit_learn_gives_them():
    recorder = Recorder()
    clone(RVMRegressor(gamma=0.1).set_callbacks(recorder)).fit(X, Y)
    assert recorder.events.count("setup") <= 1


@pytest.fixture
def bar():
    pytest.importorskip("rich")
    return ProgressBar(max_propagation_depth=2)


def test_progress_bar_of_a_fit(bar, capsys):
    model = RVMRegressor(gamma=0.1).set_callbacks(bar).fit(X, Y)
    assert "RVMRegressor" in capsys.readouterr().out
    np.testing.assert_array_equal(model.predict(X), RVMRegressor(gamma=0.1).fit(X, Y).predict(X))


def test_progress_bar_of_a_search(bar, capsys):
    pipeline = make_pipeline(StandardScaler(), RVMRegressor(effort="fast", prior="bic"))
    search = GridSearchCV(pipeline, {"rvmregressor__gamma": [0.1, 0.2]}, cv=2)
    search.set_callbacks(bar).fit(*sinc())
    assert "GridSearchCV" in capsys.readouterr().out
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
