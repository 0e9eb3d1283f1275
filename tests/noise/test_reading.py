"""Reading of boxes from large arrays, and cutting boxes without missing values."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.noise.reading import cut_complete_boxes, is_planar, is_stuck, read_boxes


class OnDisk:
    """An array that counts what is read of it."""

    def __init__(self, array):
        self.array, self.n_read = array, 0
        self.shape, self.ndim, self.size = array.shape, array.ndim, array.size
        self.dtype = array.dtype

    def __getitem__(self, key):
        part = self.array[key]
        self.n_read += part.size
        return part


@pytest.mark.parametrize(
    ("shape", "boxes"),
    [
        ((1000,), (1, 1000)),
        ((65536,), (1, 65536)),
        ((65537,), (8, 8192)),
        ((1, 500), (1, 500)),
        ((500, 1), (1, 500)),
        ((5, 1000), (5, 1000)),
        ((15, 300_000), (8, 8192)),
        ((64, 80), (1, 64, 80)),
        ((512, 512), (1, 512, 512)),
        ((2000, 1000), (4, 64, 1000)),
        ((2000, 100_000), (1, 64, 4096)),
        ((20, 30, 40), (20, 30, 40)),
        ((40, 30, 20), (20, 40, 30)),
        ((128, 128, 128), (16, 128, 128)),
        ((3, 3, 1000), (9, 1000)),
        ((2, 3, 16, 17), (6, 16, 17)),
        ((10, 2000, 1000), (4, 64, 1000)),
    ],
)
def test_shapes(shape, boxes):
    source = OnDisk(np.broadcast_to(np.float32(0), shape))
    values, usable = read_boxes(source, None)
    assert values.shape == usable.shape == boxes
    assert values.dtype == np.float64
    assert source.n_read == values.size


def test_boxes_are_parts_of_the_array_and_spread():
    values, _ = read_boxes(np.arange(1_000_000.0), None)
    np.testing.assert_array_equal(np.diff(values), 1.0)
    np.testing.assert_allclose(values[:, 0] / (1e6 - 8192), np.arange(8) / 7, atol=1e-5)
    volume = np.arange(20 * 600 * 700.0).reshape(20, 600, 700)
    values, _ = read_boxes(volume, None)
    assert len(set(values[:, 0, 0] // (600 * 700))) == len(values)
    np.testing.assert_array_equal(np.diff(values, axis=1), 700.0)


def test_missing_and_complex():
    values = np.array([1.0 + 2.0j, np.nan, 3.0, 4.0])
    boxes, usable = read_boxes(values, np.array([True, True, True, False]))
    np.testing.assert_array_equal(boxes[:, [0, 2]], [[1.0, 3.0], [2.0, 0.0]])
    np.testing.assert_array_equal(usable, [[True, False, True, False]] * 2)


def test_planes():
    assert is_planar((16, 16))
    assert is_planar((3, 100, 20))
    assert not is_planar((15, 1000))
    assert not is_planar((1000,))


def test_stuck_against_a_loop():
    random = np.random.default_rng(0)
    boxes = np.repeat(random.normal(size=(3, 60)), 10, axis=1)[:, :300]
    boxes[0, 20:35], boxes[1, 100:116], boxes[2, 250:] = 5.0, 6.0, 7.0
    boxes = np.where(random.random(boxes.shape) < 0.02, random.normal(size=boxes.shape), boxes)
    expected = np.zeros(boxes.shape, dtype=bool)
    for line, mark in zip(boxes, expected, strict=True):
        for i in range(len(line) - 15):
            if len(set(line[i : i + 16])) == 1:
                mark[i : i + 16] = True
    assert 0 < expected.sum() < expected.size
    np.testing.assert_array_equal(is_stuck(boxes), expected)


def test_stuck_rows_and_columns_of_planes():
    planes = np.random.default_rng(0).normal(size=(2, 40, 40))
    planes[0, 3, 10:30] = 1.0
    planes[1, 5:25, 7] = 2.0
    expected = np.zeros(planes.shape, dtype=bool)
    expected[0, 3, 10:30] = expected[1, 5:25, 7] = True
    np.testing.assert_array_equal(is_stuck(planes), expected)


def test_complete_runs():
    lines = np.arange(2000.0).reshape(2, 1000)
    observed = np.ones(lines.shape, dtype=bool)
    observed[0, 600], observed[1, 300:350] = False, False
    pieces = cut_complete_boxes(lines, observed)
    assert pieces.shape == (6, 256)
    np.testing.assert_array_equal(np.diff(pieces), 1.0)
    assert not set(pieces.ravel()) & set(lines[~observed])
    assert len(set(pieces.ravel())) == pieces.size


def test_complete_tiles():
    planes = np.arange(256 * 256.0).reshape(1, 256, 256)
    observed = np.ones(planes.shape, dtype=bool)
    observed[0, 100:110, 100:110] = False
    tiles = cut_complete_boxes(planes, observed)
    assert tiles.shape == (3, 128, 128)
    assert not set(tiles.ravel()) & set(planes[~observed])


def test_too_many_gaps():
    observed = np.arange(4000)[np.newaxis] % 20 != 0
    assert cut_complete_boxes(np.zeros((1, 4000)), observed) is None
    assert cut_complete_boxes(np.zeros((1, 20)), np.ones((1, 20), dtype=bool)) is None
    # Of plenty a small part is enough.
    observed = np.ones((8, 8192), dtype=bool)
    observed[:, 1024:] = np.arange(8192 - 1024) % 20 != 0
    assert cut_complete_boxes(np.zeros((8, 8192)), observed).size >= 4096
