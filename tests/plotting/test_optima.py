"""Plot of local optima."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.estimators.optima import OptimaReport, Optimum

pytest.importorskip("matplotlib")

from matplotlib import pyplot

from relvec.plotting import OptimaDisplay


def a_report(objectives=(3.0, 2.5, 2.5, -40.0), *, has_truth=True, errors=None):
    errors = np.linspace(0.01, 0.1, len(objectives)) if errors is None else errors
    runs = [
        Optimum(objective, error, objective, 0.1, np.array([3, 7 + round(objective)]), True)
        for objective, error in zip(objectives, errors, strict=True)
    ]
    chosen = Optimum(3.1, 0.02, 3.1, 0.1, np.array([3, 9]), True)
    return OptimaReport(tuple(runs), chosen, has_truth, bad_gap=10.0)


def test_panels_show_all_runs_and_the_chosen_optimum():
    display = OptimaDisplay.from_report(a_report())
    errors, histogram, atoms = display.axes_
    offsets = np.asarray(display.points_.get_offsets())
    np.testing.assert_allclose(offsets[:, 0], [0.1, 0.6, 0.6, 43.1])
    np.testing.assert_allclose(display.chosen_.get_xydata(), [[0.0, 0.02]])
    assert sum(patch.get_height() for patch in histogram.patches) == 4
    assert "4 runs, 3 distinct optima, 25 % bad" in errors.get_title(loc="left")
    assert len(atoms.lines) == 3 + 2  # different solutions, and the atoms of the chosen one
    pyplot.close(display.figure_)


def test_axes_may_be_given():
    figure, axes = pyplot.subplots(1, 3)
    display = OptimaDisplay.from_report(a_report(), ax=axes)
    assert display.figure_ is figure
    pyplot.close(figure)
    with pytest.raises(ValueError, match="3 matplotlib axes"):
        OptimaDisplay.from_report(a_report(), ax=axes[:2])


def test_training_errors_and_ties_can_be_drawn():
    report = a_report((1.0, 1.0), has_truth=False, errors=[0.0, 0.0])
    display = OptimaDisplay.from_report(report)
    assert display.axes_[0].get_ylabel() == "training MSE"
    display.figure_.canvas.draw()
    pyplot.close(display.figure_)


def test_other_objects_raise():
    with pytest.raises(TypeError, match="explore_optima"):
        OptimaDisplay([1, 2, 3])
