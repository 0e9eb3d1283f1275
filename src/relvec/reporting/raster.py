"""Decision surfaces as PNG images, and contour lines of decision boundaries."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode

import numpy as np

from relvec._typing import Matrix

__all__ = ["encode_png", "find_zero_contour", "make_class_image"]

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
"""Class colours of the style sheet, for light and dark mode."""


def make_class_image(probability: np.ndarray) -> np.ndarray:
    """Make an RGBA image of the most probable class, with opacity from its probability."""
    n_classes = probability.shape[2]
    best, top = probability.argmax(axis=2), probability.max(axis=2)
    strength = (top - 1.0 / n_classes) / (1.0 - 1.0 / n_classes)
    alpha = 160.0 * np.clip(strength, 0.0, 1.0)
    colour = COLOURS[best % len(COLOURS)]
    return np.concatenate([colour, alpha[:, :, np.newaxis]], axis=2).round().astype(np.uint8)


def encode_png(image: np.ndarray) -> str:
    """Encode an RGBA image, first row on top, as a PNG data URL.

    Examples
    --------
    >>> encode_png(np.zeros((1, 1, 4), dtype=np.uint8))[:30]
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


def find_zero_contour(x: np.ndarray, y: np.ndarray, values: Matrix) -> Matrix:
    """Find the zero contour of values on a grid, as segments with rows of x0, y0, x1, y1.

    Marching triangles: each cell is split into two triangles, each with at most one segment.

    Parameters
    ----------
    x, y : ndarray of shape (n_columns,) and (n_rows,)
        Grid coordinates.
    values : ndarray of shape (n_rows, n_columns)
        Values whose zero contour is found.
    """
    grid_x, grid_y = np.meshgrid(x, y)
    points = np.stack([grid_x, grid_y, values], axis=-1)
    a, b, c, d = points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]
    triangles = np.stack([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)])
    triangles = triangles.reshape(-1, 3, 3)
    is_up = triangles[:, :, 2] > 0.0
    cut = triangles[is_up.any(axis=1) & ~is_up.all(axis=1)]
    up = cut[:, :, 2] > 0.0
    # The corner whose sign differs from the other two comes first: the contour crosses both of
    # its edges.
    lone = np.where(up.sum(axis=1) == 1, up.argmax(axis=1), up.argmin(axis=1))
    corners = cut[np.arange(len(cut))[:, np.newaxis], (lone[:, np.newaxis] + np.arange(3)) % 3]
    ends = []
    for other in (1, 2):
        start, stop = corners[:, 0], corners[:, other]
        share = start[:, 2] / (start[:, 2] - stop[:, 2])
        ends.append(start[:, :2] + share[:, np.newaxis] * (stop[:, :2] - start[:, :2]))
    return np.hstack(ends)
