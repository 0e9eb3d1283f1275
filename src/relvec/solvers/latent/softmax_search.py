"""The search for several classes: by class as regressions, then with all classes at once.

A regression for one class takes the logits of the others to be known. What that leaves undone
is done here with the covariance of all weights: precisions, removals, and entries one or a few
at a time, each checked on the Laplace evidence.
"""

from __future__ import annotations

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.laplace.softmax import ClassLabels, SoftmaxMode
from relvec.solvers.base import Certificate
from relvec.solvers.gaussian.ascent import COPY_TOLERANCE
from relvec.solvers.latent.block_search import HOPELESS, BlockSearch
from relvec.solvers.latent.common_precision import best_common_precision
from relvec.solvers.latent.labels import Stopped
from relvec.solvers.latent.softmax_problem import SoftmaxProblem

__all__ = ["PairSearch", "SharedSearch"]

TRIED = 5
"""Units tried one by one for entry when a batch of them fails."""
WEAKER = 6
"""How often the variance of an entering unit is quartered before it is given up."""
ALIKE = 0.6
"""Units whose atoms correlate more do not enter in one batch."""


class PairSearch(BlockSearch[ClassLabels, SoftmaxMode]):
    """Search over pairs of an atom and a class; the units that enter and leave are pairs."""

    problem: SoftmaxProblem

    def run(self) -> bool:
        """Search by classes, then with all of them, until neither brings a rise."""
        for _ in range(self.max_iter):
            before = self.state.objective
            if not super().run():
                return False
            try:
                self.finish()
            except Stopped:
                return False
            if self.state.objective - before < self.tol:
                return True
        return False

    def finish(self) -> None:
        """Move precisions, remove and enter with all classes at once until nothing rises."""
        for _ in range(self.max_iter):
            self.settle_precisions(self.tol)
            if not self.enter():
                return

    def certificate(self) -> Certificate:
        """Derivatives at fixed curvature where the search ended."""
        gradient = self.pooled(self.problem.gradient(self.state.mode, exact=False))
        least = self.problem.least_log_precision(self.columns(self.state.active))
        gradient = gradient[self.state.log_precision > least + 1e-6]
        return Certificate(float(np.abs(gradient).max(initial=0.0)), self._promises()[2])

    # ------------------------------------------------------------------ entries

    def enter(self) -> bool:
        """Take in the units that promise most, if the objective rises."""
        units, log_precision, _ = self._promises()
        most = max(3 * self.n_units, 12 + TRIED)
        new = ~self._are_copies(units[:most])
        units, log_precision = units[:most][new], log_precision[:most][new]
        if not len(units):
            return False
        batch = self._unlike(units)
        self._work_with_units(units[batch])
        if len(batch) > 1 and self._admit(units[batch], log_precision[batch]):
            return True
        self._work_with_units(units[:TRIED])
        for place in range(min(TRIED, len(units))):
            for weaker in range(WEAKER):
                entering = log_precision[place : place + 1] + weaker * np.log(4.0)
                if self._admit(units[place : place + 1], entering):
                    return True
        return False

    def _admit(self, units: IndexArray, log_precision: Vector) -> bool:
        new, values = self.expanded(units, log_precision)
        active = np.concatenate([self.state.active, new])
        order = np.argsort(active)
        active = active[order]
        proposed = np.concatenate([self.state.log_precision, values])[order]
        least = self.problem.least_log_precision(self.columns(active))
        return self.step_towards(active, np.maximum(proposed, least))

    def _promises(self) -> tuple[IndexArray, Vector, float]:
        """Units that gain at fixed curvature, best first, where to put them, the best net gain."""
        problem, mode = self.problem, self.state.mode
        dictionary, c = problem.dictionary, problem.smoothness
        q = self._slopes()
        s, r = mode.curvature.entry(dictionary, degrees=bool(c) and not problem.is_prior)
        raw = np.column_stack([dictionary.sq_norms(x) for x in self._curvatures()])
        # what is left of an atom that the model explains is rounding
        admissible = s > 1e-9 * raw
        s = np.maximum(s, 1e-9 * np.maximum(raw, 1e-290))
        priced = (None, None) if r is None else (s, c * r)
        if c and problem.is_prior:
            bound = np.array(problem.bound_entry(mode))
            priced = (bound[:, 0].T, c * bound[:, 1].T)
        units, gain, log_precision = self._gains(s, q, priced, admissible)
        net = gain - np.maximum(problem.min_gain[units % self.n_atoms], self.schedule.threshold)
        order = np.argsort(-net, kind="stable")
        order = order[net[order] > 0.0]
        best = float(net[order[0]]) if len(order) else 0.0
        return units[order], log_precision[order], best

    def _slopes(self) -> Matrix:
        residuals = self.problem.residuals(self.state.mode)
        return self.problem.dictionary.rmatmat(np.column_stack(residuals))

    def _curvatures(self) -> list[Vector]:
        curvature = self.state.mode.curvature
        y = curvature.probability
        return list((curvature.weight[:, None] * y * (1.0 - y)).T)

    def _gains(
        self,
        s: Matrix,
        q: Matrix,
        priced: tuple[Matrix | None, Matrix | None],
        admissible: BoolArray,
    ) -> tuple[IndexArray, Vector, Vector]:
        """Gain and best log precision of every unit that is not in the model."""
        # class by class, as pairs are numbered
        allowed = admissible.T.ravel()
        allowed[self.state.active] = False
        # without the price, a unit gains only if its slope is larger than by chance
        pairs = np.flatnonzero(allowed & ((q * q).T.ravel() > s.T.ravel()))
        flat = [None if x is None else x.T.ravel()[pairs, None] for x in (s, q, *priced)]
        assert flat[0] is not None
        assert flat[1] is not None
        gain, log_precision = best_common_precision(flat[0], flat[1], flat[2], flat[3])
        return pairs, gain, log_precision

    def _unlike(self, units: IndexArray) -> IndexArray:
        """Positions of the first units, as many as may enter together, that are not alike."""
        size = max(1, self.n_units // 2, 4)
        head = units[: 3 * size]
        atoms = self._of_length_one(head)
        alike = np.abs(atoms.T @ atoms) > ALIKE
        chosen: list[int] = []
        for place in range(len(head)):
            if len(chosen) < size and not alike[place, chosen].any():
                chosen.append(place)
        return np.array(chosen, dtype=np.intp)

    def _are_copies(self, units: IndexArray) -> BoolArray:
        """Whether units have the same atom, up to a factor, as one in the model.

        Two copies share a weight in any proportion: a second one adds nothing but its price.
        """
        active = self.state.active[: self.n_units]
        product = self._of_length_one(units).T @ self._of_length_one(active)
        same_class = np.equal.outer(units // self.n_atoms, active // self.n_atoms)
        copies: BoolArray = np.any((np.abs(product) > 1.0 - COPY_TOLERANCE) & same_class, axis=1)
        return copies

    def _of_length_one(self, units: IndexArray) -> Matrix:
        """Atoms of some units, as an intercept leaves them, scaled."""
        atoms = self.problem.dictionary.columns(units % self.n_atoms)
        labels = self.problem.labels
        if labels.has_intercept and len(units):
            atoms = atoms - np.average(atoms, axis=0, weights=labels.weight)
        if labels.weight is not None:
            atoms = atoms * np.sqrt(labels.weight)[:, None]
        return atoms / np.maximum(np.linalg.norm(atoms, axis=0), 1e-300)

    def _work_with_units(self, units: IndexArray) -> None:
        pairs, _ = self.expanded(units, np.zeros(len(units)))
        self._work_with(self.split(np.sort(pairs)), self.state.active)

    # ------------------------------------------------------------------ units

    @property
    def n_units(self) -> int:
        """Number of units in the model."""
        return len(self.state.active)

    def expanded(self, units: IndexArray, log_precision: Vector) -> tuple[IndexArray, Vector]:
        """Return the pairs of some units and their log precisions."""
        return units, log_precision


class SharedSearch(PairSearch):
    """Search over atoms that are in all classes with one precision: the units are atoms."""

    def run(self) -> bool:
        """Alternate entries, precisions and removals until nothing rises."""
        try:
            for _ in range(self.max_iter):
                before = self.state.objective
                entered = self.enter()
                risen = self.state.objective - before
                # far from the end, precisions need not be exact
                self.settle_precisions(max(self.tol, 0.1 * risen))
                if not entered:
                    self.settle_precisions(self.tol)
                if self.state.objective - before < self.tol:
                    return True
        except Stopped:
            pass
        return False

    @property
    def n_units(self) -> int:
        """Number of atoms in the model."""
        return len(self.state.active) // self.problem.n_blocks

    def expanded(self, units: IndexArray, log_precision: Vector) -> tuple[IndexArray, Vector]:
        """Return the pairs of some atoms and their log precisions."""
        n_classes = self.problem.n_blocks
        starts = np.arange(n_classes)[:, None] * self.n_atoms
        return (starts + units).ravel(), np.tile(log_precision, n_classes)

    def pooled(self, value: Vector) -> Vector:
        """Sum over classes, for every pair."""
        n_classes = self.problem.n_blocks
        return np.tile(value.reshape(n_classes, -1).sum(axis=0), n_classes)

    def _gains(
        self,
        s: Matrix,
        q: Matrix,
        priced: tuple[Matrix | None, Matrix | None],
        admissible: BoolArray,
    ) -> tuple[IndexArray, Vector, Vector]:
        """Gain and best log precision of every atom that is not in the model."""
        allowed: BoolArray = np.any(admissible, axis=1)
        allowed[self.state.active[: self.n_units]] = False
        atoms = np.flatnonzero(allowed & ((q * q) > s).any(axis=1))
        first, second = priced
        gain, log_precision = best_common_precision(
            s[atoms],
            q[atoms],
            None if first is None else first[atoms],
            None if second is None else second[atoms],
        )
        return atoms, gain, log_precision

    def remove_one(self) -> bool:
        """Drop the atom whose loss is least, if the objective rises by that."""
        mode, k, n_classes = self.state.mode, self.n_units, self.problem.n_blocks
        pairs = np.arange(k)[:, None] + k * np.arange(n_classes)
        blocks = mode.covariance[pairs[:, :, None], pairs[:, None, :]]
        weights = mode.weights[pairs]
        fit = np.einsum("ij,ij->i", weights, np.linalg.solve(blocks, weights[:, :, None])[:, :, 0])
        volume = np.linalg.slogdet(blocks * mode.precision[pairs[:, :1], None])[1]
        loss = fit + volume
        for place in np.argsort(loss)[:2]:
            if loss[place] > HOPELESS + 2.0 * n_classes * self.problem.smoothness:
                return False
            rest = np.delete(np.arange(k * n_classes), pairs[place])
            if self.accept(self.state.active[rest], self.state.log_precision[rest]):
                return True
        return False
