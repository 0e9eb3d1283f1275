"""Error sentences: what was given, what is needed, what to do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from relvec._checks import (
    check_choice,
    check_dense,
    check_finite_block,
    check_finite_input,
    check_integer,
    check_positive,
    find_closest_name,
)


def test_nearest_ignores_case_and_returns_the_original_spelling():
    assert find_closest_name("KMEANS", ["kmeans++", "random"]) == "kmeans++"


def test_nearest_says_nothing_about_strangers():
    assert find_closest_name("zzz", ["rbf", "linear"]) is None


def test_check_choice_passes_and_returns_the_value():
    assert check_choice("mode", "fast", ("fast", "slow")) == "fast"


def test_check_choice_lists_the_choices_and_the_nearest():
    with pytest.raises(
        ValueError, match=r"mode must be one of 'fast', 'slow'; got 'fsat'. Did you mean 'fast'\?"
    ):
        check_choice("mode", "fsat", ("fast", "slow"))


def test_check_choice_refuses_other_types_without_a_hint():
    with pytest.raises(ValueError, match=r"got 3\.$"):
        check_choice("mode", 3, ("fast", "slow"))


@pytest.mark.parametrize(
    "value", [2, 2.0, np.float32(2), np.int8(2), np.array(2.0), Fraction(2), np.uint64(2)]
)
def test_check_positive_accepts_every_numeric_type(value):
    number = check_positive("gamma", value)
    assert type(number) is float
    assert number == 2.0


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, -np.inf, np.float32(-1)])
def test_check_positive_refuses_values_out_of_range(value):
    with pytest.raises(ValueError, match="gamma must be a positive number; got"):
        check_positive("gamma", value)


@pytest.mark.parametrize("value", [True, np.True_, "1", None, 1j, np.ones(1)])
def test_check_positive_refuses_what_is_not_a_number(value):
    with pytest.raises(TypeError, match="gamma must be a positive number; got"):
        check_positive("gamma", value)


def test_check_positive_may_allow_zero_and_name_alternatives():
    assert check_positive("tol", 0, allow_zero=True) == 0.0
    with pytest.raises(ValueError, match='must be a non-negative number or "auto"; got -1'):
        check_positive("tol", -1, allow_zero=True, also='or "auto"')


def test_check_integer():
    assert check_integer("degree", np.int64(3), minimum=1) == 3
    with pytest.raises(ValueError, match="degree must be an integer of at least 1; got 0"):
        check_integer("degree", 0, minimum=1)
    for value in (1.0, True, "1"):
        with pytest.raises(TypeError, match="degree must be an integer of at least 1; got"):
            check_integer("degree", value, minimum=1)


def test_check_dense_names_the_owner_and_the_way_out():
    check_dense(np.eye(2), "KernelBasis")
    with pytest.raises(TypeError, match=r"KernelBasis needs dense.*LinearBasis.*toarray"):
        check_dense(sparse.eye_array(2), "KernelBasis")


@given(
    shape=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    data=st.data(),
    bad=st.sampled_from([np.nan, np.inf, -np.inf]),
)
def test_check_finite_block_finds_the_first_bad_value(shape, data, bad):
    array = np.zeros(shape)
    check_finite_block(array, "the block")
    row = data.draw(st.integers(0, shape[0] - 1))
    column = data.draw(st.integers(0, shape[1] - 1))
    array[row, column] = bad
    with pytest.raises(
        ValueError, match=f"the block must be finite.*row {row}, column {column} is"
    ):
        check_finite_block(array, "the block")


def test_check_finite_block_is_not_fooled_by_overflow_of_the_sum():
    check_finite_block(np.full(4, 1e308), "the block")


def test_check_finite_block_counts_and_locates_in_any_dimension():
    with pytest.raises(ValueError, match=r"position 1 is NaN \(2 of 3 values are not finite\)"):
        check_finite_block(np.array([0.0, np.nan, np.inf]), "t")
    cube = np.zeros((2, 2, 2))
    cube[1, 0, 1] = np.nan
    with pytest.raises(ValueError, match=r"index \(1, 0, 1\) is NaN \(1 value is not finite\)"):
        check_finite_block(cube, "t")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_data_frames_are_named(library):
    frames = pytest.importorskip(library)
    text = frames.DataFrame({"age": [1.0, 2.0], "city": ["Wien", "Graz"]})
    with pytest.raises(ValueError, match=r"X must hold numbers; column 'city' holds 'Wien'\."):
        check_finite_input(text, "X")
    gaps = frames.DataFrame({"age": [1.0, 2.0], "height": [1.8, float("nan")]})
    with pytest.raises(ValueError, match=r"the value at row 1, column 'height' is NaN"):
        check_finite_input(gaps, "X")
    check_finite_input(frames.DataFrame({"age": [1, 2], "yes": [True, False]}), "X")


def test_text_in_arrays():
    with pytest.raises(ValueError, match=r"row 0 holds the string 'a'.*StringSpectrum.*OneHotEnc"):
        check_finite_input(np.array([["a", "b"]]), "X")
    with pytest.raises(ValueError, match="row 1 holds the string 'b'"):
        check_finite_input(["1.0", "b"], "X")
    check_finite_input([["a"]], "y")
    check_finite_input(np.array([{"a": 1}], dtype=object), "X")
    check_finite_input(np.array([["1.5", "2.5"]]), "X")
