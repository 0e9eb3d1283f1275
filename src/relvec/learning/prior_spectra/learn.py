"""Hyper-parameters of bases with a prior spectrum, by the evidence of tied precisions.

A sum of bases is a structure (see `relvec.learning.structures`): one variance for each basis, and
the parameters of its spectrum. Those that are set are held. Bases without a spectrum are groups of
columns with one variance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from relvec._checks import check_dense
from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases import SeriesBasis, SlopeWalkBasis, SmoothBasis, UnionBasis
from relvec.bases.base import Basis, BoundBasis
from relvec.bases.series.scaling import FeatureScale, SeriesScaling
from relvec.kernels.expansions import Expansion, Line, Product, Smooth
from relvec.learning.prior_spectra.fixed import Given, Held
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.fit import StructureFitter
from relvec.learning.structures.structure import Component, Structure

__all__ = ["has_unset_parameters", "learn_prior_spectra"]


@dataclass(frozen=True)
class SpectrumTuning:
    """Constants of the search for hyper-parameters."""

    initialisations: tuple[tuple[float, float], ...] = ((0.5, -1.0), (0.1, -2.0))
    """Length-scales of smooth functions, in units of half the range, and log noise variances, in
    units of the variance of the target: slow functions with much noise, fast ones with little."""
    screening_steps: int = 15
    settling_steps: int = 35
    max_rows: int = 2000
    """Of more rows a random sample is used."""
    max_refits: int = 3
    settled: float = 0.05
    """Change of log length-scales up to which the columns are not made anew; their interval and
    their number depend on the length-scale."""
    spare_terms: float = 1.5
    """Factor of the number of columns, so that length-scales can become shorter; not in products,
    which have many columns."""
    least_in_product: float = 0.3
    """Smallest initial length-scale in products, for the same reason. From there length-scales can
    become shorter whenever the columns are made anew."""
    max_components: int = 300
    """Principal components of a basis without a spectrum."""


_TUNING = SpectrumTuning()


def has_unset_parameters(basis: Basis) -> bool:
    """Whether a basis, or a part of a sum, has a hyper-parameter that is to be learnt.

    Examples
    --------
    >>> from relvec.bases import LinearBasis, SmoothBasis
    >>> has_unset_parameters(LinearBasis() + SmoothBasis())
    True
    >>> has_unset_parameters(SmoothBasis(2.0))
    False
    """
    return any(isinstance(part, SeriesBasis) and part.has_unset_parameters for part in _list(basis))


def learn_prior_spectra(
    basis: Basis,
    X: Matrix,
    targets: Matrix,
    weights: Sequence[Vector | None],
    noise_variances: Sequence[float | None],
    random_state: Any = None,
) -> Basis:
    """Return a basis whose unset hyper-parameters maximise the evidence times a weak prior.

    Parameters
    ----------
    basis : Basis
        A basis of series, or a sum with one.
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    targets : ndarray of shape (n_samples, n_outputs)
        Targets. With several outputs the result is the geometric mean of what each gives. Those
        that are constant have no influence.
    weights : list of ndarray of shape (n_samples,) or None
        Weights of the rows, for each output.
    noise_variances : list of float or None
        Noise variance of each output, where it is known.
    random_state : int, RandomState or None
        Random numbers for bases that choose centres.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import SmoothBasis
    >>> X = np.linspace(0, 10, 80)[:, np.newaxis]
    >>> y = np.sin(X) + 0.1 * np.random.default_rng(0).normal(size=(80, 1))
    >>> round(learn_prior_spectra(SmoothBasis(), X, y, [None], [None]).length_scale)
    2
    """
    found = []
    check_dense(X, type(basis).__name__)
    for target, weight, noise in zip(targets.T, weights, noise_variances, strict=True):
        rows = _select_rows(len(X), weight, needs_all=basis.needs_all_rows)
        if len(rows) > 2 and np.ptp(target[rows]) > 0.0:
            part = None if weight is None else weight[rows]
            learner = _Learner(basis, X[rows], target[rows], part, noise, random_state)
            found.append(learner.learn())
    if len(found) < 2:
        return found[0] if found else basis
    params = [each.get_params() for each in found]
    unset = [
        name
        for name, value in basis.get_params().items()
        if name.endswith("length_scale") and value is None and params[0][name] is not None
    ]
    mean = {name: float(np.exp(np.mean([np.log(each[name]) for each in params]))) for name in unset}
    return found[0].set_params(**mean)


def _list(basis: Basis) -> list[Basis]:
    return list(basis.bases) if isinstance(basis, UnionBasis) else [basis]


def _select_rows(n_rows: int, weight: Vector | None, *, needs_all: bool) -> IndexArray:
    """Return the rows of positive weight, or a sample of them."""
    rows = np.arange(n_rows) if weight is None else np.flatnonzero(weight > 0.0)
    if len(rows) > _TUNING.max_rows and not needs_all:
        rows = np.sort(np.random.RandomState(0).permutation(rows)[: _TUNING.max_rows])
    return rows


def _compress(bound: BoundBasis) -> Matrix:
    """Return the principal components of the columns of a basis that share a precision.

    The prior of a group is invariant to rotations of its weights. Explicit columns share a
    precision after scaling to unit variance, as in the solver of tied precisions.
    """
    columns = bound.dictionary.columns(np.arange(bound.dictionary.shape[1]))
    spread = np.where(bound.is_localised, 1.0, columns.std(axis=0))
    columns = columns / np.where(spread > 0.0, spread, 1.0)
    vectors, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    # Components of a smaller variance, relative to the largest, are lost in the noise.
    kept = np.flatnonzero(sizes > 1e-5 * sizes[0])[: _TUNING.max_components]
    found: Matrix = vectors[:, kept] * sizes[kept]
    return found


class _Learner:
    """Learn the hyper-parameters of a basis from one target."""

    def __init__(
        self,
        basis: Basis,
        X: Matrix,
        target: Vector,
        weight: Vector | None,
        noise: float | None,
        random_state: Any,
    ) -> None:
        self.basis, self.weight = basis, weight
        self.parts = _list(basis)
        mean = np.average(target, weights=weight)
        variance = float(np.average((target - mean) ** 2, weights=weight))
        self.target = (target - mean) / math.sqrt(variance)
        # Noise below this share of the variance is a rounding error.
        self.log_noise = None if noise is None else math.log(max(noise / variance, 1e-12))
        self.scales: dict[int, FeatureScale] = {}
        for part in self.parts:
            if isinstance(part, SeriesBasis):
                self.scales |= part.measure(X, weight)
        blocks = [SeriesScaling.of(self.scales).apply(X)]
        self.given: dict[int, Given] = {}
        for number, part in enumerate(self.parts):
            if not isinstance(part, SeriesBasis):
                random = check_random_state(random_state)
                block = _compress(part.bind(X, sample_weight=weight, random_state=random))
                first = sum(each.shape[1] for each in blocks)
                self.given[number] = Given(feature=first, count=block.shape[1])
                blocks.append(block)
        self.U = np.hstack(blocks)

    def learn(self) -> Basis:
        """Return a copy of the basis with learnt hyper-parameters."""
        candidates = []
        for length, log_noise in _TUNING.initialisations:
            parts = [self._with_length(part, length) for part in self.parts]
            candidates.append(self._fit(parts, log_noise, _TUNING.screening_steps))
        structure, parts = max(candidates, key=lambda each: each[0].objective)
        for _ in range(_TUNING.max_refits):
            before = _list_lengths(structure)
            structure, parts = self._fit(parts, structure.log_noise, _TUNING.settling_steps)
            if np.allclose(_list_lengths(structure), before, rtol=0.0, atol=_TUNING.settled):
                break
        return UnionBasis(parts) if isinstance(self.basis, UnionBasis) else parts[0]

    def _with_length(self, part: Basis, length: float) -> Basis:
        """Return a part with an initial length-scale of smooth functions."""
        if not isinstance(part, SeriesBasis):
            return part
        if len(part.factor_bases) > 1:
            length = max(length, _TUNING.least_in_product)
        factors = [
            replace(each, length_scale=length) if isinstance(each, Smooth) else each
            for each in part.expand(self.scales).factors
        ]
        return part.with_expansions(factors, self.scales)

    def _fit(
        self, parts: list[Basis], log_noise: float, n_steps: int
    ) -> tuple[Structure, list[Basis]]:
        """Maximise the evidence, from the hyper-parameters of the given parts."""
        products = [self._expand(number, part) for number, part in enumerate(parts)]
        # The slope of a slope that wanders, which is nearly flat in the model.
        slopes = [
            Product((Line(feature=part.feature),))
            for part in parts
            if isinstance(part, SlopeWalkBasis)
        ]
        components = [self._start(product, len(products)) for product in products + slopes]
        fitter = StructureFitter(ColumnStore(self.U, self.target, self.weight), self._spacing())
        if self.log_noise is not None:
            fitter = replace(fitter, noise_bounds=(self.log_noise, self.log_noise))
            log_noise = self.log_noise
        structure = fitter.fit(Structure(tuple(components), log_noise), n_steps)
        learnt = []
        for part, component in zip(self.parts, structure.components, strict=False):
            factors = [each.inner if isinstance(each, Held) else each for each in component.factors]
            is_series = isinstance(part, SeriesBasis)
            learnt.append(part.with_expansions(factors, self.scales) if is_series else part)
        return structure, learnt

    def _expand(self, number: int, part: Basis) -> Product:
        """Return the columns of a part, in which parameters that were set are held."""
        if not isinstance(part, SeriesBasis):
            return Product((self.given[number],))
        original = self.parts[number]
        assert isinstance(original, SeriesBasis)
        factors: list[Expansion] = []
        expanded = part.expand(self.scales).factors
        for basis, factor in zip(original.factor_bases, expanded, strict=True):
            if not basis.is_unset:
                factor = Held(feature=factor.feature, inner=factor)
            elif isinstance(part, SmoothBasis) and part.n_terms is None:
                assert isinstance(factor, Smooth)
                factor = replace(factor, n_terms=math.ceil(_TUNING.spare_terms * factor.n_terms))
            factors.append(factor)
        return Product(tuple(factors))

    def _start(self, product: Product, n_components: int) -> Component:
        """Return a component that explains an equal share of the variance of the target."""
        squares = product.columns(self.U) ** 2
        variance = np.average(squares @ np.exp(product.log_spectrum()), weights=self.weight)
        return Component(product, -math.log(max(n_components * float(variance), 1e-6)))

    def _spacing(self) -> float:
        """Return the least distance of neighbouring inputs of smooth functions."""
        features = [
            factor.feature
            for part in self.parts
            if isinstance(part, SeriesBasis)
            for factor in part.factor_bases
            if isinstance(factor, SmoothBasis)
        ]
        return min((self.scales[i].spacing for i in features), default=1.0)


def _list_lengths(structure: Structure) -> Vector:
    """Return the log hyper-parameters of all components."""
    return np.concatenate([each.product.log_parameters for each in structure.components])
