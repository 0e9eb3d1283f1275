"""Plot of the coverage inside and outside the range of the training inputs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib import pyplot

from relvec.assessing import CoverageOutside, HeldOutMetrics
from relvec.plotting import CoverageOutsideDisplay

RNG = np.random.default_rng(1)


def a_result(name, factor):
    parts = []
    for count, scale in ((80, 1.0), (20, factor)):
        z = scale * RNG.normal(size=count)
        parts.append(HeldOutMetrics(z, z, -0.5 * z**2))
    return CoverageOutside(name, *parts, np.arange(100) >= 80, "last rows")


def test_points_are_the_coverages():
    found = [a_result("a $b", 1.0), a_result("b", 3.0)]
    display = CoverageOutsideDisplay.from_results(found, levels=(0.5, 0.8, 0.95))
    assert len(display.axes_) == 3
    for (part, level), drawn in display.points_.items():
        expected = [getattr(each, part).coverage(level).value for each in found]
        np.testing.assert_allclose(drawn.lines[0].get_xdata(), expected)
        bars = np.array([path.vertices[:, 0] for path in drawn.lines[2][0].get_paths()])
        ends = [getattr(each, part).coverage_interval(level) for each in found]
        np.testing.assert_allclose(bars, ends)
    display.figure_.canvas.draw()
    pyplot.close(display.figure_)


def test_axes_may_be_given():
    figure, axes = pyplot.subplots(1, 2)
    display = CoverageOutsideDisplay.from_results(a_result("a", 1.0), ax=axes)
    assert display.figure_ is figure
    with pytest.raises(ValueError, match="2 matplotlib axes"):
        display.plot(axes[0])
    pyplot.close(figure)


def test_wrong_arguments_raise():
    with pytest.raises(TypeError, match="coverage_outside"):
        CoverageOutsideDisplay([3])
    with pytest.raises(TypeError, match="at least one"):
        CoverageOutsideDisplay([])
    with pytest.raises(ValueError, match="coverage must be between"):
        CoverageOutsideDisplay(a_result("a", 1.0)).plot(levels=(1.0,))
