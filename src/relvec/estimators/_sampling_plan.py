"""The plan of a sampled regression: moments, sampler, chains, and functions drawn from them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from relvec._linalg import limit_blas_threads
from relvec._typing import BoolArray, IndexArray, Vector
from relvec.bases.base import BoundBasis
from relvec.error_bars import Novelty
from relvec.estimators._drawn_functions import DrawnFunctions
from relvec.estimators._monitored import (
    FunctionRecorder,
    Recorder,
    are_mostly_kernels,
    choose_monitored_inputs,
)
from relvec.estimators._plan import Data
from relvec.estimators._sampled_output import SampledOutput
from relvec.kernels.definition import decays
from relvec.moments import Moments, compute_moments, subset_moments
from relvec.priors import InverseGamma
from relvec.sampling import (
    BetaBinomialSize,
    Chain,
    ChainTuning,
    CollapsedSampler,
    ExponentialSize,
    HorseshoeSampler,
    LengthScaleSampler,
    PrecisionGrid,
    Sampler,
    ScaledAtoms,
    SizePrior,
    group_features,
    join_chains,
    resume_chains,
    run_chains,
    start_chains,
)

__all__ = [
    "RegressionSamplingPlan",
    "SampledFit",
    "SamplingPlan",
    "collect_traces",
    "find_feature_inclusion",
    "rank_models",
    "resolve_grid",
    "resolve_size_prior",
]


def resolve_size_prior(value: Any, bound: BoundBasis) -> SizePrior:
    """Return the prior of the size of a model, by default one that suits its atoms."""
    if isinstance(value, SizePrior):
        return value
    if not isinstance(value, str):
        return ExponentialSize(float(value))
    # Many overlapping kernels of small weight predict better than few of large weight. If all sizes
    # were equally probable, chains would wander between a few kernels and most of them.
    return ExponentialSize(0.5) if are_mostly_kernels(bound) else BetaBinomialSize()


def resolve_grid(value: PrecisionGrid | None, bound: BoundBasis) -> PrecisionGrid:
    """Return the prior of the precisions, by default one that suits the kind of atoms.

    Columns may have weights as small as the noise, which matter together; kernels that weak are
    noise that others absorb, and only make the model large.
    """
    if value is not None:
        return value
    return PrecisionGrid() if bound.is_localised.all() else PrecisionGrid(1e-8, 0.1, n_levels=8)


@dataclass(frozen=True)
class SamplingTuning:
    """Constants of sampled fits that are not options."""

    max_scale_operations: float = 5e8
    """Products for the moments of all atoms, above which length-scales are not sampled: each
    accepted change needs new moments."""
    scale_std: float = 0.5
    """Prior standard deviation of the logarithm of a length-scale factor."""


@dataclass(frozen=True, eq=False)
class SampledFit:
    """Result of a sampled fit of one target."""

    output: Any
    """`SampledOutput`, or `SampledClassModel` of a classifier."""
    chains: tuple[dict[str, Any], ...]
    """Packed chains, to be continued."""
    judged: tuple[str, ...]
    """Names of the quantities on which the verdict on convergence depends."""
    traces: dict[str, np.ndarray]
    """Draws of the quantities whose convergence is monitored, shape (n_chains, n_draws) each."""
    inclusion: Vector
    """Share of the draws with each candidate atom."""
    feature_inclusion: Vector
    """Share of the draws in which an atom of the model depends on each feature."""
    models: tuple[tuple[IndexArray, float], ...]
    """Sets of atoms with their share of the draws, most frequent first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SamplingPlan:
    """Options of all sampled models, resolved to objects."""

    size_prior: Any
    grid: PrecisionGrid | None
    """None for the default of the sampler."""
    chains: ChainTuning
    n_chains: int
    dtype: Any
    n_jobs: int | None
    seed: int
    tuning: SamplingTuning = SamplingTuning()

    def run_chains(
        self,
        sampler: Sampler[Any],
        start: IndexArray,
        record: Recorder,
        previous: Sequence[dict[str, Any]],
        monitor: Callable[[int, float, float], bool] | None,
    ) -> tuple[list[Chain], tuple[dict[str, Any], ...]]:
        """Run chains from the atoms `start`, the empty model and random models, or continue others.

        Returns the chains, and what is needed to continue them.
        """
        starts: list[IndexArray | None] = [start, np.empty(0, dtype=np.intp)]
        starts += [None] * self.n_chains
        chains = start_chains(sampler, self.seed, starts[: self.n_chains])
        if previous and len(previous) != len(chains):
            raise ValueError(
                f"warm_start=True continues the {len(previous)} chains of the earlier fit; got "
                f"n_chains={self.n_chains}. Leave n_chains as it was, or set warm_start=False."
            )
        if previous:
            chains = resume_chains(sampler, chains, previous)
        chains = run_chains(
            sampler,
            chains,
            record,
            judged=record.judged,
            tuning=self.chains,
            n_warmup=0 if previous else None,
            n_jobs=self.n_jobs,
            monitor=monitor,
        )
        return chains, tuple(chain.pack(sampler) for chain in chains)

    def find_scaled_atoms(self, kind: str | None, bound: BoundBasis, X: Any) -> ScaledAtoms | None:
        """Return the atoms as a function of length-scale factors; None if these are fixed."""
        features = find_scaled_features(bound, X)
        n_samples, n_atoms = bound.dictionary.shape
        is_dear = n_samples * float(n_atoms) ** 2 > self.tuning.max_scale_operations
        if kind is None or not len(features):
            return None
        if is_dear:
            warnings.warn(
                f"Length-scales are fixed: to sample them with {n_samples} rows and {n_atoms} "
                "basis functions would take too long. Fewer centers make it possible.",
                UserWarning,
                stacklevel=6,
            )
            return None
        return ScaledAtoms(bound.atoms, group_features(kind, features.tolist()), X.shape[1])


@dataclass(frozen=True, kw_only=True, eq=False)
class RegressionSamplingPlan(SamplingPlan):
    """Options of a sampled regression, resolved to objects."""

    noise_prior: InverseGamma | None
    noise_variance: float | None
    fit_intercept: bool
    low_memory: bool | None
    weight_prior: str = "inclusion"
    """"inclusion" or "horseshoe"."""
    scales: str | None
    """"shared" or "ard" length-scale factors are sampled; None if they are fixed."""

    def run(
        self,
        bound: BoundBasis,
        data: Data,
        start: IndexArray,
        novelty: Novelty | None,
        previous: Sequence[dict[str, Any]] = (),
        monitor: Callable[[int, float, float], bool] | None = None,
    ) -> SampledFit:
        """Sample the posterior of one target.

        Parameters
        ----------
        bound : BoundBasis
            The candidate atoms.
        data : Data
            Training data with one target.
        start : ndarray
            Atoms of the model from which the first chain starts.
        novelty : Novelty or None
            Variance that predictions add away from the training inputs.
        previous : sequence of dict
            Packed chains to continue.
        monitor : callable, optional
            Called after every round of chains.
        """
        with limit_blas_threads(float(math.prod(bound.dictionary.shape))):
            [moments] = compute_moments(
                bound.dictionary,
                data.targets,
                data.weight,
                centre=self.fit_intercept,
                low_memory=self.low_memory,
            )
        if data.weight is not None:  # rows of weight zero must not be centres either
            rows = bound.source_row
            moments.usable = moments.usable & ~((rows >= 0) & (data.weight[rows] == 0.0))
        # In an order that does not depend on that of the rows, so that neither do the draws.
        order = np.argsort(-np.abs(moments.correlation), kind="stable")
        place = np.argsort(order)
        sampler, scaled = self.make_sampler(subset_moments(moments, order), order, bound, data)
        inputs = choose_monitored_inputs(data.X, data.targets[:, 0])
        n_parameters = 1 if self.weight_prior == "horseshoe" else 0
        record = FunctionRecorder(bound, order, moments, inputs, scaled, n_parameters)
        chains, packed = self.run_chains(sampler, np.sort(place[start]), record, previous, monitor)
        return self.build_fit(chains, packed, order, moments, bound, scaled, novelty, record)

    def make_sampler(
        self, moments: Moments, order: IndexArray, bound: BoundBasis, data: Data
    ) -> tuple[Sampler[Any], ScaledAtoms | None]:
        """Return the sampler of atoms in a given order, and these as a function of scales."""
        if self.weight_prior == "horseshoe":
            return HorseshoeSampler(moments, noise=self.noise_prior), None
        sampler = CollapsedSampler(
            moments,
            grid=resolve_grid(self.grid, bound),
            size_prior=resolve_size_prior(self.size_prior, bound),
            noise_prior=self.noise_prior,
            noise_variance=self.noise_variance,
        )
        ordered = bound._replace(atoms=bound.atoms.subset(order))
        scaled = self.find_scaled_atoms(self.scales, ordered, data.X)
        if scaled is None:
            return sampler, None
        return LengthScaleSampler(
            sampler,
            scaled,
            data.X,
            data.targets[:, 0],
            data.weight,
            centre=self.fit_intercept,
            prior_std=self.tuning.scale_std,
        ), scaled

    def build_fit(
        self,
        chains: Sequence[Chain],
        packed: tuple[dict[str, Any], ...],
        order: IndexArray,
        moments: Moments,
        bound: BoundBasis,
        scaled: ScaledAtoms | None,
        novelty: Novelty | None,
        record: FunctionRecorder,
    ) -> SampledFit:
        """Return the draws of the chains as functions of raw atoms."""
        stored = join_chains(chains)
        present = np.bincount(stored.active, minlength=len(order))
        used = np.flatnonzero(present)
        kept = stored.restricted(used)
        intercept = stored.intercept
        if self.fit_intercept:
            # flat prior of the intercept: the mean of n targets has variance sigma^2 / n
            rng = np.random.default_rng([self.seed, 1, chains[0].n_steps])
            spread = np.sqrt(stored.noise_variance / (moments.n_effective + 1.0))
            intercept = intercept + spread * rng.standard_normal(len(stored))
        coef = kept.weights / moments.column_norm[order[stored.active]]
        # the intercept makes up for what rounded weights lose at the mean of the atoms
        lost = (coef - round_weights(coef, self.dtype)) * moments.column_mean[order[stored.active]]
        functions = DrawnFunctions(
            bound.atoms.subset(order[used]),
            order[used],
            kept.offset,
            kept.active,
            round_weights(coef, self.dtype),
            intercept + np.bincount(stored.draw_of_atom, lost, minlength=len(stored)),
            stored.parameters if scaled is not None else np.empty((len(stored), 0)),
            None if scaled is None else scaled.subset(used),
        )
        output = SampledOutput(functions, stored.noise_variance, order[used], novelty)
        inclusion = np.empty(len(order))
        inclusion[order] = present / len(stored)
        uses = bound.atoms.subset(order[used]).find_used_features(record.n_features)
        draw_of_atom = stored.draw_of_atom
        feature_inclusion = find_feature_inclusion(uses[kept.active], draw_of_atom, len(stored))
        if self.weight_prior == "horseshoe":
            # all atoms are in the model; the share of its weight that each keeps, 1 - kappa, is in
            # the place of the probability (Carvalho, Polson & Scott 2010)
            kept_share = 1.0 / (1.0 + np.exp(stored.log_lam.astype(np.float64)))
            sums = np.bincount(stored.active, kept_share, minlength=len(order))
            inclusion[order] = sums / len(stored)
        slots = [np.sort(order[each]) for each in np.split(stored.active, stored.offset[1:-1])]
        records = np.array([chain.records for chain in chains])
        traces = {name: records[:, :, i] for i, name in enumerate(record.names)}
        return SampledFit(
            output,
            packed,
            record.judged_names,
            traces,
            inclusion,
            feature_inclusion,
            rank_models(slots),
        )


def round_weights(weights: Vector, dtype: Any) -> Vector:
    """Return weights as numbers of a type; raise if they leave its range."""
    with np.errstate(over="ignore", under="ignore"):
        rounded: Vector = weights.astype(dtype)
    if not np.isfinite(rounded).all() or ((rounded == 0.0) & (weights != 0.0)).any():
        raise ValueError(
            'weights leave the range of draw_dtype="float32". Use "float64", or scale the targets.'
        )
    return rounded


def collect_traces(chains: Sequence[Chain], names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the monitored quantities by name, shape (n_chains, n_draws) each."""
    records = np.array([chain.records for chain in chains])
    return {name: records[:, :, i] for i, name in enumerate(names)}


def find_feature_inclusion(uses: BoolArray, draw: IndexArray, n_draws: int) -> Vector:
    """Return the share of draws with an atom that depends on each feature.

    `uses` says which features each atom of all draws depends on, `draw` to which draw it belongs.
    """
    counts = [np.bincount(draw, each, minlength=n_draws) for each in uses.T]
    return np.array([np.mean(each > 0.0) for each in counts])


def find_scaled_features(bound: BoundBasis, X: Any) -> IndexArray:
    """Return the features of the kernels whose length-scales can be sampled."""
    kernel = bound.atoms.decaying_kernel()
    none = np.empty(0, dtype=np.intp)
    # nothing is known of plain callables
    if not isinstance(kernel, Kernel) or X.dtype == object or not decays(kernel, X[:1]):
        return none
    scale = getattr(kernel, "scale", None)
    used = np.ones(X.shape[1]) if scale is None else np.asarray(scale, dtype=np.float64)
    return np.flatnonzero(used > 0.0)


def rank_models(
    models: Sequence[IndexArray], n_most: int = 100
) -> tuple[tuple[IndexArray, float], ...]:
    """Return the distinct sets of atoms with their shares, most frequent first."""
    counts: dict[bytes, int] = {}
    for model in models:
        key = model.astype(np.intp).tobytes()
        counts[key] = counts.get(key, 0) + 1
    best = sorted(counts.items(), key=lambda item: (-item[1], len(item[0]), item[0]))[:n_most]
    return tuple((np.frombuffer(key, dtype=np.intp), n / len(models)) for key, n in best)
