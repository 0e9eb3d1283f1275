import numpy as np
import pytest

from relvec.kernels.expansions import Harmonics, Kink, Line, Smooth, Step, Walk
from relvec.learning.structures.grammar import FACTORS, Grammar, period_of
from relvec.learning.structures.rows import Scaling, SearchRows, TransformedTarget
from relvec.learning.structures.score import ScoreRule
from relvec.learning.structures.search import SeriesSearch
from relvec.learning.structures.structure import Component, Structure
from relvec.learning.structures.transforms import TRANSFORMS, find_possible_transforms
from relvec.learning.structures.tuning import SearchTuning
from relvec.learning.structures.watch import Watch


def make_search(x, y, weight=None, factors=tuple(FACTORS), **options):
    rows = SearchRows(Scaling.of(x[:, np.newaxis]).apply(x[:, np.newaxis]))
    target = TransformedTarget.of(TRANSFORMS["identity"], y, weight)
    allowed = frozenset(FACTORS[name] for name in factors)
    options.setdefault("given_periods", None)
    return SeriesSearch(rows, target, weight, allowed, tuning=SearchTuning(), **options)


def make_trend_and_season(seed=0, n=90):
    x = np.arange(float(n))
    rng = np.random.default_rng(seed)
    return x, 0.05 * x + np.sin(2 * np.pi * x / 11.0) + 0.3 * rng.normal(size=n)


def find(search):
    search.run()
    return search.list_best(1)[0].structure


def test_trend_and_season():
    x, y = make_trend_and_season()
    structure = find(make_search(x, y))
    assert structure.name() == "LIN + PER"
    period = next(filter(None, map(period_of, structure.components)))
    assert abs(period * 44.5 - 11.0) < 0.1


def test_step_is_located():
    x = np.arange(100.0)
    y = np.where(x >= 63, 4.0, 0.0) + 0.5 * np.random.default_rng(0).normal(size=100)
    structure = find(make_search(x, y))
    steps = [each.find(Step) for each in structure.components if Step in each.kinds]
    assert len(steps) == 1
    assert abs(steps[0].origin * 49.5 + 49.5 - 62.5) < 1e-6


def test_kink_is_located():
    x = np.linspace(0, 10, 150)
    y = x - 3.0 * np.maximum(x - 6.0, 0.0) + 0.1 * np.random.default_rng(1).normal(size=150)
    structure = find(make_search(x, y, factors=("linear", "kink")))
    kinks = [each.find(Kink) for each in structure.components if Kink in each.kinds]
    assert min(abs(kink.origin * 5.0 + 5.0 - 6.0) for kink in kinks) < 0.2


@pytest.mark.parametrize("seed", range(5))
def test_noise_has_no_structure(seed):
    x = np.arange(80.0)
    y = np.random.default_rng(seed).normal(size=80)
    assert find(make_search(x, y)).name() == "none"


def test_only_allowed_factors_are_used():
    x, y = make_trend_and_season()
    search = make_search(x, y, factors=("walk", "smooth"))
    search.run()
    kinds = {
        kind
        for each in search.found.values()
        for component in each.structure.components
        for kind in component.kinds
    }
    assert kinds <= {Walk, Smooth}


def test_given_periods_are_kept():
    x, y = make_trend_and_season()
    structure = find(make_search(x, y, given_periods=[11.0 / 44.5]))
    periods = {each.find(Harmonics).period for each in structure.components if period_of(each)}
    assert periods == {11.0 / 44.5}


def test_search_that_was_stopped_goes_on():
    x, y = make_trend_and_season()
    stopped = make_search(x, y, watch=Watch(monitor=lambda progress: progress.n_iter > 20))
    stopped.run()
    n_before = stopped.n_fits
    assert n_before < 90  # seeds are screened before anything is reported
    stopped.watch = Watch()
    stopped.run()
    assert stopped.n_fits > n_before
    complete = make_search(x, y)
    complete.run()
    assert stopped.list_best(1)[0].score > complete.list_best(1)[0].score - 0.5


def test_every_restriction_of_the_best_structure_has_a_lower_score():
    x, y = make_trend_and_season()
    search = make_search(x, y)
    search.run()
    best = search.list_best(1)[0]
    for place in range(len(best.structure.components)):
        assert search.settle(best.structure.without(place)).score < best.score


def test_score_of_a_line():
    rule = ScoreRule(100.0, -7.0, 2.0, 3.0)
    line = Structure((Component.of(Line()),), 0.0).evaluated(-50.0, -50.0)
    # half the log number of rows for noise and variance; a line itself costs nothing
    assert np.isclose(rule(line).score, -50.0 - 7.0 - np.log(100.0))


def test_score_of_a_product():
    rule = ScoreRule(100.0, 0.0, 2.0, 3.0)
    product = Structure((Component.of(Harmonics(), Line()),), 0.0).evaluated(-50.0, -50.0)
    # noise, variance, length-scale; a period out of 50; component and further factor
    expected = 1.5 * np.log(100.0) + np.log(50.0) + 2.0 + 3.0
    assert np.isclose(rule(product).score, -50.0 - expected)


def test_keys_tell_periods_and_locations_apart():
    one, two = (Structure((Component.of(Harmonics(period=p)),)) for p in (0.5, 0.6))
    assert Grammar.key(one) != Grammar.key(two)
    parts = Component.of(Line()), Component.of(Walk())
    assert Grammar.key(Structure(parts)) == Grammar.key(Structure(parts[::-1]))


def test_transforms_need_positive_and_varied_targets():
    names = ("identity", "log", "sqrt")
    assert list(find_possible_transforms(np.array([1.0, 2.0]), names)) == list(names)
    assert list(find_possible_transforms(np.array([1.0, 1.2]), names)) == ["identity"]
    assert list(find_possible_transforms(np.array([0.0, 2.0]), names)) == ["identity"]
