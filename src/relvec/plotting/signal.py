"""Plot of a one-dimensional signal before and after denoising."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._typing import ArrayLike
from relvec.describing import compute_critical_value
from relvec.estimators import SmoothDenoiser
from relvec.plotting._axes import adapt_colour, finish_axes, get_axes, place_legend_above, set_title
from relvec.plotting._checks import check_coverage, check_vector
from relvec.plotting._style import DATA, MODEL, OTHER

__all__ = ["SignalDisplay"]


class SignalDisplay:
    """Plot of a signal before and after denoising, with a pointwise credible band.

    Use `from_signal` or `from_estimator` to create one.

    Parameters
    ----------
    noisy : array-like of shape (n_samples,)
        Observed signal; NaN marks missing samples.
    denoised : array-like of shape (n_samples,)
        Denoised signal.
    std : array-like of shape (n_samples,), optional
        Posterior standard deviation of `denoised`, for the band.
    x : array-like of shape (n_samples,), optional
        Positions, numbers or dates; by default 0, 1 and so on.
    truth : array-like of shape (n_samples,), optional
        Signal without noise, if known.
    components : array-like of shape (n_components, n_samples), optional
        Components that sum to `denoised`, each drawn in a panel below.
    component_names : sequence of str, optional
        Names of the components.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
        Axes of the signal.
    component_axes_ : list of matplotlib Axes
        Axes of the components.
    noisy_, line_, band_, truth_ : matplotlib artists
        None if not drawn.

    Examples
    --------
    >>> from relvec.datasets import make_noisy_signal
    >>> from relvec.plotting import SignalDisplay
    >>> data = make_noisy_signal("Doppler", 512, snr=5, random_state=0)
    >>> display = SignalDisplay.from_signal(data.noisy, x=data.x, truth=data.clean)
    >>> display.ax_.get_legend_handles_labels()[1]
    ['observed', '95 % band', 'denoised', 'truth']
    """

    def __init__(
        self,
        *,
        noisy: ArrayLike,
        denoised: ArrayLike,
        std: ArrayLike | None = None,
        x: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        components: ArrayLike | None = None,
        component_names: Sequence[str] | None = None,
    ) -> None:
        self.denoised = check_vector("denoised", denoised)
        n = len(self.denoised)
        self.noisy = check_vector("noisy", noisy, n)
        self.std = None if std is None else check_vector("std", std, n)
        self.truth = None if truth is None else check_vector("truth", truth, n)
        self.x = np.arange(n) if x is None else np.asarray(x)
        if self.x.shape != (n,):
            raise ValueError(
                f"x must have {n} positions, one per sample; got shape {self.x.shape}."
            )
        self.components = [] if components is None else self._read_components(components, n)
        n_components = len(self.components)
        self.component_names = (
            [f"component {number}" for number in range(n_components)]
            if component_names is None
            else list(component_names)
        )
        if len(self.component_names) != n_components:
            raise ValueError(
                f"component_names must contain a name for each of the {n_components} components; "
                f"got {len(self.component_names)}."
            )

    @staticmethod
    def _read_components(components: Any, n: int) -> list[Any]:
        return [
            check_vector(f"components[{number}]", part, n) for number, part in enumerate(components)
        ]

    @classmethod
    def from_signal(
        cls,
        signal: Any,
        *,
        x: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Denoise a signal and plot it.

        Parameters
        ----------
        signal : array-like of shape (n_samples,)
            Observed signal.
        x, mask, sample_weight
            As in `SmoothDenoiser.fit`.
        truth : array-like of shape (n_samples,), optional
            Signal without noise, if known.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options : dict
            Parameters of `SmoothDenoiser`.

        Returns
        -------
        display : SignalDisplay
        """
        check_vector("signal", signal)
        denoiser = SmoothDenoiser(**{"channel_axis": None, **options})
        denoiser.fit(signal, x=x, mask=mask, sample_weight=sample_weight)
        if mask is not None:
            signal = np.where(mask, signal, np.nan)
        return cls.from_estimator(denoiser, signal, x=x, truth=truth, ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        signal: Any,
        *,
        x: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        components: ArrayLike | bool | None = None,
        component_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the result of a fitted denoiser or regressor.

        Parameters
        ----------
        estimator : SmoothDenoiser, SparseBayesRegressor or RVMRegressor
            Fitted to `signal`; a regressor with the single feature `x`.
        signal : array-like of shape (n_samples,)
            Observed signal.
        x : array-like of shape (n_samples,), optional
            Positions; required for a regressor.
        truth, component_names
            As in the class.
        components : array-like of shape (n_components, n_samples) or bool, optional
            Components to draw below. True draws the centred contribution of each part of the
            basis of a regressor.
        ax : matplotlib Axes or sequence of them, optional
            One for the signal and one per component; a new figure by default.

        Returns
        -------
        display : SignalDisplay
        """
        check_is_fitted(estimator)
        if hasattr(estimator, "signal_"):
            mean, std = estimator.signal_, getattr(estimator, "std_", None)
            if isinstance(components, bool):
                if components:
                    raise ValueError(
                        "components=True is for regressors, whose bases have parts; for a denoiser "
                        "pass the components as an array."
                    )
                components = None
        else:
            inputs = _column(x)
            mean, std = estimator.predict(inputs, return_std=True, include_noise=False)
            if isinstance(components, bool):
                if components and component_names is None:
                    component_names = [part.name for part in estimator.components_]
                components = (
                    estimator.predict_components(inputs, centred=True).T if components else None
                )
        display = cls(
            noisy=signal,
            denoised=mean,
            std=std,
            x=x,
            truth=truth,
            components=components,
            component_names=component_names,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None, *, coverage: float = 0.95) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for the signal and one per component; a new figure by default.
        coverage : float, default=0.95
            Pointwise coverage of the band.

        Returns
        -------
        display : SignalDisplay
        """
        check_coverage(coverage)
        n_parts = len(self.components)
        self.figure_, axes = get_axes(
            ax,
            1 + n_parts,
            "the signal" + (f" and {n_parts} components" if n_parts else ""),
            nrows=1 + n_parts,
            figsize=(8.0, 3.6 + 1.3 * n_parts),
            sharex=True,
            height_ratios=[2.4] + [1.0] * n_parts,
        )
        self.ax_, self.component_axes_ = axes[0], axes[1:]
        order = np.argsort(self.x, kind="stable")
        x = self.x[order]
        self.noisy_ = self._draw_noisy(x, self.noisy[order])
        self.band_ = None
        if self.std is not None:
            half = compute_critical_value(coverage) * self.std[order]
            mean = self.denoised[order]
            self.band_ = self.ax_.fill_between(
                x,
                mean - half,
                mean + half,
                color=adapt_colour(self.ax_, MODEL),
                alpha=0.3,
                lw=0,
                label=f"{100 * coverage:.4g} % band",
            )
        (self.line_,) = self.ax_.plot(
            x, self.denoised[order], color=adapt_colour(self.ax_, MODEL), lw=1.3, label="denoised"
        )
        self.truth_ = None
        if self.truth is not None:
            (self.truth_,) = self.ax_.plot(
                x,
                self.truth[order],
                color=adapt_colour(self.ax_, OTHER),
                lw=1.0,
                ls=(0, (4, 2)),
                label="truth",
            )
        for axes, part, name in zip(
            self.component_axes_, self.components, self.component_names, strict=True
        ):
            axes.plot(x, part[order], color=adapt_colour(axes, MODEL), lw=1.2)
            set_title(axes, name)
            finish_axes(axes)
        self.ax_.margins(x=0.01)
        finish_axes(self.ax_)
        # above the axes, because the signal may occupy every corner
        place_legend_above(self.ax_)
        return self

    def _draw_noisy(self, x: Any, noisy: Any) -> Any:
        n = len(noisy)
        if n > 5000:  # a line is easier to read than many dots
            style = {"lw": 0.5, "color": adapt_colour(self.ax_, "0.75"), "rasterized": True}
        else:
            size = float(np.clip(90.0 / np.sqrt(n), 2.0, 5.0))
            style = {
                "ls": "",
                "marker": "o",
                "ms": size,
                "mew": 0,
                "color": adapt_colour(self.ax_, DATA),
                "alpha": 0.7,
            }
        return self.ax_.plot(x, noisy, label="observed", **style)[0]


def _column(x: Any) -> Any:
    """Return positions as the single feature of a regressor."""
    if x is None:
        raise ValueError("x is needed to plot a regressor: pass its single feature as an array.")
    return check_vector("x", x)[:, np.newaxis]
