"""Plot of criteria against the length-scale."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib import pyplot

from relvec.assessing import EvidenceCurve
from relvec.plotting import EvidenceCurveDisplay


def a_curve(*, evidence=(5.0, 1.0, 2.0, 0.0), mlpd=(0.0, 1.0, 2.0, 1.0), own=3.0, scales=None):
    scales = np.array([0.1, 0.5, 2.0, 8.0]) if scales is None else np.array(scales)
    evidence = np.array(evidence)
    return EvidenceCurve(
        length_scales=scales,
        log_evidence=evidence,
        penalised_evidence=evidence - [9.0, 5.0, 1.0, 1.0][: len(scales)],
        tied_evidence=evidence - 1.0,
        mlpd=np.array(mlpd),
        mlpd_error=np.full(len(scales), 0.1),
        n_relevant=np.arange(len(scales))[::-1] + 1,
        noise_variance=np.ones(len(scales)),
        spacing=0.3,
        own_length_scale=own,
        name="RVM",
    )


def test_maxima_are_marked_and_a_maximum_below_the_spacing_is_explained():
    display = EvidenceCurveDisplay.from_curve(a_curve())
    found = {key: float(mark.get_xdata()[0]) for key, mark in display.maxima_.items()}
    assert found == {
        "log_evidence": 0.1,
        "penalised_evidence": 2.0,
        "tied_evidence": 0.1,
        "mlpd": 2.0,
    }
    assert "below the spacing" in display.text_.get_text()
    np.testing.assert_array_equal(display.lines_["n_relevant"].get_ydata(), [4, 3, 2, 1])
    legend = [text.get_text() for text in display.axes_[0].get_legend().get_texts()]
    assert legend[3:] == ["spacing of the inputs", "estimator itself"]
    display.figure_.canvas.draw()
    pyplot.close(display.figure_)


def test_without_failure_cross_validation_or_own_length_scale():
    nothing = np.full(4, np.nan)
    curve = a_curve(evidence=(0.0, 1.0, 2.0, 1.0), mlpd=nothing, own=None)
    figure, axes = pyplot.subplots(3, 1)
    display = EvidenceCurveDisplay.from_curve(curve, ax=axes)
    assert display.figure_ is figure
    assert display.text_ is None
    assert "mlpd" not in display.maxima_
    assert "cv=None" in display.axes_[1].texts[0].get_text()
    pyplot.close(figure)


def test_one_length_scale_can_be_drawn():
    curve = a_curve(scales=[1.0], evidence=[1.0], mlpd=[0.5])
    display = EvidenceCurveDisplay.from_curve(curve)
    display.figure_.canvas.draw()
    pyplot.close(display.figure_)


def test_other_objects_raise():
    with pytest.raises(TypeError, match="evidence_curve"):
        EvidenceCurveDisplay([1, 2])
