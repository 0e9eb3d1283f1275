"""The numbers that the search for scales works with."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["LengthScaleTuning"]


@dataclass(frozen=True)
class LengthScaleTuning:
    """Constants of the search for scales; the defaults were found by trial on test problems.

    Examples
    --------
    >>> from relvec.learning import LengthScaleLearner, LengthScaleTuning
    >>> LengthScaleLearner("ard", tuning=LengthScaleTuning(many_features=50)).tuning.many_features
    50
    """

    many_features: int = 100
    """With more inputs, those that alone have nothing to do with the target wait outside."""
    too_many_features: int = 5000
    """With more inputs than this some always do, so that one width for all is not tried."""
    screened_sizes: tuple[int, ...] = (20, 60, 200)
    """How many of many inputs may share a width."""
    large_start_size: int = 60
    small_start_size: int = 10
    """How many of many inputs, or of some, are in the model from which others are taken out."""
    initial_scales: tuple[float, ...] = (0.1, 0.5, 2.5)
    """Scales to start from, all inputs alike, divided by their number."""
    initial_scale_ratio: float = 5.0
    """Ratio of the scales that follow the last of these, as long as a kernel still reaches from a
    typical row to its nearest neighbour: on fast oscillations the evidence has its maximum there,
    and is flat below. The ratio is that of `initial_scales`."""
    n_peaks: int = 3
    """Peaks of a periodogram from which periods start: the first may be a multiple of the period,
    or the trend."""
    parameter_factors: tuple[float, ...] = tuple(4.0**k for k in range(-4, 5) if k)
    """Multiples of other parameters of a kernel to start from; climbs find what lies between."""
    initial_log_signal: float = math.log(10.0)
    """Log ratio of signal to noise to start from."""
    null_log_signal: float = -20.0
    """Log ratio of signal to noise of a process that explains nothing, to rounding."""
    expected_nulls: float = 1.5
    """Of inputs that do not matter, how many may be expected to stay."""
    initial_steps: int = 8
    """Steps from each start, after which the best goes on."""
    max_selection_rounds: int = 4
    """How often inputs are taken out and let in again; most searches end after two."""
    removal_steps: int = 12
    entry_steps: int = 10
    """Steps of a climb after inputs were taken out, and to see what an entry is worth."""
    n_removal_trials: int = 12
    """Inputs of least relevance that are tried without, one by one."""
    n_entry_trials: int = 4
    """Inputs that were left out and are tried again."""
    entry_scale_factors: tuple[float, ...] = (0.3, 1.0)
    """Scales at which an input enters, relative to the median of those in the model."""
    min_entry_fraction: float = 0.3
    """Share of its penalty that an input must bring at a scale at which it is tried."""
    negligible_change: float = 1e-3
    """Log evidence, in nats, that no change is made for."""
    ascent_tol: float = 1e-3
    """Rise of the log evidence in one step at which a climb ends."""
    negligible_loss: float = 0.05
    """Log evidence lost with an input that the others need not adapt to."""
    log_scale_precision: float = 0.1
    """Precision of the normal prior of log scales around their mean: they may well differ by a
    factor of e^3, but those that the data say little of stay near the others."""
    smallest_scale: float = 1e-6
    """Over the spread of the data an input of this scale is a constant."""
    max_path_values: int = 1 << 18
    """Numbers kept of the steps of a search: 2 MB."""
