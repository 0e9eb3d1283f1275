import numpy as np
import pytest

from relvec.kernels.expansions import Line, Walk
from relvec.learning.structures.arbiter import (
    Member,
    Split,
    predict_held_out,
    split_at_origins,
    split_folds,
)
from relvec.learning.structures.rows import TransformedTarget
from relvec.learning.structures.score import Scored
from relvec.learning.structures.structure import Component, Structure
from relvec.learning.structures.transforms import TRANSFORMS

LINE = Structure((Component.of(Line()),), -2.0)
WALK = Structure((Component.of(Walk(), log_variance=-1.0),), -2.0)


def make_members(y):
    target = TransformedTarget.of(TRANSFORMS["identity"], y)
    logs = TransformedTarget.of(TRANSFORMS["log"], y)
    return [Member(Scored(each, 0.0), t) for each in (LINE, WALK) for t in (target, logs)]


def test_origins_train_before_and_predict_after():
    splits = split_at_origins(100, (0.5, 0.9), 0.11)
    assert [len(split.train) for split in splits] == [50, 90]
    assert [split.test.tolist()[0] for split in splits] == [50, 90]
    assert [len(split.test) for split in splits] == [11, 10]


def test_too_short_records_have_no_origins():
    assert split_at_origins(8, (0.55, 0.66), 0.11) == []


def test_folds_hold_out_each_row_once():
    U = np.random.default_rng(0).normal(size=(53, 2))
    splits = split_folds(U, 5)
    held = np.sort(np.concatenate([split.test for split in splits]))
    np.testing.assert_array_equal(held, np.arange(53))
    assert all(not np.intersect1d(split.train, split.test).size for split in splits)


def test_held_out_rows_do_not_influence_their_predictions():
    rng = np.random.default_rng(0)
    U = np.linspace(-1, 1, 60)[:, np.newaxis]
    y = np.exp(U[:, 0] + 0.1 * rng.normal(size=60)) + 1.0
    members = make_members(y)
    split = Split(np.arange(40), np.arange(40, 50))
    first = predict_held_out(members, U, None, 0.03, [split], 6)
    # change the targets that are held out, but not the scaling of the targets
    changed = y.copy()
    changed[40:50] *= 1.3
    moved = [
        Member(
            member.scored,
            TransformedTarget(
                member.target.transform, member.target.mean, member.target.std, changed
            ),
        )
        for member in members
    ]
    second = predict_held_out(moved, U, None, 0.03, [split], 6)
    np.testing.assert_array_equal(first.median, second.median)
    assert not np.array_equal(first.log_density, second.log_density)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_scores(n_jobs):
    rng = np.random.default_rng(1)
    U = np.linspace(-1, 1, 80)[:, np.newaxis]
    y = 10.0 + 3.0 * U[:, 0] + 0.1 * rng.normal(size=80)
    splits = split_at_origins(80, (0.5, 0.75), 0.2)
    held = predict_held_out(make_members(y), U, None, 0.03, splits, 6, n_jobs)
    assert held.log_density.shape == (4, 32)
    assert held.rmse[0] < 0.5 * held.rmse[2]  # a line forecasts a line better than a walk does
    assert held.mlpd[0] > held.mlpd[2]
