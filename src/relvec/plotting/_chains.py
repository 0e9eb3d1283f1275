"""Draws of Markov chains: checks, and access to those of a fitted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_choice
from relvec._typing import Matrix
from relvec.describing import get_final_estimator
from relvec.sampling import compute_r_hat

__all__ = ["check_draws", "choose_draws", "describe_draws", "get_traces"]


def get_traces(estimator: Any, display: str) -> Mapping[str, Any]:
    """Return the traces of a sampled model, or of the last step of a pipeline.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator or pipeline.
    display : str
        Name of the display that needs them, for the error.
    """
    model = get_final_estimator(estimator)
    if hasattr(model, "traces_"):
        return dict(model.traces_)
    check_is_fitted(estimator)
    raise TypeError(
        f"{display} needs an estimator that samples its posterior and stores the draws in "
        f"traces_; {type(model).__name__} has no such attribute."
    )


MOST_SHOWN = 6
"""Largest number of quantities that are drawn if none are named."""


def choose_draws(draws: Mapping[str, Any], names: str | Sequence[str] | None) -> dict[str, Any]:
    """Return the draws of the named quantities, in the order of the names.

    For None, of all up to `MOST_SHOWN`; of more, those that are not values of functions, and values
    of the largest R-hat.
    """
    if names is None and len(draws) <= MOST_SHOWN:
        return dict(draws)
    if names is None:
        names = [name for name in draws if "[" not in name or name.startswith("log_length")]
        names = names[:MOST_SHOWN]
        rest = [name for name in draws if name not in names]
        r_hat = {name: float(np.nan_to_num(compute_r_hat(draws[name]))) for name in rest}
        worst = sorted(rest, key=r_hat.__getitem__, reverse=True)
        names += worst[: MOST_SHOWN - len(names)]
    listed = [names] if isinstance(names, str) else list(names)
    return {check_choice("names", name, draws): draws[name] for name in listed}


def check_draws(draws: Mapping[str, Any], least_chains: int = 1) -> dict[str, Matrix]:
    """Return the draws of each quantity as a matrix of shape (n_chains, n_draws)."""
    if not draws:
        raise ValueError("draws must contain at least one quantity; got none.")
    checked = {}
    for name, values in draws.items():
        array = np.asarray(values)
        if array.ndim != 2 or array.dtype.kind not in "biuf" or array.shape[1] < 2:
            raise ValueError(
                f"draws[{name!r}] must be numbers of shape (n_chains, n_draws) with two or more "
                f"draws; got an array of shape {array.shape} and type {array.dtype}."
            )
        if len(array) < least_chains:
            raise ValueError(
                f"draws[{name!r}] must have {least_chains} or more chains, which are compared; "
                f"got {len(array)}."
            )
        checked[str(name)] = array.astype(np.float64)
        if not np.isfinite(checked[str(name)]).all():
            raise ValueError(f"draws[{name!r}] must be finite; it contains NaN or infinity.")
    return checked


def describe_draws(r_hat: float, ess: float) -> str:
    """Return R-hat and effective sample size as the text of a title.

    Examples
    --------
    >>> describe_draws(1.00312, 812.3)
    'R-hat 1.003, ESS 812'
    """
    return "constant" if np.isnan(r_hat) else f"R-hat {r_hat:.3f}, ESS {ess:.0f}"
