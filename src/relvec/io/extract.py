"""Extract the formula of a fitted model."""

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
from relvec.estimators._sampled import SampledMixin
from relvec.estimators._sampled_output import SampledOutput
from relvec.estimators.counts import SparseBayesCountRegressor
from relvec.estimators.kernel_search import KernelSearchRegressor
from relvec.io.formula import Block, Extrapolation, Formula, Member, PivotSet, Table
from relvec.io.profiles import ExportError, read_kernel
from relvec.io.sampled import average_functions, check_sampled
from relvec.kernels import KernelProfile, Linear
from relvec.laplace.pairs import PairPosterior
from relvec.likelihoods.softmax import quasi_random_normal
from relvec.posterior import Posterior

__all__ = ["extract_formula", "warn_about_rounding"]


def extract_formula(model: Any, *, std: bool = True) -> Formula:
    """Return the formula of a fitted model.

    Parameters
    ----------
    model : estimator
        A regressor or classifier of relvec on one kernel, or linear in the features; or a
        pipeline of `StandardScaler` and such a model.
    std : bool, default=True
        Whether the formula of a regressor includes standard deviations.

    Raises
    ------
    ExportError
        If the model is of another kind, or cannot be written as a formula of moderate size.
    """
    estimator, shift, scale = _unwrap_pipeline(model)
    if isinstance(estimator, SampledMixin):
        check_sampled(estimator, std=std)
    builder = _FormulaBuilder(estimator, shift, scale)
    names = getattr(model, "feature_names_in_", None)
    common: dict[str, Any] = {
        "source": type(estimator).__name__,
        "n_features": len(shift),
        "feature_names": None if names is None else tuple(map(str, names)),
    }
    if isinstance(estimator, SampledMixin):
        sampled: Any = estimator
        blocks = [builder.make_sampled_block(output) for output in sampled.outputs_]
        return builder.make_formula(blocks, link="identity", has_std=False, **common)
    if isinstance(estimator, BaseSparseBayesRegressor):
        outputs = estimator.outputs_
        _check_outputs(outputs, std)
        blocks = [builder.make_output_block(output, std) for output in outputs]
        return builder.make_formula(blocks, link="identity", has_std=std, **common)
    classes, average = np.asarray(estimator.classes_), estimator._average
    _check_classes(classes)
    blocks, members = [], []
    for number, (class_model, weight) in enumerate(
        zip(average.models, average.weights, strict=True)
    ):
        if number:
            builder.begin_table(class_model.atoms)
        blocks += [builder.make_latent_block(latent) for latent in class_model.models]
        members.append(builder.make_member(class_model, float(weight)))
    class_model, points = average.models[0], None
    link = "one_vs_rest" if len(class_model.models) > 1 else "logistic"
    if class_model.is_joint:
        link, n_points = "softmax", class_model.models[0].likelihood.get_params()["n_points"]
        points = quasi_random_normal(len(classes), n_points)[:, : n_points // 2]
    return builder.make_formula(
        blocks,
        link=link,
        classes=classes,
        class_prior=np.zeros(len(classes))
        if class_model.class_prior is None
        else class_model.class_prior,
        members=tuple(members),
        points=points,
        **common,
    )


def warn_about_rounding(
    formula: Formula, precision: str, *, inputs_too: bool = False, noticeable: float = 0.01
) -> None:
    """Warn if rounding errors in single precision are not negligible.

    Errors up to `noticeable` standard deviations, or so much in a probability, give no warning.
    """
    if precision == "float64":
        return
    error = formula.measure_rounding_error(precision, inputs_too=inputs_too)
    if error > noticeable:
        unit = " of a probability" if formula.is_classifier else " standard deviations"
        warnings.warn(
            f"in single precision the rounding error of this {formula.source} is up to "
            f"{error:.1g}{unit}; use float64.",
            UserWarning,
            stacklevel=3,
        )


def _unwrap_pipeline(model: Any) -> tuple[Any, Vector, Vector]:
    """Return the last step of a pipeline, and the shift and scale of the scalers before it."""
    *before, last = _steps(model)
    if isinstance(last, SparseBayesCountRegressor):
        raise ExportError(
            "SparseBayesCountRegressor cannot be exported: exported code has neither rates nor "
            "exposure. Use relvec.io.save, and predict in Python or by relvec predict."
        )
    if isinstance(last, KernelSearchRegressor):
        raise ExportError(
            "KernelSearchRegressor cannot be exported: it averages Gaussian processes, which "
            "predict from all training rows. Use relvec.io.save, and predict in Python or by "
            "relvec predict; or compute the predictions you need, for example for "
            "model.future_inputs(n_steps), and store them as a table."
        )
    if not isinstance(last, BaseSparseBayesRegressor | BaseSparseBayesClassifier | SampledMixin):
        inner = getattr(last, "best_estimator_", None)
        hint = " Export its best_estimator_." if inner is not None else ""
        raise ExportError(
            f"{type(last).__name__} cannot be exported: only regressors and classifiers of relvec "
            f"can, and pipelines of StandardScaler and one of them.{hint}"
        )
    check_is_fitted(model)
    shift, scale = np.zeros(last.n_features_in_), np.ones(last.n_features_in_)
    for step in before:
        if type(step) is not StandardScaler:
            raise ExportError(
                f"this pipeline has {type(step).__name__}; a pipeline can be exported if all steps "
                "before the model are StandardScaler. Export its last step, model[-1], and apply "
                "the other steps in your program."
            )
        if step.mean_ is not None and step.with_mean:
            shift = shift + scale * step.mean_
        if step.scale_ is not None:
            scale = scale * step.scale_
    return last, shift, scale


def _steps(model: Any) -> list[Any]:
    if not isinstance(model, Pipeline):
        return [model]
    return [step for _, step in model.steps if step is not None and step != "passthrough"]


def _check_outputs(outputs: tuple[FittedOutput, ...], std: bool) -> None:
    transforms = [output.transform for output in outputs if output.transform is not None]
    if transforms:
        raise ExportError(
            f"a model of a transformed target ({transforms[0]}) cannot be exported. Fit with "
            "target_transform=None; or do so to target_transform_.forward(y), export that model, "
            "and apply the inverse of the transform to its quantiles in your program."
        )
    if any(output.augmentation is not None for output in outputs):
        raise ExportError(
            'a model with error_bars="augmented" keeps all training rows and cannot be exported; '
            'fit with error_bars="novelty" or "plain".'
        )
    if std and any(output.scale_uncertainty is not None for output in outputs):
        raise ExportError(
            "standard deviations that include the uncertainty of the length-scales "
            "(length_scale_uncertainty=True) cannot be exported; export the mean alone, with "
            "std=False (relvec export --mean-only), or fit with length_scale_uncertainty=False."
        )


def _check_classes(classes: np.ndarray) -> None:
    """Refuse class labels that other languages would truncate or confuse."""
    if classes.dtype.kind in "iu":
        wrong = [each for each in classes.tolist() if abs(each) >= 2**63]
    elif classes.dtype.kind in "OU":
        wrong = [each for each in map(str, classes) if not _is_exportable_text(each)]
    else:
        wrong = []
    if wrong:
        raise ExportError(
            f"the class {wrong[0]!r} cannot be exported: classes must be 64-bit integers, numbers "
            "or valid UTF-8 text without null characters. Fit with other labels, such as 0, 1, ..."
        )


def _is_exportable_text(label: str) -> bool:
    try:
        return b"\0" not in label.encode()
    except UnicodeEncodeError:
        return False


class _FeatureScaling:
    """Shift and scale that scalers apply to the features before the model."""

    def __init__(self, shift: Vector, scale: Vector) -> None:
        self.shift, self.scale = shift, scale

    def find_used_features(self, profile: KernelProfile) -> tuple[IndexArray, Vector]:
        """Return the features that a kernel depends on, at least one, and its factor of each."""
        factor = np.broadcast_to(profile.factor, self.shift.shape)
        features = np.flatnonzero(factor)
        features = features if len(features) else np.array([0])
        return features, factor[features]

    def make_table(
        self, rows: Matrix, features: IndexArray, factor: Vector, profile: KernelProfile
    ) -> Table:
        """Return a table of vectors from rows of scaled features."""
        shift, scale = self.shift[features], self.scale[features]
        vectors, given = rows * factor, factor / scale
        if profile.is_stationary:
            # Only differences matter: shift to the middle of the vectors, where numbers are small
            # and rounding errors of differences are small as well.
            middle = shift + scale * rows.mean(axis=0)
            near = middle.astype(np.float32).astype(np.float64)
            if np.isfinite(near).all():
                return Table(features, near, given, vectors - (near - shift) * given)
        return Table(features, shift, given, vectors)


def _is_equal(one: PivotSet, other: PivotSet) -> bool:
    pairs = zip((*one.table, one.cholesky), (*other.table, other.cholesky), strict=True)
    return all(np.array_equal(left, right) for left, right in pairs)


class _FormulaBuilder:
    """Builds a formula; vectors that several parts share are stored once."""

    def __init__(self, estimator: Any, shift: Vector, scale: Vector) -> None:
        self.scaling = _FeatureScaling(shift, scale)
        self.tables: list[Table] = []
        self.pivot_sets: list[PivotSet] = []
        self._start_table(estimator.atoms_)

    def _start_table(self, atoms: Atoms) -> None:
        self.profile = read_kernel(self._kernel(atoms))
        self.variance = self.profile.variance
        self.features, self.factor = self.scaling.find_used_features(self.profile)
        self.rows: list[Vector] = []
        self.positions: dict[bytes, int] = {}

    def begin_table(self, atoms: Atoms) -> None:
        """Finish the table of vectors and begin one for a kernel with other length-scales."""
        self._end_table()
        before = self.profile
        self._start_table(atoms)
        if not self.profile.is_same_function(before):
            raise ExportError(
                f"an average of models with the kernels {before.name!r} and {self.profile.name!r} "
                "cannot be exported; fit with average=False, which keeps the best model only."
            )

    def _end_table(self) -> None:
        if not self.rows:
            self.rows.append(np.zeros(len(self.features)))
        rows = np.array(self.rows)
        self.tables.append(self.scaling.make_table(rows, self.features, self.factor, self.profile))

    @staticmethod
    def _kernel(atoms: Atoms) -> Any:
        if isinstance(atoms, KernelAtoms):
            return atoms.kernel
        if isinstance(atoms, ColumnAtoms):
            return Linear()  # the features are products with unit vectors
        raise ExportError(
            f"this model has {type(atoms).__name__} and cannot be exported: only models on one "
            "KernelBasis or LinearBasis can. Fit with one of these, or use relvec.io.save."
        )

    def _add_vectors(self, centers: Matrix) -> IndexArray:
        """Return the positions of vectors among those of all tables; new vectors are added."""
        found, first = [], sum(len(table.vectors) for table in self.tables)
        for row in centers[:, self.features]:
            key = row.tobytes()
            if key not in self.positions:
                self.positions[key] = len(self.rows)
                self.rows.append(row)
            found.append(first + self.positions[key])
        return np.array(found, dtype=np.intp)

    def _add_atoms(self, atoms: Any) -> IndexArray:
        if isinstance(atoms, ColumnAtoms):
            return self._add_vectors(np.eye(len(self.scaling.shift))[atoms.index])
        return self._add_vectors(atoms.centers)

    def _extrapolation(self, novelty: Novelty | None) -> Extrapolation | None:
        if novelty is None:
            return None
        number = self._add_pivot_set(self._make_pivot_set(novelty))
        return Extrapolation(
            number, novelty.amplitude, novelty.offset, novelty.known, novelty.centre
        )

    def _add_pivot_set(self, pivot_set: PivotSet) -> int:
        """Return the position of a set of pivots; equal sets are stored once."""
        for number, other in enumerate(self.pivot_sets):
            if _is_equal(pivot_set, other):
                return number
        self.pivot_sets.append(pivot_set)
        return len(self.pivot_sets) - 1

    def _make_pivot_set(self, novelty: Novelty) -> PivotSet:
        """Return the pivots in units of their kernel. Sets differ in the length-scales only."""
        profile = read_kernel(novelty.kernel)
        if not profile.is_stationary:
            raise ExportError(
                f"error bars with the kernel {novelty.kernel!r} cannot be exported, because it is "
                "not stationary; export without error bars (std=False), or fit with "
                'error_bars="plain".'
            )
        assert not self.pivot_sets or profile.is_same_function(self.pivot_sets[0].profile)
        features, factor = self.scaling.find_used_features(profile)
        at_zero = profile.value(np.zeros(1), np)[
            0
        ]  # correlations are kernel values divided by this one
        table = self.scaling.make_table(novelty.pivots[:, features], features, factor, profile)
        return PivotSet(table, novelty._factor * at_zero, profile)

    def _make_block(
        self,
        atoms: Any,
        posterior: Posterior,
        offset: float,
        extrapolation: Extrapolation | None,
        spread: float,
        noise: float,
    ) -> Block:
        return _pad_block(
            Block(
                index=self._add_atoms(atoms),
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

    def make_output_block(self, output: FittedOutput, std: bool) -> Block:
        """Return the block of one target."""
        posterior, novelty = output.posterior, output.novelty
        if novelty is not None and novelty.centre is None and not std:
            novelty = None  # only the variance would change
        extrapolation = self._extrapolation(novelty)
        if std and output.noise is not None:
            raise ExportError(
                "error bars of a model whose noise is not constant cannot be exported. Export the "
                "mean alone, with std=False (relvec export --mean-only)."
            )
        # posterior covariances are in units of the noise variance
        spread = output.calibration * posterior.noise_variance
        # of given noise variances those of new rows are not known
        noise = 0.0 if output.needs_row_variance else spread
        mean = posterior.target_mean
        return self._make_block(output.atoms, posterior, mean, extrapolation, spread, noise)

    def make_sampled_block(self, output: SampledOutput) -> Block:
        """Return the block of the mean of a sampled target."""
        average, novelty = average_functions(output), output.novelty
        has_centre = novelty is not None and novelty.centre is not None
        n_weights = len(average.weights)
        return _pad_block(
            Block(
                index=self._add_atoms(output.functions.atoms),
                centre=np.zeros(n_weights),
                scale=np.full(n_weights, self.variance),
                weights=average.weights,
                design=np.ones((1, n_weights)),
                offset=np.array([average.intercept]),
                factor=np.eye(n_weights),
                spread=0.0,
                constant=0.0,
                noise=average.noise_variance,
                extrapolation=self._extrapolation(novelty if has_centre else None),
            )
        )

    def make_member(self, class_model: ClassModel, weight: float) -> Member:
        """Return one of the models that are averaged."""
        if class_model.class_prior is None or class_model.novelty is None:
            return Member(weight, class_model.shrinkage)
        pivot_set = self._add_pivot_set(self._make_pivot_set(class_model.novelty))
        return Member(weight, class_model.shrinkage, pivot_set, class_model.novelty.offset)

    def make_latent_block(self, model: FittedLatentModel) -> Block:
        """Return the block of one logit, or of the logits of all classes."""
        if model.likelihood.n_latent > 1:
            return self._softmax(model)
        posterior, given = model.posterior, model.fixed_intercept
        assert isinstance(posterior, Posterior)
        extrapolation = self._latent_extrapolation(model)
        offset = posterior.target_mean + (0.0 if given is None else float(given[0]))
        spread = posterior.noise_variance if model.marginalises else 0.0
        return self._make_block(model.atoms, posterior, offset, extrapolation, spread, 0.0)

    def _latent_extrapolation(self, model: FittedLatentModel) -> Extrapolation | None:
        """Extrapolation of the logits in models of release 0.1, unless intercepts were fixed."""
        is_widened = model.adds_novelty_variance and model.fixed_intercept is None
        return self._extrapolation(model.novelty if is_widened else None)

    def _softmax(self, model: FittedLatentModel) -> Block:
        """Return the block of all logits; intercepts are weights of the constant basis function."""
        posterior = (
            model.posterior if model.variational_posterior is None else model.variational_posterior
        )
        places = self._add_atoms(model.atoms)
        assert isinstance(posterior, PairPosterior)
        n_pairs, n_contrasts = sum(posterior.sizes), posterior.contrast.shape[1]
        design = np.zeros((len(posterior.sizes), n_pairs + n_contrasts))
        ends = np.cumsum([0, *posterior.sizes])
        for row in range(len(posterior.sizes)):
            design[row, ends[row] : ends[row + 1]] = 1.0
        design[:, n_pairs:] = posterior.contrast
        atoms = posterior.place
        ones = np.full(n_contrasts, -1)
        return _pad_block(
            Block(
                index=np.concatenate([places[atoms], ones]).astype(np.intp),
                centre=np.append(posterior.shift[atoms] / self.variance, np.zeros(n_contrasts)),
                scale=posterior.scale * np.append(np.full(n_pairs, self.variance), ones**2),
                weights=posterior.weights / posterior.scale,
                design=design,
                offset=np.zeros(len(design))
                if model.fixed_intercept is None
                else model.fixed_intercept,
                factor=posterior.factor,
                spread=1.0,
                constant=0.0,
                noise=0.0,
                extrapolation=self._latent_extrapolation(model),
            )
        )

    def make_formula(self, blocks: list[Block], **rest: Any) -> Formula:
        """Return the formula of all parts."""
        self._end_table()
        formula = Formula(
            kernel_tables=tuple(self.tables),
            profile=self.profile,
            blocks=tuple(blocks),
            pivot_sets=tuple(self.pivot_sets),
            **rest,
        )
        if not all(np.isfinite(numbers).all() for numbers in formula.tables()):
            raise ExportError(
                "the formula of this model has numbers that are not finite; rescale the features, "
                "for example by StandardScaler, and fit again."
            )
        return formula


def _pad_block(block: Block) -> Block:
    """Add a zero weight to a block without weights: C has no empty tables."""
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
