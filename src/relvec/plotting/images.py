"""Plot of an image before and after denoising, with the residual."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_bool, check_positive
from relvec._signals import resolve_channel_axis
from relvec._typing import ArrayLike
from relvec.estimators import SmoothDenoiser
from relvec.plotting._axes import add_colorbar, compute_text_scale, get_axes
from relvec.plotting._style import STYLE

__all__ = ["ImageDisplay"]


class ImageDisplay:
    """Plot of an image before and after denoising, with the residual in units of the noise.

    The residual should look like pure noise: structure in it is lost signal. For a colour image
    it is the residual of the brightness.

    Use `from_signal` or `from_estimator` to create one.

    Parameters
    ----------
    noisy : array-like of shape (height, width) or (height, width, 3)
        Observed image; NaN marks missing pixels.
    denoised : array-like, shaped like `noisy`
        Denoised image.
    noise_std : float or array-like
        Standard deviation of the noise: a number, one per channel, or one per pixel.
    std : array-like, shaped like `noisy`, optional
        Posterior standard deviation of `denoised`, drawn in a fourth panel.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : list of matplotlib Axes
        One per panel.
    images_ : list of matplotlib AxesImage

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.plotting import ImageDisplay
    >>> disc = np.hypot(*np.mgrid[-1:1:64j, -1:1:64j]) < 0.6
    >>> noisy = disc + 0.2 * np.random.default_rng(0).normal(size=(64, 64))
    >>> display = ImageDisplay.from_signal(noisy)
    >>> [axes.get_title("left") for axes in display.ax_]
    ['observed', 'denoised', 'residual / noise std']
    """

    def __init__(
        self,
        *,
        noisy: ArrayLike,
        denoised: ArrayLike,
        noise_std: float | ArrayLike,
        std: ArrayLike | None = None,
    ) -> None:
        self.noisy = _check_image("noisy", noisy)
        shape = self.noisy.shape
        self.denoised = _check_image("denoised", denoised, shape).astype(np.float64)
        self.std = None if std is None else _check_image("std", std, shape).astype(np.float64)
        noise = np.asarray(noise_std, dtype=np.float64)
        if not (noise > 0.0).all() or not np.isfinite(noise).all():
            raise ValueError(
                "noise_std must be positive, as residuals are plotted in units of it; "
                f"got {noise_std!r}."
            )
        try:
            self.noise_std = np.broadcast_to(noise, shape)
        except ValueError as error:
            raise ValueError(
                "noise_std must be a number, one per channel, or match the shape of the image, "
                f"{shape}; got shape {noise.shape}."
            ) from error

    @property
    def is_colour(self) -> bool:
        """Whether the image has three colour channels."""
        return self.noisy.ndim == 3

    @property
    def residual(self) -> np.ndarray:
        """Residual in units of the noise; for colour images that of the sum of the channels."""
        left = self.noisy - self.denoised
        if not self.is_colour:
            return left / self.noise_std
        return left.sum(axis=2) / np.sqrt(np.square(self.noise_std).sum(axis=2))

    @classmethod
    def from_signal(
        cls,
        signal: Any,
        *,
        mask: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        show_std: bool = False,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Denoise an image and plot it.

        Parameters
        ----------
        signal : array-like of shape (height, width) or (height, width, 3)
            Observed image.
        mask, sample_weight
            As in `SmoothDenoiser.fit`.
        show_std : bool, default=False
            Also plot the posterior standard deviation.
        ax : sequence of matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options : dict
            Parameters of `SmoothDenoiser`.

        Returns
        -------
        display : ImageDisplay
        """
        denoiser = SmoothDenoiser(**{"with_std": show_std, **options})
        _check_image("signal", _channels_last(signal, denoiser.channel_axis))
        denoiser.fit(signal, mask=mask, sample_weight=sample_weight)
        return cls.from_estimator(denoiser, signal, show_std=show_std, ax=ax)

    @classmethod
    def from_estimator(
        cls, denoiser: SmoothDenoiser, signal: Any, *, show_std: bool = False, ax: Any = None
    ) -> Self:
        """Plot the result of a fitted denoiser.

        Parameters
        ----------
        denoiser : SmoothDenoiser
            Fitted to `signal`.
        signal : array-like of shape (height, width) or (height, width, 3)
            Observed image.
        show_std : bool, default=False
            Also plot the posterior standard deviation.
        ax : sequence of matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ImageDisplay
        """
        check_is_fitted(denoiser)
        check_bool("show_std", show_std)
        if show_std and not hasattr(denoiser, "std_"):
            raise ValueError("show_std=True needs a denoiser fitted with with_std=True.")
        axis = denoiser.channel_axis
        noise = np.asarray(denoiser.noise_std_)
        display = cls(
            noisy=_channels_last(signal, axis),
            denoised=_channels_last(denoiser.signal_, axis),
            noise_std=noise if noise.ndim < 2 else _channels_last(noise, axis),
            std=_channels_last(denoiser.std_, axis) if show_std else None,
        )
        return display.plot(ax)

    def plot(
        self,
        ax: Any = None,
        *,
        limits: tuple[float, float] | None = None,
        residual_limit: float = 3.0,
        cmap: str = "gray",
    ) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, optional
            Three axes, or four with a standard deviation; a new figure by default.
        limits : tuple of float, optional
            Values of black and white. By default the range of the data type for integers, such
            as 0 to 255, otherwise the range of the denoised image.
        residual_limit : float, default=3.0
            Limit of the colour scale of the residual, in units of the noise.
        cmap : str, default="gray"
            Colour map of grey images.

        Returns
        -------
        display : ImageDisplay
        """
        residual_limit = check_positive("residual_limit", residual_limit)
        low, high = self._limits() if limits is None else limits
        if not low < high:
            raise ValueError(f"limits must be two increasing numbers; got {limits!r}.")
        n_panels = 3 if self.std is None else 4
        height, width = self.noisy.shape[:2]
        scale = 3.6 / max(height, width)  # the longer side of a panel has 3.6 inches
        self.figure_, self.ax_ = get_axes(
            ax,
            n_panels,
            "the observed image, the denoised one and the residual"
            + ("" if self.std is None else ", and the standard deviation"),
            ncols=n_panels,
            figsize=(n_panels * (width * scale + 0.25) + 0.6, height * scale + 0.9),
        )
        what = "residual of brightness / noise std" if self.is_colour else "residual / noise std"
        limit = residual_limit
        self.images_ = [
            self._show_image(0, self.noisy, "observed", (low, high), cmap),
            self._show_image(1, self.denoised, "denoised", (low, high), cmap),
            self._show_map(2, self.residual, what, cmap="RdBu_r", vmin=-limit, vmax=limit),
        ]
        if self.std is not None:
            spread = self.std / self.noise_std
            spread = spread.mean(axis=2) if self.is_colour else spread
            title = "posterior std / noise std"
            self.images_.append(self._show_map(3, spread, title, cmap="viridis", vmin=0.0))
        return self

    def _show_image(
        self, panel: int, values: np.ndarray, title: str, limits: tuple[float, float], cmap: str
    ) -> Any:
        """Show the observed or the denoised image."""
        low, high = limits
        if self.is_colour:
            bounded = np.clip((values - low) / (high - low), 0.0, 1.0)
            return self._show(panel, np.nan_to_num(bounded, nan=1.0), title)
        return self._show(panel, values, title, cmap=cmap, vmin=low, vmax=high)

    def _show_map(self, panel: int, values: np.ndarray, title: str, **colours: Any) -> Any:
        """Show a map in units of the noise, with a colour bar."""
        image, axes = self._show(panel, values, title, **colours), self.ax_[panel]
        # An inset has the height of the image for any aspect ratio of the axes.
        bar = add_colorbar(axes, image, cax=axes.inset_axes((1.03, 0.0, 0.05, 1.0)))
        bar.ax.tick_params(labelsize=8 * compute_text_scale(axes))
        return image

    def _show(self, panel: int, values: np.ndarray, title: str, **colours: Any) -> Any:
        axes = self.ax_[panel]
        image = axes.imshow(values, **colours)
        axes.set_title(title, fontsize=STYLE.title_size * compute_text_scale(axes), loc="left")
        axes.set(xticks=[], yticks=[])
        return image

    def _limits(self) -> tuple[float, float]:
        if self.noisy.dtype.kind in "iu":
            found = np.iinfo(self.noisy.dtype)
            if found.bits <= 16 and self.noisy.dtype.kind == "u":
                return 0.0, float(found.max)
        low, high = float(np.nanmin(self.denoised)), float(np.nanmax(self.denoised))
        return (low, high) if low < high else (low - 0.5, high + 0.5)


def _channels_last(values: Any, channel_axis: Any) -> np.ndarray:
    array = np.asarray(values)
    axis = resolve_channel_axis(None, array.shape, channel_axis)
    return array if axis is None else np.moveaxis(array, axis, -1)


def _check_image(name: str, values: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    array = np.asarray(values)
    is_image = array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)
    if not is_image or array.dtype.kind not in "biuf":
        hint = {
            1: " For a one-dimensional signal use SignalDisplay.",
            3: " Plot volumes, or more than three channels, one slice at a time.",
        }.get(array.ndim, "")
        raise ValueError(
            f"{name} must be a grey image, or a colour image with three channels on its last axis, "
            f"of real numbers; got an array of shape {array.shape} and type {array.dtype}.{hint}"
        )
    if shape is not None and array.shape != shape:
        raise ValueError(
            f"{name} must have the shape of the noisy image, {shape}; got {array.shape}."
        )
    return array
