"""Kinds of columns, and consistent values in training and prediction."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relvec.cli.encoding import build_encoder, encoded_columns, pooled_categories
from relvec.cli.errors import CommandError
from relvec.cli.kinds import (
    Column,
    Dropped,
    as_categories,
    as_numbers,
    describe_column,
    prepare_columns,
)


@given(st.lists(st.one_of(st.none(), st.floats(-1e100, 1e100))))
def test_numbers_are_read_from_text(values):
    text = pl.Series("x", ["" if each is None else repr(each) for each in values], pl.String)
    numbers, bad = as_numbers(text)
    assert bad is None
    assert numbers.to_list() == values


@pytest.mark.slow
@given(st.lists(st.text(max_size=5)))
def test_any_text_is_a_number_missing_or_reported(values):
    series = pl.Series("x", values, pl.String)
    numbers, bad = as_numbers(series)
    assert len(numbers) == len(values)
    if bad is not None:
        assert numbers[bad] is None
    categories = as_categories(series)
    assert len(categories) == len(values)
    assert all(each is None or each == each.strip(" ") for each in categories)


@pytest.mark.parametrize("word", ["", " ", "NA", "N/A", "NaN", "null", "?"])
def test_texts_for_missing_values(word):
    assert as_numbers(pl.Series(["1", word]))[0].to_list() == [1.0, None]
    assert as_categories(pl.Series(["a", word])).to_list() == ["a", None]


def test_infinite_is_missing():
    assert as_numbers(pl.Series([1.0, float("inf"), -1e300]))[0].to_list() == [1.0, None, None]


@pytest.mark.parametrize("truth", [["True", "FALSE"], ["true", "false"], [True, False]])
def test_booleans_are_the_same_from_all_formats(truth):
    assert as_categories(pl.Series(truth)).to_list() == ["true", "false"]


def test_codes_are_the_same_from_all_formats():
    for codes in (["3", "4"], [3, 4], [3.0, 4.0]):
        assert as_categories(pl.Series(codes)).to_list() == ["3", "4"]


DAY = datetime.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([None] * 40, "all its values are missing"),
        (["", "NA"] * 20, "all its values are missing"),
        ([3.5] * 40, "it is constant (3.5)"),
        ([1e-300, 2e-300] * 20, "differ by less than 1e-100"),
        (["a"] * 40, "it is constant (a)"),
        (["1.2.2020", "30/11/2021"] * 20, "the form 2019-01-31, for example '1.2.2020'"),
        (["2020-01-02"] * 20 + ["2020-02-30"], "for example '2020-02-30'"),
        ([DAY] * 20, "it is constant (2020-01-01)"),
        ([datetime.time(1), datetime.time(2)] * 20, "times without dates"),
        ([f"{i} km" for i in range(12)] + [str(i) for i in range(25)], "one is '0 km'"),
        ([f"name {i}" for i in range(40)], "all 40 texts differ"),
        (
            [f"name {i // 2}" for i in range(80)],
            "40 categories, more than 30 (see --max-categories)",
        ),
        (list(range(40)), "looks like a row identifier"),
        ([[1], [2]] * 20, "lists or objects"),
    ],
)
def test_columns_left_out(values, words):
    found = describe_column(pl.Series("x", values))
    assert isinstance(found, Dropped)
    assert words in found.describe()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["1", "2", "3", "4"] * 5 + ["four"], "one is 'four'; correct it or leave it empty"),
        (["1", "2", "3", "4"] * 5 + ["four"], "--categorical 'x'"),
        (
            [str(i // 2) for i in range(80)] + ["12 km"],
            "most values are numbers, but one is '12 km'",
        ),
        (["1,5", "2,5"] * 5, "--decimal-comma"),
        ([f"{i // 2},5" for i in range(80)], "--decimal-comma"),
    ],
)
def test_mistyped_columns(values, words):
    found = describe_column(pl.Series("x", values))
    assert isinstance(found, Dropped)
    assert found.is_error
    assert found.describe().startswith("Column 'x' is not numeric throughout: ")
    assert words in found.describe()
    assert isinstance(describe_column(pl.Series("x", values[:30]), as_category=True), Column)


def test_an_identifier_by_its_name():
    values = np.random.default_rng(0).permutation(1000)[:50]
    assert isinstance(describe_column(pl.Series("house_id", values)), Dropped)
    assert isinstance(describe_column(pl.Series("price", values)), Column)
    assert isinstance(describe_column(pl.Series("house_id", values), is_requested=True), Column)


def test_usable_columns():
    number = describe_column(pl.Series("x", ["1", "", "3.5"]))
    assert number == Column("x", "number", n_missing=1)
    category = describe_column(pl.Series("x", ["b", "a", "b", None]))
    assert category == Column("x", "category", ["b", "a"], 1)
    codes = describe_column(pl.Series("x", [1, 2, 2]), as_category=True)
    assert codes == Column("x", "category", ["2", "1"])


def test_prepared_columns_are_in_the_order_of_the_model():
    table = pl.DataFrame({"c": ["u"], "a": ["1"], "extra": ["?"], "b": [""]})
    columns = [Column("a", "number"), Column("b", "number"), Column("c", "category")]
    ready = prepare_columns(table, columns)
    assert ready.columns == ["a", "b", "c"]
    assert ready.dtypes == [pl.Float64, pl.Float64, pl.String]
    assert np.isnan(ready["b"][0])


def test_prepare_counts_rows_of_the_file():
    with pytest.raises(CommandError, match="row 102 has 'x'"):
        prepare_columns(pl.DataFrame({"a": ["1", "x"]}), [Column("a", "number")], first_row=101)


categories = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=8, max_size=30)


@pytest.mark.slow
@given(categories, st.integers(0, 2**32 - 1))
def test_encoded_columns_have_their_names(values, seed):
    numbers = np.random.default_rng(seed).normal(size=len(values))
    numbers[0] = np.nan
    table = pl.DataFrame({"n": numbers, "l": pl.Series(values, dtype=pl.String)})
    columns = [Column("n", "number"), Column("l", "category")]
    encoder = build_encoder(columns, len(values)).fit(table)
    matrix, named = encoder.transform(table), encoded_columns(encoder)
    assert matrix.shape[1] == len(named)
    for column, (variable, name) in zip(matrix.T, named, strict=True):
        if name == "n is missing":
            assert column.tolist() == np.isnan(numbers).tolist()
        elif " = " in name:
            assert column.tolist() == [each == name.partition(" = ")[2] for each in values]
        elif name == "l is missing":
            assert column.tolist() == [each is None for each in values]
        assert variable == name[0]


def test_unknown_categories_are_all_zeros():
    table = pl.DataFrame({"l": ["a", "b"] * 5})
    encoder = build_encoder([Column("l", "category")], 10).fit(table)
    assert encoder.transform(pl.DataFrame({"l": ["z"]})).tolist() == [[0.0, 0.0]]


def test_rare_categories_are_pooled():
    table = pl.DataFrame({"l": ["a"] * 8 + ["b", "c"]})
    encoder = build_encoder([Column("l", "category")], 10).fit(table)
    assert [name for _, name in encoded_columns(encoder)] == ["l = a", "l is rare"]
    assert pooled_categories(encoder) == {"l": ["b", "c"]}
    assert encoder.transform(pl.DataFrame({"l": ["c"]})).tolist() == [[0.0, 1.0]]


def test_whole_numbers_too_large_for_integers_are_not_missing():
    assert as_categories(pl.Series([1e20, 2.0, float("nan")])).to_list() == ["1e+20", "2", None]


def test_whole_numbers_are_the_same_category_in_any_notation():
    texts = as_categories(pl.Series(["1.0", "2.", "3", "007", "1.05"]))
    assert texts.to_list() == ["1", "2", "3", "007", "1.05"]
    assert as_categories(pl.Series([1.0, 2.5])).to_list() == ["1", "2.5"]


def test_columns_of_huge_numbers_are_left_out_with_the_reason():
    found = describe_column(pl.Series("x", ["1e308", "-inf", "1e200"] * 5))
    assert "infinite or larger than" in found.describe()
