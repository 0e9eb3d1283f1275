"""The numbers of the search, and where they come from.

They were chosen by trials on the problems in `bench/`; within a factor of two of each the answers
change little.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "SearchTuning"]


@dataclass(frozen=True)
class SearchTuning:
    """What `SequentialSolver` takes for small, few or far.

    Examples
    --------
    >>> from relvec.solvers import SearchTuning, SequentialSolver
    >>> SequentialSolver(tuning=SearchTuning(max_moved_atoms=40)).tuning.max_moved_atoms
    40
    """

    max_newton_step: float = 4.0
    """Largest change of a log precision in one step of Newton's method: a factor of fifty."""
    armijo_fraction: float = 1e-4
    """Share of the rise that its slope promises which a step must bring; the usual value."""
    backtrack_factor: float = 0.3
    """Factor by which a step that does not is shortened."""
    max_backtracks: int = 25
    """How often: down to 1e-13 of the step."""
    bulk_removal_size: int = 12
    """With more removable atoms than this, the clearest half goes at once."""
    negligible_penalty: float = 0.02
    """Penalties above this are taken seriously: atoms worth less are removed at the end."""
    max_batch: int = 400
    """Atoms that come in at once at most: their Gram rows fit in the cache."""
    copy_tolerance: float = 1e-12
    """Unit atoms whose inner product misses one by less are copies of each other."""
    working_set_size: int = 256
    """When few atoms still want to enter, the climb goes on among the active and this many of the
    most promising atoms, whose Gram block is known, before all atoms are looked at again."""
    min_rise: float = 1e-9
    """Rise of the objective, in nats, worth another round of polishing."""
    max_removals: int = 3
    """An atom removed this often has to wait until nothing else moves."""
    max_ridge_atoms: int = 400
    """Atoms used for the ridge estimate and for a dense start: one factorisation stays cheap."""
    max_dense_lam: float = 1e2
    """A dense start drops an atom once its precision says that it explains about a hundredth of
    its own direction; an ascent takes it back if that was too early."""
    dense_sweeps: int = 30
    """MacKay updates of a dense start: enough to sort the atoms, not to converge."""
    n_neighbours: int = 2
    """Places an atom may move to: the inactive atoms most like it."""
    n_shift_partners: int = 2
    """Active atoms that may move along with it: those most like it."""
    shift_steps: int = 2
    """Steps taken with the curvature of the present model, good enough to rank the shifts."""
    max_shift_change: float = 2.0
    """Largest change of a log precision in one of them."""
    curvature_damping: float = 0.05
    """Share of its diagonal added to the curvature, which may not be positive along flat ridges."""
    min_swap_value: float = -3.0
    """Swaps and merges that would lower the objective by more, the other precisions held, are not
    tried: what the others make up for by adapting is rarely as much."""
    max_swaps: int = 8
    """Swaps and merges tried from one state before it counts as the end."""
    max_shifts: int = 3
    """Shifts tried from one state, if at first sight they lose less than `max_shift_loss`."""
    max_shift_loss: float = 1.0
    """In nats: what adapting all precisions may make up for."""
    n_merge_partners: int = 2
    """Every atom may be merged with this many of the active atoms most like it."""
    min_improvement: float = 1e-4
    """An end state has to be better by this much, in nats, to replace another."""
    max_moved_atoms: int = 25
    """Beyond this many active atoms their moves are too many to try."""
    few_active: int = 12
    """Up to this many, moves find more than further starts and recombinations do."""
    max_moves: int = 100
    """Moves made from one end state at most; never met in practice."""
    small_dictionary: int = 600
    """Up to this many atoms the whole Gram is at hand and every start is affordable."""
    large_dictionary: float = 1e7
    """From this many entries of the dictionary on, Gram rows are worth saving."""
    noise_factors: tuple[float, ...] = (3.0, 10.0)
    """Factors by which the noise is raised while the parts of a union divide the work."""
    same_objective_tol: float = 1e-4
    """End states whose objectives differ by less, with equally many atoms, are the same one."""

    beam_width: int = 30
    """Subsets of each size that a beam search among penalised columns keeps."""
    max_beam_evaluations: int = 6000
    """Fewer if with every further column they would be more than this: some milliseconds."""
    max_subset_size: int = 8
    """Most columns of a subset: with more, forward selection and its recombinations find them."""
    n_subsets: int = 6
    """Subsets to ascend from, the best of any size."""


DEFAULT = SearchTuning()
