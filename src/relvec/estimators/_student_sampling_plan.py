"""The plan of a sampled regression with Student-t noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.bases.base import BoundBasis
from relvec.error_bars import Novelty
from relvec.estimators._drawn_functions import build_functions
from relvec.estimators._monitored import (
    MonitoredInputs,
    Recorder,
    are_mostly_kernels,
    choose_monitored_inputs,
)
from relvec.estimators._plan import Data
from relvec.estimators._sampled_output import SampledOutput
from relvec.estimators._sampling_plan import (
    SampledFit,
    SamplingPlan,
    collect_traces,
    find_feature_inclusion,
    rank_models,
    resolve_grid,
    resolve_size_prior,
    round_weights,
)
from relvec.priors import InverseGamma
from relvec.sampling import (
    AugmentedSampler,
    Draw,
    PreparedAtoms,
    StudentTAugmentation,
    join_chains,
    prepare_atoms,
)

__all__ = ["StudentSamplingPlan"]

DEGREES = np.geomspace(2.5, 100.0, 12)
"""Degrees of freedom, equally probable. Above two, so that predictions have a variance."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StudentSamplingPlan(SamplingPlan):
    """Options of a sampled regression with Student-t noise, resolved to objects."""

    noise_prior: InverseGamma | None
    fit_intercept: bool

    def run(
        self,
        bound: BoundBasis,
        data: Data,
        start: IndexArray,
        novelty: Novelty | None,
        previous: Sequence[dict[str, Any]] = (),
        monitor: Callable[[int, float, float], bool] | None = None,
    ) -> SampledFit:
        """Sample the posterior of one target; parameters as in `RegressionSamplingPlan.run`."""
        if not self.fit_intercept:
            raise ValueError('noise="student_t" needs fit_intercept=True.')
        atoms = prepare_atoms(bound.dictionary, data.weight, scaling="norm")
        if data.weight is not None:  # rows of weight zero must not be centres either
            rows = bound.source_row
            is_out = (rows >= 0) & (data.weight[rows] == 0.0)
            atoms = replace(atoms, usable=atoms.usable & ~np.append(is_out, False))
        target = data.targets[:, 0]
        # about the median, near the constant whatever the outliers
        used = target if data.weight is None else target[data.weight > 0.0]
        centre = float(np.median(used))
        augmentation = StudentTAugmentation(
            target - centre,
            data.weight,
            df=DEGREES,
            noise_prior=self.noise_prior,
            has_flat_constant=True,
        )
        size_prior = resolve_size_prior(self.size_prior, bound)
        sampler = AugmentedSampler(
            atoms, augmentation, grid=resolve_grid(self.grid, bound), size_prior=size_prior
        )
        inputs = choose_monitored_inputs(data.X, target)
        record = _StudentRecorder(atoms, inputs, centre, bound)
        chains, packed = self.run_chains(sampler, start, record, previous, monitor)
        stored = join_chains(chains)
        is_atom = stored.active < atoms.n_atoms
        functions = build_functions(
            stored, atoms, bound, np.ones(len(stored.active), dtype=bool), stored.active
        )
        functions = replace(
            functions,
            coef=round_weights(functions.coef, self.dtype),
            intercept=functions.intercept + centre,
        )
        present = np.bincount(stored.active[is_atom], minlength=atoms.n_atoms)
        uses = bound.atoms.find_used_features(data.X.shape[1])
        output = SampledOutput(
            functions,
            stored.noise_variance,
            np.unique(stored.active[is_atom]),
            novelty,
            df=np.exp(stored.parameters[:, 0]),
        )
        slots = [
            np.sort(each[each < atoms.n_atoms])
            for each in np.split(stored.active, stored.offset[1:-1])
        ]
        return SampledFit(
            output,
            packed,
            record.judged_names,
            collect_traces(chains, record.names),
            present / len(stored),
            find_feature_inclusion(
                uses[stored.active[is_atom]], stored.draw_of_atom[is_atom], len(stored)
            ),
            rank_models(slots),
        )


class _StudentRecorder(Recorder):
    """Quantities of a draw whose convergence is monitored."""

    def __init__(
        self, atoms: PreparedAtoms, inputs: MonitoredInputs, centre: float, bound: BoundBasis
    ) -> None:
        self.are_models_judged = not are_mostly_kernels(bound)
        self._values, self._centre = bound.atoms.evaluate(inputs.X), centre
        self._atoms = atoms
        self.names = ["noise_std", "n_active", "log_posterior", "log_df"]
        self.names += [f"f[{label}]" for label in inputs.labels]

    def __call__(self, draw: Draw) -> Vector:
        """Return scale of the noise, size, log posterior, log df and function values."""
        [(active, weights, intercept)] = self._atoms.split_draw(draw)
        function = self._values[:, active] @ weights + intercept + self._centre
        n_active = float(len(draw.active) - 1)
        first = [math.sqrt(draw.noise_variance), n_active, draw.log_posterior]
        return np.concatenate([first, draw.parameters, function])
