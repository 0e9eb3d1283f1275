"""Alternation of a regression and a noise model."""

from __future__ import annotations

from relvec.learning.reweight import ReweightTuning, alternate


def test_a_step_from_scratch_leaves_a_local_maximum():
    starts = []

    def regress(noise, fit):
        starts.append(fit)
        # warm: stays where it is and improves a little; from scratch: finds the better maximum
        return 10.0 if fit is None or fit >= 10.0 else min(fit + 1.0, 2.0)

    best = alternate(0.0, lambda fit: "noise", regress, lambda fit, noise: fit)
    assert best.fit == best.bound == 10.0
    assert starts.count(None) >= 1
    assert best.trace[:2] == (1.0, 2.0)


def test_the_best_bound_is_kept():
    values = iter([5.0, 9.0, 4.0, 4.0, 3.0, 2.0, 1.0])
    best = alternate(0.0, lambda fit: fit, lambda noise, fit: next(values), lambda fit, noise: fit)
    assert best.fit == 9.0


def test_constant_noise_at_the_start_and_on_the_way():
    assert alternate(0.0, lambda fit: None, lambda noise, fit: 1.0, lambda fit, noise: fit) is None
    noises = iter(["one", None])
    best = alternate(0.0, lambda fit: next(noises), lambda noise, fit: 1.0, lambda fit, noise: fit)
    assert best.noise == "one"


def test_number_of_steps_is_bounded():
    count = []

    def regress(noise, fit):
        count.append(fit)
        return len(count)

    best = alternate(
        0, lambda fit: "noise", regress, lambda fit, noise: fit, ReweightTuning(max_steps=7)
    )
    assert len(count) == best.bound == 7
