from __future__ import annotations

import numpy as np
import pytest

from relvec.denoising.memory_maps import release_pages


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_what_was_written_stays(tmp_path, mode):
    path = tmp_path / "signal"
    np.arange(100_000.0).tofile(path)
    mapped = np.memmap(path, dtype=float, mode=mode)
    mapped[50_000] = -1.0
    release_pages(np.asarray(mapped)[1000:])
    assert mapped[50_000] == -1.0
    assert mapped[50_001] == 50_001.0


@pytest.mark.parametrize("array", [None, np.zeros(3), [1, 2]])
def test_arrays_in_memory_are_left_alone(array):
    release_pages(array)
