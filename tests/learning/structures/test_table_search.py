"""Structures of several features: recovery, elimination, weights, order of rows, bad shapes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from relvec.kernels.expansions import Line, Smooth, Walk
from relvec.learning.structures.posterior import ColumnPosterior
from relvec.learning.structures.rows import Scaling, SearchRows, TransformedTarget
from relvec.learning.structures.structure import Component, Structure
from relvec.learning.structures.table_grammar import TableGrammar, TableScoreRule
from relvec.learning.structures.table_search import TableSearch
from relvec.learning.structures.transforms import TRANSFORMS
from relvec.learning.structures.tuning import SearchTuning
from relvec.learning.structures.watch import Watch

ALLOWED = frozenset((Line, Smooth))


def search(X, y, weight=None, allowed=ALLOWED, target=None, **options):
    U = Scaling.of(X).apply(X)
    target = target or TransformedTarget.of(TRANSFORMS["identity"], y)
    found = TableSearch(SearchRows(U), target, weight, allowed, SearchTuning(), **options)
    found.run()
    return found


def name_best(found):
    names = [f"x{j}" for j in range(found.rows.U.shape[1])]
    return found.list_best(1)[0].structure.name(names)


def friedman(seed, n_samples=240):
    return make_friedman1(n_samples, n_features=10, noise=1.0, random_state=seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(500, 504))
def test_friedman_structure_and_error(seed):
    X, y = friedman(seed)
    found = search(X, y)
    assert name_best(found) == "LIN(x3) + LIN(x4) + SE(x0, x1) + SE(x2)"
    New, truth = make_friedman1(1000, n_features=10, noise=0.0, random_state=seed + 1000)
    posterior = ColumnPosterior(found.list_best(1)[0].structure, found.store)
    mean = posterior.predict(Scaling.of(X).apply(New)).mean * found.target.std + found.target.mean
    assert np.mean((mean - truth) ** 2) < 0.2


@pytest.mark.parametrize("seed", range(700, 705))
def test_noise_has_no_structure(seed):
    rng = np.random.default_rng(seed)
    assert name_best(search(rng.uniform(size=(100, 10)), rng.normal(size=100))) == "none"


def test_product_without_main_effects_is_found():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 5))
    y = 2.0 * X[:, 1] * X[:, 3] + 0.3 * rng.normal(size=150)
    assert name_best(search(X, y)) == "LIN(x1, x3)"


def test_order_of_rows_does_not_matter():
    X, y = friedman(3, 120)
    order = np.random.default_rng(0).permutation(len(y))
    one, other = search(X, y), search(X[order], y[order])
    assert name_best(one) == name_best(other)
    assert one.list_best(1)[0].score == pytest.approx(other.list_best(1)[0].score, abs=0.01)


def test_search_is_deterministic():
    X, y = friedman(4, 80)
    one, other = search(X, y), search(X, y)
    assert one.found.keys() == other.found.keys()
    assert one.list_best(1) == other.list_best(1)


def test_weight_of_two_equals_two_copies():
    X, y = friedman(5, 100)
    target = TransformedTarget(TRANSFORMS["identity"], float(y.mean()), float(y.std()), y)
    twice = np.repeat(np.arange(100), np.where(np.arange(100) < 30, 2, 1))
    weight = np.where(np.arange(100) < 30, 2.0, 1.0)
    copies = TransformedTarget(target.transform, target.mean, target.std, y[twice])
    one = search(X, y, weight, target=target)
    other = search(X[twice], y[twice], target=copies)
    assert name_best(one) == name_best(other)
    assert one.list_best(1)[0].score == pytest.approx(other.list_best(1)[0].score, abs=0.01)


def test_best_score_is_not_below_any_removal():
    X, y = friedman(6, 150)
    found = search(X, y)
    best = found.list_best(1)[0]
    for place in range(len(best.structure.components)):
        assert found.settle(best.structure.without(place)).score < best.score


def test_penalty_of_pairs_and_of_many_features():
    rule = TableScoreRule(math.log(100.0), 0.0, 1.0, 2.0, n_features=21)
    line, pair = Component.of(Line()), Component.of(Line(), Line(feature=1))
    assert rule.structure_penalty(line) == pytest.approx(1.0 + math.log(2.1))
    assert rule.structure_penalty(pair) == pytest.approx(3.0 + math.log(2.1) + math.log(10.0))
    few = TableScoreRule(math.log(100.0), 0.0, 1.0, 2.0, n_features=2)
    assert few.structure_penalty(pair) == pytest.approx(3.0)


def test_features_of_one_and_of_two_values():
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(80, 4))
    X[:, 1], X[:, 2] = 3.0, X[:, 2] > 0.5
    grammar = TableGrammar(Scaling.of(X).apply(X), ALLOWED, 330)
    assert grammar.features == [0, 2, 3]
    assert [each.kinds for each in grammar.main_effects(2)] == [(Line,)]
    assert [each.kinds for each in grammar.main_effects(3)] == [(Smooth,), (Line,)]
    y = np.sin(6.0 * X[:, 0]) + 2.0 * X[:, 2] + 0.2 * rng.normal(size=80)
    assert name_best(search(X, y)) == "LIN(x2) + SE(x0)"


def test_key_tells_features_apart_and_ignores_parameters():
    one = Structure((Component.of(Line()), Component.of(Line(feature=1))))
    swapped = Structure(
        (Component.of(Line(feature=1), log_variance=1.0), Component.of(Line())), 0.5
    )
    other = Structure((Component.of(Line()), Component.of(Line(feature=2))))
    assert TableGrammar.key(one) == TableGrammar.key(swapped) != TableGrammar.key(other)


@pytest.mark.parametrize("allowed", [{Line}, {Smooth}, {Line, Walk}, {Walk}], ids="LSXW")
def test_only_allowed_factors_are_used(allowed):
    X, y = friedman(7, 80)
    found = search(X, y, allowed=frozenset(allowed))
    kinds = {
        kind for each in found.list_best(100) for c in each.structure.components for kind in c.kinds
    }
    assert kinds == allowed - {Walk}


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.ones((20, 2)), np.arange(20.0)),
        (np.arange(40.0).reshape(20, 2), np.ones(20)),
        (np.arange(4.0).reshape(2, 2), np.array([0.0, 1.0])),
        (np.arange(6.0).reshape(6, 1), np.arange(6.0)),
        (np.ones((1, 3)), np.ones(1)),
    ],
    ids=["constant features", "constant target", "two rows", "one feature", "one row"],
)
def test_degenerate_rows(X, y):
    best = search(X, y).list_best(1)[0]
    assert math.isfinite(best.score)


def test_many_features_bound_the_first_model():
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(100, 60))
    y = 3.0 * X[:, 40] + np.sin(6.0 * X[:, 50]) + 0.1 * rng.normal(size=100)
    found = search(X, y)
    assert name_best(found) == "LIN(x40) + SE(x50)"
    sizes = [each.structure.n_columns for each in found.list_best(1000)]
    assert max(sizes) <= SearchTuning().max_columns


def test_stopped_search_keeps_a_structure():
    X, y = friedman(8, 60)
    found = search(X, y, watch=Watch(time_limit=-1.0))
    assert [each.structure.name() for each in found.list_best(9)] == ["none"]


def test_alternatives_differ_in_one_change():
    X, y = friedman(9, 60)
    found = search(X, y)
    structure = Structure((Component.of(Line()), Component.of(Line(feature=1))))
    names = {each.name("abcdefghij") for each in found.list_alternatives(structure)}
    assert names == {"LIN(a)", "LIN(b)", "LIN(b) + SE(a)", "LIN(a) + SE(b)", "SE(a, b)"}
