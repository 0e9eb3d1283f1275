"""Options that several estimators share: name, default value, check and description of each.

A class of options declares them as fields and describes them in its docstring. An estimator
inherits the classes of options that it needs. Its ``__init__``, its ``get_params`` and the
parameters in its docstring are made from their fields, so that a new option of all regressors is
one new field of `RegressionOptions`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, TypeVar, dataclass_transform

from relvec._checks import check_bool, check_choice, check_positive
from relvec.estimators._noise import NOISE_KINDS
from relvec.estimators._target_transform import TRANSFORM_KINDS
from relvec.learning.atom_shapes import ATOM_MOVES
from relvec.solvers import EFFORTS, Monitor

__all__ = [
    "ClassificationOptions",
    "MultiClassOptions",
    "RegressionOptions",
    "TunedAtomOptions",
    "check_auto_or_bool",
    "check_gain",
    "check_options",
    "option",
    "with_options",
]

AnyClass = TypeVar("AnyClass", bound=type)


def option(
    *, default: Any, check: Callable[[str, Any], object] | None = None, kw_only: bool = True
) -> Any:
    """Declare an option in the body of a class with `with_options`.

    Parameters
    ----------
    default : object
        Default value of the option.
    check : callable, optional
        Called as ``check(name, value)`` before a fit; raises if the value is not valid.
    kw_only : bool, default=True
        Whether the option can be given by name only.
    """
    return field(default=default, kw_only=kw_only, metadata={"check": check})


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(option,))
def with_options(cls: AnyClass) -> AnyClass:
    """Make the options of a class, and of the classes of options it inherits, its parameters.

    The class gets an ``__init__`` with all of them. Descriptions that its docstring lacks are
    taken from the docstrings of the classes it inherits.
    """
    made: Any = dataclass(eq=False, repr=False, kw_only=True)(cls)
    names = [each.name for each in fields(made)]
    for name in names:
        if name in vars(made):  # scikit-learn's estimators have no defaults on the class
            delattr(made, name)
    if sys.flags.optimize < 2:  # python -OO removes docstrings
        descriptions: dict[str, str] = {}
        for base in reversed(made.__mro__):
            if "__dataclass_fields__" in vars(base):
                descriptions |= _split_docstring(base.__doc__)[1]
        text = "\n".join(descriptions[name] for name in names)
        before, _, after = _split_docstring(made.__doc__)
        made.__doc__ = f"{before}Parameters\n----------\n{text}\n\n{after}"
    return cls


def _split_docstring(docstring: str) -> tuple[str, dict[str, str], str]:
    """Return the text before the parameters, their descriptions by name, and the text after."""
    text = inspect.cleandoc(docstring)
    before, found, rest = text.partition("Parameters\n----------\n")
    if not found:
        before, found, rest = text.partition("Attributes\n----------\n")
        return f"{before.rstrip()}\n\n", {}, found + rest
    lines, _, after = rest.partition("\n\n")  # a blank line ends the section
    descriptions: dict[str, str] = {}
    name = ""
    for line in lines.splitlines():
        if line.startswith(" "):
            descriptions[name] += f"\n{line}"
        else:
            name = line.partition(" :")[0]
            descriptions[name] = line
    return before, descriptions, after


def check_options(estimator: Any) -> None:
    """Check the values of all options before a fit."""
    for each in fields(estimator):
        check = each.metadata["check"]
        if check is not None:
            check(each.name, getattr(estimator, each.name))


def check_gain(name: str, value: Any) -> None:
    """Raise unless `value` is a gain in log evidence or "auto"."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f'{name} must be a non-negative number or "auto"; got {value!r}.')
    else:
        check_positive(name, value, allow_zero=True, also='or "auto"')


def _check_unless(
    special: str | None, check: Callable[[str, Any], object], name: str, value: Any
) -> None:
    """Check a value that may also be `special`."""
    if not (value is None if special is None else isinstance(value, str) and value == special):
        check(name, value)


check_auto_or_bool = partial(_check_unless, "auto", partial(check_bool, also='or "auto"'))
_check_noise = partial(_check_unless, None, partial(check_positive, also="or None to estimate it"))
_check_transform = partial(
    _check_unless, None, partial(check_choice, choices=TRANSFORM_KINDS, also="or None")
)

_check_moves = partial(
    _check_unless, None, partial(check_choice, choices=ATOM_MOVES, also="or None")
)


@with_options
class RegressionOptions:
    """Options of all regressors.

    Parameters
    ----------
    prior : {"flat", "gamma", "laplace", "aic", "bic", "ric"} or Prior, default="flat"
        Prior of the weights and their precisions alpha. "flat" is uniform over log alpha
        (Tipping 2001); "gamma" is a Gamma density of every alpha, under which no basis function
        is removed; "aic", "bic" and "ric" are smoothness priors, which put a penalty on every
        effective degree of freedom and give sparser models (Schmolck 2008); "laplace" shrinks all
        weights and suits many weak effects of explicit columns.
    solver : {"auto", "sequential", "mackay", "em", "textbook", "random_order", "orthonormal"} \
or Solver, default="auto"
        Algorithm that maximises the evidence. "sequential" adds, re-estimates and removes basis
        functions; "mackay" and "em" are the re-estimation formulas of Tipping (2001), starting
        from all basis functions; "textbook" is the algorithm of Tipping & Faul (2003), one basis
        function per step; "random_order" is the same in random order; "orthonormal" is the closed
        form for orthonormal bases and raises an error for others. "auto" is "sequential", or
        "mackay" under a Gamma prior.
    effort : {"fast", "balanced", "thorough"}, default="balanced"
        How many alternatives the sequential solver tries in search of a better local maximum of
        the evidence.
    noise : {"constant", "heteroscedastic", "student_t", "contaminated", "robust"}, \
default="constant"
        Distribution of the noise. "constant" is Gaussian noise of the same variance everywhere.
        "heteroscedastic" is Gaussian noise whose variance depends on the inputs (`predict_noise`).
        "student_t" and "contaminated" have heavy tails, so that outliers have little influence:
        Student-t noise, and a mixture of two normal distributions, of ordinary rows and of
        outliers. "robust" chooses between the two. Unless the log evidence gains at least 3 nats (5
        for "heteroscedastic" with several features), the fit is that of "constant", also if one
        kind of heavy tails is asked for; `noise_gain_` is then 0.
    target_transform : {"auto", "log", "yeo-johnson"} or None, default=None
        Transform of skewed targets: the model, its noise and its error bars are those of the
        transformed target. "log" is for positive targets, and keeps intervals positive;
        "yeo-johnson" is a power transform for targets of any sign (Yeo & Johnson 2000), whose
        power and scale maximise the evidence. "auto" chooses between them and no transform by the
        evidence, and transforms only if that gains at least 3 nats, 5 for "yeo-johnson".
        Predictions remain in units of the target: `predict` returns its mean, intervals are
        asymmetric.
    noise_variance : float, optional
        Fixed variance of the noise, in squared units of the target. By default it is estimated
        (Tipping 2001, eq. 18).
    scale_noise : bool, default=False
        Whether noise variances of rows given in `fit` are known up to a common factor only, which
        is then estimated.
    fit_intercept : bool, default=True
        Whether to fit an intercept, with a flat prior.
    min_gain : float or "auto", default="auto"
        Minimum gain in log evidence, in nats, for a basis function to be kept: the log prior odds
        against its inclusion. "auto" is 0.001 for kernels. For explicit columns it is the
        logarithm of their number, which keeps irrelevant columns out, or 0.001 under "aic", "bic",
        "ric" and "laplace", which penalise columns themselves.
    error_bars : {"novelty", "plain", "augmented"}, default="novelty"
        Predictive variance away from the training inputs. "plain" is that of the posterior of the
        weights (Tipping 2001, eq. 22), which becomes too small there. "novelty" adds the variance
        of a Gaussian process that is conditioned on a few stored training inputs, and moves
        implausible means towards the mean of the targets. "augmented" is RVM* (Rasmussen &
        Quiñonero-Candela 2005): it adds a kernel at the test input, also corrects the mean, and
        stores all training inputs; where the noise variance is negligible it cannot be computed
        and "novelty" is used.
    calibrate : bool, default=True
        Whether to multiply the noise variance and the posterior variance in predictions by
        `calibration_`, a factor of at least 1 estimated by 5-fold cross-validation. The
        selection of basis functions and length-scales makes errors on new rows larger than the
        posterior states. Means do not change. It has no effect if `noise_variance` is given.
    low_memory : bool or "auto", default="auto"
        Whether to evaluate the basis functions at the training inputs again when needed instead
        of storing them. "auto" does so above one gigabyte.
    warm_start : bool, default=False
        Whether to start from the active basis functions of the previous fit.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of `centers`, where that is random.
    """

    prior: Any = option(default="flat")
    solver: Any = option(default="auto")
    effort: str = option(default="balanced", check=partial(check_choice, choices=EFFORTS))
    noise: str = option(default="constant", check=partial(check_choice, choices=NOISE_KINDS))
    target_transform: str | None = option(default=None, check=_check_transform)
    noise_variance: float | None = option(default=None, check=_check_noise)
    scale_noise: bool = option(default=False, check=check_bool)
    fit_intercept: bool = option(default=True, check=check_bool)
    min_gain: float | str = option(default="auto", check=check_gain)
    error_bars: str = option(
        default="novelty", check=partial(check_choice, choices=("novelty", "plain", "augmented"))
    )
    calibrate: bool = option(default=True, check=check_bool)
    low_memory: bool | str = option(default="auto", check=check_auto_or_bool)
    warm_start: bool = option(default=False, check=check_bool)
    random_state: Any = option(default=None)


@with_options
class TunedAtomOptions:
    """Option of regressors with kernels whose widths and centres differ.

    Parameters
    ----------
    tune_atoms : {"widths", "centers", "both"} or None, default=None
        Whether each kernel in the model moves its own width, its own centre or both along the
        gradient of the evidence, after the sparse fit. It needs one output and kernels that decay.
        The moves are undone unless the log evidence gains more than ``log(n) / 2`` for each
        parameter by which the model then has more. None leaves all kernels of a basis equal.
    """

    tune_atoms: str | None = option(default=None, check=_check_moves)


@with_options
class ClassificationOptions:
    """Options of all classifiers.

    Parameters
    ----------
    prior : {"flat", "gamma", "aic", "bic", "ric"} or Prior, default="flat"
        Prior of the weights and their precisions alpha. "flat" is uniform over log alpha
        (Tipping 2001); "gamma" is a Gamma density of every alpha, under which no basis function
        is removed; "aic", "bic" and "ric" are smoothness priors, which put a penalty on every
        effective degree of freedom (Schmolck 2008). With kernels they give sparser models.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn: the sample weight of every row is multiplied
        by that of its class.
    solver : {"auto", "sequential", "exact", "mackay", "em"} or LatentSolver, default="auto"
        Algorithm that maximises the Laplace approximation of the evidence. "sequential" takes
        steps at fixed curvature of the likelihood and checks each against the evidence; "exact"
        continues from there with exact derivatives to a local maximum, which is slower and seldom
        predicts better; "mackay" and "em" are the re-estimation formulas of Tipping (2001),
        starting from all basis functions. "mackay" and "em" are for two classes, or for
        ``multi_class="one_vs_rest"``. "auto" is "sequential", or "mackay" under a Gamma prior.
    penalty_curvature : {"bound", "model"}, default="bound"
        Curvature of the likelihood at which the priors "aic", "bic" and "ric" count effective
        degrees of freedom: its upper bound, so that the penalty does not depend on the weights and
        is a prior, or the curvature at the mode (Schmolck 2008).
    fit_intercept : bool or "auto", default="auto"
        Whether to fit an intercept, with a flat prior. "auto" fits one unless all basis functions
        are kernels that decay within the range of the data. The intercept is then fixed at the
        logit of the class prior, which is the prediction far from the data.
    min_gain : float or "auto", default="auto"
        Minimum gain in log evidence, in nats, for a basis function to be kept: the log prior odds
        against its inclusion. "auto" is 0.001 for kernels. For explicit columns it is the
        logarithm of their number under the flat prior, else 0.001.
    largest_logit : float or "auto", default="auto"
        Upper bound on the prior standard deviation of the contribution of one basis function to a
        logit. If the classes are separable the evidence grows without this bound. Smaller values
        give less extreme probabilities and more basis functions. "auto" is 10 for two classes and
        5 for the logits of several classes.
    average : bool, default=True
        Whether to average probabilities over the models of all candidate length-scales, if these
        are learnt (Bayesian model averaging, with tempered weights), which makes them better
        calibrated. Attributes are those of the best model. With False only the best model is kept;
        predictions are faster, and files and exports smaller. For more than 1000 rows and up to
        100 features a single model is used in any case. For more than 100 features the weights
        minimise the log loss of held-out rows (stacking), and the models include the class-prior
        baseline and a linear model of all features. A linear model (`LinearBasis`) whose gain in
        evidence is below 30 nats is averaged with the class prior in the same way.
    error_bars : {"novelty", "plain"}, default="novelty"
        Predictions away from the training inputs. With "novelty" probabilities tend to the class
        prior, and the standard deviation of logits includes that of a Gaussian process. "plain" is
        the posterior of the weights alone, which is too certain there.
    low_memory : bool or "auto", default="auto"
        Whether to evaluate the basis functions at the training inputs again when needed instead
        of storing them. "auto" does so above one gigabyte, or above 64 megabytes for up to 16
        features, where kernels are fast to evaluate.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of `centers`, where that is random.
    """

    prior: Any = option(default="flat")
    class_weight: Any = option(default=None)
    solver: Any = option(default="auto")
    penalty_curvature: str = option(
        default="bound", check=partial(check_choice, choices=("bound", "model"))
    )
    fit_intercept: bool | str = option(default="auto", check=check_auto_or_bool)
    min_gain: float | str = option(default="auto", check=check_gain)
    largest_logit: float | str = option(
        default="auto", check=partial(_check_unless, "auto", check_positive)
    )
    average: bool = option(default=True, check=check_bool)
    error_bars: str = option(
        default="novelty", check=partial(check_choice, choices=("novelty", "plain"))
    )
    low_memory: bool | str = option(default="auto", check=check_auto_or_bool)
    random_state: Any = option(default=None)


@with_options
class MultiClassOptions:
    """Option of classifiers for more than two classes.

    Parameters
    ----------
    multi_class : {"softmax", "shared", "one_vs_rest"}, default="softmax"
        Model of more than two classes. "softmax" is one model with a logit for each class, each
        with its own basis functions; "shared" is one model in which all logits have the same basis
        functions; "one_vs_rest" is one binary model for each class, whose probabilities are
        normalised.
    """

    multi_class: str = option(
        default="softmax", check=partial(check_choice, choices=("softmax", "shared", "one_vs_rest"))
    )

    def _resolve(self, monitor: Monitor | None = None) -> Any:
        plan = super()._resolve(monitor)  # type: ignore[misc]
        return replace(plan, multi_class=self.multi_class)
