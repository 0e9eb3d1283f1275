"""Plot of the selection frequency of features under resampling."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state, resample
from sklearn.utils.parallel import Parallel, delayed

from relvec._checks import check_bool, check_choice, check_integer, check_positive
from relvec._typing import ArrayLike, BoolArray, Matrix, Vector
from relvec.describing import (
    check_feature_names,
    compute_wilson_interval,
    get_feature_names,
    get_final_estimator,
    get_fitted_attribute,
)
from relvec.plotting._axes import adapt_colour, draw_grid, finish_axes, get_axes
from relvec.plotting._checks import check_matrix
from relvec.plotting._rows import compute_figure_size, label_rows
from relvec.plotting._style import INK, MODEL, OTHER, STYLE

__all__ = ["SelectionFrequencyDisplay"]

SCHEMES = ("subsample", "bootstrap")
Seed = int | np.random.RandomState | None


class SelectionFrequencyDisplay:
    """Plot of the selection frequency and the mean relevance of each feature under resampling.

    Error bars of the frequencies are Wilson intervals of one standard error, which have a positive
    length even for features that are selected always or never; those of the relevances are
    standard errors of the mean. Both reflect the number of resamples only: resamples of one data
    set are correlated, so the variation between data sets may be larger.

    Use `from_resamples` or `from_supports` to create one.

    Parameters
    ----------
    supports : array-like of shape (n_resamples, n_features)
        Whether each feature was selected in each resample.
    relevances : array-like of shape (n_resamples, n_features), optional
        Relevance of each feature; counted as zero if it was not selected.
    feature_names : sequence of str, optional
        Names of the features; x0, x1 and so on by default.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
        Axes of the selection frequencies.
    relevance_ax_ : matplotlib Axes or None
        Axes of the mean relevances.
    shown_ : ndarray of shape (n_rows,)
        Indices of the features that are drawn, from the top.
    bars_, relevance_bars_ : matplotlib BarContainer
        The second is None without relevances.
    reference_ : matplotlib Line2D or None
    note_ : matplotlib Text or None
        Note on the features that are not drawn.

    See Also
    --------
    FeatureRelevanceDisplay : Relevances in a single fit.

    References
    ----------
    Heimsæter (2021), A dimensionality reducing extension of Bayesian relevance learning, MSc
    thesis, University of Bergen, figures 5.3 to 5.5.

    Meinshausen and Bühlmann (2010), Stability selection, Journal of the Royal Statistical
    Society B 72: subsamples of half the data, without replacement.

    Examples
    --------
    >>> from relvec.plotting import SelectionFrequencyDisplay
    >>> supports = [[1, 0, 1], [1, 0, 0], [1, 1, 0], [1, 0, 0]]
    >>> display = SelectionFrequencyDisplay.from_supports(supports)
    >>> display.frequency
    array([1.  , 0.25, 0.25])
    """

    def __init__(
        self,
        supports: ArrayLike,
        relevances: ArrayLike | None = None,
        *,
        feature_names: Any = None,
    ) -> None:
        table = check_matrix("supports", supports, "resample")
        if not np.isin(table, (0.0, 1.0)).all():
            raise ValueError(
                "supports must contain only True and False: whether each feature was selected. "
                "Pass relevances as relevances=..., and relevances > 0 as supports."
            )
        self.supports: BoolArray = table.astype(bool)
        self.relevances: Matrix | None = None
        if relevances is not None:
            given = check_matrix("relevances", relevances, "resample")
            if given.shape != table.shape:
                raise ValueError(
                    f"relevances must have the shape of supports, {table.shape}; got {given.shape}."
                )
            self.relevances = np.where(self.supports, given, 0.0)
        self.feature_names = check_feature_names(feature_names, table.shape[1])

    @property
    def frequency(self) -> Vector:
        """Selection frequency of each feature, of shape (n_features,)."""
        fraction: Vector = self.supports.mean(axis=0)
        return fraction

    @property
    def frequency_interval(self) -> Matrix:
        """Wilson intervals of the frequencies, one standard error, of shape (2, n_features)."""
        return compute_wilson_interval(self.frequency, len(self.supports), 1.0)

    @classmethod
    def from_supports(
        cls,
        supports: ArrayLike,
        relevances: ArrayLike | None = None,
        *,
        feature_names: Any = None,
        max_features: int = 20,
        sort: bool = True,
        reference: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the selections of given fits.

        Parameters
        ----------
        supports : array-like of shape (n_resamples, n_features)
            Whether each feature was selected in each fit.
        relevances : array-like of shape (n_resamples, n_features), optional
            Relevance of each feature; counted as zero if it was not selected.
        feature_names : sequence of str, optional
            Names of the features; x0, x1 and so on by default.
        max_features, sort, reference
            As in `plot`.
        ax : matplotlib Axes or pair of them, optional
            Axes to draw on, two with relevances; a new figure by default.

        Returns
        -------
        display : SelectionFrequencyDisplay
        """
        display = cls(supports, relevances, feature_names=feature_names)
        return display.plot(ax, max_features=max_features, sort=sort, reference=reference)

    @classmethod
    def from_resamples(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_resamples: int = 50,
        scheme: str = "subsample",
        fraction: float = 0.5,
        random_state: Seed = None,
        n_jobs: int | None = None,
        feature_names: Any = None,
        max_features: int = 20,
        sort: bool = True,
        reference: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Fit an estimator to resamples of the data, and plot its selections.

        Parameters
        ----------
        estimator : estimator
            With `feature_relevance_` after a fit, or `get_support` like the selectors of
            scikit-learn; or a pipeline that ends in one. It is cloned, not changed.
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Targets. Resamples for a classifier are stratified by class.
        n_resamples : int, default=50
            Number of fits.
        scheme : {"subsample", "bootstrap"}, default="subsample"
            A fraction of the rows without replacement, or all rows with replacement.
        fraction : float, default=0.5
            Fraction of the rows in a subsample, between 0 and 1.
        random_state : int, RandomState or None, default=None
            Seed of the resamples.
        n_jobs : int, optional
            Number of parallel fits, as in joblib; -1 for all processors.
        feature_names : sequence of str, optional
            Names of the features; by default the column names of X.
        max_features, sort, reference
            As in `plot`.
        ax : matplotlib Axes or pair of them, optional
            Axes to draw on, two with relevances; a new figure by default.

        Returns
        -------
        display : SelectionFrequencyDisplay
        """
        n_resamples = check_integer("n_resamples", n_resamples, minimum=1)
        check_choice("scheme", scheme, SCHEMES)
        fraction = check_positive("fraction", fraction)
        if fraction >= 1.0:
            raise ValueError(
                f"fraction must be below 1; got {fraction!r}. For resamples of the full size use "
                'scheme="bootstrap".'
            )
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        options = {
            "replace": scheme == "bootstrap",
            "n_samples": n_rows if scheme == "bootstrap" else max(round(fraction * n_rows), 1),
            "stratify": y if is_classifier(estimator) else None,
        }
        seeds = check_random_state(random_state).randint(2**31 - 1, size=n_resamples)
        fits = Parallel(n_jobs=n_jobs)(
            delayed(_fit_resample)(clone(estimator), X, y, {**options, "random_state": int(seed)})
            for seed in seeds
        )
        supports, relevances, names = zip(*fits, strict=True)
        return cls.from_supports(
            np.stack(supports),
            None if relevances[0] is None else np.stack(relevances),
            feature_names=names[0] if feature_names is None else feature_names,
            max_features=max_features,
            sort=sort,
            reference=reference,
            ax=ax,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        max_features: int = 20,
        sort: bool = True,
        reference: float | None = None,
    ) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or pair of them, optional
            Axes to draw on, two with relevances; a new figure by default.
        max_features : int, default=20
            Maximum number of features, those selected most often first.
        sort : bool, default=True
            The most frequent on top; otherwise in the order of the features.
        reference : float, optional
            Frequency at which to draw a line, for instance a selection threshold.

        Returns
        -------
        display : SelectionFrequencyDisplay
        """
        max_features = check_integer("max_features", max_features, minimum=1)
        check_bool("sort", sort)
        reference = None if reference is None else _check_frequency(reference)
        note = self._choose(max_features, sort)
        n_axes = 1 if self.relevances is None else 2
        self.figure_, axes = get_axes(
            ax,
            n_axes,
            "the frequencies" if n_axes == 1 else "the frequencies and the relevances",
            ncols=n_axes,
            sharey=True,
            **compute_figure_size(
                len(self.shown_) + (note is not None), 4.4 if n_axes == 1 else 7.2
            ),
        )
        if ax is None:  # keep the tick labels of the two axes apart
            self.figure_.get_layout_engine().set(wspace=0.06)
        self.ax_, self.relevance_ax_ = axes[0], axes[1] if n_axes == 2 else None
        self._draw_frequencies(reference)
        self.relevance_bars_ = None
        if self.relevances is not None:
            self._draw_relevances(axes[1], self.relevances[:, self.shown_])
        never = self.frequency[self.shown_] == 0.0
        names = [self.feature_names[each] for each in self.shown_]
        self.note_ = label_rows(self.ax_, names, never, note)
        if self.relevance_ax_ is not None:  # it shares the rows of the left axes
            self.relevance_ax_.set_ylim(self.ax_.get_ylim())
            self.relevance_ax_.tick_params(axis="y", left=False, labelleft=False)
            self.relevance_ax_.spines["left"].set_visible(False)
        finish_axes(self.ax_)
        return self

    def _choose(self, max_features: int, sort: bool) -> str | None:
        """Choose the features to draw; return a note on the others."""
        mean = np.zeros(len(self.frequency))
        if self.relevances is not None:
            mean = self.relevances.mean(axis=0)
        order = np.lexsort((-mean, -self.frequency))
        chosen, others = order[:max_features], order[max_features:]
        self.shown_ = chosen if sort else np.sort(chosen)
        if not len(others):
            return None
        most = self.frequency[others[0]]
        return f"and {len(others)} more, " + (
            "never selected" if most == 0.0 else f"selected in at most {100.0 * most:.0f} %"
        )

    def _draw_frequencies(self, reference: float | None) -> None:
        axes, rows = self.ax_, np.arange(len(self.shown_))
        fraction = 100.0 * self.frequency[self.shown_]
        self.bars_ = axes.barh(
            rows, fraction, height=0.62, color=adapt_colour(axes, MODEL), alpha=0.55, lw=0
        )
        ends = 100.0 * self.frequency_interval[:, self.shown_]
        axes.hlines(rows, *ends, color=adapt_colour(axes, INK), lw=1.3)
        self.reference_ = None
        if reference is not None:
            at = 100.0 * reference
            self.reference_ = axes.axvline(
                at, color=adapt_colour(axes, OTHER), ls="--", lw=1.2, zorder=3
            )
            axes.annotate(
                f"{at:.3g} %",
                (at, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=STYLE.font_size,
                color=adapt_colour(axes, OTHER),
            )
        axes.set_xlim(0.0, 103.0)
        axes.set_xticks([0, 25, 50, 75, 100])
        axes.set_xlabel(f"selection frequency (%, {len(self.supports)} resamples)")
        _tidy(axes)

    def _draw_relevances(self, axes: Any, values: Matrix) -> None:
        rows = np.arange(values.shape[1])
        mean = values.mean(axis=0)
        self.relevance_bars_ = axes.barh(
            rows, mean, height=0.62, color=adapt_colour(axes, MODEL), alpha=0.55, lw=0
        )
        error = np.zeros_like(mean)
        if len(values) > 1:
            error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
            axes.hlines(
                rows,
                np.maximum(mean - error, 0.0),
                mean + error,
                color=adapt_colour(axes, INK),
                lw=1.3,
            )
        axes.set_xlim(0.0, 1.05 * (mean + error).max() or 1.0)
        axes.set_xlabel("mean relevance (0 if not selected)")
        _tidy(axes)


def _check_frequency(reference: float) -> float:
    fraction = check_positive("reference", reference, allow_zero=True)
    if fraction > 1.0:
        raise ValueError(f"reference must be a frequency of at most 1; got {fraction!r}.")
    return fraction


def _tidy(axes: Any) -> None:
    finish_axes(axes)
    draw_grid(axes, "x")


def _fit_resample(
    estimator: Any, X: Any, y: Any, options: dict[str, Any]
) -> tuple[Any, Any, list[str]]:
    """Fit to a resample; return the selection, relevances if available, and feature names."""
    inputs, targets = resample(X, y, **options)
    estimator.fit(inputs, targets)
    model = get_final_estimator(estimator)
    support = model.get_support() if hasattr(model, "get_support") else None
    if support is not None and not hasattr(model, "feature_relevance_"):
        return np.asarray(support, dtype=bool), None, get_feature_names(estimator, len(support))
    relevance = np.asarray(
        get_fitted_attribute(
            estimator,
            "feature_relevance_",
            "SelectionFrequencyDisplay",
            "one relevance per feature",
        )
    )
    kept = relevance > 0.0 if support is None else support
    return kept, relevance, get_feature_names(estimator, len(relevance))
