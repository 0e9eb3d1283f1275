"""Whether the same inputs are kept when the data are others."""

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
from relvec.plotting._axes import draw_grid, finish, take_axes, tone
from relvec.plotting._checks import check_table
from relvec.plotting._rows import label_rows, row_figure
from relvec.plotting._style import INK, MODEL, OTHER, STYLE

__all__ = ["SelectionFrequencyDisplay"]

SCHEMES = ("subsample", "bootstrap")
Seed = int | np.random.RandomState | None


class SelectionFrequencyDisplay:
    """Picture of how often each input is kept, and how relevant it is on average.

    Whiskers on the left are binomial, one standard error by Wilson's formula, which is not zero
    where an input was kept always or never; those on the right are the standard error of the
    mean. Both say how well the number of resamples determines the bars. Resamples of the same
    data resemble each other, so that other data may differ by more.

    Use `from_resamples` or `from_supports` to make one.

    Parameters
    ----------
    supports : array-like of shape (n_resamples, n_features)
        Whether each input was kept in each resample.
    relevances : array-like of shape (n_resamples, n_features), optional
        How relevant it was; counted as zero where it was dropped.
    feature_names : sequence of str, optional
        Names of the inputs; x0, x1 and so on by default.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
        Where the shares are.
    relevance_ax_ : matplotlib Axes or None
        Where the relevances are.
    shown_ : ndarray of shape (n_rows,)
        Positions of the inputs that are drawn, from the top.
    bars_, relevance_bars_ : matplotlib BarContainer
        The latter is None without relevances.
    reference_ : matplotlib Line2D or None
    note_ : matplotlib Text or None
        What is said of the inputs that are not drawn.

    See Also
    --------
    FeatureRelevanceDisplay : Relevances of one fit.

    References
    ----------
    Heimsæter (2021), A dimensionality reducing extension of Bayesian relevance learning, MSc
    thesis, University of Bergen, figures 5.3 to 5.5.

    Meinshausen and Bühlmann (2010), Stability selection, Journal of the Royal Statistical
    Society B 72: halves of the data, drawn without replacement.

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
        table = check_table("supports", supports, "resample")
        if not np.isin(table, (0.0, 1.0)).all():
            raise ValueError(
                "supports must say of each input whether it was kept, by True or False; it holds "
                "other numbers. Give relevances as relevances=..., and relevances > 0 as supports."
            )
        self.supports: BoolArray = table.astype(bool)
        self.relevances: Matrix | None = None
        if relevances is not None:
            given = check_table("relevances", relevances, "resample")
            if given.shape != table.shape:
                raise ValueError(
                    f"relevances must have the shape of supports, {table.shape}; got {given.shape}."
                )
            self.relevances = np.where(self.supports, given, 0.0)
        self.feature_names = check_feature_names(feature_names, table.shape[1])

    @property
    def frequency(self) -> Vector:
        """Share of the resamples in which each input was kept, shape (n_features,)."""
        share: Vector = self.supports.mean(axis=0)
        return share

    @property
    def frequency_interval(self) -> Matrix:
        """Ends of one binomial standard error around the shares (Wilson), shape (2, n_features)."""
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
        """Draw what was kept in fits that were made elsewhere.

        Parameters
        ----------
        supports : array-like of shape (n_resamples, n_features)
            Whether each input was kept in each fit.
        relevances : array-like of shape (n_resamples, n_features), optional
            How relevant it was; counted as zero where it was dropped.
        feature_names : sequence of str, optional
            Names of the inputs; x0, x1 and so on by default.
        max_features, sort, reference
            As in `plot`.
        ax : matplotlib Axes or pair of them, optional
            Where to draw, two if there are relevances; a new figure by default.

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
        share: float = 0.5,
        random_state: Seed = None,
        n_jobs: int | None = None,
        feature_names: Any = None,
        max_features: int = 20,
        sort: bool = True,
        reference: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Fit an estimator to resamples of data, and draw what it keeps.

        Parameters
        ----------
        estimator : estimator
            One that has `feature_relevance_` after a fit, or a `get_support` as the selectors of
            scikit-learn; or a pipeline that ends in one. It is cloned, not changed.
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Targets. Of a classifier the classes are as frequent in every resample as here.
        n_resamples : int, default=50
            How many fits.
        scheme : {"subsample", "bootstrap"}, default="subsample"
            A share of the rows without replacement, or as many as there are with replacement.
        share : float, default=0.5
            Of the rows in a subsample, between 0 and 1.
        random_state : int, RandomState or None, default=None
            Source of the resamples.
        n_jobs : int, optional
            How many fits at a time, as in joblib; -1 for as many as there are processors.
        feature_names : sequence of str, optional
            Names of the inputs; by default those of the columns of X.
        max_features, sort, reference
            As in `plot`.
        ax : matplotlib Axes or pair of them, optional
            Where to draw, two if there are relevances; a new figure by default.

        Returns
        -------
        display : SelectionFrequencyDisplay
        """
        n_resamples = check_integer("n_resamples", n_resamples, minimum=1)
        check_choice("scheme", scheme, SCHEMES)
        share = check_positive("share", share)
        if share >= 1.0:
            raise ValueError(
                f"share must be below 1; got {share!r}. For as many rows as there are use "
                'scheme="bootstrap".'
            )
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        options = {
            "replace": scheme == "bootstrap",
            "n_samples": n_rows if scheme == "bootstrap" else max(round(share * n_rows), 1),
            "stratify": y if is_classifier(estimator) else None,
        }
        seeds = check_random_state(random_state).randint(2**31 - 1, size=n_resamples)
        fits = Parallel(n_jobs=n_jobs)(
            delayed(_kept)(clone(estimator), X, y, {**options, "random_state": int(seed)})
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
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or pair of them, optional
            Where to draw, two if there are relevances; a new figure by default.
        max_features : int, default=20
            How many inputs are drawn at most: those kept most often.
        sort : bool, default=True
            The most frequent on top, or in the order of the inputs.
        reference : float, optional
            A share at which to draw a line, for instance what one asks of an input.

        Returns
        -------
        display : SelectionFrequencyDisplay
        """
        max_features = check_integer("max_features", max_features, minimum=1)
        check_bool("sort", sort)
        reference = None if reference is None else _check_share(reference)
        note = self._choose(max_features, sort)
        n_axes = 1 if self.relevances is None else 2
        self.figure_, axes = take_axes(
            ax,
            n_axes,
            "the shares" if n_axes == 1 else "the shares and the relevances",
            ncols=n_axes,
            sharey=True,
            **row_figure(len(self.shown_) + (note is not None), 4.4 if n_axes == 1 else 7.2),
        )
        if ax is None:  # the last number of one axis is not to touch the first of the other
            self.figure_.get_layout_engine().set(wspace=0.06)
        self.ax_, self.relevance_ax_ = axes[0], axes[1] if n_axes == 2 else None
        self._draw_shares(reference)
        self.relevance_bars_ = None
        if self.relevances is not None:
            self._draw_relevances(axes[1], self.relevances[:, self.shown_])
        never = self.frequency[self.shown_] == 0.0
        names = [self.feature_names[each] for each in self.shown_]
        self.note_ = label_rows(self.ax_, names, never, note)
        if self.relevance_ax_ is not None:  # its rows are those at the left
            self.relevance_ax_.set_ylim(self.ax_.get_ylim())
            self.relevance_ax_.tick_params(axis="y", left=False, labelleft=False)
            self.relevance_ax_.spines["left"].set_visible(False)
        finish(self.ax_)
        return self

    def _choose(self, max_features: int, sort: bool) -> str | None:
        """Choose the inputs to draw; return what to say of the others."""
        mean = np.zeros(len(self.frequency))
        if self.relevances is not None:
            mean = self.relevances.mean(axis=0)
        order = np.lexsort((-mean, -self.frequency))
        chosen, others = order[:max_features], order[max_features:]
        self.shown_ = chosen if sort else np.sort(chosen)
        if not len(others):
            return None
        most = self.frequency[others[0]]
        return f"and {len(others)} more, kept " + (
            "never" if most == 0.0 else f"in at most {100.0 * most:.0f} %"
        )

    def _draw_shares(self, reference: float | None) -> None:
        axes, rows = self.ax_, np.arange(len(self.shown_))
        share = 100.0 * self.frequency[self.shown_]
        self.bars_ = axes.barh(rows, share, height=0.62, color=tone(axes, MODEL), alpha=0.55, lw=0)
        ends = 100.0 * self.frequency_interval[:, self.shown_]
        axes.hlines(rows, *ends, color=tone(axes, INK), lw=1.3)
        self.reference_ = None
        if reference is not None:
            at = 100.0 * reference
            self.reference_ = axes.axvline(at, color=tone(axes, OTHER), ls="--", lw=1.2, zorder=3)
            axes.annotate(
                f"{at:.3g} %",
                (at, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=STYLE.font_size,
                color=tone(axes, OTHER),
            )
        axes.set_xlim(0.0, 103.0)
        axes.set_xticks([0, 25, 50, 75, 100])
        axes.set_xlabel(f"kept in % of {len(self.supports)} resamples")
        _tidy(axes)

    def _draw_relevances(self, axes: Any, values: Matrix) -> None:
        rows = np.arange(values.shape[1])
        mean = values.mean(axis=0)
        self.relevance_bars_ = axes.barh(
            rows, mean, height=0.62, color=tone(axes, MODEL), alpha=0.55, lw=0
        )
        error = np.zeros_like(mean)
        if len(values) > 1:
            error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
            axes.hlines(
                rows, np.maximum(mean - error, 0.0), mean + error, color=tone(axes, INK), lw=1.3
            )
        axes.set_xlim(0.0, 1.05 * (mean + error).max() or 1.0)
        axes.set_xlabel("mean relevance (0 if dropped)")
        _tidy(axes)


def _check_share(reference: float) -> float:
    share = check_positive("reference", reference, allow_zero=True)
    if share > 1.0:
        raise ValueError(f"reference must be a share of at most 1; got {share!r}.")
    return share


def _tidy(axes: Any) -> None:
    finish(axes)
    draw_grid(axes, "x")


def _kept(estimator: Any, X: Any, y: Any, options: dict[str, Any]) -> tuple[Any, Any, list[str]]:
    """Fit to a resample; return what was kept, relevances if there are any, and names."""
    inputs, targets = resample(X, y, **options)
    estimator.fit(inputs, targets)
    model = get_final_estimator(estimator)
    support = model.get_support() if hasattr(model, "get_support") else None
    if support is not None and not hasattr(model, "feature_relevance_"):
        return np.asarray(support, dtype=bool), None, get_feature_names(estimator, len(support))
    relevance = np.asarray(
        get_fitted_attribute(
            estimator, "feature_relevance_", "SelectionFrequencyDisplay", "a number for each"
        )
    )
    kept = relevance > 0.0 if support is None else support
    return kept, relevance, get_feature_names(estimator, len(relevance))
