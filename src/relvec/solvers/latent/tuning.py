"""The numbers of the search, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LatentTuning"]


@dataclass(frozen=True)
class LatentTuning:
    """What the search for the Laplace evidence tries, and how often.

    All were chosen on problems of 50 to 2000 rows, so that twice as much of any of them raises the
    objective by less than the tolerance on nearly all.
    """

    n_initial_atoms: int = 192
    """Atoms of the first working set, some of every slope."""
    working_set_size: int = 128
    """Most promising atoms that join the active ones in a later working set."""
    max_regression_steps: int = 25
    """Most regression steps in one working set."""
    step_fractions: tuple[float, ...] = (1.0, 0.4, 0.1)
    """Shares of a proposed step that are tried, one after the other."""
    min_retry_rise: float = 1.0
    """Rise of the objective, in nats, before a step that failed is tried again: that of a block
    alone, or the removal of a unit."""
    min_retry_loss_drop: float = 0.5
    """Fall of twice the evidence lost with a unit after which its removal is tried again: of all
    removals tried with several latent functions, some two in a hundred succeed."""
    max_removal_loss: float = 6.0
    """Twice the evidence lost at fixed curvature with an atom that is not tried without."""
    n_single_trials: int = 5
    """Atoms that promise most, tried one by one when a step with all of them fails."""
    n_weaker_block: int = 4
    """How often the variance of an atom entering a block is divided by eight."""
    n_weaker_joint: int = 6
    """How often that of one entering with all blocks in view is divided by four."""
    n_weaker_exact: int = 12
    """The same with exact derivatives, which hold for the smallest variances."""
    negligible_gain_fraction: float = 0.01
    """Share of the tolerance that, gained at fixed curvature, is not worth an evaluation."""
    min_rise: float = 1e-9
    """Rise of the objective that is one, and not rounding."""
    max_batch_correlation: float = 0.6
    """Atoms that correlate more do not enter in one batch."""
    n_exact_trials: int = 10
    """Atoms tried for entry, or for removal, in one round with exact derivatives."""
    gradient_tol: float = 1e-2
    """Slope in a log precision, in nats, with which a maximum is not one."""
    n_bisections: int = 12
    """Of the way to a model with wrong signs, to find where the first weight is zero."""
    negligible_penalty: float = 0.02
    """Penalties below this, in nats, are tolerances; `SearchTuning.negligible_penalty` of regressions."""
    n_removal_trials: int = 3
    """Units of least loss that are tried in each step of a backward path."""
    bulk_divisor: int = 16
    """With twice as many units or more, one in so many leaves a backward path at once."""
    precision_steps: int = 25
    """Quasi-Newton steps on the precisions after each removal."""
    precision_tol: float = 1e-6
    """Relative rise at which they end: some 1e-4 nats."""
    negligible_dof: float = 0.01
    """Effective degrees of freedom of a unit that is as good as absent."""
    n_final_trials: int = 24
    """Units of least loss without which a model is tried before it counts as the end."""
    max_recoverable_loss: float = 5.0
    """Nats lost with a unit that the precisions of the others may make up for."""
    min_improvement: float = 1e-3
    """Nats by which a model with one unit less must be better."""
