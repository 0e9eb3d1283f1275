"""Figures 2.24 to 2.27 of Schmolck (2008): Markov chain Monte Carlo of the smooth RVM."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from bench.report import Table, number
from reproduce.common import sampler_plots as plots
from reproduce.common.sampler_schemes import MIXED, SCHEMES, read_data, run_scheme
from reproduce.common.smooth_models import inputs
from reproduce.engine import Cell, Experiment, Results, Settings, Task

__all__ = ["EXPERIMENT"]

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
- **CollapsedSampler**, for comparison: `relvec.sampling.CollapsedSampler` with the penalty BIC,
  `ExponentialSize(log(N) / 2)`, precisions of unit-norm atoms, relative to the noise, a uniform
  prior on a grid from 1e-8 to 0.01; noise and weights are integrated out.
- **Chains**: 3 from different random states (`--repetitions` sets the number), 40 000 steps in
  Figure 2.26 (the thesis: 400 000) and 10 000 in the others; every 37th state is kept, and the
  first quarter left out. Plots show the chains side by side. For births from the prior and for the
  corrected RJMH the last chain starts from a model that fits (the end of a chain with α = 1e-5 and
  replacements): from random states all their chains lose the signal, and agree.
- **R-hat** is the potential scale reduction of split chains, of log σ² and, the largest over the
  inputs, of functions drawn. Above 1.1 chains have not mixed. A value near 1 is no proof: chains
  that are all caught in one place have it too, so σ and errors are shown as well.
- **Result**: chains do not mix, as the thesis says, except with fixed α, the factor for the choice
  of atoms and replacements; with precisions of unit-norm atoms they then mix fast. Where precisions
  are sampled they drift to the upper bound, where atoms have no effect: the prior is flat in α, so
  nearly all its mass is there. The sudden change of Figure 2.26 was not seen.
  `CollapsedSampler` mixes on Sinc: all chains find the signal and the noise. On BlocksSinc its
  chains agree on few atoms and too much noise: R-hat of functions is 1.16, and most of the small
  jumps are missed.
"""
N_CHAINS = 3
N_STEPS = {"2.25": 10000, "2.26": 40000, "2.27": 10000}
N_QUICK = 400
UNDERFIT = 3.0
"""Noise over true noise of a function that misses the signal; without any atom it is 5 on Sinc."""
ACCEPTABLE = 0.1
"""Share of the variance of the signal that an acceptable mean prediction leaves."""


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

    blocks = results["blocks_mh"]["variance"]

    def shares_left(name: str) -> str:
        errors = [error / blocks for error in results[name]["errors"]]
        return f"MSE {_range(errors, '.2f')} of the variance of the signal"

    variants = (
        ("rjmh", "log-normal births"),
        ("rjmh_prior", "births from the prior"),
        ("rjmh_corrected", "log-normal, corrected"),
    )
    names = ("mh_50", "mh_10", "mh_2")
    shares = [results[name]["share_alpha_unmixed"] for name in names]
    fixed = worst("rj")
    others = min(worst(name) for name in ("mh", *(name for name, _ in variants)))
    update = results["mh_50"]["acceptance"][3]
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
        [
            "2.26",
            "RJMH: mixing is fairly poor",
            "R-hat: " + "; ".join(f"{word} {_rhat(worst(name))}" for name, word in variants),
            _holds(all(worst(name) > MIXED for name, _ in variants)),
        ],
        [
            "2.26",
            "RJMH: degenerates to a drastic underfit",
            "σ / true σ: " + "; ".join(f"{word} {sigmas(name)}" for name, word in variants),
            " / ".join(_holds(max(results[name]["sigmas"]) > UNDERFIT) for name, _ in variants),
        ],
        ["2.26", "MH only: poor mixing", unmixed("mh"), _holds(worst("mh") > MIXED)],
        [
            "2.26",
            "RJ only with α = 1e-5 mixes best",
            f"R-hat {_rhat(fixed)}, the least of the others {_rhat(others)}",
            _holds(fixed < others),
        ],
        [
            "2.26",
            "RJ only: did not always mix well",
            f"R-hat {_rhat(fixed)} as printed, {_rhat(worst('rj_corrected'))} corrected, "
            f"{_rhat(worst('rj_unit'))} with unit norms",
            _holds(fixed > MIXED),
        ],
        [
            "2.27",
            "RJMH fails completely",
            f"{unmixed('blocks_rjmh')}, {shares_left('blocks_rjmh')}",
            _holds(worst("blocks_rjmh") > MIXED),
        ],
        [
            "2.27",
            "MH only: acceptable mean prediction",
            shares_left("blocks_mh"),
            _holds(max(results["blocks_mh"]["errors"]) < ACCEPTABLE * blocks),
        ],
        [
            "2.27",
            "MH only: trapped in a single local maximum",
            f"{unmixed('blocks_mh')}; share of atoms with R-hat of log α above 1.1: "
            f"{results['blocks_mh']['share_alpha_unmixed']:.2f}",
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
        truth, y, _ = read_data(settings.folder, signal)
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
