"""Colours over a plane as a small PNG, and the lines where a decision changes."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode

import numpy as np

from relvec._typing import Matrix

__all__ = ["class_image", "crossings", "png_address"]

COLOURS = np.array(
    [
        [59, 130, 196],
        [217, 102, 43],
        [26, 155, 120],
        [168, 86, 138],
        [199, 154, 30],
        [111, 179, 224],
    ]
)
"""Of the classes, as in the style sheet: neither light nor dark, so that both pages show them."""


def class_image(probability: np.ndarray) -> np.ndarray:
    """Colours of the likeliest class, the stronger the surer, of shape (rows, columns, 4)."""
    n_classes = probability.shape[2]
    best, top = probability.argmax(axis=2), probability.max(axis=2)
    strength = (top - 1.0 / n_classes) / (1.0 - 1.0 / n_classes)
    alpha = 160.0 * np.clip(strength, 0.0, 1.0)
    colour = COLOURS[best % len(COLOURS)]
    return np.concatenate([colour, alpha[:, :, np.newaxis]], axis=2).round().astype(np.uint8)


def png_address(image: np.ndarray) -> str:
    """A picture of shape (rows, columns, 4), the first row on top, as a data address.

    Examples
    --------
    >>> png_address(np.zeros((1, 1, 4), dtype=np.uint8))[:30]
    'data:image/png;base64,iVBORw0K'
    """
    height, width = image.shape[:2]

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    lines = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    content = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
        + chunk(b"IEND", b"")
    )
    return f"data:image/png;base64,{b64encode(content).decode()}"


def crossings(x: np.ndarray, y: np.ndarray, values: Matrix) -> Matrix:
    """Pieces of the line on which values of a grid are zero: rows of x0, y0, x1, y1.

    Every cell is cut into two triangles, each of which has one piece or none.

    Parameters
    ----------
    x, y : ndarray of shape (n_columns,) and (n_rows,)
        Places of the grid.
    values : ndarray of shape (n_rows, n_columns)
        What changes its sign on the line.
    """
    grid_x, grid_y = np.meshgrid(x, y)
    points = np.stack([grid_x, grid_y, values], axis=-1)
    a, b, c, d = points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]
    triangles = np.stack([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)])
    triangles = triangles.reshape(-1, 3, 3)
    is_up = triangles[:, :, 2] > 0.0
    cut = triangles[is_up.any(axis=1) & ~is_up.all(axis=1)]
    up = cut[:, :, 2] > 0.0
    # the corner that is alone on its side comes first: the line crosses both edges from there
    lone = np.where(up.sum(axis=1) == 1, up.argmax(axis=1), up.argmin(axis=1))
    corners = cut[np.arange(len(cut))[:, np.newaxis], (lone[:, np.newaxis] + np.arange(3)) % 3]
    ends = []
    for other in (1, 2):
        start, stop = corners[:, 0], corners[:, other]
        share = start[:, 2] / (start[:, 2] - stop[:, 2])
        ends.append(start[:, :2] + share[:, np.newaxis] * (stop[:, :2] - start[:, :2]))
    return np.hstack(ends)
