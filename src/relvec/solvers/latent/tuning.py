"""Constants of the search for the Laplace evidence, with their origin."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LatentTuning"]


@dataclass(frozen=True)
class LatentTuning:
    """Constants of the search for the Laplace evidence.

    All values were chosen on problems of 50 to 2000 rows: doubling any of them raised the objective
    by less than the tolerance on nearly all problems. A unit is a set of weights that share a
    precision and enter or leave together (see `relvec.solvers.latent.problem`).
    """

    # regression steps at fixed curvature
    n_initial_atoms: int = 192
    """Size of the first working set; its atoms cover the range of slopes evenly."""
    working_set_size: int = 128
    """Number of best candidates that join the active atoms in a later working set."""
    max_regression_steps: int = 25
    """Largest number of regression steps in one working set."""
    step_fractions: tuple[float, ...] = (1.0, 0.4, 0.1)
    """Fractions of a trial step that are tried, one after the other."""
    min_retry_rise: float = 1.0
    """Rise of the objective, in nats, after which a failed step is tried again: the step of a
    single block, or the removal of a unit."""
    min_retry_loss_drop: float = 0.5
    """A failed removal is tried again if twice the loss has dropped by this. With several latent
    functions about two in a hundred of the removals tried succeed."""
    max_removal_loss: float = 6.0
    """A removal is not tried if twice the evidence lost at fixed curvature exceeds this."""

    # additions
    n_single_trials: int = 5
    """Number of best candidates tried one by one when a step with all of them fails."""
    n_weaker_block: int = 4
    """How often the prior variance of an atom that enters a block is divided by eight."""
    n_weaker_joint: int = 6
    """How often the prior variance of a unit, chosen with the covariance of all blocks, is divided
    by four."""
    n_weaker_exact: int = 12
    """The same with exact derivatives, which are valid down to the smallest variances."""
    negligible_gain_fraction: float = 0.01
    """A step is not evaluated if its gain at fixed curvature is below this fraction of the
    tolerance."""
    min_rise: float = 1e-9
    """Rise of the objective above rounding errors."""
    max_batch_correlation: float = 0.6
    """Atoms with a larger absolute correlation do not enter in one batch."""

    # ascent with exact derivatives
    n_exact_trials: int = 10
    """Number of units tried for entry, or for removal, in one round with exact derivatives."""
    gradient_tol: float = 1e-2
    """Largest derivative in a log precision, in nats, at a converged maximum."""
    n_bisections: int = 12
    """Bisections of the step to a model with wrong signs, to find where the first weight is
    zero."""

    # backward elimination under penalties
    negligible_penalty: float = 0.02
    """Penalties below this, in nats, are tolerances; see `SearchTuning.negligible_penalty`."""
    n_removal_trials: int = 3
    """Number of units of smallest loss whose removal is tried in each step of a backward path."""
    bulk_divisor: int = 16
    """With at least twice as many units, one in so many is removed from a backward path at once."""
    precision_steps: int = 25
    """Quasi-Newton steps in the log precisions after each removal."""
    precision_tol: float = 1e-6
    """Relative rise at which these steps end, some 1e-4 nats."""
    negligible_dof: float = 0.01
    """A unit with fewer effective degrees of freedom has no influence and is removed."""
    n_final_trials: int = 24
    """Number of units of smallest loss whose removal is tried before a model is accepted."""
    max_recoverable_loss: float = 5.0
    """Largest loss, in nats, that the adaptation of the other precisions may compensate."""
    min_improvement: float = 1e-3
    """Rise of the objective, in nats, for which a unit is removed."""
