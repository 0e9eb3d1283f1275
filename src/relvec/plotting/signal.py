"""A noisy line, what was found in it, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._typing import ArrayLike
from relvec.describing import compute_critical_value
from relvec.estimators import SmoothDenoiser
from relvec.plotting._axes import finish, legend_above, set_title, take_axes, tone
from relvec.plotting._checks import check_coverage, check_line
from relvec.plotting._style import DATA, MODEL, OTHER

__all__ = ["SignalDisplay"]


class SignalDisplay:
    """Picture of a signal before and after denoising, with a band around the result.

    Use `from_signal` or `from_estimator` to make one.

    Parameters
    ----------
    noisy : array-like of shape (n_samples,)
        What was observed; NaN is a gap.
    denoised : array-like of shape (n_samples,)
        What was found.
    std : array-like of shape (n_samples,), optional
        Standard deviation of `denoised`, for the band.
    x : array-like of shape (n_samples,), optional
        Positions; numbers or dates. By default the samples are counted.
    truth : array-like of shape (n_samples,), optional
        The signal without noise, if it is known.
    components : array-like of shape (n_components, n_samples), optional
        What `denoised` is the sum of, each drawn below.
    component_names : sequence of str, optional
        What to call them.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
        Where the signal is.
    component_axes_ : list of matplotlib Axes
        Where the components are.
    noisy_, line_, band_, truth_ : matplotlib artists
        What was drawn; None for what there was no data for.

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
        self.denoised = check_line("denoised", denoised)
        n = len(self.denoised)
        self.noisy = check_line("noisy", noisy, n)
        self.std = None if std is None else check_line("std", std, n)
        self.truth = None if truth is None else check_line("truth", truth, n)
        self.x = np.arange(n) if x is None else np.asarray(x)
        if self.x.shape != (n,):
            raise ValueError(
                f"x must hold {n} positions, one for each sample; got shape {self.x.shape}."
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
                f"component_names must hold a name for each of the {n_components} components; "
                f"got {len(self.component_names)}."
            )

    @staticmethod
    def _read_components(components: Any, n: int) -> list[Any]:
        return [
            check_line(f"components[{number}]", part, n) for number, part in enumerate(components)
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
        """Denoise a signal and draw it.

        Parameters
        ----------
        signal : array-like of shape (n_samples,)
            What was observed.
        x, mask, sample_weight
            As in `SmoothDenoiser.fit`.
        truth : array-like of shape (n_samples,), optional
            The signal without noise, if it is known.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options : dict
            Parameters of `SmoothDenoiser`.

        Returns
        -------
        display : SignalDisplay
        """
        check_line("signal", signal)
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
        """Draw what a fitted denoiser or regressor found.

        Parameters
        ----------
        estimator : SmoothDenoiser, SparseBayesRegressor or RVMRegressor
            Fitted to `signal`; a regressor to one input, `x`.
        signal : array-like of shape (n_samples,)
            What was observed.
        x : array-like of shape (n_samples,), optional
            Positions; a regressor needs them.
        truth, component_names
            As in the class.
        components : array-like of shape (n_components, n_samples) or bool, optional
            What to draw below. True draws what each part of a regressor's basis contributes,
            without its mean.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw; with components one more than there are of them.

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
                        "components=True is for regressors, whose bases have parts; of a denoiser "
                        "pass the components themselves."
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
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            Where to draw; with components one more than there are of them. By default a new
            figure.
        coverage : float, default=0.95
            Probability of the band, at each sample by itself.

        Returns
        -------
        display : SignalDisplay
        """
        check_coverage(coverage)
        n_parts = len(self.components)
        self.figure_, axes = take_axes(
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
                color=tone(self.ax_, MODEL),
                alpha=0.3,
                lw=0,
                label=f"{100 * coverage:.4g} % band",
            )
        (self.line_,) = self.ax_.plot(
            x, self.denoised[order], color=tone(self.ax_, MODEL), lw=1.3, label="denoised"
        )
        self.truth_ = None
        if self.truth is not None:
            (self.truth_,) = self.ax_.plot(
                x,
                self.truth[order],
                color=tone(self.ax_, OTHER),
                lw=1.0,
                ls=(0, (4, 2)),
                label="truth",
            )
        for axes, part, name in zip(
            self.component_axes_, self.components, self.component_names, strict=True
        ):
            axes.plot(x, part[order], color=tone(axes, MODEL), lw=1.2)
            set_title(axes, name)
            finish(axes)
        self.ax_.margins(x=0.01)
        finish(self.ax_)
        # above the axes: a signal leaves no corner free for sure
        legend_above(self.ax_)
        return self

    def _draw_noisy(self, x: Any, noisy: Any) -> Any:
        n = len(noisy)
        if n > 5000:  # a line is easier to read than so many dots
            style = {"lw": 0.5, "color": tone(self.ax_, "0.75"), "rasterized": True}
        else:
            size = float(np.clip(90.0 / np.sqrt(n), 2.0, 5.0))
            style = {
                "ls": "",
                "marker": "o",
                "ms": size,
                "mew": 0,
                "color": tone(self.ax_, DATA),
                "alpha": 0.7,
            }
        return self.ax_.plot(x, noisy, label="observed", **style)[0]


def _column(x: Any) -> Any:
    """Return positions as the one input of a regressor."""
    if x is None:
        raise ValueError("x is needed to draw a regressor: pass its one input, as an array.")
    return check_line("x", x)[:, np.newaxis]
