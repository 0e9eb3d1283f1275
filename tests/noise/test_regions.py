"""Dictionaries: orthonormal, cut without loss, interleaved like a chess board."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.dictionaries.lapped import lapped_cosine
from relvec.noise.regions import (
    _rectangles,
    difference_regions,
    line_regions,
    neighbour_differences,
    plane_regions,
)


def explicit_matrices(regions_of, shape):
    """Matrix of every dictionary, found by transforming all unit vectors."""
    columns = {}
    for unit in np.eye(np.prod(shape)):
        for name, blocks in regions_of(unit.reshape(1, *shape)):
            columns.setdefault(name, []).append(blocks.ravel())
    return {name: np.array(each).T for name, each in columns.items()}


@pytest.mark.parametrize("n", [32, 64, 67])
@pytest.mark.parametrize("size", [4, 8, 16])
def test_lapped_cosine_is_orthonormal_and_local(n, size):
    matrix = lapped_cosine(np.eye(n), size).reshape(n, -1)
    n_used = n // size * size
    assert matrix.shape == (n, n_used)
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(n_used), atol=1e-13)
    frames = matrix[:n_used].reshape(n_used, -1, size)
    for frame in range(frames.shape[1]):
        reach = np.flatnonzero(abs(frames[:, frame]).max(axis=1) > 1e-15)
        assert reach.min() >= (frame - 0.5) * size
        assert reach.max() < (frame + 1.5) * size


def test_lapped_cosine_of_one_frame_is_the_cosine_transform():
    n = 8
    index = np.arange(n) + 0.5
    expected = np.sqrt(2 / n) * np.cos(np.pi / n * np.outer(index, index))
    np.testing.assert_allclose(lapped_cosine(np.eye(n), n)[:, 0], expected, atol=1e-14)


@pytest.mark.parametrize("n", [64, 75, 144])
def test_line_dictionaries_are_orthonormal(n):
    matrices = explicit_matrices(lambda lines: line_regions(lines, 16), (n,))
    assert {"sym8", "db2", "haar", "mdct8", "mdct16", "dft", "dct"} <= set(matrices)
    for name, matrix in matrices.items():
        assert len(matrix) >= 16, name
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(len(matrix)), atol=1e-10, err_msg=name)


def test_long_lines_have_wide_frames_and_three_levels():
    regions = dict(line_regions(np.random.default_rng(0).normal(size=(2, 8192)), 32))
    assert "mdct2048" in regions
    assert regions["haar"].size == 2 * 8192 * 7 // 8
    assert regions["samples"].shape == (512, 32)


@pytest.mark.parametrize("shape", [(16, 16), (17, 19)])
def test_plane_dictionaries_are_orthonormal(shape):
    matrices = explicit_matrices(plane_regions, shape)
    assert len(matrices) == 6
    for name, matrix in matrices.items():
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(len(matrix)), atol=1e-10, err_msg=name)


def test_rectangles_are_chess_boards():
    row, column = np.meshgrid(np.arange(8), np.arange(12), indexing="ij")
    plane = (row + column)[np.newaxis] % 2
    blocks = _rectangles(plane.astype(float), 4, 4)
    assert blocks.shape == (6, 16)
    for block in blocks:
        assert len(set(block[0::2])) == 1
        assert len(set(block[1::2])) == 1
        assert block[0] != block[1]


def test_rectangles_lose_only_what_does_not_fit():
    plane = np.arange(2 * 9 * 11.0).reshape(2, 9, 11)
    blocks = _rectangles(plane, 4, 8)
    np.testing.assert_array_equal(np.sort(blocks.ravel()), np.sort(plane[:, :8, 3:].ravel()))
    assert _rectangles(plane, 16, 8).shape == (0, 128)


@pytest.mark.parametrize("width", [2, 3, 4])
def test_differences_against_a_loop(width):
    random = np.random.default_rng(width)
    lines, observed = random.normal(size=(4, 50)), random.random((4, 50)) < 0.8
    weights = random.normal(size=width)
    expected = []
    for line, seen in zip(lines, observed, strict=True):
        i = 0
        while i + width <= 50:
            if seen[i : i + width].all():
                expected.append(line[i : i + width] @ weights)
                i += width
            else:
                i += 1 if not seen[i] else int(np.argmin(seen[i : i + width])) + 1
    np.testing.assert_allclose(neighbour_differences(lines, observed, weights), expected)


def test_differences_of_noise_are_noise_and_of_cubics_nothing():
    random = np.random.default_rng(0)
    observed = random.random((3, 40, 200)) < 0.7
    for name, blocks in difference_regions(random.normal(size=(3, 40, 200)), observed, 16):
        assert blocks.std() == pytest.approx(1.0, abs=0.05), name
    t = np.arange(1000.0)[np.newaxis]
    *_, (name, blocks) = difference_regions(t**2, np.ones(t.shape, dtype=bool), 16)
    assert name == "differences of order 3"
    np.testing.assert_allclose(blocks, 0.0, atol=1e-8)
