"""Weighted mean of the estimates of several transforms.

The weights minimise Stein's unbiased risk estimate (SURE) of the mean squared error:
Stein (1981), Estimation of the mean of a multivariate normal distribution, Annals of Statistics 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.denoising.frame import Array
from relvec.denoising.group_shrinkage import shrink_band
from relvec.denoising.transforms import TransformChoice, make_frame
from relvec.denoising.tuning import DEFAULT, DenoisingTuning

__all__ = ["Denoised", "TransformEstimate", "blend_transforms", "denoise_with_transform"]


class TransformEstimate(NamedTuple):
    """The denoised signal under one transform."""

    mean: Array
    """Posterior mean of the signal."""
    variance: Array | None
    """Posterior variance of every sample."""
    divergence: float
    """``sum_i sigma_i^2 d mean_i / d y_i``: the divergence term of Stein's risk estimate."""
    effective_dof: float
    """Effective degrees of freedom."""


class Denoised(NamedTuple):
    """The denoised signal, or one tile of it: a weighted mean over transforms."""

    mean: Array
    """Posterior mean of the signal."""
    variance: Array | None
    """Posterior variance of every sample."""
    effective_dof: float
    """Effective degrees of freedom."""
    weights: Vector
    """Weight of each transform, averaged over tiles: non-negative, summing to one."""
    transform_mse: Vector
    """Stein's unbiased estimate of the mean squared error of each transform alone."""
    mse: float
    """The same for the weighted mean. It is slightly too small, because the weights minimise it."""


def denoise_with_transform(
    values: Array,
    noise: Array | float,
    c: float,
    choice: TransformChoice,
    boundary: str,
    *,
    want_variance: bool = False,
    tuning: DenoisingTuning = DEFAULT,
) -> TransformEstimate:
    """Denoise with one transform.

    Parameters
    ----------
    values : ndarray
        Signal of zero mean.
    noise : float or ndarray
        Noise variance: one number, or one per sample.
    c : float
        Penalty per effective degree of freedom.
    choice : TransformChoice
        Transform, and the number of neighbours that share a precision.
    boundary : str
        How the signal is extended beyond its ends.
    want_variance : bool, default=False
        Whether to compute the posterior variance of each sample as well.
    tuning : DenoisingTuning, optional
        Number of shifts, and how group penalties are chosen.

    Returns
    -------
    estimate : TransformEstimate
    """
    padded, frame = make_frame(choice, values.shape, boundary, tuning)
    inside: Iterator[Array]
    noises: Iterator[Array | float]
    # `inside`: the part of each coefficient's noise variance that comes from samples of the
    # signal; the rest comes from the padding. `noises`: the whole noise variance.
    if isinstance(noise, float):
        # an orthonormal transform keeps white noise white
        inside = (noise * energy for energy in frame.energy_inside(padded.window))
        noises = iter([noise] * len(frame.bands))
    else:
        inside = frame.analyse_variance(padded.embed(noise))
        noises = frame.analyse_variance(padded.pad(noise))
    coefficients = frame.analyse(padded.pad(values))
    variances: list[Array] = []
    # bands of one kind (the shifts of one transform) share the group penalty chosen on the first
    group_penalties: dict[str, float] = {}
    divergence = effective_dof = 0.0
    for index, (band, band_noise, noise_inside) in enumerate(
        zip(frame.bands, noises, inside, strict=True)
    ):
        shrunk = shrink_band(
            coefficients[index],
            band_noise,
            noise_inside,
            c,
            band,
            choice.width,
            group_penalties.get(band.kind),
            tuning,
        )
        group_penalties[band.kind] = shrunk.group_c
        coefficients[index] = shrunk.values
        divergence += shrunk.divergence
        effective_dof += shrunk.effective_dof
        if want_variance:
            # posterior variance of a coefficient: sigma^2 kappa
            variances.append(band_noise * shrunk.factor)
    mean = padded.crop(frame.synthesise(coefficients))
    variance = padded.crop(frame.synthesise_variance(variances)) if want_variance else None
    return TransformEstimate(mean, variance, divergence, effective_dof)


def blend_transforms(
    values: Array,
    noise: Array | float,
    c: float,
    transforms: Sequence[TransformChoice],
    boundary: str,
    *,
    want_variance: bool = False,
    tuning: DenoisingTuning = DEFAULT,
) -> Denoised:
    """Denoise with several transforms and average the results with weights that minimise SURE.

    For an estimate ``m(y)`` of the signal, Stein's unbiased estimate of the squared error is
    ``|m - y|^2 - sum_i sigma_i^2 + 2 sum_i sigma_i^2 d m_i / d y_i``. For a weighted mean of
    estimates it is quadratic in the weights.

    Parameters
    ----------
    values, noise, c, boundary, want_variance, tuning
        As in `denoise_with_transform`.
    transforms : sequence of TransformChoice
        The transforms to average.

    Returns
    -------
    denoised : Denoised
    """
    denoise_one = partial(
        denoise_with_transform, c=c, boundary=boundary, want_variance=want_variance, tuning=tuning
    )
    shape = values.shape
    # padding an axis of length one would repeat the noise, which would then look like signal
    if 1 in shape:
        values = values.squeeze()
        noise = noise if isinstance(noise, float) else noise.squeeze()
    # Prior means of coefficients are zero; the mean of the signal is fitted without shrinkage and
    # counts as one degree of freedom.
    offset = values.mean()
    centred = values - offset
    estimates = [denoise_one(centred, noise, choice=choice) for choice in transforms]
    # |m - y|^2 of a weighted mean with sum(w) = 1 is the quadratic form of the residuals' Gram
    # matrix.
    residuals = np.stack([(estimate.mean - centred).ravel() for estimate in estimates])
    divergences = np.array([estimate.divergence for estimate in estimates])
    # With sum(w) = 1 the linear term 2 w'd equals the quadratic form of d_i + d_j, so that SURE
    # plus the total noise variance is w' form w.
    form = residuals @ residuals.T + divergences[:, None] + divergences
    weights = minimise_on_simplex(form)
    total_noise = _sum_noise(noise, values.size)
    variance = None
    if want_variance:
        variance = _average(weights, [estimate.variance for estimate in estimates])
        # the subtracted mean is itself uncertain
        variance = variance + np.mean(noise) / values.size
        variance = variance.reshape(shape)
    return Denoised(
        mean=(offset + _average(weights, [estimate.mean for estimate in estimates])).reshape(shape),
        variance=variance,
        effective_dof=1.0 + float(weights @ [estimate.effective_dof for estimate in estimates]),
        weights=weights,
        # SURE = form - sum sigma_i^2, per sample.
        transform_mse=(np.diagonal(form) - total_noise) / values.size,
        mse=(float(weights @ form @ weights) - total_noise) / values.size,
    )


def _sum_noise(noise: Array | float, n_samples: int) -> float:
    return noise * n_samples if isinstance(noise, float) else float(np.sum(noise))


def _average(weights: Vector, arrays: Sequence[Any]) -> Array:
    return sum(weight * array for weight, array in zip(weights, arrays, strict=True))


def minimise_on_simplex(form: Matrix) -> Vector:
    """Minimise a quadratic form over weights that are non-negative and sum to one.

    Every subset of the weights is tried as the set of positive ones: ``2^n - 1`` linear systems,
    which is cheap for the few transforms that are averaged.

    Examples
    --------
    >>> import numpy as np
    >>> minimise_on_simplex(np.array([[1.0, 0.0], [0.0, 3.0]]))
    array([0.75, 0.25])
    """
    n = len(form)
    scale = max(float(np.abs(form).max()), np.finfo(float).tiny)
    # Weights do not depend on the scale; tolerances below are relative then.
    form = form / scale
    best, lowest = np.zeros(n), np.inf
    supports = chain.from_iterable(combinations(range(n), size) for size in range(1, n + 1))
    for support in map(list, supports):
        part = form[np.ix_(support, support)]
        # Lagrange conditions: part w = mu 1, sum(w) = 1
        system = np.block([[part, np.ones((len(support), 1))], [np.ones((1, len(support))), 0.0]])
        # Least squares, as the system is singular for identical estimates.
        solution = np.linalg.lstsq(system, np.eye(len(support) + 1)[-1], rcond=None)[0][:-1]
        if (solution < -1e-12).any() or abs(solution.sum() - 1.0) > 1e-6:
            continue
        value = float(solution @ part @ solution)
        # Supports come in order of size: ties go to the smaller one.
        if value < lowest - 1e-12:
            lowest = value
            best = np.zeros(n)
            best[support] = np.maximum(solution, 0.0)
    return best / best.sum()
