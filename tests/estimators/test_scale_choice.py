"""How sparse models decide between proposals of scales."""

from types import SimpleNamespace

import numpy as np
import pytest

from relvec import RVMRegressor
from relvec.estimators._scale_choice import Trials, decide


def proposal(group, width=1.0, *, kind="isotropic", n_scales=1, price=0.5, n_varying=5):
    scales = SimpleNamespace(
        group=group,
        width=width,
        is_shared=kind == "isotropic",
        n_scales=n_scales,
        price=price,
        n_varying=n_varying,
    )
    return SimpleNamespace(scales=scales)


def trials(proposals, objective, score=None, seen=None):
    def fit(chosen, rows):
        if seen is not None:
            seen.append((chosen.scales.group, None if rows is None else len(rows)))
        label = chosen.scales.group
        return SimpleNamespace(objective=objective.get(label, 0.0), label=label)

    return Trials(lambda rows: proposals, fit, lambda fitted, rows: score[fitted.label])


GROUPS = np.zeros(50, dtype=np.intp)


def test_nothing_proposed():
    assert decide(trials([], {}), GROUPS) is None


def test_a_single_proposal_is_fitted_once():
    seen = []
    chosen, fitted = decide(trials([proposal("one")], {}, seen=seen), GROUPS)
    assert chosen.scales.group == fitted.label == "one"
    assert seen == [("one", None)]


@pytest.mark.parametrize(("more", "expected"), [(3.9, "wide"), (4.1, "own")])
def test_every_scale_costs_a_nat(more, expected):
    both = [proposal("wide"), proposal("own", kind="ard", n_scales=5)]
    chosen, fitted = decide(trials(both, {"wide": -10.0, "own": -10.0 + more}), GROUPS)
    assert chosen.scales.group == fitted.label == expected


@pytest.mark.parametrize(("more", "expected"), [(5.9, "wide"), (6.1, "own")])
def test_or_the_price_of_an_input(more, expected):
    both = [proposal("wide"), proposal("own", kind="ard", n_scales=2, price=3.5)]
    chosen, _ = decide(trials(both, {"wide": 0.0, "own": more}), GROUPS)
    assert chosen.scales.group == expected


def test_of_many_inputs_predictions_decide_and_not_evidence():
    both = [proposal("wide", n_varying=500), proposal("own", kind="ard", n_varying=500)]
    seen = []
    tried = trials(both, {"wide": 100.0, "own": 0.0}, {"wide": -3.0, "own": -1.0}, seen)
    chosen, fitted = decide(tried, GROUPS)
    assert chosen.scales.group == fitted.label == "own"
    assert seen[-1] == ("own", None)
    assert {rows for _, rows in seen[:-1]} == {40}


def test_widths_alone_are_left_to_evidence():
    both = [proposal("own", 0.5, n_varying=500), proposal("own", 1.0, n_varying=500)]
    seen = []
    decide(trials(both, {}, seen=seen), GROUPS)
    assert seen == [("own", None), ("own", None)]


def test_folds_are_disjoint_and_respect_classes():
    groups = np.repeat([0, 1], [40, 10])
    tested = []

    def score(fitted, rows):
        tested.append(rows)
        return 0.0

    both = [proposal("a", n_varying=500), proposal("b", n_varying=500)]
    decide(trials(both, {})._replace(score=score), groups)
    folds = tested[::2]
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(50))
    assert all(np.count_nonzero(groups[rows]) == 2 for rows in folds)


def test_screened_inputs_do_not_win_by_having_been_screened():
    """Two hundred of many inputs that go with the targets by chance explain them all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1500))
    y = 3.0 * X[:, 7] - 2.0 * X[:, 900] + 0.3 * rng.normal(size=60)
    model = RVMRegressor().fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(model.feature_relevance_), [7, 900])
    X_new = rng.normal(size=(500, 1500))
    residual = model.predict(X_new) - 3.0 * X_new[:, 7] + 2.0 * X_new[:, 900]
    assert np.sqrt(np.mean(residual**2)) < 0.5
