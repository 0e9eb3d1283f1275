"""How sparse models decide between candidate length-scales."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from relvec import RVMRegressor
from relvec.estimators._length_scale_choice import choose_length_scales
from relvec.estimators._plan import Data, Plan, PlanTuning


def candidate(group, scale_factor=1.0, *, kind="isotropic", n_scales=1, penalty=0.5, n_varying=5):
    scales = SimpleNamespace(
        group=group,
        scale_factor=scale_factor,
        is_shared=kind == "isotropic",
        n_scales=n_scales,
        penalty=penalty,
        spread=np.ones(n_varying),
    )
    return SimpleNamespace(learnt=scales, basis=group)


@dataclass(frozen=True)
class FakeFit:
    objective: float
    label: str
    scaled: object = None


class FakePlan:
    """Returns given candidates, objectives and scores."""

    tuning = PlanTuning()
    advantage = 0.0

    def __init__(self, candidates, objective, score=None, simple=()):
        self.candidates = candidates
        self.simple = [*simple] or [candidate("null")]
        self.objective = objective
        self.scores = {"null": -9.0} | (score or {})
        self.fitted = []
        self.finished = []
        self.tested = []

    def learn_length_scales(self, data):
        return self.candidates

    def fit(self, basis, data):
        self.fitted.append((basis, len(data.groups)))
        return FakeFit(self.objective.get(basis, 0.0), basis)

    def fit_candidate(self, scaled, data):
        return self.fit(scaled.basis, data)

    def make_baseline_candidates(self, kernels):
        return self.simple

    def null_advantage(self, n_others):
        return self.advantage

    def make_fold_plan(self):
        return self

    def merge_equal_rows(self, data):
        return data

    def order_rows(self, data):
        return np.argsort(data.groups, kind="stable")

    evidence_weights = Plan.evidence_weights
    stacking_weights = Plan.stacking_weights

    def combine_fits(self, fits, weights):
        return fits[0]

    def attach_length_scales(self, scaled, fitted, data):
        self.finished.append(scaled.basis)
        return fitted

    def add_error_bars(self, fitted, data):
        return fitted

    def predict_held_out(self, fitted, data):
        self.tested.append(data)
        return fitted.label

    def score(self, held_out):
        return np.mean([self.scores[label] for label in held_out])

    def choose(self, groups=None):
        groups = np.zeros(50, dtype=np.intp) if groups is None else groups
        rows = np.arange(len(groups))
        data = Data(rows[:, None], rows[:, None], None, groups)
        chosen, fitted, self.held_out = choose_length_scales(self, self.candidates, data)
        assert chosen.basis == fitted.label
        return chosen.basis


def test_a_single_proposal_is_fitted_once():
    plan = FakePlan([candidate("one")], {})
    assert plan.choose() == "one"
    assert plan.fitted == [("one", 50)]


@pytest.mark.parametrize(("more", "expected"), [(3.9, "wide"), (4.1, "own")])
def test_every_length_scale_has_a_penalty_of_one_nat(more, expected):
    both = [candidate("wide"), candidate("own", kind="ard", n_scales=5)]
    assert FakePlan(both, {"wide": -10.0, "own": -10.0 + more}).choose() == expected


@pytest.mark.parametrize(("more", "expected"), [(5.9, "wide"), (6.1, "own")])
def test_or_the_penalty_of_a_feature(more, expected):
    both = [candidate("wide"), candidate("own", kind="ard", n_scales=2, penalty=3.5)]
    assert FakePlan(both, {"wide": 0.0, "own": more}).choose() == expected


def test_with_many_features_held_out_rows_decide():
    both = [candidate("wide", n_varying=500), candidate("own", kind="ard", n_varying=500)]
    plan = FakePlan(both, {"wide": 100.0, "own": 0.0}, {"wide": -3.0, "own": -1.0})
    assert plan.choose() == "own"
    assert plan.fitted[-1] == ("own", 50)
    assert {rows for _, rows in plan.fitted[:-1]} == {40}
    assert plan.held_out == ["own"] * 5


def test_with_many_features_baselines_are_compared():
    both = [candidate("wide", n_varying=500), candidate("own", kind="ard", n_varying=500)]
    simple = [candidate("null"), candidate("linear")]
    scores = {"wide": -3.0, "own": -2.0, "null": -4.0, "linear": -1.0}
    assert FakePlan(both, {}, scores, simple).choose() == "linear"
    scores["null"] = 0.0
    assert FakePlan(both, {}, scores, simple).choose() == "null"


@pytest.mark.parametrize(("advantage", "expected"), [(49.0, "own"), (51.0, "null")])
def test_the_null_model_is_kept_unless_all_rows_reject_it(advantage, expected):
    both = [candidate("wide", n_varying=500), candidate("own", kind="ard", n_varying=500)]
    plan = FakePlan(both, {}, {"wide": -3.0, "own": -2.0, "null": -3.0})
    plan.advantage = advantage
    assert plan.choose() == expected


def test_folds_refine_length_scales_as_the_fit_does():
    both = [candidate("wide", n_varying=500), candidate("own", kind="ard", n_varying=500)]
    plan = FakePlan(both, {}, {"wide": -3.0, "own": -1.0})
    plan.choose()
    assert plan.finished == ["wide", "own", "null"] * 5


def test_length_scale_factors_are_compared_by_evidence():
    both = [candidate("own", 0.5, n_varying=500), candidate("own", 1.0, n_varying=500)]
    plan = FakePlan(both, {})
    plan.choose()
    assert plan.fitted == [("own", 50), ("own", 50)]


def test_folds_are_disjoint_and_respect_classes():
    groups = np.repeat([0, 1], [40, 10])
    both = [candidate("a", n_varying=500), candidate("b", n_varying=500)]
    plan = FakePlan(both, {}, {"a": 0.0, "b": 0.0})
    plan.choose(groups)
    folds = plan.tested[::3]
    rows = np.concatenate([fold.X[:, 0] for fold in folds])
    np.testing.assert_array_equal(np.sort(rows), np.arange(50))
    assert all(np.count_nonzero(fold.groups) == 2 for fold in folds)


def test_a_choice_of_many_rows_decides():
    both = [candidate("wide"), candidate("own", kind="ard")]
    plan = FakePlan(both, {"own": 10.0})
    plan.tuning = PlanTuning(n_comparison_rows=30)
    assert plan.choose() == "own"
    assert plan.fitted == [("wide", 30), ("own", 30), ("own", 50)]


@pytest.mark.slow
def test_screened_features_have_no_unfair_advantage():
    """Two hundred of many features that correlate with the targets at random explain them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1500))
    y = 3.0 * X[:, 7] - 2.0 * X[:, 900] + 0.3 * rng.normal(size=60)
    model = RVMRegressor().fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(model.feature_relevance_), [7, 900])
    X_new = rng.normal(size=(500, 1500))
    residual = model.predict(X_new) - 3.0 * X_new[:, 7] + 2.0 * X_new[:, 900]
    assert np.sqrt(np.mean(residual**2)) < 0.5
