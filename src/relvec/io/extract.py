"""From a fitted model to its formula."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases import ColumnAtoms, KernelAtoms
from relvec.bases.base import Atoms
from relvec.error_bars import Novelty
from relvec.estimators._base import BaseSparseBayesRegressor
from relvec.estimators._class_model import ClassModel
from relvec.estimators._classify import BaseSparseBayesClassifier
from relvec.estimators._latent_model import FittedLatentModel
from relvec.estimators._output import FittedOutput
from relvec.io.formula import Block, Cover, Extrapolation, Formula, Member, Table
from relvec.io.profiles import ExportError, read_kernel
from relvec.kernels import KernelProfile, Linear
from relvec.laplace.pairs import PairPosterior
from relvec.likelihoods.softmax import quasi_random_normal
from relvec.posterior import Posterior

__all__ = ["formula_of", "warn_of_rounding"]


def formula_of(model: Any, *, std: bool = True) -> Formula:
    """Return the formula of a fitted model.

    Parameters
    ----------
    model : estimator
        A regressor or classifier of relvec on one kernel, or on the inputs themselves; or a
        pipeline of `StandardScaler` and such a model.
    std : bool, default=True
        Whether standard deviations of a regressor are wanted.

    Raises
    ------
    ExportError
        If the model is of another kind, or is not a formula of moderate size.
    """
    estimator, shift, width = _unwrapped(model)
    writer = _Writer(estimator, shift, width)
    names = getattr(model, "feature_names_in_", None)
    common: dict[str, Any] = {
        "source": type(estimator).__name__,
        "n_features": len(shift),
        "feature_names": None if names is None else tuple(map(str, names)),
    }
    if isinstance(estimator, BaseSparseBayesRegressor):
        outputs = estimator.outputs_
        _check_outputs(outputs, std)
        blocks = [writer.output(output, std) for output in outputs]
        return writer.formula(blocks, link="identity", has_std=std, **common)
    classes, average = np.asarray(estimator.classes_), estimator._average
    _check_classes(classes)
    blocks, members = [], []
    for number, (class_model, weight) in enumerate(
        zip(average.models, average.weights, strict=True)
    ):
        if number:
            writer.begin_table(class_model.atoms)
        blocks += [writer.latent(latent) for latent in class_model.models]
        members.append(writer.member(class_model, float(weight)))
    class_model, points = average.models[0], None
    link = "one_vs_rest" if len(class_model.models) > 1 else "logistic"
    if class_model.is_joint:
        link, n_points = "softmax", class_model.models[0].likelihood.get_params()["n_points"]
        points = quasi_random_normal(len(classes), n_points)[:, : n_points // 2]
    return writer.formula(
        blocks,
        link=link,
        classes=classes,
        shares=np.zeros(len(classes)) if class_model.shares is None else class_model.shares,
        members=tuple(members),
        points=points,
        **common,
    )


def warn_of_rounding(
    formula: Formula, precision: str, *, inputs_too: bool = False, noticeable: float = 0.01
) -> None:
    """Say so if a precision is not enough for a model.

    Rounding may cost `noticeable` standard deviations, or so much of a probability, in silence.
    """
    if precision == "float64":
        return
    error = formula.rounding(precision, inputs_too=inputs_too)
    if error > noticeable:
        what = "" if formula.is_classifier else " standard deviations"
        warnings.warn(
            f"in single precision this {formula.source} is off by up to {error:.1g}{what}; use "
            "float64.",
            UserWarning,
            stacklevel=3,
        )


def _unwrapped(model: Any) -> tuple[Any, Vector, Vector]:
    """Return the model behind the scalers, and what these take off and divide by."""
    *before, last = _steps(model)
    if not isinstance(last, BaseSparseBayesRegressor | BaseSparseBayesClassifier):
        inner = getattr(last, "best_estimator_", None)
        hint = " Export its best_estimator_." if inner is not None else ""
        raise ExportError(
            "only regressors and classifiers of relvec can be exported, and pipelines of "
            f"StandardScaler and one of them; got {type(last).__name__}.{hint}"
        )
    check_is_fitted(model)
    shift, width = np.zeros(last.n_features_in_), np.ones(last.n_features_in_)
    for step in before:
        if type(step) is not StandardScaler:
            raise ExportError(
                f"a pipeline can be exported if all before the model is StandardScaler; this one "
                f"has {type(step).__name__}. Export its last step, model[-1], and do the others "
                "where it is used."
            )
        if step.mean_ is not None and step.with_mean:
            shift = shift + width * step.mean_
        if step.scale_ is not None:
            width = width * step.scale_
    return last, shift, width


def _steps(model: Any) -> list[Any]:
    if not isinstance(model, Pipeline):
        return [model]
    return [step for _, step in model.steps if step is not None and step != "passthrough"]


def _check_outputs(outputs: tuple[FittedOutput, ...], std: bool) -> None:
    if any(output.augmentation is not None for output in outputs):
        raise ExportError(
            'error_bars="augmented" keeps all training rows, which is not a formula to export; fit '
            'with error_bars="novelty" or "plain".'
        )
    if std and any(output.scale_uncertainty is not None for output in outputs):
        raise ExportError(
            "standard deviations that contain the uncertainty of length-scales "
            "(length_scale_uncertainty=True) cannot be exported; give std=False, or fit "
            "with length_scale_uncertainty=False."
        )


def _check_classes(classes: np.ndarray) -> None:
    """Refuse labels that other languages would cut short or take for other ones."""
    if classes.dtype.kind in "iu":
        wrong = [each for each in classes.tolist() if abs(each) >= 2**63]
    elif classes.dtype.kind in "OU":
        wrong = [each for each in map(str, classes) if not _is_text(each)]
    else:
        wrong = []
    if wrong:
        raise ExportError(
            f"the class {wrong[0]!r} cannot be exported: classes must be numbers of 64 bits, or "
            "text that UTF-8 knows, without zeros in it. Fit with other labels, such as 0, 1, ..."
        )


def _is_text(label: str) -> bool:
    try:
        return b"\0" not in label.encode()
    except UnicodeEncodeError:
        return False


class _Units:
    """Inputs as they are given, and as the model behind the scalers sees them."""

    def __init__(self, shift: Vector, width: Vector) -> None:
        self.shift, self.width = shift, width

    def used(self, profile: KernelProfile) -> tuple[IndexArray, Vector]:
        """Inputs that a kernel looks at, at least one, and what it multiplies them by."""
        factor = np.broadcast_to(profile.factor, self.shift.shape)
        inputs = np.flatnonzero(factor)
        inputs = inputs if len(inputs) else np.array([0])
        return inputs, factor[inputs]

    def table(
        self, rows: Matrix, inputs: IndexArray, factor: Vector, profile: KernelProfile
    ) -> Table:
        """Rows of these inputs, as the model sees them, as vectors."""
        shift, width = self.shift[inputs], self.width[inputs]
        vectors, given = rows * factor, factor / width
        if profile.is_stationary:
            # near the vectors numbers are small, and differences of small numbers are exact
            middle = shift + width * rows.mean(axis=0)
            near = middle.astype(np.float32).astype(np.float64)
            if np.isfinite(near).all():
                return Table(inputs, near, given, vectors - (near - shift) * given)
        return Table(inputs, shift, given, vectors)


def _are_equal(one: Cover, other: Cover) -> bool:
    pairs = zip((*one.table, one.cholesky), (*other.table, other.cholesky), strict=True)
    return all(np.array_equal(left, right) for left, right in pairs)


class _Writer:
    """Collects vectors that several parts of a formula share."""

    def __init__(self, estimator: Any, shift: Vector, width: Vector) -> None:
        self.units = _Units(shift, width)
        self.tables: list[Table] = []
        self.covers: list[Cover] = []
        self._start(estimator.atoms_)

    def _start(self, atoms: Atoms) -> None:
        self.profile = read_kernel(self._kernel(atoms))
        self.variance = self.profile.variance
        self.inputs, self.factor = self.units.used(self.profile)
        self.rows: list[Vector] = []
        self.places: dict[bytes, int] = {}

    def begin_table(self, atoms: Atoms) -> None:
        """End the table of vectors and begin one for a kernel that differs in its scales."""
        self._end_table()
        before = self.profile
        self._start(atoms)
        if not self.profile.is_same_function(before):
            raise ExportError(
                f"an average of models with the kernels {before.name!r} and {self.profile.name!r} "
                "cannot be exported; fit with average=False, which keeps the best of them."
            )

    def _end_table(self) -> None:
        if not self.rows:
            self.rows.append(np.zeros(len(self.inputs)))
        rows = np.array(self.rows)
        self.tables.append(self.units.table(rows, self.inputs, self.factor, self.profile))

    @staticmethod
    def _kernel(atoms: Atoms) -> Any:
        if isinstance(atoms, KernelAtoms):
            return atoms.kernel
        if isinstance(atoms, ColumnAtoms):
            return Linear()  # with the axes as vectors
        raise ExportError(
            f"models on one KernelBasis or LinearBasis can be exported; this one has "
            f"{type(atoms).__name__}. Use relvec.io.save, or fit with one of these."
        )

    def _places(self, centers: Matrix) -> IndexArray:
        """Positions of vectors among those of all tables."""
        found, first = [], sum(len(table.vectors) for table in self.tables)
        for row in centers[:, self.inputs]:
            key = row.tobytes()
            if key not in self.places:
                self.places[key] = len(self.rows)
                self.rows.append(row)
            found.append(first + self.places[key])
        return np.array(found, dtype=np.intp)

    def _atoms(self, atoms: Any) -> IndexArray:
        if isinstance(atoms, ColumnAtoms):
            return self._places(np.eye(len(self.units.shift))[atoms.index])
        return self._places(atoms.centers)

    def _extrapolation(self, novelty: Novelty | None) -> Extrapolation | None:
        if novelty is None:
            return None
        number = self._number(self._cover(novelty))
        return Extrapolation(
            number, novelty.amplitude, novelty.offset, novelty.known, novelty.centre
        )

    def _number(self, cover: Cover) -> int:
        """Position of a cover among all; equal ones are stored once."""
        for number, other in enumerate(self.covers):
            if _are_equal(cover, other):
                return number
        self.covers.append(cover)
        return len(self.covers) - 1

    def _cover(self, novelty: Novelty) -> Cover:
        """Pivots, in units of their kernel; covers differ in its scales only."""
        profile = read_kernel(novelty.kernel)
        if not profile.is_stationary:
            raise ExportError(
                f"error bars with the kernel {novelty.kernel!r}, in which not only differences of "
                "inputs matter, cannot be exported; export without error bars (std=False), or fit "
                'with error_bars="plain".'
            )
        assert not self.covers or profile.is_same_function(self.covers[0].profile)
        inputs, factor = self.units.used(profile)
        at_zero = profile.value(np.zeros(1), np)[0]  # correlations are relative to it
        table = self.units.table(novelty.pivots[:, inputs], inputs, factor, profile)
        return Cover(table, novelty._factor * at_zero, profile)

    def _single(
        self,
        atoms: Any,
        posterior: Posterior,
        offset: float,
        extrapolation: Extrapolation | None,
        spread: float,
        noise: float,
    ) -> Block:
        return _padded(
            Block(
                index=self._atoms(atoms),
                centre=posterior.column_mean / self.variance,
                scale=self.variance / posterior.column_norm,
                weights=posterior.unit_mean,
                design=np.ones((1, len(posterior.lam))),
                offset=np.array([offset]),
                factor=posterior.factor,
                spread=spread,
                constant=spread * posterior._offset_variance,
                noise=noise,
                extrapolation=extrapolation,
            )
        )

    def output(self, output: FittedOutput, std: bool) -> Block:
        """One target."""
        posterior, novelty = output.posterior, output.novelty
        if novelty is not None and novelty.centre is None and not std:
            novelty = None  # means are left alone
        extrapolation = self._extrapolation(novelty)
        mean, noise = posterior.target_mean, output.target_noise
        # posterior covariances are in units of the noise
        return self._single(output.atoms, posterior, mean, extrapolation, noise, noise)

    def member(self, class_model: ClassModel, weight: float) -> Member:
        """One of the models that are averaged."""
        if class_model.shares is None or class_model.novelty is None:
            return Member(weight, class_model.shrinkage)
        cover = self._number(self._cover(class_model.novelty))
        return Member(weight, class_model.shrinkage, cover, class_model.novelty.offset)

    def latent(self, model: FittedLatentModel) -> Block:
        """One logit, or those of all classes."""
        if model.likelihood.n_latent > 1:
            return self._softmax(model)
        posterior, given = model.posterior, model.given
        assert isinstance(posterior, Posterior)
        extrapolation = self._widening(model)
        offset = posterior.target_mean + (0.0 if given is None else float(given[0]))
        spread = posterior.noise_variance if model.averages else 0.0
        return self._single(model.atoms, posterior, offset, extrapolation, spread, 0.0)

    def _widening(self, model: FittedLatentModel) -> Extrapolation | None:
        """What widens logits in models of release 0.1, unless intercepts were given."""
        is_widened = model.widens and model.given is None
        return self._extrapolation(model.novelty if is_widened else None)

    def _softmax(self, model: FittedLatentModel) -> Block:
        """Logits of all classes; intercepts are weights of the kernel value that is always 1."""
        posterior = model.posterior if model.nearest is None else model.nearest
        places = self._atoms(model.atoms)
        assert isinstance(posterior, PairPosterior)
        n_pairs, n_contrasts = sum(posterior.sizes), posterior.contrast.shape[1]
        design = np.zeros((len(posterior.sizes), n_pairs + n_contrasts))
        ends = np.cumsum([0, *posterior.sizes])
        for row in range(len(posterior.sizes)):
            design[row, ends[row] : ends[row + 1]] = 1.0
        design[:, n_pairs:] = posterior.contrast
        atoms = posterior.place
        ones = np.full(n_contrasts, -1)
        return _padded(
            Block(
                index=np.concatenate([places[atoms], ones]).astype(np.intp),
                centre=np.append(posterior.shift[atoms] / self.variance, np.zeros(n_contrasts)),
                scale=posterior.scale * np.append(np.full(n_pairs, self.variance), ones**2),
                weights=posterior.weights / posterior.scale,
                design=design,
                offset=np.zeros(len(design)) if model.given is None else model.given,
                factor=posterior.factor,
                spread=1.0,
                constant=0.0,
                noise=0.0,
                extrapolation=self._widening(model),
            )
        )

    def formula(self, blocks: list[Block], **rest: Any) -> Formula:
        """Put the parts together."""
        self._end_table()
        formula = Formula(
            kernel_tables=tuple(self.tables),
            profile=self.profile,
            blocks=tuple(blocks),
            covers=tuple(self.covers),
            **rest,
        )
        if not all(np.isfinite(numbers).all() for numbers in formula.tables()):
            raise ExportError(
                "the formula of this model holds numbers that are not finite; rescale the inputs, "
                "for example by StandardScaler."
            )
        return formula


def _padded(block: Block) -> Block:
    """Give a block without weights one that is zero: no language likes empty tables."""
    if len(block.index):
        return block
    zero = np.zeros(1)
    return replace(
        block,
        index=np.array([-1]),
        centre=zero,
        scale=zero,
        weights=zero,
        design=np.zeros((len(block.offset), 1)),
        factor=np.eye(1),
    )
