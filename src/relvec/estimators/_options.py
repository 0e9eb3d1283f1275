"""Options that estimators share: a table says name, default, check and description of each.

A table is a class whose fields are options and whose docstring describes them. An estimator
inherits the tables it needs; its ``__init__``, its parameters as scikit-learn sees them and the
parameters in its docstring are those of its tables, so that a new option of all regressors is a
new field of `RegressionOptions`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, TypeVar, dataclass_transform

from relvec._checks import check_bool, check_choice, check_positive
from relvec.solvers import EFFORTS, Monitor

__all__ = [
    "ClassificationOptions",
    "MultiClassOptions",
    "RegressionOptions",
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
        Its default.
    check : callable, optional
        Is given the name and the value before anything is fitted, and raises if the value is wrong.
    kw_only : bool, default=True
        Whether it must be given by name.
    """
    return field(default=default, kw_only=kw_only, metadata={"check": check})


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(option,))
def with_options(cls: AnyClass) -> AnyClass:
    """Make the options of a class, and of the tables it inherits, its parameters.

    The class gets an ``__init__`` with all of them, and the descriptions that its docstring lacks
    from those of the tables.
    """
    made: Any = dataclass(eq=False, repr=False, kw_only=True)(cls)
    names = [each.name for each in fields(made)]
    for name in names:
        if name in vars(made):  # scikit-learn's estimators have no defaults on the class
            delattr(made, name)
    if sys.flags.optimize < 2:  # beyond, there are no docstrings
        descriptions: dict[str, str] = {}
        for base in reversed(made.__mro__):
            if "__dataclass_fields__" in vars(base):
                descriptions |= _divided(base.__doc__)[1]
        text = "\n".join(descriptions[name] for name in names)
        before, _, after = _divided(made.__doc__)
        made.__doc__ = f"{before}Parameters\n----------\n{text}\n\n{after}"
    return cls


def _divided(docstring: str) -> tuple[str, dict[str, str], str]:
    """Text before the parameters, their descriptions by name, and the text after them."""
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
    """Find misspelt options before any work is done."""
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


_check_auto_or_bool = partial(_check_unless, "auto", partial(check_bool, also='or "auto"'))
_check_noise = partial(_check_unless, None, partial(check_positive, also="or None to estimate it"))


@with_options
class RegressionOptions:
    """Options of all regressors.

    Parameters
    ----------
    prior : {"flat", "gamma", "laplace", "aic", "bic", "ric"} or Prior, default="flat"
        Prior of the precisions. "aic", "bic" and "ric" charge for effective degrees of freedom
        and give sparser models; "laplace" shrinks all weights, for many weak effects
        in explicit columns.
    solver : {"auto", "sequential", "mackay", "em", "textbook", "random_order", "orthonormal"} \
or Solver, default="auto"
        "sequential" is the fast one, "mackay" and "em" are Tipping's (2001) fixed points from
        all atoms, "textbook" is Tipping and Faul's (2003) sequence of single steps, "random_order"
        the same in random order; "orthonormal" insists on the closed form of orthonormal bases.
    effort : {"fast", "balanced", "thorough"}, default="balanced"
        How hard the sequential solver looks for a better maximum of the evidence.
    noise_variance : float, optional
        Hold the noise variance at this value; default, estimate it.
    fit_intercept : bool, default=True
        Include an intercept with a flat prior.
    min_gain : float or "auto", default="auto"
        Log-evidence an atom must bring to be kept. "auto" asks next to nothing of kernels and
        the logarithm of their number of explicit columns, which keeps null columns out (next to
        nothing under a prior that does so itself: "aic", "bic", "ric", "laplace").
    error_bars : {"novelty", "plain", "augmented"}, default="novelty"
        What predictions are away from the training inputs: "plain" is the posterior alone,
        which is over-confident there; "novelty" goes over to a process around the mean of the
        targets, known at a few stored inputs, and draws implausible means to that mean;
        "augmented" is RVM*, which also changes the mean and keeps the training inputs (without
        noise to speak of it is not computable, and "novelty" takes its place).
    calibrate : bool, default=True
        Widen noise and posterior covariance in predictions by `calibration_`, which fits to four
        fifths of the rows find from their errors on the others: the choice of atoms and scales
        costs more than the evidence counts. False gives the posterior as it is. Means do not
        change. A given `noise_variance` stands as it is.
    low_memory : bool or "auto", default="auto"
        Never store the dictionary at the training inputs; evaluate it again when needed.
        "auto" does so above one gigabyte.
    warm_start : bool, default=False
        Start from the atoms of the previous fit.
    random_state : int, RandomState instance or None, default=None
        For centres that are chosen at random.
    """

    prior: Any = option(default="flat")
    solver: Any = option(default="auto")
    effort: str = option(default="balanced", check=partial(check_choice, choices=EFFORTS))
    noise_variance: float | None = option(default=None, check=_check_noise)
    fit_intercept: bool = option(default=True, check=check_bool)
    min_gain: float | str = option(default="auto", check=check_gain)
    error_bars: str = option(
        default="novelty", check=partial(check_choice, choices=("novelty", "plain", "augmented"))
    )
    calibrate: bool = option(default=True, check=check_bool)
    low_memory: bool | str = option(default="auto", check=_check_auto_or_bool)
    warm_start: bool = option(default=False, check=check_bool)
    random_state: Any = option(default=None)


@with_options
class ClassificationOptions:
    """Options of all classifiers.

    Parameters
    ----------
    prior : {"flat", "aic", "bic", "ric"} or Prior, default="flat"
        "aic", "bic" and "ric" charge for effective degrees of freedom, which are fewer then; with
        kernels, models are sparser.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as elsewhere in scikit-learn.
    solver : {"auto", "sequential", "exact", "mackay", "em"} or a solver, default="auto"
        "sequential" takes steps at fixed curvature, each checked on the Laplace evidence;
        "exact" goes on from there with exact derivatives to a local maximum, which is slower and
        seldom better in prediction; "mackay" and "em" start from all atoms, as in 2001.
        The last three are for machines of two classes. "auto" is "sequential", or "mackay"
        under a Gamma prior, with which atoms cannot be switched off.
    penalty_curvature : {"bound", "model"}, default="bound"
        Where degrees of freedom are counted if they have a penalty: at the largest curvature of
        the likelihood, which makes the penalty a prior, or at that of the model (Schmolck).
    fit_intercept : bool or "auto", default="auto"
        Whether to fit an intercept, with a flat prior. "auto" does unless all atoms are kernels
        that decay within the data: logits far from all data are then those of the shares of the
        classes, so that no class is the background against which others stand out.
    min_gain : float or "auto", default="auto"
        Log-evidence an atom must bring to be kept. "auto" asks next to nothing of kernels and,
        under the flat prior, of explicit columns the logarithm of their number.
    largest_logit : float or "auto", default="auto"
        Bound on the prior standard deviation of what one atom adds to a logit. Separable
        classes would ask for more and more; smaller bounds give more cautious probabilities and
        more atoms. "auto" is 10 for logits of two classes and 5 for those of several.
    average : bool, default=True
        If scales are learnt, whether probabilities are averages over the models of all scales that
        come into question, weighted by their evidence (Bayesian model averaging, with flattened
        weights), which are better calibrated. All attributes are those of the best model, which
        False leaves alone: predictions, files and exports are then a fraction of the size. Of more
        than 1000 rows and up to 100 inputs there is one model in any case, because the others are
        fitted to 1000 rows only. Of more than 100 inputs weights are by the log loss of held-out
        rows instead, and among the models are the class shares and one that is linear in all
        inputs. A linear model (`LinearBasis`) whose evidence is not overwhelming is averaged with
        the class shares, as far as held-out rows ask for it.
    error_bars : {"novelty", "plain"}, default="novelty"
        What becomes of predictions far from the training inputs: with "novelty" probabilities go
        over to the shares of the classes, and logits are more uncertain than the posterior of the
        weights says.
    low_memory : bool or "auto", default="auto"
        Never store the atoms at the training inputs; "auto" does so above one gigabyte, or above
        64 megabytes if there are few inputs, so that kernels are cheap.
    random_state : int, RandomState instance or None, default=None
        For centres that are chosen at random.
    """

    prior: Any = option(default="flat")
    class_weight: Any = option(default=None)
    solver: Any = option(default="auto")
    penalty_curvature: str = option(
        default="bound", check=partial(check_choice, choices=("bound", "model"))
    )
    fit_intercept: bool | str = option(default="auto", check=_check_auto_or_bool)
    min_gain: float | str = option(default="auto", check=check_gain)
    largest_logit: float | str = option(
        default="auto", check=partial(_check_unless, "auto", check_positive)
    )
    average: bool = option(default=True, check=check_bool)
    error_bars: str = option(
        default="novelty", check=partial(check_choice, choices=("novelty", "plain"))
    )
    low_memory: bool | str = option(default="auto", check=_check_auto_or_bool)
    random_state: Any = option(default=None)


@with_options
class MultiClassOptions:
    """How classifiers tell several classes apart.

    Parameters
    ----------
    multi_class : {"softmax", "shared", "one_vs_rest"}, default="softmax"
        How more than two classes are told apart: by one model in which every class has atoms of
        its own, by one in which all classes share them, or by one machine for each class.
    """

    multi_class: str = option(
        default="softmax", check=partial(check_choice, choices=("softmax", "shared", "one_vs_rest"))
    )

    def _resolve(self, monitor: Monitor | None = None) -> Any:
        plan = super()._resolve(monitor)  # type: ignore[misc]
        return replace(plan, multi_class=self.multi_class)
