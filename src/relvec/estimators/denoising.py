"""The smooth relevance vector machine for signals, images and volumes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_bool, check_choice, check_integer
from relvec._signals import as_numbers, like
from relvec._typing import ArrayLike, Vector
from relvec.denoising.canvas import BOUNDARIES
from relvec.denoising.channel import Channel, Denoised, denoise_channel
from relvec.denoising.gaps import fill
from relvec.denoising.plain import PlainModel, fit_plain, make_dictionary
from relvec.denoising.recipes import Recipe, choose_recipes
from relvec.denoising.tiles import SIDE, stream
from relvec.estimators._layout import Layout, counts_of_observed, read_layout, read_weights
from relvec.estimators._noise import (
    find_noise,
    given_variance,
    pooled,
    variance_of,
    warn_about,
)
from relvec.estimators._progress import Terminal
from relvec.noise import NoiseLevel
from relvec.priors import Prior, SmoothnessPrior, resolve_prior

__all__ = ["SmoothDenoiser", "denoise"]

MODES = ("quality", "plain")
SPECIAL = ("auto", "cosine")
"""What may stand for a dictionary besides wavelets."""
PLAIN = "sym8"
"""Transform of the plain model unless another is asked for."""


class SmoothDenoiser(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Remove white noise from signals, images and volumes, and say how sure it is.

    The smooth relevance vector machine of Schmolck and Everson: the signal is a sparse
    combination of atoms (wavelets, cosines), each degree of freedom has a price, and the
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
        Price of a degree of freedom.
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
        images of a stack. "auto" is the last axis of an array with three axes if that has three
        or four entries: pass None if such an array is a volume.
    decorrelate : bool, default=True
        Denoise brightness and two colour differences instead of red, green and blue.
    with_std : bool, default=True
        Whether to compute `std_`, which costs about as much as the rest.
    n_jobs : int, optional
        Channels denoised at the same time; -1 uses all processors.
    progress : bool or callable, default=False
        Report on long work, which is done in tiles: True writes to the terminal; a function is
        called with the number of tiles done and the number of all.

    Attributes
    ----------
    signal_ : ndarray
        Denoised signal, in the units and shape of the input.
    std_ : ndarray
        Posterior standard deviation of every sample of `signal_`, noise not included.
    noise_std_ : float or ndarray
        Standard deviation of the noise: a number, one per channel, or one per sample if given
        so.
    noise_level_ : NoiseLevel, list of NoiseLevel or None
        What is known about the reliability of an estimated noise level; None if it was given.
    degrees_of_freedom_ : float
        Effective number of parameters spent.
    transforms_ : list of str
        The transforms that were tried.
    weights_ : ndarray of shape (n_transforms,) or (n_parts, n_transforms)
        Their weights in the blend, for each part if the signal has several: channels, real
        and imaginary parts, or brightness and two colour differences.
    expected_errors_ : ndarray, shaped like `weights_`
        Unbiased estimate of the mean squared error of each transform alone. The estimates
        share most of their own error: compare them with each other. NaN in plain mode.

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

    def __init__(
        self,
        mode: str = "quality",
        *,
        dictionary: str | Sequence[str] = "auto",
        prior: str | Prior | None = "bic",
        noise_std: str | float | ArrayLike = "auto",
        neighbours: int | str = "auto",
        level: int | None = None,
        boundary: str = "symmetric",
        channel_axis: int | str | None = "auto",
        decorrelate: bool = True,
        with_std: bool = True,
        n_jobs: int | None = None,
        progress: bool | Callable[[int, int], None] = False,
    ) -> None:
        self.mode = mode
        self.dictionary = dictionary
        self.prior = prior
        self.noise_std = noise_std
        self.neighbours = neighbours
        self.level = level
        self.boundary = boundary
        self.channel_axis = channel_axis
        self.decorrelate = decorrelate
        self.with_std = with_std
        self.n_jobs = n_jobs
        self.progress = progress

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
            the noise stays white, at the price of a signal that is a little less smooth.
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
        """
        check_is_fitted(self)
        other = SmoothDenoiser(**{**self.get_params(), "with_std": False})
        other._denoise(signal, x, mask, sample_weight, known=(self._layout, self._variances))
        return like(signal)(other.signal_)

    @property
    def model_(self) -> PlainModel | list[PlainModel]:
        """The plain model at the noise level found: one orthonormal transform in closed form.

        In plain mode it is the fit. In quality mode it is the model that the fit refines: use
        it to see which components carry the signal, and for the evidence. A list if there are
        channels.
        """
        check_is_fitted(self)
        transform = self._recipes[0].transform if self.mode == "plain" else PLAIN
        models = [_plain_model(channel, transform, self.level) for channel in self._channels]
        return models[0] if self._layout.channel_axis is None and len(models) == 1 else models

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
        prior = self._check_options()
        layout, values, observed = read_layout(
            signal, self.channel_axis, x, mask, check_bool("decorrelate", self.decorrelate)
        )
        weights, observed = read_weights(sample_weight, layout, observed)
        parts = layout.split(values)
        recipes = self._resolve_recipes(layout.spatial_shape)
        prices = [prior.smoothness(count) for count in counts_of_observed(parts, observed)]
        given = given_variance(self.noise_std, layout.shape, layout.channel_axis)
        levels = None
        if given is not None:
            variances = layout.split_variances(given)
        elif known is not None:
            variances = known[0].carry_over(known[1], layout)
        else:
            transform = recipes[0].transform if self.mode == "plain" else PLAIN
            levels = [
                find_noise(part, observed, weights, str(self.noise_std), transform, self.level, c)
                for part, c in zip(parts, prices, strict=True)
            ]
            levels = levels if not layout.is_complex else pooled(levels)
            variances = [variance_of(level.std) for level in levels]
            warn_about(levels, parts, observed, layout)
        self._layout, self._recipes, self._variances = layout, recipes, variances
        self._channels = [
            Channel(part, variance if weights is None else variance / weights, c, observed)
            for part, variance, c in zip(parts, variances, prices, strict=True)
        ]
        self._publish(self._run(out), levels)

    def _run(self, out: Any) -> list[Denoised]:
        progress = Terminal() if self.progress is True else self.progress or None
        places = [None] * len(self._channels) if out is None else self._layout.split_out(out)
        work = partial(
            denoise_channel,
            recipes=self._recipes,
            boundary=self.boundary,
            is_plain=self.mode == "plain",
            level=self.level,
            want_variance=self.with_std,
            progress=progress,
        )
        if len(places) == 1:
            return [work(self._channels[0], out=places[0])]
        # transforms let go of the interpreter, and threads need not copy the signals
        return list(
            Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(work)(channel, out=place)
                for channel, place in zip(self._channels, places, strict=True)
            )
        )

    def _publish(self, results: list[Denoised], levels: list[NoiseLevel] | None) -> None:
        layout = self._layout
        self.signal_ = layout.join([result.mean for result in results])
        if self.with_std:
            variances = [result.variance for result in results if result.variance is not None]
            self.std_ = np.sqrt(layout.join_variances(variances))
        elif hasattr(self, "std_"):
            del self.std_
        self.noise_std_ = layout.noise_std([channel.noise_variance for channel in self._channels])
        self.noise_level_ = levels[0] if levels is not None and len(levels) == 1 else levels
        self.degrees_of_freedom_ = sum(result.freedom for result in results)
        self.transforms_ = [recipe.label for recipe in self._recipes]
        is_single = len(results) == 1
        self.weights_ = np.array([result.weights for result in results])[0 if is_single else ...]
        self.expected_errors_ = np.array([result.errors for result in results])[
            0 if is_single else ...
        ]

    def _resolve_recipes(self, shape: tuple[int, ...]) -> list[Recipe]:
        given: Any = self.dictionary
        names = [given] if isinstance(given, str) else list(given) if np.iterable(given) else []
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError(
                'dictionary must be "auto", a wavelet, "cosine" or a list of these; '
                f"got {self.dictionary!r}."
            )
        for name in names:
            if difflib.get_close_matches(name, SPECIAL, cutoff=0.75):
                check_choice("dictionary", name, SPECIAL)
        if self.mode == "plain":
            if len(names) > 1:
                raise ValueError(
                    f"The plain mode uses one transform; got {names}. To combine several in one "
                    'model, use SparseBayesRegressor(WaveletBasis("haar") + CosineBasis()).'
                )
            names = [PLAIN] if names == ["auto"] else names
            return [Recipe(names[0], 1)]
        if isinstance(self.neighbours, str):
            check_choice("neighbours", self.neighbours, ("auto",))
            width = None
        else:
            width = check_integer("neighbours", self.neighbours, minimum=1)
            if width % 2 == 0:
                raise ValueError(
                    f"neighbours must be odd, with the coefficient in the middle; got {width}."
                )
        return choose_recipes(names, shape, width)

    def _check_options(self) -> Prior:
        check_choice("mode", self.mode, MODES)
        check_choice("boundary", self.boundary, BOUNDARIES)
        check_bool("with_std", self.with_std)
        if not callable(self.progress):
            check_bool("progress", self.progress, also="or a function")
        if self.level is not None:
            check_integer("level", self.level, minimum=0)
            if self.mode != "plain":
                raise ValueError('level is for mode="plain"; other modes choose their own depth.')
        prior = resolve_prior(self.prior)
        hyper = prior.hyperprior()
        if hyper.shape or hyper.rate:
            raise ValueError(
                f"The closed form needs a price on degrees of freedom; got {prior}. Use "
                'prior="bic", another SmoothnessPrior, or "flat".'
            )
        return prior


def denoise(
    signal: Any,
    *,
    return_std: bool = False,
    x: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    out: Any = None,
    n_samples: int | None = None,
    **options: Any,
) -> Any:
    """Remove white noise from a signal, image or volume.

    Parameters
    ----------
    signal : array-like or iterator
        Samples at equal distances in one, two or more dimensions: a list, an array of any
        numbers, a pandas or polars Series, a colour image, a memory-mapped file. NaN counts as
        missing. An iterator of consecutive pieces of a line gives an iterator of pieces.
    return_std : bool, default=False
        Also return the posterior standard deviation of every sample.
    x, mask, sample_weight
        Positions, gaps and relative precisions: see `SmoothDenoiser.fit`.
    out : array, optional
        Where to put the result, for instance a memory-mapped file as large as the signal.
    n_samples : int, optional
        Length of the whole signal, for an iterator: the price of a component depends on it.
    **options : dict
        Parameters of `SmoothDenoiser`: ``mode``, ``dictionary``, ``prior``, ``noise_std``,
        ``neighbours``, ``boundary``, ``channel_axis``, ``n_jobs``, ``progress``, ...

    Returns
    -------
    denoised : array
        In the container the signal came in, as floating-point numbers.
    std : array
        Only if `return_std`.

    See Also
    --------
    SmoothDenoiser : The same as an estimator, with everything it found.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import denoise
    >>> rng = np.random.default_rng(0)
    >>> t = np.linspace(0, 1, 2000)
    >>> noisy = np.sin(2 * np.pi * 3 * t) + 0.3 * rng.normal(size=2000)
    >>> clean = denoise(noisy)
    >>> bool(np.mean((clean - np.sin(2 * np.pi * 3 * t)) ** 2) < 0.002)
    True
    """
    check_bool("return_std", return_std)
    if isinstance(signal, Iterator):
        if return_std or out is not None or any(v is not None for v in (x, mask, sample_weight)):
            raise ValueError(
                "A signal that arrives in pieces takes none of return_std, out, x, mask and "
                "sample_weight; mark missing samples by NaN."
            )
        return _denoise_stream(signal, n_samples, options)
    if n_samples is not None:
        raise ValueError("n_samples is for iterators; the length of this signal is known.")
    if isinstance(out, np.ndarray) and np.shares_memory(out, np.asarray(np.ma.getdata(signal))):
        raise ValueError(
            "out must not overlap with the signal, which is read again where tiles overlap. "
            "Pass another array."
        )
    denoiser = SmoothDenoiser(**{**options, "with_std": return_std})
    denoiser._denoise(signal, x, mask, sample_weight, out)
    wrap = like(signal)
    denoised = wrap(denoiser.signal_) if out is None else out
    return (denoised, wrap(denoiser.std_)) if return_std else denoised


def _denoise_stream(
    pieces: Iterator[Any], n_samples: int | None, options: dict[str, Any]
) -> Iterator[Vector]:
    """Denoise a line that arrives in pieces, its noise level taken from the first tile."""
    denoiser = SmoothDenoiser(**{**options, "with_std": False, "channel_axis": None})
    denoiser._check_options()
    denoiser._resolve_recipes((SIDE[1],))
    is_known = not isinstance(denoiser.noise_std, str)
    if is_known and np.ndim(denoiser.noise_std):
        raise ValueError(
            "The noise of a signal that arrives in pieces must be one number or the name of an "
            f"estimate; got noise_std of shape {np.shape(denoiser.noise_std)}."
        )
    given_variance(denoiser.noise_std, (SIDE[1],), None)
    total = SIDE[1] if n_samples is None else check_integer("n_samples", n_samples, minimum=2)
    price = denoiser._check_options().smoothness(total)
    fixed = SmoothDenoiser(**{**denoiser.get_params(), "prior": SmoothnessPrior(price)})
    found: list[tuple[Layout, list[float]]] = []

    def work(tile: Vector) -> Vector:
        if (is_known or found) and np.count_nonzero(~np.isnan(tile)) < 2:
            return tile  # a gap as wide as a tile: nothing is known
        fixed._denoise(tile, None, None, None, None, found[0] if found else None)
        found[:] = [(fixed._layout, fixed._variances)]
        denoised: Vector = fixed.signal_
        return denoised

    return stream(map(_as_line, pieces), work)


def _as_line(piece: Any) -> Vector:
    """View a piece of a stream, or a single sample, as real numbers."""
    values = as_numbers([piece] if np.ndim(piece) == 0 else piece)
    if values.ndim > 1 or values.dtype.kind == "c":
        raise ValueError(
            "A signal that arrives in pieces must be a line of real numbers; got a piece of "
            f"shape {values.shape} and type {values.dtype}."
        )
    return values.astype(np.float64)


def _plain_model(channel: Channel, transform: str, level: int | None) -> PlainModel:
    values = np.array(channel.values, dtype=np.float64)
    observed = ~np.isnan(values)
    if channel.observed is not None:
        observed &= channel.observed
    dictionary = make_dictionary(values.shape, transform, level)
    noise = float(np.mean(channel.noise_variance))
    return fit_plain(fill(values, observed), dictionary, noise, channel.c)
