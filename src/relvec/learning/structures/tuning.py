"""Constants of the search for structures, with their origin."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SearchTuning"]


@dataclass(frozen=True)
class SearchTuning:
    """Constants of the search for structures.

    Unless a field states another origin, its value was chosen by trials on simulated series and on
    the first 80 % of published ones.
    """

    structure_penalty: tuple[float, float] = (2.0, 3.0)
    """Log prior odds against a component, and against a further factor, in nats: of the order of
    the logarithm of the number of choices."""
    beam: int = 3
    """Number of structures whose changes are tried at each level."""
    max_levels: int = 8
    n_settled: int = 6
    """Number of screened structures that are fitted well at each level."""
    n_screen_steps: int = 6
    """Steps of an ascent after which structures are compared for the first time."""
    n_settle_steps: int = 35
    """Steps of an ascent to convergence."""
    min_improvement: float = 0.5
    """Gain in score, in nats, below which the search ends."""
    n_seed_periods: int = 5
    n_added_periods: int = 6
    n_longer_periods: int = 8
    """Numbers of candidate periods for seeds, for additions, and as modulations of shorter ones."""
    max_columns: int = 420
    """Largest number of columns of a structure: a fit costs the third power."""
    few_rows: int = 250
    more_columns: int = 120
    """Columns that structures may have in addition if the rows are few."""
    n_runners_up: int = 3
    """Number of best structures that are compared on held-out rows."""
    max_score_gap: float = 60.0
    """Structures under another transform are compared on held-out rows if their score is this close
    to the best one, in nats."""
    n_refit_steps: int = 6
    """Steps of an ascent to a training part, from the parameters for all rows."""
    n_folds: int = 5
    """Number of folds for tables of several inputs."""
    max_components: int = 8
    """Largest number of components; an option of users."""
    is_fast: bool = False
    """Whether to start from all components at once and remove those that are not needed."""
