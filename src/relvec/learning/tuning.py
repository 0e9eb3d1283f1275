"""Constants of the search for length-scales, with their origin."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["LengthScaleTuning"]


@dataclass(frozen=True)
class LengthScaleTuning:
    """Constants of the search for length-scales.

    Unless a field states another origin, its value was chosen by trials on test problems. Input
    scales ``eta = 1 / (2 length_scale^2)`` are for features in units of their standard deviations.
    Differences of the log evidence are in nats.

    Examples
    --------
    >>> from relvec.learning import LengthScaleLearner, LengthScaleTuning
    >>> LengthScaleLearner("ard", tuning=LengthScaleTuning(many_features=50)).tuning.many_features
    50
    """

    # which features to start with
    many_features: int = 100
    """With more features, only those associated with the target by themselves start in the
    model."""
    too_many_features: int = 5000
    """With more features, one common length-scale for all of them is not tried: some of them
    always are irrelevant."""
    screened_sizes: tuple[int, ...] = (20, 60, 200)
    """Numbers of best single features that are tried with one common length-scale."""
    large_start_size: int = 60
    """Number of best single features from which backward selection starts if there are many."""
    small_start_size: int = 10
    """Number of best single features from which a second backward selection starts."""

    # initial parameters
    initial_scales: tuple[float, ...] = (0.1, 0.5, 2.5)
    """Initial common scales, divided by the number of features."""
    initial_scale_ratio: float = 5.0
    """Ratio of further initial scales, up to a length-scale of the distance between a typical row
    and its nearest neighbour: for fast oscillations the evidence has its maximum there and is flat
    below. It equals the ratio of `initial_scales`."""
    n_peaks: int = 3
    """Number of peaks of a periodogram at which periods are initialised: the highest may be a
    multiple of the period, or due to a trend."""
    parameter_factors: tuple[float, ...] = tuple(4.0**k for k in range(-4, 5) if k)
    """Multiples of other kernel parameters as initial values; ascents find values in between."""
    n_kernel_trials: int = 2
    """Number of initialisations of a kernel added to a sum that are followed by an ascent."""
    long_factors: tuple[float, ...] = (0.5, 2.0)
    """Initial length-scales beside a periodic kernel, in units of the spread of the inputs: a
    trend, and a curve that turns a few times."""
    equal_evidence: float = 1.0
    """Difference of the log evidence, in nats, up to which periods explain the data equally
    well."""
    initial_log_signal: float = math.log(10.0)
    """Initial log signal-to-noise ratio."""
    null_log_signal: float = -20.0
    """Log signal-to-noise ratio of a process that explains nothing, to rounding."""

    # selection of features
    expected_nulls: float = 1.5
    """Expected number of irrelevant features that are selected; it determines the penalty of a
    feature (see `relvec.learning.length_scales.compute_feature_penalty`)."""
    initial_steps: int = 8
    """Steps from each initialisation, after which only the best one continues."""
    max_selection_rounds: int = 4
    """Largest number of rounds of removal and addition; most searches end after two."""
    removal_steps: int = 12
    """Steps of an ascent after the removal of features."""
    entry_steps: int = 10
    """Steps of an ascent that determines the gain of an added feature."""
    n_removal_trials: int = 12
    """Number of features of smallest scale whose removal is evaluated."""
    n_entry_trials: int = 4
    """Number of left-out features whose addition is evaluated."""
    entry_scale_factors: tuple[float, ...] = (0.3, 1.0)
    """Trial scales of an added feature, relative to the median scale in the model."""
    min_entry_fraction: float = 0.3
    """Fraction of its penalty that a feature must gain at a trial scale to be optimised further."""
    negligible_change: float = 1e-3
    """Change of the log evidence, in nats, that is ignored."""
    ascent_tol: float = 1e-3
    """Rise of the log evidence in one step, in nats, at which an ascent ends."""
    negligible_loss: float = 0.05
    """Loss of log evidence, in nats, up to which features are removed without another ascent."""
    log_scale_precision: float = 0.1
    """Precision of the normal prior of the log scales around their mean: a standard deviation of
    about three. Scales may differ by a factor of e^3; those that the data hardly determine stay
    near the others."""
    smallest_scale: float = 1e-6
    """Lower bound of the scales; the kernel is then constant over the range of the feature."""
    max_path_values: int = 1 << 18
    """Largest number of stored values of the path of a search: 2 MB."""
