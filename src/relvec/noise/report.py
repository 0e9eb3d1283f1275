"""An estimated noise level with its reliability."""

from __future__ import annotations

from dataclasses import dataclass

from relvec.noise.tuning import NoiseTuning

__all__ = ["NoiseLevel", "NoiseLevelWarning"]


class NoiseLevelWarning(UserWarning):
    """The estimated noise level may be wrong.

    Examples
    --------
    >>> import warnings
    >>> from relvec import estimate_noise
    >>> from relvec.noise import NoiseLevelWarning
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always", NoiseLevelWarning)
    ...     level = estimate_noise([1.0] * 64)
    >>> level, seen[0].category.__name__
    (0.0, 'NoiseLevelWarning')
    """


@dataclass(frozen=True)
class NoiseLevel:
    """An estimated noise level and its reliability.

    Parameters
    ----------
    std : float
        Standard deviation of the noise.
    standard_error : float
        Relative standard error due to the number of samples alone: 0.05 means 5 %.
    is_reliable : bool
        False if no transform shows a core of Gaussian coefficients: the signal is dense, or the
        noise is not white. About one good estimate in ten is marked unreliable, and a signal that
        is itself white noise is not detected.
    is_weak : bool
        True below 512 samples, or if the standard error exceeds 6 %.
    is_degenerate : bool
        True if no noise is found: the signal is constant, without noise, or rounded to steps
        larger than the noise. `std` is then zero.
    method : str
        "envelope", "mad", "patches", "differences" (of neighbours, if there are few values or many
        are missing) or "none".
    source : str
        Transform, and fraction of its coefficients, with the lowest bound.
    n_samples : int
        Number of values used.

    Examples
    --------
    >>> from relvec import estimate_noise
    >>> from relvec.datasets import make_noisy_signal
    >>> signal = make_noisy_signal("Doppler", 1024, snr=5, random_state=0)
    >>> level, report = estimate_noise(signal.noisy, return_report=True)
    >>> report.is_reliable, report.is_weak, report.method
    (True, False, 'envelope')
    >>> bool(abs(level / signal.noise_std - 1.0) < 0.1)
    True
    """

    std: float
    standard_error: float
    is_reliable: bool
    is_weak: bool
    is_degenerate: bool
    method: str
    source: str
    n_samples: int

    def advice(self) -> str:
        """Return what to do about this estimate, in a sentence or two.

        Examples
        --------
        >>> from relvec import estimate_noise
        >>> from relvec.datasets import make_noisy_signal
        >>> signal = make_noisy_signal("Doppler", 256, snr=5, random_state=0)
        >>> estimate_noise(signal.noisy, return_report=True)[1].advice()
        'A longer signal gives a better estimate; if you know the noise, pass noise_std.'
        """
        if self.is_degenerate:
            return "If there is noise, pass its standard deviation as noise_std."
        if not self.is_reliable:
            return (
                "If you know the noise, pass its standard deviation as noise_std; if it is not "
                "white, filter or resample the signal first."
            )
        if self.is_weak:
            return "A longer signal gives a better estimate; if you know the noise, pass noise_std."
        return "Nothing needs to be done."

    def warning(self) -> str | None:
        """Return the text of a warning and what to do, or None if there is none.

        With fewer than 512 samples `is_reliable` is not checked: see `is_weak`.

        Examples
        --------
        >>> from relvec import estimate_noise
        >>> from relvec.datasets import make_noisy_signal
        >>> signal = make_noisy_signal("Doppler", 1024, snr=5, random_state=0)
        >>> print(estimate_noise(signal.noisy, return_report=True)[1].warning())
        None
        """
        if self.is_degenerate:
            return (
                "No noise was found: the signal is constant, has no noise, repeats samples, or is "
                f"rounded to steps larger than the noise. {self.advice()}"
            )
        if not self.is_reliable and self.n_samples >= NoiseTuning.min_samples:
            return (
                f"The noise level {self.std:.3g} may be wrong: no part of the signal looks like "
                "pure white noise. It is too high if the signal is dense in every transform, and "
                f"too low if samples are repeated, rounded or filtered. {self.advice()}"
            )
        return None
