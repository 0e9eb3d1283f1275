"""Widths and centres of the kernels in a sparse model, each moved by the gradient of the evidence.

After the sparse fit a few joint steps of precisions, widths and centres alternate with a fit of the
precisions, which may remove basis functions. The result is used only if the log evidence rises by
more than ``log(n) / 2`` for every parameter by which it has more than the model before, as in BIC.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from relvec._typing import IndexArray
from relvec.bases import KernelAtoms
from relvec.bases.base import Atoms, BasisPart, BoundBasis
from relvec.bases.union import UnionAtoms
from relvec.dictionaries import DenseDictionary
from relvec.estimators._output import RegressionFit, is_noise_negligible
from relvec.kernels import ScaledInputs
from relvec.learning.atom_shapes import AtomShape, ShapeEvidence
from relvec.learning.sparse_evidence import SparseEvidence
from relvec.solvers.gaussian.state import build_objective

if TYPE_CHECKING:
    from relvec.estimators._plan import Data
    from relvec.estimators._regression_plan import RegressionPlan

__all__ = ["tune_atoms"]


@dataclass(frozen=True, eq=False)
class TunedAtoms(UnionAtoms):
    """Kernels with widths and centres of their own, and other atoms."""

    common: Any = None
    """Kernel that decays away from the data, before its width was changed for single atoms."""

    def decaying_kernel(self) -> Any:
        """Return the common kernel: error bars away from the data do not depend on single atoms."""
        return self.common


def tune_atoms(plan: RegressionPlan, fit: RegressionFit, data: Data) -> RegressionFit:
    """Move widths or centres of the kernels of a fit, and fit again, while the objective rises.

    Parameters
    ----------
    plan : RegressionPlan
        Plan of the fit, with its option `tune_atoms`.
    fit : RegressionFit
        Fit of one output to all candidate atoms.
    data : Data
        Training data.
    """
    moves = plan.tune_atoms
    assert moves is not None
    if len(fit.outputs) > 1:
        raise ValueError(
            f"tune_atoms={moves!r} moves the basis functions of one output; got "
            f"{len(fit.outputs)} outputs. Fit one model for each, or use tune_atoms=None."
        )
    tuned, shapes = fit, _find_shapes(fit.bound.atoms, fit.outputs[0].active)
    n_before = len(shapes)
    for _ in range(plan.tuning.n_shape_rounds):
        found = _tune_once(plan, tuned, shapes, data, moves)
        if found is None or not found[0].objective > tuned.objective + plan.tuning.min_improvement:
            break
        tuned, shapes = found
    # Each kernel has a precision, and the numbers that were moved.
    n_numbers = {"widths": 1, "centers": data.X.shape[1], "both": 1 + data.X.shape[1]}
    n_more = len(shapes) * (1 + n_numbers[moves]) - n_before
    required = 0.5 * math.log(max(fit.problems[0].moments.n_effective, 1.0)) * max(n_more, 0)
    return tuned if tuned.objective - fit.objective > required else fit


def _tune_once(
    plan: RegressionPlan,
    fit: RegressionFit,
    shapes: dict[int, AtomShape],
    data: Data,
    moves: str,
) -> tuple[RegressionFit, dict[int, AtomShape]] | None:
    """Take joint steps and fit again; None if there is nothing to move."""
    (output,), (problem,) = fit.outputs, fit.problems
    posterior, solution, active = output.posterior, output.solution, output.active
    if not shapes or is_noise_negligible(posterior.noise_variance, posterior.target_variance):
        return None
    is_moved = np.array([number in shapes for number in active.tolist()])
    moved, held = active[is_moved], active[~is_moved]
    objective = build_objective(problem, problem.noise_variance)
    objective = objective._replace(prior=problem.prior.with_rate(solution.laplace_rate))
    evidence = SparseEvidence(
        None,
        data.X,
        np.empty((0, data.X.shape[1])),
        fit.bound.dictionary.columns(held),
        data.targets[:, 0],
        data.regression_weight(0),
        centre=plan.fit_intercept,
        objective=objective.subset(np.concatenate([moved, held])),
    )
    theta = np.concatenate([solution.log_lam[is_moved], solution.log_lam[~is_moved]])
    model = ShapeEvidence(evidence, [shapes[number] for number in moved.tolist()], moves)
    ends, rise = model.maximise(theta, plan.tuning.n_shape_steps)
    if not rise > plan.tuning.min_improvement:
        return None
    bound = _bind_shapes(fit.bound, active, dict(zip(moved.tolist(), ends, strict=True)), data.X)
    found = plan.fit_bound(bound, data)
    kept = found.outputs[0].active.tolist()
    by_position = dict(zip(np.flatnonzero(is_moved).tolist(), ends, strict=True))
    return found, {number: by_position[number] for number in kept if number in by_position}


def _find_shapes(atoms: Atoms, active: IndexArray) -> dict[int, AtomShape]:
    """Return the shapes of the active atoms that are kernels that decay, by their numbers."""
    shapes = {}
    for number in active.tolist():
        [atom] = _split_atoms(atoms.subset(np.array([number])))
        if not isinstance(atom, KernelAtoms) or not atom.is_known_to_decay():
            continue
        kernel = atom.kernel
        if isinstance(kernel, Kernel):
            shapes[number] = AtomShape.from_kernel(kernel, np.asarray(atom.centers[0]))
    return shapes


def _split_atoms(atoms: Atoms) -> tuple[Atoms, ...]:
    return atoms.parts if isinstance(atoms, UnionAtoms) else (atoms,)


def _bind_shapes(
    bound: BoundBasis, active: IndexArray, shapes: dict[int, AtomShape], X: Any
) -> BoundBasis:
    """Return a basis of the active atoms, with new shapes for some of them."""
    parts: list[Atoms] = []
    source_row = bound.source_row[active].copy()
    for place, number in enumerate(active.tolist()):
        [atom] = _split_atoms(bound.atoms.subset(np.array([number])))
        if number in shapes:
            assert isinstance(atom, KernelAtoms)
            shape = shapes[number]
            is_moved = not np.array_equal(shape.center, atom.centers[0])
            if is_moved:  # its centre is no training row any more
                source_row[place] = -1
            atom = replace(
                atom,
                kernel=ScaledInputs(shape.kernel, shape.widened_scale),
                centers=shape.center[None],
                number=np.array([place]) if is_moved else atom.number,
                from_rows=atom.from_rows and not is_moved,
            )
        parts.append(atom)
    atoms = TunedAtoms(tuple(parts), np.arange(len(parts)), bound.atoms.decaying_kernel())
    counts = []
    if bound.parts:
        ends = np.cumsum([part.n_atoms for part in bound.parts])
        counts = np.bincount(
            np.searchsorted(ends, active, side="right"), minlength=len(ends)
        ).tolist()
    return BoundBasis(
        dictionary=DenseDictionary(atoms.evaluate(X)),
        atoms=atoms,
        is_localised=bound.is_localised[active],
        source_row=source_row,
        parts=tuple(
            BasisPart(part.name, count) for part, count in zip(bound.parts, counts, strict=True)
        ),
    )
