"""What was learnt of scales, moved and joined."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from relvec.learning import LengthScaleLearner
from relvec.learning.learnt import merge_targets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
FIRST = np.sin(2.0 * X[:, :1]) + 0.1 * np.random.default_rng(1).normal(size=(80, 1))
SECOND = X[:, 1:2] ** 2 + 0.1 * np.random.default_rng(1).normal(size=(80, 1))


def learn(target, kind="ard"):
    return LengthScaleLearner(kind).learn(RBF(), X, target)


def test_scales_that_differ_are_of_kind_ard():
    [learnt] = learn(FIRST, "isotropic")
    assert learnt.with_relevance(2.0 * learnt.relevance).kind == "isotropic"
    moved = learnt.with_relevance(learnt.relevance * np.array([1.0, 2.0, 1.0]))
    assert (moved.kind, moved.n_scales) == ("ard", 3)


def test_relevance_is_the_largest_over_the_targets():
    one, two = learn(FIRST), learn(SECOND)
    [joined] = merge_targets([one, two])
    np.testing.assert_array_equal(joined.relevance, np.maximum(one[0].relevance, two[0].relevance))
    np.testing.assert_array_equal(joined.kernel.scale, joined.scale)
    assert joined.kind == "ard"
    assert joined.log_evidence == pytest.approx(one[0].log_evidence + two[0].log_evidence)


def test_targets_that_say_nothing_do_not_count():
    noise = np.random.default_rng(1).normal(size=(80, 1))
    [joined] = merge_targets([learn(noise), learn(FIRST)])
    np.testing.assert_array_equal(joined.relevance, learn(FIRST)[0].relevance)
    [nothing] = merge_targets([learn(noise), learn(np.ones((80, 1)))])
    assert nothing.kind == "none"
