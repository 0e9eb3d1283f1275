"""Bases side by side."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV

from relvec import SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis, UnionBasis

X = np.random.default_rng(9).normal(size=(12, 2))


def make():
    return KernelBasis(gamma=0.5, centers=4) + LinearBasis() + PolynomialBasis(2)


def test_plus_flattens():
    left, middle, right = KernelBasis(), LinearBasis(), PolynomialBasis()
    for union in ((left + middle) + right, left + (middle + right)):
        assert isinstance(union, UnionBasis)
        assert list(union.bases) == [left, middle, right]


def test_plus_refuses_other_things():
    with pytest.raises(TypeError, match="unsupported operand"):
        KernelBasis() + 1


def test_columns_flags_and_rows_are_joined():
    bound = make().bind(X)
    parts = [basis.bind(X) for basis in make().bases]
    matrix = np.hstack([part.atoms.evaluate(X) for part in parts])
    np.testing.assert_allclose(bound.atoms.evaluate(X), matrix)
    np.testing.assert_allclose(bound.dictionary.columns(np.arange(11)), matrix)
    np.testing.assert_array_equal(bound.is_localised, [True] * 4 + [False] * 7)
    np.testing.assert_array_equal(bound.source_row[:4], parts[0].source_row)
    assert (bound.source_row[4:] == -1).all()


@pytest.mark.slow
@given(
    first=st.lists(st.integers(0, 10), min_size=1, max_size=15),
    data=st.data(),
)
def test_take_in_any_order_and_again(first, data):
    bound = make().bind(X)
    matrix, names = bound.atoms.evaluate(X), bound.atoms.names(["a", "b"])
    taken = bound.atoms.subset(np.array(first))
    np.testing.assert_allclose(taken.evaluate(X), matrix[:, first])
    second = data.draw(st.lists(st.integers(0, len(first) - 1), min_size=1, max_size=5))
    again = taken.subset(np.array(second))
    chosen = [first[i] for i in second]
    np.testing.assert_allclose(again.evaluate(X[:3]), matrix[:3, chosen])
    assert again.names(["a", "b"]) == [names[i] for i in chosen]
    assert len(again) == len(second)


def test_take_forgets_unused_parts():
    taken = make().bind(X).atoms.subset(np.array([5]))
    assert len(taken.parts) == 1
    assert len(pickle.dumps(taken)) < 1000


def test_take_nothing():
    taken = make().bind(X).atoms.subset(np.arange(0))
    assert taken.evaluate(X).shape == (12, 0)
    assert taken.names(["a", "b"]) == []


def test_parameters_of_parts():
    union = make()
    parameters = union.get_params()
    assert parameters["basis0__gamma"] == 0.5
    assert parameters["basis2__degree"] == 2
    assert parameters["basis1"] is union.bases[1]
    assert set(union.get_params(deep=False)) == {"bases"}
    union.set_params(basis0__gamma=3.0, basis2__degree=4)
    assert union.bases[0].gamma == 3.0
    assert union.bases[2].degree == 4


def test_whole_parts_can_be_replaced():
    union = make()
    before = union.bases
    union.set_params(basis1=KernelBasis("linear"), basis1__gamma=7)
    assert union.bases[1].kernel == "linear"
    assert union.bases[1].gamma == 7
    assert isinstance(before[1], LinearBasis), "the list given must not change"
    union.set_params(bases=[LinearBasis(), PolynomialBasis()], basis1__degree=3)
    assert union.bases[1].degree == 3


def test_unknown_parameters_are_refused():
    with pytest.raises(ValueError, match="Invalid parameter 'basis9'"):
        make().set_params(basis9__gamma=1)
    with pytest.raises(ValueError, match="Invalid parameter 'gama'"):
        make().set_params(basis0__gama=1)


@pytest.mark.parametrize("container", [list, tuple])
def test_clone_is_deep(container):
    union = UnionBasis(container([KernelBasis(gamma=0.5), LinearBasis()]))
    copy = clone(union)
    assert copy.bases[0] is not union.bases[0]
    copy.set_params(basis0__gamma=9)
    assert union.bases[0].gamma == 0.5


class LeastSquares(RegressorMixin, BaseEstimator):
    """The smallest estimator with a basis."""

    def __init__(self, basis=None):
        self.basis = basis

    def fit(self, X, y):
        self.atoms_ = self.basis.bind(X).atoms
        self.coef_ = np.linalg.lstsq(self.atoms_.evaluate(X), y, rcond=1e-8)[0]
        return self

    def predict(self, X):
        return self.atoms_.evaluate(X) @ self.coef_


def test_grid_search_reaches_the_parts():
    rng = np.random.default_rng(0)
    inputs = rng.uniform(-3, 3, size=(40, 1))
    target = np.sin(inputs[:, 0]) + inputs[:, 0]
    search = GridSearchCV(
        LeastSquares(KernelBasis(centers=8) + LinearBasis()),
        {"basis__basis0__gamma": [1e-9, 0.5], "basis__basis1": [LinearBasis()]},
        cv=3,
    ).fit(inputs, target)
    assert search.best_params_["basis__basis0__gamma"] == 0.5
    assert search.score(inputs, target) > 0.99


def test_errors():
    with pytest.raises(ValueError, match="at least one basis; got an empty list"):
        UnionBasis([]).bind(X)
    with pytest.raises(TypeError, match=r"bases\[1\] is 'rbf' of type str"):
        UnionBasis([LinearBasis(), "rbf"]).bind(X)


@pytest.mark.slow
def test_importing_bases_draws_no_pictures():
    code = "import sys, relvec.bases; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.slow
def test_error_bars_do_not_depend_on_the_order_of_the_parts():
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, (60, 1))
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.standard_normal(60)
    wide, narrow = KernelBasis(gamma=1e-2), KernelBasis(gamma=1.0)
    one, other = (
        SparseBayesRegressor(basis).fit(X, y).predict([[14.0], [30.0]], return_std=True)[1]
        for basis in (wide + narrow, narrow + wide)
    )
    np.testing.assert_allclose(one, other, rtol=1e-5)
