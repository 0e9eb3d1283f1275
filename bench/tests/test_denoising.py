"""The denoising benchmark must be right before its results are."""

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from bench import __main__ as command
from bench import report
from bench.denoising import ebayes, peers, suite
from bench.denoising.cost import interleave
from bench.denoising.draws import GREY, OTHERS, grey_image, noisy_image, noisy_signal
from bench.denoising.images import psnr
from bench.denoising.memory import AnonymousPeak, write_signal
from bench.denoising.part import Target, geometric_mean
from bench.runner import ROOT

needs_skimage = pytest.mark.skipif(
    importlib.util.find_spec("skimage") is None, reason="scikit-image is not installed"
)
RNG = np.random.default_rng(0)


# ---------------------------------------------------------------- empirical Bayes by quadrature


def density(theta, a):
    return 0.5 * a * np.exp(-a * abs(theta))


def marginal(x, a):
    def integrand(theta):
        return density(theta, a) * norm.pdf(x - theta)

    return sum(quad(integrand, *part)[0] for part in ((-30, 0), (0, 40)))


@pytest.mark.parametrize("a", [0.3, 0.5, 2.0])
@pytest.mark.parametrize("x", [0.0, 1.3, -4.0])
def test_excess_is_the_ratio_of_marginals(x, a):
    expected = marginal(x, a) / norm.pdf(x) - 1
    assert ebayes.excess(np.array(x), a) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("x", "w"), [(3.5, 0.3), (2.6, 0.8), (-5.0, 0.05)])
def test_posterior_median_halves_the_posterior(x, w):
    a = 0.5
    (found,) = ebayes.posterior_median(np.array([x]), w, a)
    assert found != 0

    def integrand(theta):
        return density(theta, a) * norm.pdf(x - theta)

    tail = quad(integrand, abs(found), 40)[0] if x > 0 else quad(integrand, -40, found)[0]
    total = w * marginal(x, a) + (1 - w) * norm.pdf(x)
    assert w * tail / total == pytest.approx(0.5, abs=1e-6)


def test_weight_at_threshold_is_where_the_median_leaves_zero():
    w = ebayes.weight_at_threshold(2.5, 0.5)
    below, above = ebayes.posterior_median(np.array([2.499, 2.501]), w, 0.5)
    assert below == 0
    assert 0 < above < 0.02


def test_weight_is_the_most_likely_one():
    x = RNG.standard_normal(2000)
    x[:100] += 6 * RNG.laplace(size=100)
    found = ebayes.weight(x, 0.5)
    likelihood = [
        np.log1p(w * ebayes.excess(x, 0.5)).sum() for w in (0.9 * found, found, 1.1 * found)
    ]
    assert max(likelihood) == likelihood[1]


# ---------------------------------------------------------------- rules and transforms


def test_sure_threshold_has_the_least_estimated_risk():
    details = 3.0 * RNG.standard_normal(64)
    found = peers.sure_shrink(details, 64)
    used = np.max(np.abs(details - found))

    def risk(t):
        size = np.abs(details)
        return 64 - 2 * np.sum(size <= t) + np.sum(np.minimum(size, t) ** 2)

    grid = np.linspace(0, np.sqrt(2 * np.log(64)), 4000)
    assert risk(used) <= min(risk(t) for t in grid) + 1e-9


def test_spinning_is_the_average_over_all_shifts():
    values = np.cumsum(RNG.standard_normal(64))

    def shrink(details, n):
        return peers.soft(details, 0.7)

    shifted = [
        np.roll(peers.transform(np.roll(values, shift), shrink, 1.0), -shift) for shift in range(64)
    ]
    np.testing.assert_allclose(peers.spin(values, shrink, 1.0), np.mean(shifted, 0), atol=1e-10)


@pytest.mark.parametrize("name", peers.PEERS)
def test_every_peer_removes_noise(name):
    draw = noisy_signal("HeaviSine", 512, 3, seed=1)
    peer = peers.PEERS[name]
    if name.startswith("skimage"):
        pytest.importorskip("skimage")
    for noise in (None, draw.noise_std):
        found = peer.run(draw.noisy, noise)
        assert np.mean((found - draw.clean) ** 2) < 0.7 * draw.noise_std**2


# ---------------------------------------------------------------- draws, figures, command


def test_draws_depend_on_their_arguments_alone():
    first, again, other = (noisy_signal("ecg", 256, 5, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.noisy, again.noisy)
    assert not np.array_equal(first.noisy, other.noisy)
    assert first.clean.std(ddof=1) / first.noise_std == pytest.approx(5)
    for name in (*OTHERS, "chirps"):
        assert noisy_signal(name, 128, 3, 0).noisy.shape == (128,)


@needs_skimage
def test_images_are_there():
    for name in GREY:
        image = grey_image(name)
        assert image.ndim == 2
        assert 100 < image.max() <= 255
    draw = noisy_image("astronaut", True, 10, 32, seed=0)
    assert draw.noisy.shape == (32, 32, 3)
    assert psnr(draw.noisy, draw.clean) == pytest.approx(28.1, abs=0.5)


def test_targets_know_their_side():
    assert Target("", 1.0, 1.5).is_met
    assert not Target("", 1.0, 1.5, at_least=True).is_met
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)


def test_rounds_have_every_call():
    seconds = interleave({"a": lambda: None, "b": lambda: None}, 3, once=("b",))
    assert [len(values) for values in seconds.values()] == [3, 1]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_anonymous_memory_leaves_files_out(tmp_path):
    mapped = np.memmap(tmp_path / "file", float, "w+", shape=(1 << 22,))
    with AnonymousPeak() as peak:
        write_signal(mapped, 0)
    assert peak.megabytes < 150
    assert mapped[-1] != 0


def test_markers_of_all_parts_are_in_the_page():
    text = report.README.read_text(encoding="utf-8")
    for part in suite.PARTS:
        assert f"<!-- table:denoise-{part} -->" in text
        assert f"<!-- /table:denoise-{part} -->" in text


def test_output_is_left_out_of_the_recorded_command():
    given = ["denoise", "--quick", "--output", "here.json", "--seed", "3"]
    assert command.command_line(given) == "python -m bench denoise --quick --seed 3"


@needs_skimage
@pytest.mark.parametrize("part", ["published", "noise", "images", "memory"])
def test_a_part_end_to_end(part, tmp_path):
    output = tmp_path / "records.json"
    options = ["--quick", "--repeats", "1", "--parts", part, "--output", str(output)]
    process = subprocess.run(
        [sys.executable, "-m", "bench", "denoise", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    records = json.loads(output.read_text())
    assert {record["status"] for record in records} == {"ok"}
    assert suite.tables(part, records)[0].title in " ".join(process.stdout.split("\n"))
