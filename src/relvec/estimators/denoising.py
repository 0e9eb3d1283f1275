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
from relvec._signals import make_wrapper
from relvec._typing import ArrayLike
from relvec.denoising.blend import Denoised
from relvec.denoising.channel import Scheme, denoise_channel, fit_plain_model
from relvec.denoising.layout import (
    Layout,
    Parts,
    can_rotate_colours,
    count_observed,
    read_layout,
    read_weights,
)
from relvec.denoising.noise import have_equal_noise, resolve_noise
from relvec.denoising.padding import BOUNDARIES
from relvec.denoising.plain import PlainModel
from relvec.denoising.transforms import resolve_transforms
from relvec.denoising.tuning import DEFAULT, DenoisingTuning
from relvec.estimators._options import check_options, option, with_options
from relvec.estimators._progress import who_is_told
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
    """Remove white noise from signals, images and volumes, with error bars.

    The smooth relevance vector machine of Schmolck and Everson (2007): the signal is a sparse
    combination of basis functions (wavelets or cosines; *atoms* in signal processing). Their
    precisions maximise the evidence (marginal likelihood) with a penalty on effective degrees of
    freedom. For an orthonormal transform this is a shrinkage rule in closed form, so a fit costs
    little more than the transform.

    The default adds three things to this plain model. Neighbouring coefficients share a
    precision. The result is averaged over shifts of the transform (cycle spinning). And several
    transforms, for jumps, peaks and oscillations, are averaged with the weights that minimise
    Stein's unbiased risk estimate (SURE).

    Parameters
    ----------
    mode : {"quality", "plain"}, default="quality"
        "plain" is the model under one orthonormal transform: several times faster, and `model_` is
        then the fit itself.
    dictionary : str or list of str, default="auto"
        "auto" averages several transforms ("sym8" in plain mode). Otherwise an orthogonal wavelet
        ("haar", "db2", "sym8", "coif3", ...), "cosine", or a list of these to average.
    prior : {"aic", "bic", "ric", "flat"} or Prior, default="bic"
        Penalty per effective degree of freedom.
    noise_std : {"auto", "envelope", "mad", "patches", "profile"}, float or array, default="auto"
        Standard deviation of the noise: a number, or an array shaped like the signal, if it is
        known. Otherwise a method of `estimate_noise`, or "profile", which maximises the evidence of
        the plain model over the noise variance as well.
    neighbours : int or "auto", default="auto"
        Odd number of coefficients along each axis that share a precision; 1 for none. "auto"
        depends on the transform. Not used in plain mode.
    level : int, optional
        Number of levels of the wavelet transform in plain mode. By default at least 16
        approximation coefficients are left.
    boundary : {"symmetric", "reflect", "constant", "periodic"}, default="symmetric"
        How the signal is extended beyond its ends. The plain mode is always periodic.
    channel_axis : int, None or "auto", default="auto"
        Axis of colours or channels, each denoised separately; also the axis of the images in a
        stack. "auto" finds colours (the last of three axes, of length 3 or 4), the columns of a
        data frame, and the two to four columns of a long array. None if there are no channels.
    decorrelate : bool, default=True
        Denoise brightness and two colour differences instead of red, green and blue, if the
        noise of all three is about equal.
    with_std : bool, default=True
        Whether to compute `std_`, which adds 50 to 80 % to the time.
    n_jobs : int, optional
        Number of channels denoised at the same time; -1 uses all processors.
    progress : bool or callable, default=False
        Report the progress of large signals, which are denoised in tiles. True writes to the
        terminal; a function is called with the number of tiles done and their total.
    tuning : relvec.denoising.DenoisingTuning, optional
        Sizes of tiles and other constants that rarely need to be changed.

    Attributes
    ----------
    signal_ : ndarray
        Denoised signal, in the units and shape of the input.
    std_ : ndarray
        Posterior standard deviation of every sample of `signal_`, without the noise.
    noise_std_ : float or ndarray
        Standard deviation of the noise: a number, one per channel, or one per sample if it was
        given so. For rotated colours it is computed from brightness and colour differences, so
        red and blue have equal values.
    noise_level_ : NoiseLevel, list of NoiseLevel or None
        Reliability of the estimated noise level; None if the noise was given.
    effective_dof_ : float
        Effective degrees of freedom.
    transforms_ : list of str
        Names of the transforms.
    transform_weights_ : ndarray of shape (n_transforms,) or (n_parts, n_transforms)
        Weight of each transform in the average, for each part if the signal has several: channels,
        real and imaginary parts, or brightness and two colour differences.
    transform_mse_ : ndarray, shaped like `transform_weights_`
        Stein's unbiased estimate of the mean squared error of each transform alone. The errors of
        these estimates are strongly correlated: compare them with each other. NaN in plain mode.
    estimated_mse_ : float or ndarray of shape (n_parts,)
        The same for the weighted average.

    See Also
    --------
    denoise : The same as a function.
    estimate_noise : The noise level alone.
    SparseBayesRegressor : Regression with any basis, such as `WaveletBasis`, `CosineBasis` and
        their unions.

    References
    ----------
    Schmolck and Everson (2007), Smooth relevance vector machine: a smoothness prior
    extension of the RVM, Machine Learning 68. Schmolck (2008), Smooth relevance vector machines,
    chapter 2. Donoho and Johnstone (1994), Ideal spatial adaptation by wavelet shrinkage,
    Biometrika 81. Stein (1981), Estimation of the mean of a multivariate normal distribution,
    Annals of Statistics 9. Coifman and Donoho (1995), Translation-invariant de-noising. Cai
    (1999), Adaptive wavelet estimation: a block thresholding and oracle inequality approach,
    Annals of Statistics 27.

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
            Evenly spaced samples in one, two or more dimensions, with or without channels, real
            or complex. NaN counts as missing.
        y : None
            Not used.
        x : array-like of shape (n_samples,), optional
            Positions of the samples of a one-dimensional signal, if they are not in order or not
            evenly spaced. The samples are sorted by `x` and then treated as evenly spaced: the
            noise stays white, but the signal becomes slightly less smooth.
        mask : array-like of bool, shaped like the signal without channels, optional
            False where a sample is missing and is to be interpolated.
        sample_weight : array-like, shaped like the signal without channels, optional
            Relative precision: the noise variance is inversely proportional to it. Zero counts as
            missing.

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
        """Denoise a signal and return the result in the same container type.

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
            In the same container type as `X`.
        """
        self._denoise(X, x, mask, sample_weight)
        return make_wrapper(X)(self.signal_)

    def transform(
        self,
        signal: Any,
        *,
        x: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any:
        """Denoise another signal with the noise level of the fitted one.

        Parameters
        ----------
        signal : array-like
            A signal with as many axes and channels as the fitted one, of any length.
        x, mask, sample_weight
            As in `fit`.

        Returns
        -------
        denoised : array
            In the same container type as `signal`.

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
        return make_wrapper(signal)(other.signal_)

    @property
    def model_(self) -> PlainModel | list[PlainModel]:
        """The plain model: one orthonormal transform in closed form, at the same noise level.

        In plain mode it is the fit itself. In quality mode use it to see which coefficients are
        not zero, and for the evidence. A list if there are channels.

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
                fit_plain_model(channel, self._transform, self.level) for channel in self._channels
            ]
        return self._models[0] if len(self._models) == 1 else self._models

    def predict_interval(self, coverage: float = 0.95) -> np.ndarray:
        """Compute a posterior interval for every sample of the true signal, without the noise.

        Parameters
        ----------
        coverage : float, default=0.95
            Posterior probability of the interval, between 0 and 1.

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
            raise ValueError(
                "predict_interval needs a real signal; got a complex one. Use std_, the root of "
                "the summed variances of the real and imaginary parts."
            )
        probability = check_probability("coverage", coverage)
        return GaussianPrediction(self.signal_, self.std_**2).interval(probability)

    def __sklearn_tags__(self) -> Any:
        """Declare which inputs are accepted."""
        tags = super().__sklearn_tags__()
        # one-dimensional signals are accepted too, but the tag for them would exclude others
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
        """Denoise `signal`, into `out` if given, with the `known` noise of a fitted signal."""
        prior = self._resolve_prior()
        layout, values, observed = read_layout(signal, self.channel_axis, x, mask)
        # the rotation of colours keeps noise white only if its level is the same in all three
        if self.decorrelate and can_rotate_colours(values, layout):
            tuning = self.tuning or DEFAULT
            is_rotated = have_equal_noise(values, layout, self.noise_std, tuning)
            layout = replace(layout, is_rotated=is_rotated)
        weights, observed = read_weights(sample_weight, layout, observed)
        values = layout.split(values)
        counts = count_observed(values, observed)
        penalties = [float(prior.bind(count).penalty) for count in counts]
        parts = Parts(layout, values, observed, weights, penalties)
        scheme = self._resolve_scheme(layout.spatial_shape)
        variances, levels = resolve_noise(parts, self.noise_std, scheme, known, stacklevel=4)
        self._layout, self._variances = layout, variances
        self._channels = parts.channels(variances)
        self._transform = scheme.plain_transform
        self.transforms_ = [choice.label for choice in scheme.transforms]
        self._publish(self._run(scheme, out), levels)

    def _resolve_scheme(self, shape: tuple[int, ...]) -> Scheme:
        is_plain = self.mode == "plain"
        return Scheme(
            transforms=resolve_transforms(
                self.dictionary, self.neighbours, shape, is_plain=is_plain
            ),
            boundary=self.boundary,
            is_plain=is_plain,
            level=self.level,
            want_variance=self.with_std,
            tuning=self.tuning or DEFAULT,
        )

    def _run(self, scheme: Scheme, out: Any) -> list[Denoised]:
        progress = who_is_told(self.progress)
        outputs = [None] * len(self._channels) if out is None else self._layout.split_output(out)
        if len(outputs) == 1:
            channel = self._channels[0]
            return [denoise_channel(channel, scheme, out=outputs[0], progress=progress)]
        # threads: the transforms release the interpreter lock, and no signal is copied
        return list(
            Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(denoise_channel)(channel, scheme, out=output, progress=progress)
                for channel, output in zip(self._channels, outputs, strict=True)
            )
        )

    def _publish(self, results: list[Denoised], levels: list[NoiseLevel] | None) -> None:
        layout = self._layout
        means, variances, effective_dof, *quality = zip(*results, strict=True)
        self.signal_ = layout.join(list(means))
        if self.with_std:
            self.std_ = np.sqrt(layout.join_variances(list(variances)))
        elif hasattr(self, "std_"):
            del self.std_
        self.noise_std_ = layout.noise_std([channel.noise_variance for channel in self._channels])
        self.noise_level_ = levels[0] if levels is not None and len(levels) == 1 else levels
        self.effective_dof_ = sum(effective_dof)
        each = 0 if len(results) == 1 else slice(None)
        self.transform_weights_, self.transform_mse_, self.estimated_mse_ = (
            np.array(values)[each] for values in quality
        )
        self._models = []

    def _resolve_prior(self) -> Prior:
        """Check the options and return the prior."""
        check_options(self)
        if self.mode == "plain" and self.neighbours not in ("auto", 1):
            raise ValueError(
                "In plain mode every coefficient has its own precision; got "
                f'neighbours={self.neighbours!r}. Omit neighbours, or use mode="quality".'
            )
        if self.level is not None and self.mode != "plain":
            raise ValueError(
                f'level needs mode="plain"; got level={self.level!r} and mode={self.mode!r}. '
                "Omit level: in quality mode the number of levels follows from the signal's size."
            )
        prior = resolve_prior(self.prior)
        if prior.keeps_all_atoms:
            raise ValueError(
                f"The closed form needs a penalty on degrees of freedom; got {prior}. Use "
                'prior="bic", another SmoothnessPrior, or "flat".'
            )
        return prior
