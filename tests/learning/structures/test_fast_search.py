"""Fast search of series: recovery, elimination, determinism, weights, bad shapes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relvec.kernels.expansions import Harmonics, Line, SlopeWalk, Smooth, Step, Walk
from relvec.learning.structures.fast_search import FEW_TERMS, FastSeriesSearch
from relvec.learning.structures.rows import Scaling, SearchRows, TransformedTarget
from relvec.learning.structures.structure import Component, Structure
from relvec.learning.structures.transforms import TRANSFORMS
from relvec.learning.structures.tuning import SearchTuning
from relvec.learning.structures.watch import Watch

ALLOWED = frozenset((Line, Smooth, Walk, SlopeWalk, Harmonics, Step))


def make_rows(x):
    X = np.asarray(x)[:, np.newaxis]
    return SearchRows(Scaling.of(X).apply(X))


def search(x, y, weight=None, allowed=ALLOWED, target=None, **options):
    target = target or TransformedTarget.of(TRANSFORMS["identity"], y)
    found = FastSeriesSearch(make_rows(x), target, weight, allowed, None, SearchTuning(), **options)
    found.run()
    return found


def name_best(found):
    return found.list_best(1)[0].structure.name()


def make_series(kind, seed, n_samples=100):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0.0, 10.0, n_samples))
    y = {
        "PER x LIN": x * np.sin(2.0 * np.pi * x / 1.7 + 0.4),
        "LIN + PER": 0.6 * x + 1.2 * np.exp(np.sin(2.0 * np.pi * x / 2.3)),
        "none": np.zeros(n_samples),
    }[kind]
    return x, y + (0.2 * y.std() or 1.0) * rng.normal(size=n_samples)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["PER x LIN", "LIN + PER", "none"])
def test_structures_are_recovered(kind):
    names = [name_best(search(*make_series(kind, seed))) for seed in range(900, 905)]
    assert names.count(kind) >= 4


def test_step_is_found():
    rng = np.random.default_rng(3)
    x = np.arange(80.0)
    y = np.where(x > 50, 3.0, 0.0) + 0.3 * rng.normal(size=80)
    assert name_best(search(x, y)) == "STEP"
    assert "STEP" not in name_best(search(x, y, allowed=ALLOWED - {Step}))


def test_search_is_deterministic():
    x, y = make_series("LIN + PER", 1, 60)
    one, other = search(x, y), search(x, y)
    assert one.found.keys() == other.found.keys()
    assert one.list_best(1) == other.list_best(1)


def test_weight_of_two_equals_two_copies():
    x, y = make_series("LIN + PER", 2, 80)
    target = TransformedTarget(TRANSFORMS["identity"], float(y.mean()), float(y.std()), y)
    weight = np.where(np.arange(80) < 20, 2.0, 1.0)
    twice = np.repeat(np.arange(80), weight.astype(int))
    copies = TransformedTarget(target.transform, target.mean, target.std, y[twice])
    one = search(x, y, weight, target=target)
    found = search(x[twice], y[twice], target=copies)
    structure = one.list_best(1)[0].structure
    assert name_best(one) == name_best(found) == "LIN + PER"
    assert one.settle(structure).score == pytest.approx(found.settle(structure).score, abs=1e-3)


def test_eliminated_structures_have_all_terms():
    x, y = make_series("PER x LIN", 3, 150)
    found = search(x, y + np.cumsum(np.random.default_rng(0).normal(size=150)))
    walks = [
        factor.n_terms
        for each in found.list_best(100)
        for component in each.structure.components
        if component.kinds == (Walk,)
        for factor in component.factors
    ]
    assert min(walks) > FEW_TERMS[Walk]


def test_best_score_is_not_below_any_removal():
    found = search(*make_series("LIN + PER", 4))
    best = found.list_best(1)[0]
    for place in range(len(best.structure.components)):
        assert found.settle(best.structure.without(place)).score < best.score


def test_simpler_structures():
    found = search(*make_series("none", 5, 40))
    season = Component.of(Harmonics(period=0.5), Walk(n_terms=12), Line(origin=-1.0))
    structure = Structure((season, found.grammar.walk()))
    names = {each.name() for each in found.grammar.list_simplifications(structure)}
    assert names == {
        "PER x LIN + RW",
        "PER x RW + RW",
        "LIN + LIN x LIN + PER x RW x LIN",
    }


@pytest.mark.parametrize(
    "allowed",
    [{Line}, {Harmonics}, {Smooth, Harmonics}, {SlopeWalk}],
    ids=lambda each: str(len(each)),
)
def test_only_allowed_factors_are_used(allowed):
    found = search(*make_series("LIN + PER", 6, 50), allowed=frozenset(allowed))
    for each in found.list_best(1000):
        assert {kind for c in each.structure.components for kind in c.kinds} <= allowed


@pytest.mark.parametrize("n_samples", [3, 5, 10])
@pytest.mark.parametrize("is_constant", [False, True])
def test_few_rows_and_constant_targets(n_samples, is_constant):
    x = np.arange(float(n_samples))
    y = np.ones(n_samples) if is_constant else np.sin(x)
    assert math.isfinite(search(x, y).list_best(1)[0].score)


def test_stopped_search_keeps_a_structure():
    found = search(*make_series("LIN + PER", 7, 50), watch=Watch(time_limit=-1.0))
    assert [each.structure.name() for each in found.list_best(9)] == ["none"]


def test_spacing_of_grids_and_of_random_inputs():
    rng = np.random.default_rng(0)
    kept = np.sort(rng.choice(1000, 300, replace=False))
    kept[[0, -1]] = 0, 999
    assert make_rows(kept * 1.0).smallest_spacing == pytest.approx(2.0 / 999.0)
    rows = make_rows(np.sort(rng.uniform(size=300)))
    assert rows.smallest_spacing == rows.spacing
