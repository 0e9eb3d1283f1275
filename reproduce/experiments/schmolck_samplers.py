"""Figures 2.24 to 2.27 of Schmolck (2008): Markov chain Monte Carlo of the smooth RVM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bench.report import Table, number
from relvec.dictionaries import DenseDictionary, WaveletDictionary
from relvec.kernels import LinearSpline
from relvec.moments import Moments, compute_moments
from relvec.published import ReversibleJumpSampler
from relvec.sampling import Sampler
from reproduce.common import sampler_plots as plots
from reproduce.common.mixing import Chain, run_chain, split_rhat
from reproduce.common.published import find
from reproduce.common.smooth_models import inputs
from reproduce.engine import Cell, Experiment, Results, Settings, Task

__all__ = ["EXPERIMENT", "SCHEMES", "Scheme", "run_scheme"]

PROTOCOL = """
Section 2.7: reversible-jump (RJ) and Metropolis-Hastings (MH) sampling of precisions α, noise and
weights by `ReversibleJumpSampler`. The thesis has plots and statements, but no numbers; the
statements are in the last table. It reports that "attempts to implement a viable MCMC scheme did
not meet with success". Figure 2.24 is an illustration of rejection sampling.

- **Data**: Sinc, N = M = 64, SNR 5, linear splines of scale 3 on [−10, 10]; BlocksSinc, SNR 7,
  where the thesis has a "M-reduced pseudo-overcomplete" dictionary and gives no sizes: here
  N = M = 128, the 64 coarsest Haar wavelets and every second linear spline.
- **As printed**: smoothness prior BIC, bounds [1e-10, 1e10], precisions of raw weights, births 2
  (α = 1e-5) or 3 (log-normal), noise drawn every 10 steps given drawn weights. The thesis states
  neither prior nor births of Figure 2.26. "RJ only" has no replacements and no updates of α.
- **Corrected**: the acceptance ratio has the factor (M − n) / (n + 1) for the choice of atoms,
  missing in print, and the prior is normalised: as printed, log-normal births have prior odds of
  about 1e10 for every atom, so the model grows to all atoms. "Unit norm": precisions are those of
  unit-norm atoms, so α = 1e-5 and the prior do not depend on the units of the kernel.
- **Chains**: 3 from different random states (`--repetitions` sets the number), 40 000 steps in
  Figure 2.26 (the thesis: 400 000) and 10 000 in the others; every 37th state is kept, and the
  first quarter left out. Plots show the chains side by side.
- **R-hat** is the potential scale reduction of split chains, of log σ² and, the largest over the
  inputs, of functions drawn. Above 1.1 chains have not mixed. A value near 1 is no proof: chains
  that are all caught in the same place have it too, so σ and errors are shown as well.
"""
N_CHAINS = 3
N_STEPS = {"2.25": 10000, "2.26": 40000, "2.27": 10000}
N_QUICK = 400
EVERY = 37
WARM_UP = 0.25
MIXED = 1.1
"""Largest R-hat of chains that are said to mix."""
UNDERFIT = 3.0
"""Noise over true noise of a function that misses the signal; without any atom it is 5 on Sinc."""
N_SHOWN = 160
"""Draws of each chain in a plot."""
SIGNALS = {"sinc": (64, 5.0), "blockssinc": (128, 7.0)}
AS_PRINTED = {"c": "bic", "raw_units": True, "selection_factor": False, "exact_prior": False}
CORRECTED = {"c": "bic", "raw_units": True}
RJ_ONLY = {"birth": "fixed", "replacements": False}


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
    """

    label: str
    figure: str
    signal: str
    options: dict[str, Any] = field(default_factory=dict)
    sampler: Callable[..., Sampler[Any]] = ReversibleJumpSampler
    panel: str = ""

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
    ),
    "rjmh_corrected": Scheme(
        "RJMH, log-normal, corrected", "2.26", "sinc", CORRECTED, panel="2_26_others"
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
    "blocks_rjmh": Scheme(
        "RJMH, log-normal births", "2.27", "blockssinc", AS_PRINTED, panel="2_27"
    ),
    "blocks_mh": Scheme(
        "MH only", "2.27", "blockssinc", {**AS_PRINTED, "jumps": False}, panel="2_27"
    ),
    "blocks_rj": Scheme(
        "RJ only, α = 1e-5", "2.27", "blockssinc", {**AS_PRINTED, **RJ_ONLY}, panel="2_27"
    ),
}
"""All schemes in the order of the table; another sampler is one more entry."""


def _data(folder: Path | None, signal: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    truth, y, design = _data(folder, scheme.signal)
    moments: Moments
    [moments] = compute_moments(DenseDictionary(design), y[:, np.newaxis], None, centre=False)
    sampler = scheme.sampler(moments, **scheme.options)
    scale = moments.column_norm**2 if scheme.uses_raw_units else np.ones(moments.n_atoms)
    unit = design / moments.column_norm
    every = max(1, min(EVERY, n_steps // 40))
    chains = [
        run_chain(sampler, unit, scale, n_steps=n_steps, every=every, seed=seed)
        for seed in range(n_chains)
    ]
    return {**_diagnose(chains, truth, y), **_shown(chains)}


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
        "log_alpha": np.where(np.isfinite(alpha), np.round(alpha, 1), plots.ABSENT).tolist(),
        "curves": [np.round(chain.curve[first:].mean(axis=0), 4).tolist() for chain in chains],
    }


def _tasks(settings: Settings, results: Results) -> list[Task]:
    n_chains = max(2, settings.draws(N_CHAINS))
    return [
        Task(
            name,
            run_scheme,
            (name, n_chains, N_QUICK if settings.is_quick else N_STEPS[scheme.figure]),
        )
        for name, scheme in SCHEMES.items()
    ]


def _no_cells(results: Results, settings: Settings) -> list[Cell]:
    return []


def _tables(results: Results, settings: Settings) -> list[Table]:
    rows = []
    for name, scheme in SCHEMES.items():
        found = results[name]
        rates = [*found["acceptance"], *[None] * 5][:4]
        rows.append(
            [
                scheme.figure,
                scheme.label,
                _rhat(found["rhat_noise"]),
                _rhat(found["rhat_curve"]),
                *("–" if rate is None else f"{100.0 * rate:.1f}" for rate in rates),
                _range(found["sizes"], ".1f"),
                _range(found["sigmas"], ".2f"),
                _range(found["errors"], ".4f"),
                number(found["error"]),
            ]
        )
    head = ["figure", "scheme", "R-hat of log σ²", "of functions", "births, %", "deaths"]
    head += ["replacements", "updates", "S", "σ / true σ", "MSE of chains", "of their mean"]
    title = (
        "Mixing of chains: R-hat, acceptance rates in %, and the smallest and largest mean of a "
        "chain of model size S, of noise, and of errors"
    )
    return [Table(title, head, rows), _statements(results)]


def _rhat(value: float) -> str:
    return f"{value:.2f}" if value < 100.0 else "> 100"


def _range(values: list[float], digits: str) -> str:
    low, high = (format(of(values), digits) for of in (min, max))
    return low if low == high else f"{low} to {high}"


def _statements(results: Results) -> Table:
    """Compare the statements of the thesis with the chains."""

    def worst(name: str) -> float:
        found = results[name]
        return max(found["rhat_noise"], found["rhat_curve"])

    def unmixed(name: str) -> str:
        return f"R-hat {_rhat(worst(name))}"

    def sigmas(name: str) -> str:
        return _range(results[name]["sigmas"], ".1f")

    variants = (
        ("rjmh", "log-normal births"),
        ("rjmh_prior", "births from the prior"),
        ("rjmh_corrected", "log-normal, corrected"),
    )
    names = ("mh_50", "mh_10", "mh_2")
    shares = [results[name]["share_alpha_unmixed"] for name in names]
    fixed, others = worst("rj"), min(worst("rjmh"), worst("mh"))
    update = results["mh_50"]["acceptance"][3]
    failed = results["blocks_rjmh"]
    rows = [
        [
            "2.25",
            "MH only, s = 50: “rejection rate” of about 0.05, read as the share accepted",
            f"{update:.3f} accepted",
            _holds(0.025 <= update < 0.075),
        ],
        [
            "2.25",
            "MH only is caught in arbitrary “furrows” of α, for all three s",
            "share of atoms with R-hat of log α above 1.1: "
            + ", ".join(f"{share:.2f}" for share in shares),
            _holds(min(shares) > 0.5),
        ],
        ["2.26", "RJMH: mixing fairly poor", unmixed("rjmh"), _holds(worst("rjmh") > MIXED)],
        [
            "2.26",
            "RJMH: degenerates to a drastic underfit with two atoms",
            "σ / true σ: " + "; ".join(f"{word} {sigmas(name)}" for name, word in variants),
            _holds(any(max(results[name]["sigmas"]) > UNDERFIT for name, _ in variants)),
        ],
        ["2.26", "MH only: poor mixing", unmixed("mh"), _holds(worst("mh") > MIXED)],
        [
            "2.26",
            "RJ only with α = 1e-5 mixes best",
            f"R-hat {_rhat(fixed)}, others at least {_rhat(others)}",
            _holds(fixed < others),
        ],
        [
            "2.27",
            "RJMH fails completely",
            f"{unmixed('blocks_rjmh')}, MSE {_range(failed['errors'], '.3f')}",
            _holds(worst("blocks_rjmh") > MIXED),
        ],
        [
            "2.27",
            "MH only: acceptable mean, but a single local maximum",
            f"{unmixed('blocks_mh')}, MSE {_range(results['blocks_mh']['errors'], '.3f')}",
            _holds(worst("blocks_mh") > MIXED),
        ],
        ["2.27", "RJ only: no mixing", unmixed("blocks_rj"), _holds(worst("blocks_rj") > MIXED)],
    ]
    title = "Statements of the thesis; R-hat is the larger one of log σ² and functions"
    return Table(title, ["figure", "statement", "ours", "holds"], rows)


def _holds(is_true: bool) -> str:
    return "yes" if is_true else "no"


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    shown = {"schmolck_samplers_2_24": plots.draw_rejection_sampling(np.random.default_rng(0))}
    for panel in dict.fromkeys(scheme.panel for scheme in SCHEMES.values() if scheme.panel):
        names = [name for name, scheme in SCHEMES.items() if scheme.panel == panel]
        signal = SCHEMES[names[0]].signal
        truth, y, _ = _data(settings.folder, signal)
        figure = plots.draw_schemes(
            [SCHEMES[name].label for name in names],
            [results[name] for name in names],
            (inputs(len(y))[:, 0], truth, y),
        )
        shown[f"schmolck_samplers_{panel}"] = figure
    return shown


EXPERIMENT = Experiment(
    source="Schmolck 2008, Figures 2.24 to 2.27",
    title="reversible-jump and Metropolis-Hastings sampling",
    protocol=PROTOCOL,
    stages=(_tasks,),
    cells=_no_cells,
    figures=_figures,
    tables=_tables,
)
