"""The smooth relevance vector machine for signals, images and volumes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_bool, check_choice, check_integer, check_probability
from relvec._signals import like
from relvec._typing import ArrayLike
from relvec.denoising.blend import Denoised
from relvec.denoising.canvas import BOUNDARIES
from relvec.denoising.channel import Scheme, denoise_channel, plain_model
from relvec.denoising.layout import (
    Layout,
    Parts,
    counts_of_observed,
    may_rotate,
    read_layout,
    read_weights,
)
from relvec.denoising.noise import have_equal_noise, resolve_noise
from relvec.denoising.plain import PlainModel
from relvec.denoising.recipes import resolve_recipes
from relvec.denoising.tuning import DEFAULT, DenoisingTuning
from relvec.estimators._options import check_options, option, with_options
from relvec.estimators._progress import resolve_progress
from relvec.likelihoods import GaussianPrediction
from relvec.noise import NoiseLevel
from relvec.priors import Prior, resolve_prior

__all__ = ["SmoothDenoiser"]


def _check_level(name: str, value: Any) -> None:
    if value is not None:
        check_integer(name, value, minimum=0)


def _check_progress(name: str, value: Any) -> None:
    if not callable(value):
        check_bool(name, value, also="or a function")


def _check_tuning(name: str, value: Any) -> None:
    if not isinstance(value, DenoisingTuning | None):
        raise TypeError(f"{name} must be a DenoisingTuning or None; got {value!r}.")


@with_options
class SmoothDenoiser(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Remove white noise from signals, images and volumes, and say how sure it is.

    The smooth relevance vector machine of Schmolck and Everson: the signal is a sparse
    combination of atoms (wavelets, cosines), each degree of freedom has a penalty, and the
    evidence keeps what is worth it. Under an orthonormal transform this has a closed form, so
    the cost is that of the transform.

    The default improves on the plain model in three ways. Neighbouring coefficients share a
    precision. The result is averaged over shifts of the transform. And several transforms
    (for jumps, for peaks, for oscillations) are blended with the weights that minimise an
    unbiased estimate of the squared error.

    Parameters
    ----------
    mode : {"quality", "plain"}, default="quality"
        "plain" is the exact model under one orthonormal transform: several times faster, and
        `model_` is then the fit itself.
    dictionary : str or list of str, default="auto"
        "auto" blends complementary transforms ("sym8" in plain mode). Else the orthogonal
        wavelet ("haar", "db2", "sym8", "coif3", ...), or "cosine", or a list of them to blend.
    prior : {"aic", "bic", "ric", "flat"} or Prior, default="bic"
        Penalty of a degree of freedom.
    noise_std : {"auto", "envelope", "mad", "patches", "profile"}, float or array, default="auto"
        Standard deviation of the noise. A number or an array shaped like the signal if it is
        known. The names are those of `estimate_noise`; "profile" maximises the evidence over
        the noise as well, in the plain model.
    neighbours : int or "auto", default="auto"
        Odd number of coefficients along each axis that share a precision; 1 for none. "auto"
        depends on the transform. Not used in plain mode.
    level : int, optional
        How often the plain wavelet transform halves the signal. By default at least 16
        coefficients of the coarsest scale are left.
    boundary : {"symmetric", "reflect", "constant", "periodic"}, default="symmetric"
        How the signal goes on beyond its ends. The plain mode is always periodic.
    channel_axis : int, None or "auto", default="auto"
        Axis of colours or channels, each denoised by itself; also the axis that counts the
        images of a stack. "auto" finds colours (the last of three axes, of three or four
        entries), the columns of a data frame, and the two to four columns of a long array. Pass
        None if all axes are positions.
    decorrelate : bool, default=True
        Denoise brightness and two colour differences instead of red, green and blue, if the
        noise of all three is about equal.
    with_std : bool, default=True
        Whether to compute `std_`, which costs half to four fifths as much again.
    n_jobs : int, optional
        Channels denoised at the same time; -1 uses all processors.
    progress : bool or callable, default=False
        Report on long work, which is done in tiles: True writes to the terminal; a function is
        called with the number of tiles done and the number of all.
    tuning : relvec.denoising.DenoisingTuning, optional
        Sizes of tiles and other numbers of the search that hardly anybody needs to change.

    Attributes
    ----------
    signal_ : ndarray
        Denoised signal, in the units and shape of the input.
    std_ : ndarray
        Posterior standard deviation of every sample of `signal_`, noise not included.
    noise_std_ : float or ndarray
        Standard deviation of the noise: a number, one per channel, or one per sample if given
        so. Of colours it is computed back from brightness and differences, so that red and blue
        come out equal.
    noise_level_ : NoiseLevel, list of NoiseLevel or None
        What is known about the reliability of an estimated noise level; None if it was given.
    effective_dof_ : float
        Effective number of parameters spent.
    transforms_ : list of str
        The transforms that were tried.
    transform_weights_ : ndarray of shape (n_transforms,) or (n_parts, n_transforms)
        Their weights in the blend, for each part if the signal has several: channels, real
        and imaginary parts, or brightness and two colour differences.
    transform_errors_ : ndarray, shaped like `transform_weights_`
        Unbiased estimate of the mean squared error of each transform alone. The estimates
        share most of their own error: compare them with each other. NaN in plain mode.
    expected_error_ : float or ndarray of shape (n_parts,)
        The same for the blend.

    See Also
    --------
    denoise : The same as a function.
    estimate_noise : The noise level alone.
    SparseBayesRegressor : Any basis at any inputs, with `WaveletBasis`, `CosineBasis` and
        their unions.

    References
    ----------
    Schmolck and Everson (2007), Smooth relevance vector machine: a smoothness prior
    extension of the RVM, Machine Learning 68. Coifman and Donoho (1995), Translation-invariant
    de-noising. Cai (1999), Adaptive wavelet estimation: a block thresholding and oracle
    inequality approach, Annals of Statistics 27.

    Examples
    --------
    >>> from relvec import SmoothDenoiser
    >>> from relvec.datasets import make_noisy_signal
    >>> data = make_noisy_signal("blocks", 1024, snr=7, random_state=0)
    >>> denoiser = SmoothDenoiser().fit(data.noisy)
    >>> error = ((denoiser.signal_ - data.clean) ** 2).mean() / data.noise_std**2
    >>> bool(error < 0.1)
    True
    """

    mode: str = option(
        default="quality", check=partial(check_choice, choices=("quality", "plain")), kw_only=False
    )
    dictionary: str | Sequence[str] = option(default="auto")
    prior: str | Prior | None = option(default="bic")
    noise_std: str | float | ArrayLike = option(default="auto")
    neighbours: int | str = option(default="auto")
    level: int | None = option(default=None, check=_check_level)
    boundary: str = option(default="symmetric", check=partial(check_choice, choices=BOUNDARIES))
    channel_axis: int | str | None = option(default="auto")
    decorrelate: bool = option(default=True, check=check_bool)
    with_std: bool = option(default=True, check=check_bool)
    n_jobs: int | None = option(default=None)
    progress: bool | Callable[[int, int], None] = option(default=False, check=_check_progress)
    tuning: DenoisingTuning | None = option(default=None, check=_check_tuning)

    def fit(
        self,
        signal: Any,
        y: None = None,
        *,
        x: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Denoise a signal.

        Parameters
        ----------
        signal : array-like
            Samples at equal distances in one, two or more dimensions, with or without
            channels: numbers of any kind, real or complex. NaN counts as missing.
        y : None
            Not used.
        x : array-like of shape (n_samples,), optional
            Positions of the samples of a line, if they are not given in order or lie at
            unequal distances. The samples are taken in the order of `x` as if evenly spaced:
            the noise stays white, at the cost of a signal that is a little less smooth.
        mask : array-like of bool, shaped like the signal without channels, optional
            False where a sample is to be ignored and filled in.
        sample_weight : array-like, shaped like the signal without channels, optional
            The variance of the noise is inversely proportional to it; zero is missing.

        Returns
        -------
        self : object
        """
        self._denoise(signal, x, mask, sample_weight)
        return self

    def fit_transform(
        self,
        X: Any,
        y: None = None,
        *,
        x: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any:
        """Denoise a signal and return it, in the container it came in.

        Parameters
        ----------
        X : array-like
            The signal.
        y : None
            Not used.
        x, mask, sample_weight
            As in `fit`.

        Returns
        -------
        denoised : array
            In the container that `X` came in.
        """
        self._denoise(X, x, mask, sample_weight)
        return like(X)(self.signal_)

    def transform(
        self,
        signal: Any,
        *,
        x: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any:
        """Denoise another signal whose noise is that of the fitted one.

        Parameters
        ----------
        signal : array-like
            A signal with as many axes and channels as the fitted one, of any length.
        x, mask, sample_weight
            As in `fit`.

        Returns
        -------
        denoised : array
            In the container that `signal` came in.

        Examples
        --------
        >>> from relvec import SmoothDenoiser
        >>> from relvec.datasets import make_noisy_signal
        >>> data = make_noisy_signal("Blocks", 512, snr=7, random_state=0)
        >>> denoised = SmoothDenoiser().fit(data.noisy).transform(data.noisy[::-1])
        >>> bool(abs(denoised - data.clean[::-1]).mean() < 0.5 * data.noise_std)
        True
        """
        check_is_fitted(self)
        settings = {"with_std": False, "channel_axis": self._layout.channel_axis}
        other = SmoothDenoiser(**{**self.get_params(), **settings})
        other._denoise(signal, x, mask, sample_weight, known=(self._layout, self._variances))
        return like(signal)(other.signal_)

    @property
    def model_(self) -> PlainModel | list[PlainModel]:
        """The plain model at the noise level found: one orthonormal transform in closed form.

        In plain mode it is the fit. In quality mode it is the model that the fit refines: use
        it to see which components carry the signal, and for the evidence. A list if there are
        channels.

        Examples
        --------
        >>> from relvec import SmoothDenoiser
        >>> denoiser = SmoothDenoiser("plain", dictionary="haar", level=6, noise_std=0.1)
        >>> denoiser.fit([0.0] * 32 + [1.0] * 32).model_.n_components_
        2
        """
        check_is_fitted(self)
        if not self._models:  # type: ignore[has-type]  # set by every fit
            self._models = [
                plain_model(channel, self._transform, self.level) for channel in self._channels
            ]
        return self._models[0] if len(self._models) == 1 else self._models

    def predict_interval(self, coverage: float = 0.95) -> np.ndarray:
        """Interval around every sample of `signal_` that holds the true signal.

        Parameters
        ----------
        coverage : float, default=0.95
            Probability with which it does, between 0 and 1.

        Returns
        -------
        interval : ndarray of shape (*signal.shape, 2)
            Lower and upper ends.

        Examples
        --------
        >>> from relvec import SmoothDenoiser
        >>> from relvec.datasets import make_noisy_signal
        >>> data = make_noisy_signal("Blocks", 512, snr=7, random_state=0)
        >>> lower, upper = SmoothDenoiser().fit(data.noisy).predict_interval(0.95).T
        >>> bool(((lower < data.clean) & (data.clean < upper)).mean() > 0.9)
        True
        """
        check_is_fitted(self)
        if not hasattr(self, "std_"):
            raise AttributeError("Intervals need with_std=True in SmoothDenoiser.")
        if np.iscomplexobj(self.signal_):
            raise ValueError("A complex signal has no intervals; std_ is the radius of a disc.")
        share = check_probability("coverage", coverage)
        return GaussianPrediction(self.signal_, self.std_**2).interval(share)

    def __sklearn_tags__(self) -> Any:
        """Declare what is accepted."""
        tags = super().__sklearn_tags__()
        # lines are accepted too; the tag for them would say that nothing else is
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True
        return tags

    # ------------------------------------------------------------------ the work

    def _denoise(
        self,
        signal: Any,
        x: Any,
        mask: Any,
        sample_weight: Any,
        out: Any = None,
        known: tuple[Layout, list[float]] | None = None,
    ) -> None:
        """Denoise `signal` into `out`, with the noise found before in a signal like it."""
        prior = self._resolve_prior()
        layout, values, observed = read_layout(signal, self.channel_axis, x, mask)
        # of unequal levels white noise would not stay white
        if self.decorrelate and may_rotate(values, layout):
            tuning = self.tuning or DEFAULT
            is_rotated = have_equal_noise(values, layout, self.noise_std, tuning)
            layout = replace(layout, is_rotated=is_rotated)
        weights, observed = read_weights(sample_weight, layout, observed)
        values = layout.split(values)
        counts = counts_of_observed(values, observed)
        penalties = [float(prior.bind(count).penalty) for count in counts]
        parts = Parts(layout, values, observed, weights, penalties)
        scheme = self._resolve_scheme(layout.spatial_shape)
        variances, levels = resolve_noise(parts, self.noise_std, scheme, known, stacklevel=4)
        self._layout, self._variances = layout, variances
        self._channels = parts.channels(variances)
        self._transform = scheme.plain_transform
        self.transforms_ = [recipe.label for recipe in scheme.recipes]
        self._publish(self._run(scheme, out), levels)

    def _resolve_scheme(self, shape: tuple[int, ...]) -> Scheme:
        is_plain = self.mode == "plain"
        return Scheme(
            recipes=resolve_recipes(self.dictionary, self.neighbours, shape, is_plain=is_plain),
            boundary=self.boundary,
            is_plain=is_plain,
            level=self.level,
            want_variance=self.with_std,
            tuning=self.tuning or DEFAULT,
        )

    def _run(self, scheme: Scheme, out: Any) -> list[Denoised]:
        progress = resolve_progress(self.progress)
        places = [None] * len(self._channels) if out is None else self._layout.split_out(out)
        if len(places) == 1:
            channel = self._channels[0]
            return [denoise_channel(channel, scheme, out=places[0], progress=progress)]
        # transforms let go of the interpreter, and threads need not copy the signals
        return list(
            Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(denoise_channel)(channel, scheme, out=place, progress=progress)
                for channel, place in zip(self._channels, places, strict=True)
            )
        )

    def _publish(self, results: list[Denoised], levels: list[NoiseLevel] | None) -> None:
        layout = self._layout
        means, variances, freedom, *quality = zip(*results, strict=True)
        self.signal_ = layout.join(list(means))
        if self.with_std:
            self.std_ = np.sqrt(layout.join_variances(list(variances)))
        elif hasattr(self, "std_"):
            del self.std_
        self.noise_std_ = layout.noise_std([channel.noise_variance for channel in self._channels])
        self.noise_level_ = levels[0] if levels is not None and len(levels) == 1 else levels
        self.effective_dof_ = sum(freedom)
        each = 0 if len(results) == 1 else slice(None)
        self.transform_weights_, self.transform_errors_, self.expected_error_ = (
            np.array(values)[each] for values in quality
        )
        self._models = []

    def _resolve_prior(self) -> Prior:
        """Check the options, and return the prior that they name."""
        check_options(self)
        if self.mode == "plain" and self.neighbours not in ("auto", 1):
            raise ValueError(
                "The plain mode gives every coefficient a precision of its own; leave neighbours "
                f'out, or use mode="quality". Got neighbours={self.neighbours!r}.'
            )
        if self.level is not None and self.mode != "plain":
            raise ValueError('level is for mode="plain"; other modes choose their own depth.')
        prior = resolve_prior(self.prior)
        if prior.keeps_all:
            raise ValueError(
                f"The closed form needs a penalty on degrees of freedom; got {prior}. Use "
                'prior="bic", another SmoothnessPrior, or "flat".'
            )
        return prior
