"""Synthetic data with known truth: test signals, two-class problems and regression functions.

Examples
--------
>>> from relvec.datasets import make_noisy_signal
>>> signal = make_noisy_signal("doppler", 1024, snr=7.0, random_state=0)
>>> signal.noisy.shape
(1024,)
"""

from __future__ import annotations

from relvec.datasets.families import RANDOM_FAMILIES, make_random_signal
from relvec.datasets.features import RingTruth, make_ring, make_twonorm
from relvec.datasets.functions import RegressionTruth, make_friedman, make_sinc_and_line
from relvec.datasets.series import SERIES_NAMES, make_series
from relvec.datasets.signals import (
    GRIDS,
    SIGNAL_NAMES,
    NoisySignal,
    make_noisy_signal,
    make_parts,
    make_signal,
)
from relvec.datasets.two_classes import (
    GaussianMixtures,
    TwoClassTruth,
    UniformIntervals,
    make_overlapping_uniforms,
    make_ripley_mixture,
    make_snake,
)

__all__ = [
    "GRIDS",
    "RANDOM_FAMILIES",
    "SERIES_NAMES",
    "SIGNAL_NAMES",
    "GaussianMixtures",
    "NoisySignal",
    "RegressionTruth",
    "RingTruth",
    "TwoClassTruth",
    "UniformIntervals",
    "make_friedman",
    "make_noisy_signal",
    "make_overlapping_uniforms",
    "make_parts",
    "make_random_signal",
    "make_ring",
    "make_ripley_mixture",
    "make_series",
    "make_signal",
    "make_sinc_and_line",
    "make_snake",
    "make_twonorm",
]
