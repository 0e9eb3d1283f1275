"""Charts as SVG markup."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relvec.reporting.chart import Axis, Chart, format_number, pad_range
from relvec.reporting.raster import encode_png, find_zero_contour, make_class_image

ordinary = st.floats(-1e9, 1e9, allow_nan=False)


@given(st.floats(-1e300, 1e300) | st.sampled_from([np.nan, np.inf, -np.inf]))
def test_formatted_numbers_are_short_and_accurate(value):
    text = format_number(value)
    assert 1 <= len(text) <= 10
    if math.isfinite(value) and value != 0.0:
        assert float(text.replace("−", "-")) == pytest.approx(value, rel=0.005)


@pytest.mark.slow
@given(ordinary, st.floats(1e-6, 1e9))
def test_linear_ticks_are_few_and_inside_the_axis(low, span):
    high = low + span
    if (high - low) < 1e-9 * max(abs(low), abs(high)):
        return
    axis = Axis(low, high)
    places = [value for value, _ in axis.ticks]
    assert 2 <= len(places) <= 8
    assert all(low - 1e-6 * span <= value <= high + 1e-6 * span for value in places)


@given(st.floats(1e-8, 1e3), st.floats(1.01, 1e9))
def test_log_ticks_are_inside_the_axis(low, factor):
    axis = Axis(low, low * factor, is_log=True)
    assert all(low * 0.999 <= value <= low * factor * 1.001 for value, _ in axis.ticks)
    axis.set_position(0.0, 100.0)
    np.testing.assert_allclose(axis.to_pixels([low, low * factor]), [0.0, 100.0], atol=1e-6)


@pytest.mark.parametrize("values", [[], [3.0], [0.0, 0.0], [np.nan, 1.0], [1.0, 5.0]])
def test_padded_range_contains_all_values(values):
    low, high = pad_range(values)
    assert low < high
    finite = [value for value in values if np.isfinite(value)]
    assert all(low < value < high for value in finite)


def test_text_is_escaped_in_markup():
    bad = '"><script>alert(1)</script>&'
    chart = Chart(bad, Axis(0.0, 1.0, bad), Axis(0.0, 1.0, bad, ticks=[(0.5, bad)]))
    chart.dots([0.5], [0.5], "model", [bad])
    chart.bar(0.0, 1.0, 0.0, 1.0, "model", bad)
    chart.text(0.5, 0.5, bad)
    chart.line([0.0, np.nan, 1.0], [0.0, 0.5, 1.0], "model")
    chart.segments([[0.0, 0.0, 1.0, 1.0]], "axis")
    root = ElementTree.fromstring(chart.svg())
    assert not [each for each in root.iter() if each.tag.endswith("script")]
    assert not re.search(r"\bnan\b", chart.svg(), re.IGNORECASE)
    circle = next(root.iter("circle"))
    assert circle.get("data-tip") == bad


def test_points_are_at_their_coordinates():
    chart = Chart("points", Axis(0.0, 10.0), Axis(0.0, 1.0))
    chart.dots([0.0, 10.0], [0.0, 1.0], "model")
    first, second = ElementTree.fromstring(chart.svg()).iter("circle")
    assert float(first.get("cx")) == chart.left
    assert float(first.get("cy")) == chart.bottom
    assert float(second.get("cx")) == chart.right
    assert float(second.get("cy")) == chart.top


def test_zero_contour_of_a_circle():
    axis = np.linspace(-2.0, 2.0, 41)
    x, y = np.meshgrid(axis, axis)
    pieces = find_zero_contour(axis, axis, x**2 + y**2 - 1.0)
    radius = np.hypot(pieces[:, ::2], pieces[:, 1::2])
    np.testing.assert_allclose(radius, 1.0, atol=0.01)
    length = np.hypot(pieces[:, 0] - pieces[:, 2], pieces[:, 1] - pieces[:, 3]).sum()
    assert length == pytest.approx(2.0 * np.pi, rel=0.01)
    assert find_zero_contour(axis, axis, np.ones((41, 41))).shape == (0, 4)


def test_opacity_increases_with_probability():
    probability = np.array([[[1.0, 0.0], [0.5, 0.5], [0.2, 0.8]]])
    image = make_class_image(probability)
    assert image.shape == (1, 3, 4)
    assert image[0, 0, 3] > image[0, 2, 3] > image[0, 1, 3] == 0
    assert tuple(image[0, 0, :3]) != tuple(image[0, 2, :3])


def test_png_round_trip(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from base64 import b64decode

    image = np.random.default_rng(0).integers(0, 256, (5, 7, 4)).astype(np.uint8)
    path = tmp_path / "image.png"
    path.write_bytes(b64decode(encode_png(image).partition(",")[2]))
    np.testing.assert_array_equal((pyplot.imread(path) * 255.0).round(), image)
