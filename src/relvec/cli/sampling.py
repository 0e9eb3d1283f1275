"""Option `--sample` of `relvec fit`: models that average over their posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from relvec.cli.console import CommandConsole
from relvec.cli.encoding import build_pipeline, encoded_columns
from relvec.cli.errors import UsageError
from relvec.cli.models import SAMPLED, make_sampled_model
from relvec.cli.noise_options import NoiseRequest, is_positive_and_skewed
from relvec.cli.problem import Problem
from relvec.describing import (
    is_sampled,
    list_feature_inclusion,
    summarise_sampling,
)

__all__ = ["REMEDIES", "SampleRequest", "describe_sampling", "list_diagnostics"]

REMEDIES = {
    "Run them longer: fit again with warm_start=True, or a larger max_doublings or thin.": (
        "Use more --draws."
    ),
    "Increase n_draws, and run them longer: a larger max_doublings or thin.": "Use more --draws.",
    ' Length-scales change slowly; sample_length_scales="fixed" holds them': "",
}
"""Remedies of the library for chains that have not converged, and those of the command line."""


@dataclass(frozen=True)
class SampleRequest:
    """Options of the sampler; None for the default."""

    is_requested: bool = False
    n_chains: int | None = None
    n_draws: int | None = None
    n_jobs: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Options of the estimator that were given."""
        given = {"n_chains": self.n_chains, "n_draws": self.n_draws, "n_jobs": self.n_jobs}
        return {name: value for name, value in given.items() if value is not None}

    def check(self, model: str, task: str, noise: NoiseRequest) -> None:
        """Check that the options can be combined, before anything is read."""
        if not self.is_requested:
            if self.options:
                option = f"--{next(iter(self.options)).removeprefix('n_')}"
                raise UsageError(f"{option} is an option of the sampler; add --sample.")
            return
        self.check_task(task)
        if model not in ("auto", *SAMPLED):
            raise UsageError(
                f"--sample is not available for --model {model}. Use --model auto, "
                f"{' or '.join(SAMPLED)}, or omit --sample."
            )
        unsupported = {
            f"--noise {noise.kind}": noise.kind != "constant",
            "--noise-variance": noise.variance is not None,
            "--noise-std": noise.std is not None,
            "--exposure": noise.exposure is not None,
            f"--target-transform {noise.transform}": noise.has_transform,
        }
        for option, is_used in unsupported.items():
            if is_used:
                raise UsageError(
                    f"--sample needs Gaussian noise of constant, unknown variance and cannot be "
                    f"combined with {option}. Omit one of them."
                )

    def check_task(self, task: str) -> None:
        """Check that the task, which may have been chosen automatically, can be sampled."""
        if self.is_requested and task == "counts":
            raise UsageError(
                "--sample is for regression and classification, but this is a problem of counts. "
                "Omit --sample."
            )

    def adapt_noise(self, noise: NoiseRequest) -> NoiseRequest:
        """Return the noise options of the models that are compared: those of the sampled one."""
        return NoiseRequest(transform="none") if self.is_requested else noise

    def note_transform(self, problem: Problem, console: CommandConsole) -> None:
        """Note that a transform, which is considered otherwise, is not with `--sample`."""
        is_skewed = problem.task == "regression" and is_positive_and_skewed(problem.target)
        if self.is_requested and is_skewed:
            console.note(
                f"'{problem.name}' is positive and skewed, but --sample does not transform the "
                "target. Without --sample a transform is considered."
            )

    def make_pipeline(self, name: str, problem: Problem, seed: int) -> Pipeline:
        """Make the pipeline of the sampled variant of a model."""
        n_rows = problem.n_rows
        model = make_sampled_model(name, problem.task, n_rows, seed, **self.options)
        return build_pipeline(problem.columns, n_rows, model)


def describe_sampling(pipeline: Pipeline) -> dict[str, Any]:
    """Return the facts about the posterior of a fitted pipeline, for JSON and the model file."""
    if not is_sampled(pipeline):
        return {}
    summary = summarise_sampling(pipeline)
    names = [name for _, name in encoded_columns(pipeline[0])]
    inclusion = {each.name: each.probability for each in list_feature_inclusion(pipeline, names)}
    facts: dict[str, Any] = {
        "n_chains": summary.n_chains,
        "n_draws": summary.n_draws,
        "n_steps": summary.n_steps,
        "converged": summary.converged,
        "r_hat": _to_number(summary.r_hat),
        "ess": _to_number(summary.ess),
        "n_candidates": summary.n_candidates,
        "n_active": summary.n_active._asdict(),
        "inclusion": inclusion,
    }
    found: dict[str, Any] = {"n_basis_functions": round(summary.n_active.mean)}
    if summary.noise_std is not None:
        facts["noise_std"] = summary.noise_std._asdict()
        found["noise_std"] = summary.noise_std.mean
    return found | {"sampling": facts}


def _to_number(value: float) -> float | None:
    return value if np.isfinite(value) else None


def list_diagnostics(model: Any, n_most: int = 8) -> list[dict[str, Any]]:
    """Return the diagnostics of the noise, the size and so on, then of the worst other quantities.

    Parameters
    ----------
    model : estimator
        Fitted by sampling.
    n_most : int, default=8
        Number of quantities.
    """
    summaries = model.diagnostics_
    first = [each for each in summaries if "[" not in each.name]
    others = [each for each in summaries if "[" in each.name and np.isfinite(each.r_hat)]
    others.sort(key=lambda each: min(each.ess_bulk, each.ess_tail))
    return [each._asdict() for each in (first + others)[:n_most]]
