"""Options of estimators come from tables: one new field is a new option of all that inherit it."""

from __future__ import annotations

import inspect
from dataclasses import fields
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

from relvec import (
    DRVMRegressor,
    PFCVMClassifier,
    RVMClassifier,
    RVMRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)
from relvec._checks import check_positive
from relvec.estimators._base import BaseSparseBayesRegressor
from relvec.estimators._basis_options import KernelOptions
from relvec.estimators._options import (
    ClassificationOptions,
    RegressionOptions,
    option,
    with_options,
)
from tests.estimators.problems import smooth

REGRESSORS = [RVMRegressor, SparseBayesRegressor, DRVMRegressor]
CLASSIFIERS = [RVMClassifier, SparseBayesClassifier, PFCVMClassifier]
X, Y = smooth(n=30)


@with_options
class MoreOptions(RegressionOptions):
    """The table of regressors with one option more.

    Parameters
    ----------
    trust : float, default=2.0
        How far to trust the data.
    """

    trust: float = option(default=2.0, check=partial(check_positive, also="or leave it out"))


@with_options
class TrustingRegressor(MoreOptions, KernelOptions, BaseSparseBayesRegressor):
    """A regressor without a description of the option."""


def test_an_option_needs_a_line_in_the_table_only():
    assert inspect.signature(TrustingRegressor).parameters["trust"].default == 2.0
    assert "trust : float, default=2.0\n    How far to trust the data." in TrustingRegressor.__doc__
    model = TrustingRegressor(gamma=0.1, trust=3.0)
    assert model.get_params()["trust"] == clone(model).trust == 3.0
    assert repr(model) == "TrustingRegressor(gamma=0.1, trust=3.0)"
    model.fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), RVMRegressor(gamma=0.1).fit(X, Y).predict(X))


def test_it_is_checked_before_any_work_is_done():
    model = TrustingRegressor(trust=-1.0)
    with pytest.raises(ValueError, match="trust must be a positive number or leave it out"):
        model.fit("no data at all", None)


@pytest.mark.parametrize(
    ("estimator", "table"),
    [(each, RegressionOptions) for each in REGRESSORS]
    + [(each, ClassificationOptions) for each in CLASSIFIERS],
)
def test_all_have_the_options_of_their_table(estimator, table):
    parameters = inspect.signature(estimator).parameters
    names = {each.name for each in fields(table)}
    assert names < set(parameters)
    assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in names)
    assert not names & set(dir(estimator))  # as in scikit-learn, no defaults on the class


@pytest.mark.parametrize("estimator", REGRESSORS + CLASSIFIERS)
def test_all_parameters_are_described_once_and_in_order(estimator):
    section = estimator.__doc__.split("Parameters\n----------\n")[1].split("\n\n")[0]
    described = [line.split(" :")[0] for line in section.splitlines() if line[0] != " "]
    assert described == list(inspect.signature(estimator).parameters)


def test_an_option_without_description_is_refused():
    with pytest.raises(KeyError, match="silent"):

        @with_options
        class Lacking(RegressionOptions):
            """No description."""

            silent: int = option(default=1)


def test_subclasses_may_have_an_init_of_their_own():
    class Narrow(RVMRegressor):
        """A user's front of one parameter."""

        def __init__(self, width=2.0):
            super().__init__(gamma=1.0 / width**2)
            self.width = width

    assert list(Narrow().get_params()) == ["width"]
    np.testing.assert_array_equal(
        Narrow().fit(X, Y).predict(X), RVMRegressor(gamma=0.25).fit(X, Y).predict(X)
    )
