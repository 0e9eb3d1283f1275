"""Estimates of changes of a structure, against the evidence of the changed structure."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.kernels.expansions import Harmonics, Line, SlopeWalk, Smooth, Walk
from relvec.learning.structures.changes import Change, ChangeEstimator
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.component_evidence import (
    LOG_VARIANCES,
    compute_addition,
    compute_removal_losses,
)
from relvec.learning.structures.fit import StructureFitter
from relvec.learning.structures.posterior import ColumnPosterior
from relvec.learning.structures.score import ScoreRule
from relvec.learning.structures.structure import Component, Structure

RNG = np.random.default_rng(5)
U = RNG.uniform(-1, 1, size=(60, 2))
TARGET = np.sin(3 * U[:, 0]) + U[:, 1] + 0.3 * RNG.normal(size=60)
WEIGHT = RNG.integers(1, 4, size=60).astype(float)
STORE = ColumnStore(U, TARGET, WEIGHT)
FITTER = StructureFitter(STORE, 0.0)
RULE = ScoreRule(STORE.n_samples, 0.0, 1.0, 2.0)

SMOOTH = Component.of(Smooth(n_terms=12, length_scale=0.5), log_variance=-0.5)
LINE = Component.of(Line(feature=1), log_variance=-1.0)
SEASON = Component.of(Harmonics(period=0.7, n_harmonics=2), Line(origin=-1.0), log_variance=-3.0)
WALK = Component.of(Walk(feature=1, n_terms=20), log_variance=-2.0)
EXAMPLE = Structure((SMOOTH, LINE, SEASON), -2.0)


def evidence(structure):
    return FITTER.compute_log_evidence(structure)


def test_removal_losses_are_differences_of_evidence():
    losses = compute_removal_losses(ColumnPosterior(EXAMPLE, STORE))
    expected = [evidence(EXAMPLE) - evidence(EXAMPLE.without(place)) for place in range(3)]
    np.testing.assert_allclose(losses, expected, atol=1e-6)


def test_removal_of_component_without_used_columns_costs_nothing():
    tiny = Structure((SMOOTH, Component(LINE.product, -40.0)), -2.0)
    assert compute_removal_losses(ColumnPosterior(tiny, STORE))[1] == 0.0


@pytest.mark.parametrize("component", [LINE, SMOOTH, WALK, SEASON], ids=lambda each: each.name())
def test_addition_is_the_best_of_all_variances(component):
    rest = Structure(tuple(each for each in (SMOOTH, LINE) if each != component), -2.0)
    found = compute_addition(component, ColumnPosterior(rest, STORE), STORE)
    gains = [
        evidence(rest.with_added(Component(component.product, each))) - evidence(rest)
        for each in LOG_VARIANCES
    ]
    assert found.gain == pytest.approx(max(gains), abs=1e-5)
    assert found.component.log_variance == LOG_VARIANCES[np.argmax(gains)]


def test_estimated_scores_are_scores_at_the_same_parameters():
    current = RULE(EXAMPLE.evaluated(evidence(EXAMPLE), evidence(EXAMPLE)))
    estimator = ChangeEstimator(current, STORE, FITTER, RULE)
    changes = [Change((), (WALK,)), Change((0, 2), (WALK,)), Change((1,), (WALK,))]
    estimates = [*estimator.estimate_removals(), *estimator.estimate_additions(changes)]
    assert len(estimates) == 6
    for each in estimates:
        value = evidence(each.structure)
        score = RULE(each.structure.evaluated(value, value)).score
        assert each.score == pytest.approx(score, abs=1e-5)


def test_change_between_leads_from_one_structure_to_the_other():
    after = Structure((SEASON, WALK), -2.0)
    change = Change.between(EXAMPLE, after)
    assert change == Change((0, 1), (WALK,))
    assert change.apply(EXAMPLE).components == after.components


def test_changes_that_bring_a_diffuse_slope_or_two_components_are_not_estimated():
    assert Change((0,), (WALK,)).can_be_estimated
    assert not Change((), (WALK, SMOOTH)).can_be_estimated
    assert not Change((), (Component.of(SlopeWalk()),)).can_be_estimated
