"""Sentences about constructed kernels: their numbers are those of simulated data."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest

from relvec import KernelSearchRegressor
from relvec.describing import describe_structure, explain, list_parts
from relvec.describing.structure_notes import describe_trend
from relvec.kernels.expansions import Kink, Line, SlopeWalk, Smooth, Step, Walk
from relvec.learning.structures.structure import Component, Structure

T = np.arange(120.0)
MONTHS = np.arange("2005-01", "2017-01", dtype="datetime64[M]").astype("datetime64[D]")


def fit(x, y, **options):
    x = x if np.asarray(x).dtype.kind == "M" else np.asarray(x)[:, np.newaxis]
    return KernelSearchRegressor(effort="fast", mode="interpretable", **options).fit(x, y)


def noise(n, std, seed=7):
    return std * np.random.default_rng(seed).normal(size=n)


def read(pattern, text):
    """Numbers in a text, of which the second is a standard deviation."""
    found = re.search(pattern.replace("#", r"([−\d.]*\d)"), text)
    assert found is not None, text
    return [float(each.replace("−", "-")) for each in found.groups()]


def test_a_line_and_a_season_of_dates():
    k = np.arange(len(MONTHS))
    y = 50.0 + 0.5 * k + 4.0 * np.cos(2 * np.pi * (k - 6) / 12) + noise(len(k), 1.0)
    model = fit(MONTHS, y, transforms=["identity"])
    text = model.explain()
    assert text.startswith("The series is the sum of 2 parts and noise: LIN + PER.")
    slope, slope_std = read("it rises by # ± # per year", text)
    assert abs(slope - 6.0) < 3.0 * slope_std < 0.3
    rise, rise_std = read("by # ± # over the record", text)
    assert abs(rise - 0.5 * 143.0) < 3.0 * rise_std
    swing, swing_std = read("its highest value is # ± # above its lowest", text)
    assert abs(swing - 8.0) < 3.0 * swing_std + 0.1
    assert "A yearly season of constant shape" in text
    # 1 January is the first of the months, so number 6 is July
    assert "(highest in July, lowest in January)" in text
    assert read("noise of standard deviation # ", text)[0] == pytest.approx(1.0, rel=0.2)
    # Ordinary least squares has the same slope and standard error: the prior is wide.
    days = (MONTHS - MONTHS[0]).astype(float)
    angle = 2 * np.pi * days / 365.2425
    design = np.column_stack([np.ones(len(k)), days, np.cos(angle), np.sin(angle)])
    weights, squares, *_ = np.linalg.lstsq(design, y, rcond=None)
    covariance = squares[0] / (len(k) - 4) * np.linalg.inv(design.T @ design)
    assert slope == pytest.approx(365.2425 * weights[1], abs=0.3 * slope_std)
    assert slope_std == pytest.approx(365.2425 * math.sqrt(covariance[1, 1]), rel=0.3)


def test_a_step_has_its_size_and_date():
    x = np.datetime64("2020-03-01") + np.arange(200)
    model = fit(x, 20.0 - 5.0 * (np.arange(200) >= 90) + noise(200, 0.5))
    text = model.explain()
    size, std = read("from 30 May 2020 on the level drops by # ± #", text)
    assert abs(size - 5.0) < 3.0 * std < 0.5
    assert std == pytest.approx(0.5 * math.sqrt(1 / 90 + 1 / 110), rel=0.2)


def test_a_growing_season_and_its_swings():
    y = 30.0 + 0.1 * T * np.sin(2 * np.pi * T / 12) + noise(120, 0.3)
    text = fit(T, y, transforms=["identity"]).explain("months")
    first, last = read(r"amplitude grows linearly \(swing # at first, # at last\)", text)
    early, late = (0.1 * t * np.sin(2 * np.pi * t / 12) for t in (T[:13], T[-13:]))
    assert last == pytest.approx(np.ptp(late), rel=0.05)
    assert first == pytest.approx(np.ptp(early), abs=0.5)
    assert text.count("season") == 1


def test_percentages_after_a_logarithm():
    k = np.arange(len(MONTHS))
    y = np.exp(3.0 + 0.004 * k + 0.3 * np.sin(2 * np.pi * k / 12) + noise(len(k), 0.03))
    text = fit(MONTHS, y, transforms=["identity", "log"]).explain()
    assert text.startswith("The logarithm of the series is the sum of 2 parts and noise")
    rate, std = read("rises by # ± # % per year", text)
    assert abs(rate - 100.0 * math.expm1(0.048)) < 3.0 * std
    assert "An exponential trend: it rises by" in text
    swing, std = read("its highest value is # ± # % above its lowest", text)
    assert abs(swing - 100.0 * math.expm1(0.6)) < 3.0 * std + 0.5
    assert read("standard deviation # %", text)[0] == pytest.approx(3.0, rel=0.2)


def test_square_roots_are_in_units_of_the_target_at_the_last_level():
    root = 10.0 + 0.1 * T + noise(120, 0.1)
    text = fit(T, root**2, transforms=["identity", "sqrt"]).explain("weeks")
    level = (10.0 + 0.1 * 119.0) ** 2
    assert read("at its last level of #.", text)[0] == pytest.approx(level, rel=0.01)
    rise, std = read("it rose by # ± # over the record", text)
    assert abs(rise - (level - 100.0)) < 3.0 * std
    slope, std = read("now rises by # ± # per week", text)
    assert abs(slope - (level - (10.0 + 0.1 * 118.0) ** 2)) < 3.0 * std


def test_swings_of_a_square_root_are_those_of_their_time():
    root = 10.0 + 0.1 * T + 0.01 * T * np.sin(2 * np.pi * T / 12) + noise(120, 0.05)
    text = fit(T, root**2, transforms=["identity", "sqrt"]).explain("months")
    assert text.startswith("The square root of the series")
    first, last = read(r"\(swing # at first, # at last, each at the level of its time\)", text)
    season = 0.01 * T * np.sin(2 * np.pi * T / 12)
    assert first == pytest.approx(2.0 * 10.6 * np.ptp(season[:13]), abs=1.0)
    assert last == pytest.approx(2.0 * 21.9 * np.ptp(season[-13:]), rel=0.05)


def test_a_trend_that_bends():
    y = np.where(T > 60, 12.0 - 0.3 * (T - 60), 0.2 * T) + noise(120, 0.2)
    model = fit(T, y, factors=["linear", "kink"])
    text = model.explain("hours")
    assert "A trend of 2 straight lines: it rises by " in text
    up, up_std, until = read("rises by # ± # per hour until #", text)
    down, down_std = read("falls by # ± # per hour from then on", text)
    # given the location, whose uncertainty the standard deviations leave out
    assert up == pytest.approx(0.2, abs=0.01)
    assert down == pytest.approx(0.3, abs=0.01)
    assert 0.0 < max(up_std, down_std) < 0.005
    assert abs(until - 60.0) <= 2.0


def test_a_parabola_has_its_slopes_at_both_ends():
    y = 0.01 * (T - 30.0) ** 2 + noise(120, 0.5)
    text = fit(T, y, factors=["linear"]).explain("days")
    first, last = read("falls by # ± [\\d.]+ per day at first and rises by # ±", text)
    assert (first, last) == pytest.approx((0.6, 1.78), abs=0.05)


def test_a_level_that_wanders_and_its_typical_change():
    path = np.cumsum(np.random.default_rng(1).normal(size=300))
    model = fit(np.arange(300.0), path + noise(300, 0.1), factors=["walk"])
    text = model.explain("days")
    change, days = read("it typically changes by # in # days, up or down", text)
    moves = path[int(days) :] - path[: -int(days)]
    assert change == pytest.approx(np.sqrt(np.mean(moves**2)), rel=0.1)
    moved, std = read("over the record it (?:rose|fell) by # ± #", text)
    assert abs(moved - abs(path[-1] - path[0])) < 4.0 * std + 0.1


def test_temporary_changes_and_steps_at_nearly_the_same_time():
    pulse = 5.0 * ((T > 60) & (T < 66)) + noise(120, 0.3)
    text = fit(T, pulse, factors=["step", "walk"]).explain()
    size, std = read("A temporary change: from 61 to 65 the level is higher by # ± #", text)
    assert abs(size - 5.0) < 3.0 * std
    stairs = 3.0 * (T > 60) + 2.0 * (T > 63) + noise(120, 0.2)
    text = fit(T, stairs, factors=["step", "walk"]).explain()
    total, std = read("between 61 and 64 the level rises by # ± # in all", text)
    assert abs(total - 5.0) < 3.0 * std
    assert "A change in 2 steps" in text


def test_smooth_functions():
    text = fit(T, np.sin(T / 17.0) + noise(120, 0.1), factors=["smooth"]).explain("minutes")
    swing, std = read("its highest value, at [0-9]+, is # ± # above its lowest", text)
    assert abs(swing - 2.0) < 4.0 * std
    rising = fit(T, np.tanh(T / 40.0 - 1.5) + noise(120, 0.02), factors=["smooth"])
    assert "A smooth rise, by " in rising.explain()


def test_no_structure():
    model = fit(T, noise(120, 2.0, seed=4))
    assert model.expression_ == "none"
    lines = model.explain().splitlines()
    assert lines[0] == "No structure was found: the series is constant plus noise."
    assert read("The noise has standard deviation #.$", lines[1])[0] == pytest.approx(2.0, rel=0.2)
    assert "Forecasts assume a constant level." in lines


def test_uncertain_slopes_are_called_so():
    y = noise(120, 1.0, seed=12) + 0.002 * T
    model = fit(T, np.cumsum(noise(120, 1.0, seed=2)) + y, factors=["linear", "walk"])
    text = model.explain()
    if "LIN" in model.expression_:
        assert "neither clearly rises nor falls" in text
    else:
        assert "rose by" in text or "fell by" in text or "neither clearly rose" in text


def test_loss_of_parts_and_shares():
    y = 0.1 * T + np.sin(2 * np.pi * T / 12) + noise(120, 0.2)
    model = fit(T, y)
    description = describe_structure(model)
    for each in description.parts:
        assert each.score_loss == pytest.approx(model.compute_score_loss(each.part.places))
        assert f"without it the score falls by {each.score_loss:.0f} nats" in each.sentence
        mean, _ = model.predict_part(T[:, np.newaxis], each.part.places)
        assert each.part.share == pytest.approx(mean.var() / y.var(), rel=1e-6)
    shares = [part.share for part in list_parts(model)]
    assert shares == sorted(shares, reverse=True)
    assert explain(model) == str(description) == model.explain()


def test_rivals_and_weights_of_trends():
    y = 0.1 * T + np.sin(2 * np.pi * T / 12) + noise(120, 0.2)
    model = KernelSearchRegressor(effort="fast").fit(T[:, np.newaxis], y)
    text = model.explain()
    near = [each for each in model.structures_[1:] if each.is_undecided]
    assert near
    rival = re.search(re.escape(near[0].name) + r"[a-z ]* \((\d+\.\d) nats\)", text)
    assert float(rival.group(1)) == pytest.approx(near[0].margin, abs=0.1)
    total = {}
    for each in model.structures_:
        name = describe_trend(each.structure)
        total[name] = total.get(name, 0.0) + each.weight
    for name, weight in total.items():
        if 0.01 < weight < 0.99:
            assert re.search(rf"{100.0 * weight:.0f} % (of their weight is )?on {name}", text)
    described = 100.0 * model.structures_[0].weight
    assert f"The structure described here has {described:.0f} % of the weight." in text


def test_a_part_that_may_not_be_needed_is_called_so():
    y = 0.003 * T + noise(120, 0.3, seed=3)
    model = fit(T, y, factors=["linear"], structure_penalty=(0.0, 0.0))
    (part,) = describe_structure(model).parts
    assert 0.0 < part.score_loss < 5.0
    assert part.sentence.endswith("so that it is undecided whether it is needed.")


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([Line()], "a straight line through all data"),
        ([Line(), Walk()], "with the mean slope of the record"),
        ([SlopeWalk(), Walk()], "keeps its present slope"),
        ([Walk(), Step()], "a level that stays where it is"),
        ([Smooth()], "returns to the mean"),
        ([Smooth(), Step()], "returns to the mean"),
        ([Line(), Kink()], "since the last change of slope"),
        ([], "a constant level"),
    ],
)
def test_what_trends_assume(kinds, expected):
    assert expected in describe_trend(Structure(tuple(map(Component.of, kinds))))


def test_the_unit_is_checked_and_named():
    y = 0.1 * T + np.sin(2 * np.pi * T / 12) + noise(120, 0.2)
    frame = pd.DataFrame({"depth": T})
    model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(frame, y)
    assert "per unit of depth" in model.explain()
    assert "per km" in model.explain("km")
    assert "A pattern of constant shape that repeats every 12 km" in model.explain("km").replace(
        "12.0 km", "12 km"
    )
    assert "A yearly season" in model.explain("months")
    with pytest.raises(TypeError, match="unit must be the name of a unit"):
        model.explain(3)
    dated = fit(MONTHS, 1.0 * np.arange(len(MONTHS)) + noise(len(MONTHS), 1.0))
    assert "per month" in dated.explain("months")
    with pytest.raises(ValueError, match="not a unit of time, but the inputs are dates"):
        dated.explain("km")
