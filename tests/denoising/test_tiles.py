"""Overlapping tiles: a partition of unity without seams, and signals that arrive in pieces."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relvec.denoising import DenoisingTuning
from relvec.denoising.channel import Channel, Scheme, denoise_channel
from relvec.denoising.tiles import apply_taper, make_tiles, needs_tiles, process_stream
from relvec.denoising.transforms import default_transforms

SMALL = DenoisingTuning(tile_sides=(512, 64, 24, 24), tile_overlaps=(64, 8, 3, 4))


@pytest.mark.parametrize(
    "shape",
    [
        (100,),
        (768,),
        (769,),
        (1024,),
        (5000,),
        (64, 64),
        (97, 97),
        (100, 300),
        (3, 1000),
        (200, 1),
        (40, 24, 80),
        (30, 30, 30, 30),
    ],
)
def test_weights_sum_to_one(shape):
    total, seen = np.zeros(shape), np.zeros(shape, dtype=int)
    for tile in make_tiles(shape, SMALL):
        box = np.ones([part.stop - part.start for part in tile.box])
        total[tile.box] += apply_taper(box, tile)
        seen[tile.box] += 1
        assert all((weight >= 0.0).all() for weight in tile.weights)
    np.testing.assert_allclose(total, 1.0, atol=1e-12)
    assert seen.min() >= 1


def test_tiles_extend_beyond_their_weights():
    for tile in make_tiles((5000,), SMALL):
        (part,), (weight,) = tile.box, tile.weights
        if part.start > 0:
            assert (weight[:64] == 0.0).all()
        if part.stop < 5000:
            assert (weight[-64:] == 0.0).all()
        assert part.stop - part.start <= 512 + 4 * 64


def test_small_signals_are_one_piece():
    assert not needs_tiles((1 << 20,))
    assert not needs_tiles((1024, 1024))
    assert needs_tiles((1 << 21,))
    assert needs_tiles((4096, 4096))
    assert len(list(make_tiles((1000, 1000)))) == 1


def denoised(values, noise=1.0, *, tuning=SMALL, want_variance=True, **options):
    transforms = default_transforms(values.shape)
    scheme = Scheme(transforms, want_variance=want_variance, tuning=tuning)
    return denoise_channel(Channel(values, noise, 3.5), scheme, **options)


def smooth_and_rough(shape, seed=0):
    grids = np.meshgrid(*map(np.arange, shape), indexing="ij")
    clean = 4.0 * np.sin(sum(grids) / 15.0) + 3.0 * (grids[0] % 97 < 40)
    return clean, clean + np.random.default_rng(seed).normal(size=shape)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(4000,), (100, 130)])
def test_no_seams(shape):
    clean, noisy = smooth_and_rough(shape)
    whole = denoised(noisy, tuning=DenoisingTuning())
    assert needs_tiles(shape, SMALL)
    tiled = denoised(noisy)
    difference = np.square(tiled.mean - whole.mean)
    # as a whole hardly different, and in error little worse
    assert difference.mean() < 0.25 * np.square(whole.mean - clean).mean()
    assert np.square(tiled.mean - clean).mean() < 1.2 * np.square(whole.mean - clean).mean()
    # and the differences are not where tiles meet
    edge = np.zeros(shape, dtype=bool)
    for tile in make_tiles(shape, SMALL):
        for axis, weight in enumerate(tile.weights):
            partly = tile.box[axis].start + np.flatnonzero((weight > 0.0) & (weight < 1.0))
            edge[(slice(None),) * axis + (partly,)] = True
    assert 0.05 < edge.mean() < 0.7
    assert difference[edge].mean() < 2.0 * difference[~edge].mean()
    # nor are steps from one sample to the next
    for axis in range(len(shape)):
        steps = np.square(np.diff(tiled.mean - whole.mean, axis=axis))
        near = np.delete(edge, -1, axis=axis)
        assert steps[near].mean() < 2.0 * steps[~near].mean()
    assert tiled.variance.shape == shape
    assert tiled.variance.mean() == pytest.approx(whole.variance.mean(), rel=0.5)
    assert tiled.effective_dof == pytest.approx(whole.effective_dof, rel=0.5)
    assert tiled.mse == pytest.approx(whole.mse, rel=0.5)
    assert tiled.weights.sum() == pytest.approx(1.0)


def test_noise_of_each_sample_and_gaps_in_tiles():
    clean, noisy = smooth_and_rough((3000,))
    noise = np.linspace(0.5, 2.0, 3000)
    noisy = clean + np.sqrt(noise) * (noisy - clean)
    values = noisy.copy()
    values[1000:1010] = np.nan
    tiled = denoised(values, noise)
    assert np.isfinite(tiled.mean).all()
    assert np.square(tiled.mean - clean).mean() < 0.35
    assert tiled.variance[1005] > 2 * np.median(tiled.variance)


def test_out_and_progress():
    _, noisy = smooth_and_rough((2000,))
    expected = denoised(noisy, want_variance=False).mean
    out, calls = np.full(2000, np.nan), []
    result = denoised(noisy, want_variance=False, out=out, progress=lambda *at: calls.append(at))
    assert result.mean is out
    np.testing.assert_array_equal(out, expected)
    assert calls == [(done, 4) for done in (1, 2, 3, 4)]


# ------------------------------------------------------------------ streams


def chunked(values, sizes):
    """Cut into pieces of these sizes, over and over."""
    at = 0
    for size in itertools.cycle(sizes):
        if at >= len(values):
            return
        yield values[at : at + size]
        at += size


def joined(pieces):
    return np.concatenate([np.empty(0), *pieces])


@given(
    n=st.integers(0, 700),
    side=st.integers(1, 150),
    sizes=st.lists(st.integers(0, 200), min_size=1, max_size=5).filter(any),
)
def test_stream_of_anything_is_complete_and_in_order(n, side, sizes):
    values = np.random.default_rng(n).normal(size=n)
    pieces = list(process_stream(chunked(values, sizes), lambda tile: tile, side))
    np.testing.assert_allclose(joined(pieces), values, atol=1e-12)
    assert all(len(piece) for piece in pieces)


@pytest.mark.parametrize("n", [1, 50, 64, 127, 128, 129, 256, 300, 640, 641])
def test_chunks_do_not_matter(n):
    """The result depends on the samples alone, not on how they arrive."""
    values = np.random.default_rng(0).normal(size=n)
    seen = []

    def work(tile):
        seen.append(len(tile))
        return np.cumsum(tile) - tile.mean()

    expected = joined(process_stream([values], work, 128))
    assert len(expected) == n
    assert max(seen) <= 128 + 4 * 16
    for sizes in ([1], [7], [0, 5, 0], [128], [1000], [64, 1, 200]):
        found = joined(process_stream(chunked(values, sizes), work, 128))
        np.testing.assert_array_equal(found, expected)


def test_stream_reads_no_further_than_it_must():
    consumed = 0

    def source():
        nonlocal consumed
        while True:
            consumed += 100
            yield np.zeros(100)

    results = process_stream(source(), lambda tile: tile, 1000)
    for _ in range(5):
        next(results)
    assert consumed < 5 * 1000 + 3 * 1000


def test_no_tile_of_a_stream_is_tiny():
    """The last one still sees its overlap, however little is left."""
    for n in range(1, 700, 3):
        sizes = []
        list(
            process_stream(
                [np.zeros(n)], lambda tile, sizes=sizes: sizes.append(len(tile)) or tile, 128
            )
        )
        assert min(sizes) >= min(n, 4 * 16)


def test_work_may_overwrite_its_argument():
    values = np.arange(600.0)

    def work(tile):
        result = tile.copy()
        tile[:] = -1.0  # a careless function
        return result

    kept = values.copy()
    list(process_stream([values[:300], values[300:]], work, 128))
    np.testing.assert_array_equal(values, kept)
