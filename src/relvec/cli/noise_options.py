"""Options of `relvec fit` for noise, exposure and transforms of the target, and what they gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import skew

from relvec.cli.errors import UsageError, suggest_name
from relvec.cli.limits import LIMITS
from relvec.cli.row_columns import RowColumn, RowValues, choose_row_column
from relvec.cli.summaries.parts import format_number
from relvec.describing import find_transform

__all__ = ["NOISE_KINDS", "NoiseRequest", "describe_noise", "describe_transform", "noise_lines"]

NOISE_KINDS = ("constant", "heteroscedastic", "student_t", "contaminated", "robust")
TRANSFORMS = ("auto", "log", "yeo-johnson", "none")


@dataclass(frozen=True)
class NoiseRequest:
    """Options for noise, exposure and transforms of the target."""

    kind: str = "constant"
    variance: str | None = None
    """Column of known noise variances."""
    std: str | None = None
    """Column of known noise standard deviations."""
    scale: bool = False
    """Whether the known noise is known up to a factor."""
    exposure: str | None = None
    """Column of exposures."""
    transform: str | None = None
    """Transform of the target; by default "auto" for positive skewed targets, else "none"."""

    @property
    def is_requested(self) -> bool:
        """Whether any option is given."""
        return self != NoiseRequest()

    @property
    def is_known(self) -> bool:
        """Whether a column contains the noise of each row."""
        return self.variance is not None or self.std is not None

    @property
    def has_transform(self) -> bool:
        """Whether a transform of the target is requested."""
        return self.transform not in (None, "none")

    def check(self) -> None:
        """Check the options before anything is read."""
        for option, value, choices in (
            ("--noise", self.kind, NOISE_KINDS),
            ("--target-transform", self.transform, TRANSFORMS),
        ):
            if value is not None and value not in choices:
                raise UsageError(
                    f"{option} must be one of {', '.join(choices)}; got {value!r}."
                    + suggest_name(value, choices)
                )
        column = "--noise-std" if self.variance is None else "--noise-variance"
        if self.is_known and self.kind != "constant":
            raise UsageError(
                f"--noise {self.kind} estimates the noise, but {column} gives it; use one of them."
            )
        if self.has_transform and self.kind not in ("constant", "heteroscedastic"):
            raise UsageError(
                f"--noise {self.kind} has heavy tails, with which a transformed target has no "
                "mean; use --target-transform none with it, or another --noise."
            )
        if self.is_known and self.has_transform:
            raise UsageError(
                f"{column} is in units of the target, but --target-transform {self.transform} "
                "models a transformed target; use one of them."
            )
        if self.scale and not self.is_known:
            raise UsageError("--scale-noise needs --noise-variance or --noise-std.")

    def check_task(self, task: str) -> None:
        """Check that the options apply to the task, which may have been chosen automatically."""
        used = {
            "--noise": self.kind != "constant",
            "--noise-variance": self.variance is not None,
            "--noise-std": self.std is not None,
            "--target-transform": self.has_transform,
        }
        wrong = [option for option, is_used in used.items() if is_used and task != "regression"]
        if self.exposure is not None and task != "counts":
            wrong.append("--exposure")
        if wrong:
            needed = "counts" if wrong[0] == "--exposure" else "regression"
            raise UsageError(
                f"{wrong[0]} is for {needed}, but this is a problem of {task}. Use --task {needed} "
                f"or omit {wrong[0]}."
            )

    def find_row_column(self, target: str, features: Sequence[str]) -> RowColumn | None:
        """Return the column with the noise or the exposure of each row, if an option names one."""
        named = {
            "noise_variance": self.variance,
            "noise_std": self.std,
            "exposure": self.exposure,
        }
        return choose_row_column(named, target, features)

    def model_options(self, task: str, target: np.ndarray) -> dict[str, Any]:
        """Return the options of the estimator.

        By default a transform is considered for positive skewed targets only: a transform that is
        chosen because a model does not fit distorts its extrapolations. It is not considered if the
        noise is known, in units of the target, or has a model of its own, because it is chosen
        under constant noise.
        """
        if task != "regression":
            return {}
        options: dict[str, Any] = {"noise": self.kind} if self.kind != "constant" else {}
        is_simple = self.kind == "constant" and not self.is_known
        is_default = self.transform is None and is_simple and is_positive_and_skewed(target)
        if self.has_transform or is_default:
            options["target_transform"] = self.transform or "auto"
        return options | ({"scale_noise": True} if self.scale else {})


def is_positive_and_skewed(target: np.ndarray) -> bool:
    """Whether targets are positive, skewed to the right, and less so as logarithms.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> (
    ...     is_positive_and_skewed(np.exp(rng.normal(size=100))),
    ...     is_positive_and_skewed(rng.random(100)),
    ... )
    (True, False)
    """
    if not np.min(target) > 0.0:
        return False
    skewness = float(skew(target))
    return skewness > LIMITS.skewness and abs(float(skew(np.log(target)))) < skewness


def describe_noise(model: Any, features: Any, row_values: RowValues | None) -> dict[str, Any]:
    """Return the facts about the noise of a fitted regressor, for JSON and the model file.

    Parameters
    ----------
    model : estimator
        Fitted to one target.
    features : ndarray
        Encoded features of the training rows.
    row_values : RowValues or None
        Known noise variances, or exposures.
    """
    if hasattr(model, "shape_"):  # counts
        shape = float(model.shape_)
        likelihood: dict[str, Any] = {"kind": str(model.likelihood_)}
        return {"noise": likelihood | ({"shape": shape} if np.isfinite(shape) else {})}
    if not hasattr(model, "noise_variance_"):
        return {}
    if row_values is not None:
        kind = "known up to a factor" if model.scale_noise else "known"
        return {"noise": {"kind": kind, "scale": float(model.noise_scale_)}}
    facts: dict[str, Any] = {"noise_std": float(model.noise_variance_) ** 0.5}
    if model.noise == "constant":
        return facts
    found: dict[str, Any] = {"kind": model.noise, "gain": float(model.noise_gain_)}
    if model.noise == "heteroscedastic":
        std = np.asarray(model.predict_noise(features))
        low, high = np.quantile(std, [0.05, 0.95])
        found |= {"low": float(low), "high": float(high)}
    elif np.isfinite(model.df_):
        found |= {"kind": "student_t", "df": float(model.df_)}
    else:
        share = float(model.contamination_[0])
        found |= {"kind": "contaminated", "share": share, "ratio": float(model.contamination_[1])}
        found["n_outliers"] = int(np.count_nonzero(model.outlier_probability_ > 0.5))
    return facts | {"noise": found | {"requested": model.noise}}


def describe_transform(model: Any) -> dict[str, Any]:
    """Return the facts about the transform of the target, if there is one."""
    transform = find_transform(model)
    if transform is None:
        return {}
    facts: dict[str, Any] = {"target_transform": str(transform)}
    if model.target_transform == "auto":
        facts["target_transform_gain"] = float(model.target_transform_gain_)
    return facts


def noise_lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """List what a summary says about transform and noise."""
    lines = []
    transform, gain = facts.get("target_transform"), facts.get("target_transform_gain")
    if transform is not None:
        chosen = "" if gain is None else f", chosen by evidence (+{format_number(gain)} nats)"
        lines.append(("target", f"{transform} transform{chosen}"))
    noise, std = facts.get("noise"), facts.get("noise_std")
    unit = " (of the transformed target)" if lines else ""
    if noise is not None:
        lines.append(("noise", _describe_kind(noise, std, facts.get("row_column"), unit)))
    elif std is not None:
        lines.append(("noise std", f"{format_number(std)}{unit}"))
    return lines


def _describe_kind(
    noise: dict[str, Any], std: float | None, column: dict[str, str] | None, unit: str
) -> str:
    """Describe the noise in one line."""
    kind, gain = noise["kind"], noise.get("gain")
    where = f"column '{column['name']}'" if column else "given for each row"
    match kind:
        case "known":
            return f"known, {where}"
        case "known up to a factor":
            factor = format_number(noise["scale"])
            return f"{where}; variances times {factor}, estimated"
        case "poisson":
            return "Poisson counts"
        case "negative_binomial":
            shape = format_number(noise["shape"])
            return f"negative binomial counts: variance = mean + mean² / {shape}"
    size = f"std {format_number(std)}{unit}"
    if not gain:
        return f"constant, {size}: {noise['requested']} noise does not gain enough evidence"
    over = f"{format_number(gain)} nats over constant noise"
    if kind == "heteroscedastic":
        low, high = format_number(noise["low"]), format_number(noise["high"])
        return f"heteroscedastic, std {low} to {high}{unit}, {over}"
    if kind == "student_t":
        return f"Student-t, {format_number(noise['df'])} degrees of freedom, {over}"
    return (
        f"contaminated normal, {100 * noise['share']:.1f} % outliers ({noise['n_outliers']} rows "
        f"with probability above 1/2), {size}, {over}"
    )
