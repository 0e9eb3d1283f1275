"""The plan of a sampled classifier: augmented sampler, chains, and logits drawn from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import BoundBasis
from relvec.error_bars import Novelty
from relvec.estimators._classification_plan import compute_class_prior
from relvec.estimators._drawn_functions import build_functions
from relvec.estimators._monitored import (
    MonitoredInputs,
    Recorder,
    are_mostly_kernels,
    choose_monitored_inputs,
    name_factors,
)
from relvec.estimators._plan import Data
from relvec.estimators._sampled_classes import SampledClassModel, compute_log_probability
from relvec.estimators._sampling_plan import (
    SampledFit,
    SamplingPlan,
    collect_traces,
    find_feature_inclusion,
    rank_models,
    resolve_size_prior,
    round_weights,
)
from relvec.sampling import (
    AugmentedSampler,
    AugmentedScaleSampler,
    BernoulliAugmentation,
    Chain,
    Draw,
    PreparedAtoms,
    Sampler,
    ScaledAtoms,
    SoftmaxAugmentation,
    join_chains,
    prepare_atoms,
)

__all__ = ["ClassSamplingPlan"]

LARGEST_LOG_ODDS = float(np.log(999.0))
"""Log odds of the probability 0.999. Beyond it, differences between draws do not count for the
convergence: chains may differ there by many units, which no prediction shows."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassSamplingPlan(SamplingPlan):
    """Options of a sampled classifier, resolved to objects."""

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
        """Sample the posterior of the logits of all classes.

        Parameters are those of `RegressionSamplingPlan.run`.
        """
        n_classes = max(2, data.targets.shape[1])
        atoms = prepare_atoms(bound.dictionary, data.weight, scaling=~bound.is_localised)
        if data.weight is not None:  # rows of weight zero must not be centres either
            rows = bound.source_row
            is_out = (rows >= 0) & (data.weight[rows] == 0.0)
            atoms = replace(atoms, usable=atoms.usable & ~np.append(is_out, False))
        labels = data.groups.astype(np.float64)
        augmentation = (
            BernoulliAugmentation(labels, data.weight)
            if n_classes == 2
            else SoftmaxAugmentation(labels, n_classes, data.weight)
        )
        size_prior = resolve_size_prior(self.size_prior, bound)
        plain = AugmentedSampler(atoms, augmentation, grid=self.grid, size_prior=size_prior)
        scaled = self.find_scaled_atoms(self.scales, bound, data.X)
        sampler: Sampler[Any] = plain
        if scaled is not None:
            sampler = AugmentedScaleSampler(
                plain,
                scaled,
                data.X,
                data.weight,
                scaling=~bound.is_localised,
                prior_std=self.tuning.scale_std,
            )
        n_latent = augmentation.n_latent
        # The sampler numbers the atoms of all latent functions; each starts with all of `start`.
        start = np.concatenate([k * (atoms.n_atoms + 1) + start for k in range(n_latent)])
        inputs = choose_monitored_inputs(data.X, labels)
        record = LogitRecorder(atoms, inputs, bound, n_latent, scaled)
        chains, packed = self.run_chains(sampler, start, record, previous, monitor)
        return self.build_fit(chains, packed, atoms, bound, data, novelty, record)

    def build_fit(
        self,
        chains: Sequence[Chain],
        packed: tuple[dict[str, Any], ...],
        atoms: PreparedAtoms,
        bound: BoundBasis,
        data: Data,
        novelty: Novelty | None,
        record: LogitRecorder,
    ) -> SampledFit:
        """Return the draws of the chains as functions of raw atoms."""
        stored = join_chains(chains)
        function, atom = np.divmod(stored.active, atoms.n_atoms + 1)
        is_atom = atom < atoms.n_atoms
        functions, inclusion = [], []
        for k in range(record.n_latent):
            own = function == k
            function_k = build_functions(stored, atoms, bound, own, atom, record.scaled)
            functions.append(replace(function_k, coef=round_weights(function_k.coef, self.dtype)))
            present = np.bincount(atom[own & is_atom], minlength=atoms.n_atoms)
            inclusion.append(present / len(stored))
        uses = bound.atoms.find_used_features(data.X.shape[1])
        draw = stored.draw_of_atom
        feature_inclusion = find_feature_inclusion(uses[atom[is_atom]], draw[is_atom], len(stored))
        # atoms of any logit
        slots = [
            np.unique(each[each < atoms.n_atoms]) for each in np.split(atom, stored.offset[1:-1])
        ]
        model = SampledClassModel(tuple(functions), compute_class_prior(data), novelty)
        return SampledFit(
            model,
            packed,
            record.judged_names,
            collect_traces(chains, record.names),
            inclusion[0] if record.n_latent == 1 else np.array(inclusion),
            feature_inclusion,
            rank_models(slots),
        )


class LogitRecorder(Recorder):
    """Quantities of a draw whose convergence is monitored: size, log posterior, probabilities."""

    def __init__(
        self,
        atoms: PreparedAtoms,
        inputs: MonitoredInputs,
        bound: BoundBasis,
        n_latent: int,
        scaled: ScaledAtoms | None,
    ) -> None:
        self.are_models_judged = not are_mostly_kernels(bound)
        self._atoms, self._values = atoms, bound.atoms.evaluate(inputs.X)
        self.n_latent, self.scaled, self._X = n_latent, scaled, inputs.X
        self.names = ["n_active", "log_posterior", *name_factors(scaled)]
        name = "log_odds" if n_latent == 1 else "log_probability"
        self.names += [f"{name}[{i}, {k}]" for i in inputs.labels for k in range(n_latent)]

    def __call__(self, draw: Draw) -> Vector:
        """Return size, log posterior, parameters and log odds of the classes at some rows."""
        logits = self._evaluate(draw)
        log = compute_log_probability(logits)
        # the log odds of the second of two classes; log probabilities of several
        if self.n_latent == 1:
            shown = np.clip(logits[0], -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)
        else:
            shown = np.maximum(log.ravel(), -LARGEST_LOG_ODDS)
        is_atom = draw.active % (self._atoms.n_atoms + 1) < self._atoms.n_atoms
        n_active = float(np.count_nonzero(is_atom))
        return np.concatenate([[n_active, draw.log_posterior], draw.parameters, shown])

    def _evaluate(self, draw: Draw) -> Matrix:
        """Return the latent functions of a draw at the inputs, shape (n_latent, n_inputs)."""
        each = []
        for active, weights, intercept in self._atoms.split_draw(draw):
            if self.scaled is None:
                columns = self._values[:, active]
            else:
                columns = self.scaled.subset(active).at(draw.parameters).evaluate(self._X)
            each.append(columns @ weights + intercept)
        return np.stack(each)
