"""Conformance check of shift-averaged transforms, by analysing unit samples."""

from __future__ import annotations

import numpy as np


def unit_responses(frame):
    """Coefficients of every unit sample: ``responses[band][sample]`` is an array."""
    shape = frame.shape
    analysed = [frame.analyse(unit.reshape(shape)) for unit in np.eye(int(np.prod(shape)))]
    return [np.stack(band) for band in zip(*analysed, strict=True)]


def copies(bands):
    """`synthesise` may overwrite what it is given."""
    return [band.copy() for band in bands]


def check_frame(frame, seed=0):
    random = np.random.default_rng(seed)
    shape, described = frame.shape, frame.bands
    values = random.normal(size=shape)
    kept = values.copy()
    bands = frame.analyse(values)
    assert len(bands) == len(described)
    np.testing.assert_array_equal(values, kept)
    np.testing.assert_allclose(frame.synthesise(copies(bands)), values, atol=1e-12)
    energy = sum(d.shift_fraction * (b**2).sum() for d, b in zip(described, bands, strict=True))
    np.testing.assert_allclose(energy, (values**2).sum(), rtol=1e-12)

    responses = unit_responses(frame)
    for response, band in zip(responses, bands, strict=True):
        expected = np.tensordot(values.ravel(), response, 1)
        np.testing.assert_allclose(band, expected, atol=1e-12)
        # atoms have length one
        np.testing.assert_allclose((response**2).sum(axis=0), 1.0, atol=1e-12)

    variances = [random.uniform(size=band.shape) for band in bands]
    spread = sum(
        d.shift_fraction * np.tensordot(response**2, v, v.ndim)
        for d, response, v in zip(described, responses, variances, strict=True)
    )
    np.testing.assert_allclose(frame.synthesise_variance(variances).ravel(), spread, atol=1e-12)

    weights = random.uniform(size=shape)
    gathered = list(frame.analyse_variance(weights))
    assert len(gathered) == len(bands)
    for response, found in zip(responses, gathered, strict=True):
        expected = np.tensordot(weights.ravel(), response**2, 1)
        np.testing.assert_allclose(found, expected, atol=1e-12)

    for window in (
        tuple(slice(n // 4, n - n // 8) for n in shape),
        tuple(slice(0, n) for n in shape),
        tuple(slice(n // 2, n // 2 + 1) for n in shape),
        tuple(slice(1 if n > 1 else 0, n) for n in shape),
        tuple(slice(0, max(1, n - 1)) for n in shape),
    ):
        indicator = np.zeros(shape)
        indicator[window] = 1.0
        for response, found in zip(responses, frame.energy_inside(window), strict=True):
            expected = np.tensordot(indicator.ravel(), response**2, 1)
            np.testing.assert_allclose(found, expected, atol=1e-10)
            assert found.min() >= -1e-12
