"""Inputs of kernel searches: dates in every form, and what is refused with which sentence."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from relvec import KernelSearchRegressor

N = 40
T = np.arange(float(N))[:, np.newaxis]
Y = 3.0 + np.sin(T[:, 0] / 3.0) + 0.1 * np.random.default_rng(0).normal(size=N)
DAYS = np.datetime64("2020-02-27") + np.arange(N)
NANOSECONDS = DAYS.astype("datetime64[ns]")
BERLIN = timezone(timedelta(hours=1))


def make_model() -> KernelSearchRegressor:
    """Return a model that is fitted in a moment."""
    return KernelSearchRegressor(
        factors=("linear", "smooth"), transforms=("identity",), max_components=2
    )


# ---------------------------------------------------------------------- dates

DATES = {
    "array": DAYS,
    "column": DAYS[:, np.newaxis],
    "frame": pd.DataFrame({"day": NANOSECONDS}),
    "index": pd.DatetimeIndex(NANOSECONDS),
    "series": pd.Series(NANOSECONDS),
    "polars": pl.DataFrame({"day": DAYS}),
    "polars_series": pl.Series(DAYS),
    "dates": [each.item() for each in DAYS],
    "rows_of_dates": [[each.item()] for each in DAYS],
    "times": [datetime.combine(each.item(), datetime.min.time()) for each in DAYS],
    "zone": [datetime.combine(each.item(), datetime.min.time(), BERLIN) for each in DAYS],
    "zone_frame": pd.DataFrame({"day": pd.DatetimeIndex(NANOSECONDS).tz_localize("Etc/GMT-1")}),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", DATES)
def test_dates_in_every_form_give_the_same_model(form):
    expected = make_model().fit(T, Y)
    model = make_model().fit(DATES[form], Y)
    assert model.has_dates_
    assert model.n_features_in_ == 1
    np.testing.assert_allclose(model.predict(DATES[form]), expected.predict(T), rtol=1e-6)
    ahead = model.future_inputs(3)
    assert ahead.dtype.kind == "M"
    assert ahead[0, 0].astype("datetime64[D]") >= DAYS[-1]
    np.testing.assert_allclose(
        model.predict(ahead), expected.predict(expected.future_inputs(3)), rtol=1e-6
    )


def test_the_name_of_a_column_of_dates_is_known():
    model = make_model().fit(DATES["frame"], Y)
    assert list(model.feature_names_in_) == ["day"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame({"date": NANOSECONDS}))


def test_dates_and_numbers_are_not_exchanged():
    with pytest.raises(ValueError, match="X contains numbers, but the model was fitted to dates"):
        make_model().fit(DAYS, Y).predict(T)
    with pytest.raises(ValueError, match="X contains dates, but the model was fitted to numbers"):
        make_model().fit(T, Y).predict(DAYS)


# ---------------------------------------------------------------------- what is refused

MISSING_DATE = np.where(np.arange(N) == 3, np.datetime64("NaT"), DAYS)
REFUSED = {
    "one_row": (T[:1], Y[:1], "1 sample.* minimum of 2"),
    "no_row": (T[:0], Y[:0], "0 sample"),
    "nan": (
        np.where(T == 3, np.nan, T),
        Y,
        "X must be finite; the value at row 3, column 0 is NaN",
    ),
    "infinite": (np.where(T == 3, np.inf, T), Y, "X must be finite; the value at row 3"),
    "nan_target": (T, np.where(T[:, 0] == 3, np.nan, Y), "y must be finite; .* position 3"),
    "one_axis": (T[:, 0], Y, "Expected 2D array, got 1D array"),
    "lengths": (T, Y[:3], "inconsistent numbers of samples"),
    "two_targets": (T, np.column_stack([Y, Y]), "y should be a 1d array"),
    "missing_date": (MISSING_DATE, Y, r"missing dates \(NaT\). Remove these rows"),
    "two_dates": (np.column_stack([DAYS, DAYS]), Y, "Dates must be the only column of X"),
    "among_numbers": (
        pd.DataFrame({"day": NANOSECONDS, "price": Y}),
        Y,
        "Dates must be the only column of X; got dates in column 'day' among 2",
    ),
    "among_numbers_polars": (pl.DataFrame({"day": DAYS, "price": Y}), Y, "got dates in column"),
    "texts": ([["a"]] * N, Y, "X must hold numbers or dates; got 'a'"),
    "texts_of_dates": ([str(each) for each in DAYS], Y, "Give dates as datetime64"),
    "periods": (pd.PeriodIndex(DAYS, freq="D"), Y, r"got Period\('2020-02-27', 'D'\)"),
    "durations": (DAYS - DAYS[0], Y, "X holds durations"),
    "target_of_texts": (T, ["a"] * N, "y must contain numbers; got values such as 'a'"),
    "target_of_dates": (T, DAYS, "y must contain numbers; got dates such as 2020-02-27"),
    "huge": (T, Y * 1e200, "Rescale y"),
    "complex": (T + 1j, Y, "Complex data not supported"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused(case):
    X, y, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        make_model().fit(X, y)


def test_sparse_input_is_refused():
    with pytest.raises(TypeError, match="Sparse data was passed"):
        make_model().fit(csr_matrix(T), Y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(N), "non-zero|zero for all rows"),
        (-np.ones(N), "[Nn]egative"),
        ((T[:, 0] == 3) * 1.0, "positive for n_samples = 1 row alone"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        make_model().fit(T, Y, sample_weight=weight)


# ---------------------------------------------------------------------- what is extreme


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [2, 3, 5, 8])
def test_few_rows(n_rows):
    model = KernelSearchRegressor().fit(T[:n_rows], Y[:n_rows])
    low, high = model.predict_interval(model.future_inputs(2)).T
    assert (low < high).all()


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1e-100, 1e-30, 1e30, 1e100])
def test_the_scale_of_inputs_and_targets_does_not_matter(factor):
    expected = make_model().fit(T, Y)
    for X, y, unit in ((factor * T, Y, 1.0), (T, factor * Y, factor)):
        model = make_model().fit(X, y)
        assert model.expression_ == expected.expression_
        np.testing.assert_allclose(model.predict(X) / unit, expected.predict(T), rtol=1e-5)


@pytest.mark.slow
def test_a_large_offset_does_not_matter():
    expected = make_model().fit(T, Y)
    model = make_model().fit(T + 2.0**40, Y)
    np.testing.assert_allclose(model.predict(T + 2.0**40), expected.predict(T), rtol=1e-6)


def test_a_constant_input_explains_nothing():
    model = make_model().fit(np.ones((N, 1)), Y)
    assert model.expression_ == "none"
    np.testing.assert_allclose(model.predict([[1.0], [5.0]]), Y.mean(), rtol=1e-2)
    with pytest.raises(ValueError, match="All training inputs are equal, so steps ahead have no"):
        model.future_inputs(2)


@pytest.mark.slow
@pytest.mark.parametrize("value", [0.0, 1.0, -1e50])
def test_a_constant_target_is_predicted(value):
    model = KernelSearchRegressor().fit(T, np.full(N, value))
    assert model.expression_ == "none"
    np.testing.assert_allclose(model.predict(T), value, rtol=1e-6)


def test_repeated_inputs():
    X = np.repeat(T[: N // 2], 2, axis=0)
    y = np.repeat(Y[: N // 2], 2) + np.tile([0.1, -0.1], N // 2)
    model = make_model().fit(X, y)
    assert model.expression_ == "SE"
    assert 0.005 < model.noise_variance_ < 0.02


@pytest.mark.slow
def test_an_outlier_among_the_inputs_is_no_failure():
    X = T.copy()
    X[-1] = 1e12
    assert np.isfinite(KernelSearchRegressor().fit(X, Y).predict(X)).all()


@pytest.mark.slow
def test_two_values_of_the_input():
    model = KernelSearchRegressor().fit((T > 20).astype(float), np.where(T[:, 0] > 20, 5.0, Y))
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), [Y[:21].mean(), 5.0], atol=0.2)


def test_steps_of_dates_are_calendar_months():
    months = np.arange("2020-01", "2022-01", dtype="datetime64[M]").astype("datetime64[D]")
    model = make_model().fit(months, Y[: len(months)])
    ahead = model.future_inputs(3)[:, 0].astype("datetime64[D]")
    assert [each.item() for each in ahead] == [date(2022, 1, 1), date(2022, 2, 1), date(2022, 3, 1)]
