"""Type aliases of the arrays that modules exchange."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector: TypeAlias = NDArray[np.float64]
"""A float64 array of one dimension."""

Matrix: TypeAlias = NDArray[np.float64]
"""A float64 array of two dimensions."""

IndexArray: TypeAlias = NDArray[np.intp]
"""An integer array of positions of atoms or rows."""

BoolArray: TypeAlias = NDArray[np.bool_]
"""A boolean array."""

__all__ = ["ArrayLike", "BoolArray", "IndexArray", "Matrix", "Vector"]
