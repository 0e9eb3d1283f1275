"""Options of estimators that sample the posterior."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from relvec._checks import check_bool, check_choice, check_integer, check_positive
from relvec.estimators._options import option, with_options
from relvec.sampling import ChainTuning, PrecisionGrid, SizePrior

__all__ = ["SCALE_KINDS", "SamplingOptions", "resolve_sampling_options", "resolve_scales"]

SCALE_KINDS = ("auto", "shared", "ard", "fixed")
"""Ways to treat the length-scales of kernels."""


def _check_auto_or_integer(name: str, value: Any, *, minimum: int) -> None:
    if not (isinstance(value, str) and value == "auto"):
        if isinstance(value, str):
            raise ValueError(f'{name} must be a whole number or "auto"; got {value!r}.')
        check_integer(name, value, minimum=minimum)


def _check_instance(name: str, value: Any, *, kind: type, example: str) -> None:
    if value is not None and not isinstance(value, kind):
        raise TypeError(
            f"{name} must be a {kind.__name__} such as {example}, or None; got {value!r}."
        )


def _check_size_prior(name: str, value: Any) -> None:
    if isinstance(value, str):
        check_choice(name, value, ("auto",), also="or a SizePrior such as BetaBinomialSize()")
    elif not isinstance(value, SizePrior):
        check_positive(name, value, allow_zero=True, also='or "auto" or a SizePrior')


@with_options
class SamplingOptions:
    """Options of all samplers.

    Parameters
    ----------
    size_prior : "auto", float or SizePrior, default="auto"
        Prior of the number of basis functions in the model. A number is the log prior odds against
        each of them, in nats. "auto" is 0.5 if most basis functions are kernels, otherwise
        `BetaBinomialSize`, which corrects for the number of candidates.
    precision_grid : PrecisionGrid, optional
        Prior of the precision of each weight: values of equal probability. The default depends on
        the kind of basis functions.
    n_chains : int, default=4
        Number of Markov chains. The first starts from the model of highest evidence, the second
        from the empty model, the others from models drawn at random.
    n_draws : int, default=500
        Draws of each chain that are kept.
    thin : int or "auto", default="auto"
        Steps of a chain between two draws. With "auto" it begins at 2 (1 for classifiers and the
        horseshoe), after a warm-up of half as many steps as the first `n_draws` draws take. Chains
        are then continued, with twice as many steps between draws each time and earlier draws
        discarded, until the diagnostics are good (`converged_`) or `max_doublings` is reached. A
        number fixes the steps: there is one round.
    max_doublings : int, default=4
        How often the number of steps may be doubled with ``thin="auto"``; four doublings are 31
        times the steps of the first round.
    draw_dtype : {"float64", "float32"}, default="float64"
        Type of the stored weights; the second halves the memory of the draws.
    n_jobs : int, optional
        Number of processes for the chains, as in scikit-learn. The result does not depend on it.
    warm_start : bool, default=False
        Whether `fit` continues the chains of an earlier fit to the same data, with new draws. With
        other data or another model it starts new chains.
    random_state : int, RandomState instance or None, default=None
        Seed of the chains, and of the choice of `centers`, where that is random.
    """

    size_prior: Any = option(default="auto", check=_check_size_prior)
    precision_grid: PrecisionGrid | None = option(
        default=None,
        check=partial(_check_instance, kind=PrecisionGrid, example="PrecisionGrid(1e-6, 0.1)"),
    )
    n_chains: int = option(default=4, check=partial(check_integer, minimum=1))
    n_draws: int = option(default=500, check=partial(check_integer, minimum=1))
    thin: int | str = option(default="auto", check=partial(_check_auto_or_integer, minimum=1))
    max_doublings: int = option(default=4, check=partial(check_integer, minimum=0))
    draw_dtype: str = option(
        default="float64", check=partial(check_choice, choices=("float64", "float32"))
    )
    n_jobs: int | None = option(default=None)
    warm_start: bool = option(default=False, check=check_bool)
    random_state: Any = option(default=None)


def resolve_scales(kind: str, evidence_model: Any) -> str | None:
    """Return which length-scale factors are sampled; None if they are fixed."""
    if kind == "auto":
        kind = "shared" if hasattr(evidence_model, "learnt_length_scales_") else "fixed"
    return None if kind == "fixed" else kind


def resolve_sampling_options(options: Any, first_thin: int = ChainTuning.thin) -> dict[str, Any]:
    """Resolve the options of all samplers to fields of a `SamplingPlan`.

    `first_thin` is the number of steps between draws with which ``thin="auto"`` begins.
    """
    is_auto = isinstance(options.thin, str)
    random_state = check_random_state(options.random_state)
    return {
        "size_prior": options.size_prior,
        "grid": options.precision_grid,
        "chains": ChainTuning(
            n_draws=options.n_draws,
            thin=first_thin if is_auto else options.thin,
            max_doublings=options.max_doublings if is_auto else 0,
        ),
        "n_chains": options.n_chains,
        "dtype": np.dtype(options.draw_dtype),
        "n_jobs": options.n_jobs,
        "seed": int(random_state.randint(np.iinfo(np.int32).max)),
    }
