"""Kernel searches at the edges of what is allowed, each checked against what must hold."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from relvec import KernelSearchRegressor
from relvec.estimators._search_predict import continue_dates
from relvec.learning.structures.mixture import Normal, StructureMixture
from relvec.learning.structures.rows import OutputScaling
from relvec.likelihoods import IdentityTransform

N = 40
T = np.arange(float(N))[:, np.newaxis]
NOISE = np.random.default_rng(0).normal(size=N)
WAVE = 0.1 * T[:, 0] + np.sin(T[:, 0] / 2.0) + 0.1 * NOISE


@pytest.mark.parametrize("effort", ["fast", "balanced"])
def test_steps_alone_are_found(effort):
    y = 3.0 * (T[:, 0] > 18.0) + 0.3 * NOISE
    model = KernelSearchRegressor(factors=("step",), effort=effort).fit(T, y)
    assert model.expression_ == "STEP"
    assert abs(np.diff(model.predict([[10.0], [30.0]]))[0] - 3.0) < 0.5


def test_a_kink_alone_is_found():
    y = np.maximum(T[:, 0] - 18.0, 0.0) + 0.3 * NOISE
    model = KernelSearchRegressor(factors=("kink",)).fit(T, y)
    assert model.expression_ == "KINK"
    assert abs(np.diff(model.predict([[30.0], [40.0]]))[0] - 10.0) < 1.0


@pytest.mark.parametrize("effort", ["fast", "balanced"])
@pytest.mark.parametrize("limit", [1, 2])
def test_no_structure_has_more_components_than_allowed(effort, limit):
    model = KernelSearchRegressor(max_components=limit, effort=effort).fit(T, WAVE)
    assert all(len(each.structure.components) <= limit for each in model.structures_)


def test_a_fast_search_without_time_predicts_by_the_mean():
    model = KernelSearchRegressor(effort="fast", time_limit=1e-9)
    with pytest.warns(UserWarning, match="time_limit"):
        model.fit(T, WAVE + 9.0)  # positive, so there are several transforms
    assert np.isfinite(model.predict(T)).all()


def test_one_row_of_weight_five_raises_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelSearchRegressor().fit(T, WAVE, 5.0 * np.eye(N)[0])
    assert model.predict([[3.0]])[0] == pytest.approx(WAVE[0])


def test_truth_values_are_targets():
    model = KernelSearchRegressor(effort="fast")
    given, expected = model.fit(T, WAVE > 2).predict(T), model.fit(T, 1.0 * (WAVE > 2)).predict(T)
    np.testing.assert_array_equal(given, expected)


def test_a_warm_start_with_other_options_begins_anew():
    model = KernelSearchRegressor(effort="fast", warm_start=True).fit(T, WAVE)
    n_fits = model.n_iter_
    assert model.fit(T, WAVE).n_iter_ > n_fits
    model.set_params(factors=("linear",)).fit(T, WAVE)
    assert model.expression_ == "LIN"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"origins": 0.5}, "origins must be a sequence of fractions"),
        ({"origins": "abc"}, "origins must be a sequence of fractions"),
        ({"factors": None}, "factors must be a sequence of names"),
        ({"transforms": None}, "transforms must be a sequence of names"),
    ],
)
def test_options_that_are_not_sequences_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        KernelSearchRegressor(**options).fit(T, WAVE)


def test_targets_and_levels_of_other_shapes_are_refused():
    model = KernelSearchRegressor(factors=("linear",), effort="fast").fit(T, WAVE)
    two = [[1.0], [2.0]]
    for target in ([1.0], [1.0, 2.0, 3.0], two):
        shape = re.escape(str(np.shape(target)))
        with pytest.raises(ValueError, match=f"one entry per prediction.*{shape}"):
            model.log_predictive_density(two, target)
    with pytest.raises(ValueError, match="y must be finite"):
        model.log_predictive_density(two, [1.0, np.nan])
    for levels in ([], [[0.1, 0.2]]):
        with pytest.raises(ValueError, match="levels must be a sequence of probabilities"):
            model.predict_quantiles(two, levels)


def test_a_wide_member_of_no_weight_does_not_blur_quantiles():
    output = OutputScaling(IdentityTransform(), 0.0, 1.0)
    narrow = Normal(output, np.zeros(1), np.ones(1))
    wide = Normal(output, np.zeros(1), np.full(1, 1e150))
    mixture = StructureMixture([narrow, wide], np.array([1.0 - 1e-15, 1e-15]))
    np.testing.assert_allclose(mixture.quantile(0.9), narrow.quantile(0.9), rtol=1e-12)


def test_last_days_of_months_go_on():
    months = np.arange(np.datetime64("2019-01"), np.datetime64("2021-02"))
    ends = (months + 1).astype("datetime64[s]") - np.timedelta64(1, "D")
    ahead = continue_dates(ends, 3).astype("datetime64[D]")
    assert ahead.astype(str).tolist() == ["2021-02-28", "2021-03-31", "2021-04-30"]
    quarters = continue_dates(ends[2::3], 2).astype("datetime64[D]")
    assert quarters.astype(str).tolist() == ["2021-03-31", "2021-06-30"]


def test_losses_of_several_components_of_a_table_use_its_penalties():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 30))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=120)
    model = KernelSearchRegressor(mode="interpretable", transforms=("identity",)).fit(X, y)
    null = KernelSearchRegressor(
        mode="interpretable", transforms=("identity",), structure_penalty=(1e6, 0.0)
    ).fit(X, y)
    assert null.expression_ == "none"
    places = range(len(model.components_))
    assert model.compute_score_loss(places) == pytest.approx(model.score_ - null.score_, abs=1e-6)
