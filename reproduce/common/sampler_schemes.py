"""The sampling schemes of Schmolck's thesis: data, samplers, and what their chains do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from relvec.dictionaries import DenseDictionary, WaveletDictionary
from relvec.kernels import LinearSpline
from relvec.moments import Moments, compute_moments
from relvec.published import ReversibleJumpSampler
from relvec.sampling import CollapsedSampler, ExponentialSize, Sampler
from reproduce.common.mixing import Chain, run_chain, split_rhat
from reproduce.common.published import find
from reproduce.common.sampler_plots import ABSENT
from reproduce.common.smooth_models import inputs

__all__ = ["MIXED", "SCHEMES", "SIGNALS", "Scheme", "read_data", "run_scheme"]

EVERY = 37
WARM_UP = 0.25
MIXED = 1.1
"""Largest R-hat of chains that are said to mix."""
N_SHOWN = 160
"""Draws of each chain in a plot."""
SIGNALS = {"sinc": (64, 5.0), "blockssinc": (128, 7.0)}
AS_PRINTED = {"c": "bic", "raw_units": True, "selection_factor": False, "exact_prior": False}
CORRECTED = {"c": "bic", "raw_units": True}
RJ_ONLY = {"birth": "fixed", "replacements": False}


def make_collapsed(moments: Moments) -> CollapsedSampler:
    """Return the collapsed sampler with the prior of the thesis: penalty BIC for each atom."""
    penalty = ExponentialSize(0.5 * math.log(moments.n_effective))
    return CollapsedSampler(moments, size_prior=penalty)


@dataclass(frozen=True)
class Scheme:
    """A sampler on one data set.

    Parameters
    ----------
    label : str
        Name in tables and plots.
    figure : str
        Number of the figure in the thesis.
    signal : str
        One of `SIGNALS`.
    options : dict
        Arguments of the sampler besides the moments.
    sampler : callable
        Makes a sampler from moments and options.
    panel : str
        Plot that shows it; empty for the table alone.
    has_good_start : bool
        Whether the last chain starts from a model that fits, see `_good_start`.
    """

    label: str
    figure: str
    signal: str
    options: dict[str, Any] = field(default_factory=dict)
    sampler: Callable[..., Sampler[Any]] = ReversibleJumpSampler
    panel: str = ""
    has_good_start: bool = False

    @property
    def uses_raw_units(self) -> bool:
        """Whether precisions are those of raw weights."""
        return bool(self.options.get("raw_units", False))


def _mh(scale: float) -> Scheme:
    options = {**AS_PRINTED, "jumps": False, "proposal_scale": scale}
    return Scheme(f"MH only, s = {scale:g}", "2.25", "sinc", options, panel="2_25")


SCHEMES = {
    "mh_50": _mh(50.0),
    "mh_10": _mh(10.0),
    "mh_2": _mh(2.0),
    "rjmh": Scheme("RJMH, log-normal births", "2.26", "sinc", AS_PRINTED, panel="2_26"),
    "mh": Scheme("MH only", "2.26", "sinc", {**AS_PRINTED, "jumps": False}, panel="2_26"),
    "rj": Scheme("RJ only, α = 1e-5", "2.26", "sinc", {**AS_PRINTED, **RJ_ONLY}, panel="2_26"),
    "rjmh_prior": Scheme(
        "RJMH, births from the prior",
        "2.26",
        "sinc",
        {**AS_PRINTED, "birth": "prior"},
        panel="2_26_others",
        has_good_start=True,
    ),
    "rjmh_corrected": Scheme(
        "RJMH, log-normal, corrected",
        "2.26",
        "sinc",
        CORRECTED,
        panel="2_26_others",
        has_good_start=True,
    ),
    "rj_corrected": Scheme(
        "RJ only, corrected, replacements", "2.26", "sinc", {**CORRECTED, "birth": "fixed"}
    ),
    "rj_unit": Scheme(
        "RJ only, corrected, unit norm",
        "2.26",
        "sinc",
        {"c": "bic", "birth": "fixed"},
        panel="2_26_others",
    ),
    "collapsed": Scheme(
        "CollapsedSampler", "2.26", "sinc", sampler=make_collapsed, panel="2_26_others"
    ),
    "blocks_rjmh": Scheme(
        "RJMH, log-normal births", "2.27", "blockssinc", AS_PRINTED, panel="2_27"
    ),
    "blocks_mh": Scheme(
        "MH only", "2.27", "blockssinc", {**AS_PRINTED, "jumps": False}, panel="2_27"
    ),
    "blocks_rj": Scheme(
        "RJ only, α = 1e-5", "2.27", "blockssinc", {**AS_PRINTED, **RJ_ONLY}, panel="2_27"
    ),
    "blocks_collapsed": Scheme(
        "CollapsedSampler", "2.27", "blockssinc", sampler=make_collapsed, panel="2_27"
    ),
}
"""All schemes in the order of the table; another sampler is one more entry."""


def read_data(folder: Path | None, signal: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the clean signal, noisy samples and the raw dictionary."""
    n, snr = SIGNALS[signal]
    with np.load(find(folder, "schmolck_signals.npz"), allow_pickle=False) as file:
        truth, noise = file[f"{signal}_{n}"], file[f"unit_noise_{n}"][0]
    x = inputs(n)
    splines = LinearSpline(3.0)(x, x)
    if signal == "blockssinc":
        haar = WaveletDictionary(n, "haar", level=int(np.log2(n))).columns(np.arange(n // 2))
        splines = np.hstack([haar, splines[:, ::2]])
    return truth, truth + noise * truth.std(ddof=1) / snr, splines


def run_scheme(folder: Path | None, name: str, n_chains: int, n_steps: int) -> dict[str, Any]:
    """Run the chains of a scheme; return draws for the plot, and diagnostics."""
    scheme = SCHEMES[name]
    truth, y, design = read_data(folder, scheme.signal)
    moments: Moments
    [moments] = compute_moments(DenseDictionary(design), y[:, np.newaxis], None, centre=False)
    sampler = scheme.sampler(moments, **scheme.options)
    scale = moments.column_norm**2 if scheme.uses_raw_units else np.ones(moments.n_atoms)
    unit = design / moments.column_norm
    every = max(1, min(EVERY, n_steps // 40))
    starts = [None] * n_chains
    if scheme.has_good_start:
        starts[-1] = _good_start(moments, sampler, n_steps)
    chains = [
        run_chain(sampler, unit, scale, n_steps=n_steps, every=every, seed=seed, start=start)
        for seed, start in enumerate(starts)
    ]
    return {**_diagnose(chains, truth, y), **_shown(chains)}


def _good_start(moments: Moments, sampler: Any, n_steps: int) -> Any:
    """Return a state near the signal: the end of a chain that mixes, with fixed precisions."""
    rng = np.random.default_rng(0)
    guide = ReversibleJumpSampler(moments, birth="fixed", **CORRECTED)
    state = guide.init(rng)
    for _ in range(n_steps // 2):
        state = guide.step(state, rng)
    return sampler.condition(state.active, state.alpha, state.noise_variance)


def _diagnose(chains: list[Chain], truth: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    first = int(WARM_UP * len(chains[0].log_noise))
    noise = np.array([chain.log_noise[first:] for chain in chains])
    curves = np.array([chain.curve[first:] for chain in chains])
    alpha = np.array([chain.log_alpha[first:] for chain in chains])
    sizes = np.isfinite(alpha).sum(axis=2)
    means = curves.mean(axis=1)
    found = {
        "rhat_noise": split_rhat(noise),
        "rhat_curve": max(split_rhat(curves[:, :, i]) for i in range(curves.shape[2])),
        "rhat_size": split_rhat(sizes.astype(float)),
        "sizes": sizes.mean(axis=1).tolist(),
        # relative to the noise that was added
        "sigmas": (np.exp(0.5 * noise.mean(axis=1)) / np.std(y - truth, ddof=1)).tolist(),
        "errors": np.mean((means - truth) ** 2, axis=1).tolist(),
        "error": float(np.mean((means.mean(axis=0) - truth) ** 2)),
        "variance": float(np.var(truth)),
    }
    if np.isfinite(alpha).all():
        each = [split_rhat(alpha[:, :, atom]) for atom in range(alpha.shape[2])]
        found["rhat_alpha"] = max(each)
        found["share_alpha_unmixed"] = float(np.mean(np.array(each) > MIXED))
    proposed = np.sum([chain.proposed for chain in chains], axis=0)
    accepted = np.sum([chain.accepted for chain in chains], axis=0)
    rates = accepted / np.where(proposed > 0.0, proposed, np.nan)
    found["acceptance"] = [None if np.isnan(rate) else float(rate) for rate in rates]
    return found


def _shown(chains: list[Chain]) -> dict[str, Any]:
    n_draws = len(chains[0].log_noise)
    first = int(WARM_UP * n_draws)
    kept = np.unique(np.linspace(first, n_draws - 1, N_SHOWN).astype(int))
    alpha = np.array([chain.log_alpha[kept] for chain in chains])
    # 99 stands for an atom that is not in the model: JSON has no NaN
    return {
        "log_alpha": np.where(np.isfinite(alpha), np.round(alpha, 1), ABSENT).tolist(),
        "curves": [np.round(chain.curve[first:].mean(axis=0), 4).tolist() for chain in chains],
    }
