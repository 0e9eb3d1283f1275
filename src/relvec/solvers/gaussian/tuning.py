"""Constants of the search for the Gaussian evidence, with their origin."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "SearchTuning"]


@dataclass(frozen=True)
class SearchTuning:
    """Constants of `SequentialSolver`.

    Unless a field states another origin, its value was chosen by trials on the problems in
    ``bench/``. Within a factor of two of each value the solutions change little. Differences of
    the objective (log evidence) are in nats.

    Examples
    --------
    >>> from relvec.solvers import SearchTuning, SequentialSolver
    >>> SequentialSolver(tuning=SearchTuning(max_moved_atoms=40)).tuning.max_moved_atoms
    40
    """

    # Newton's method in the log precisions
    max_newton_step: float = 4.0
    """Largest change of a log precision in one Newton step, a factor of about fifty."""
    armijo_fraction: float = 1e-4
    """Fraction of the predicted decrease that a step must reach (Armijo's condition); the usual
    value (Nocedal and Wright, 2006, section 3.1)."""
    backtrack_factor: float = 0.3
    """Factor by which a step is shortened if it does not satisfy Armijo's condition."""
    max_backtracks: int = 25
    """Largest number of shortenings, down to 1e-13 of the step."""
    bulk_removal_size: int = 12
    """If more atoms than this are to be removed, the half with the smallest losses is removed at
    once. Backward elimination removes one atom in so many at a time."""
    negligible_penalty: float = 0.02
    """Minimum gains of atoms up to this, in nats, are tolerances. Above it, atoms whose removal
    loses less than their minimum gain are removed at the end."""

    # additions
    max_batch: int = 400
    """Largest number of atoms added at once; their Gram rows fit in the cache."""
    copy_tolerance: float = 1e-12
    """Unit-norm atoms are copies of each other if their inner product differs from one by less;
    some thousand rounding errors."""
    working_set_size: int = 256
    """When few candidates are left, the ascent continues among the active atoms and this many of
    the best candidates, whose Gram block is known, before all atoms are screened again."""
    min_rise: float = 1e-9
    """Rise of the objective, in nats, for which another round of polishing is made."""
    max_removals: int = 3
    """An atom that was removed this often may enter again only when nothing else changes; this
    prevents cycles."""

    # initialisations
    max_ridge_atoms: int = 400
    """Largest number of atoms of the ridge estimate and of a dense initialisation: one
    factorisation stays cheap."""
    max_dense_lam: float = 1e2
    """A dense initialisation removes an atom when its scaled precision ``lam`` exceeds this: the
    atom then explains about a hundredth of its own direction. An ascent can add it again."""
    dense_sweeps: int = 30
    """MacKay updates of a dense initialisation: enough to rank the atoms, not to converge."""

    # shifts, swaps and merges of atoms at a local optimum
    n_neighbours: int = 2
    """An atom may be shifted to this many inactive atoms, those most correlated with it."""
    n_shift_partners: int = 2
    """An atom may be shifted together with this many active atoms, those most correlated with
    it."""
    shift_steps: int = 2
    """Steps with the Hessian of the current model (chord method), enough to rank the shifts."""
    max_shift_change: float = 2.0
    """Largest change of a log precision in one of these steps."""
    curvature_damping: float = 0.05
    """Fraction of its diagonal added to the Hessian, which may be indefinite along flat ridges."""
    min_swap_value: float = -3.0
    """Swaps and merges are tried only if the objective, other precisions held, changes by more than
    this. Adaptation of the other precisions rarely compensates a larger loss."""
    max_swaps: int = 8
    """Largest number of swaps and merges tried at one local optimum."""
    max_shifts: int = 3
    """Largest number of shifts tried at one local optimum, if they lose less than
    `max_shift_loss`."""
    max_shift_loss: float = 1.0
    """Loss, in nats, that the adaptation of all precisions may compensate."""
    n_merge_partners: int = 2
    """An atom may be merged with this many active atoms, those most correlated with it."""
    min_improvement: float = 1e-4
    """A local optimum must be better by this much, in nats, to replace another."""
    max_moved_atoms: int = 25
    """Largest number of active atoms for which moves are tried; beyond it there are too many."""
    few_active: int = 12
    """Up to this many active atoms, moves find better optima than further initialisations and
    recombinations do."""
    max_moves: int = 100
    """Largest number of moves from one local optimum; not reached in practice."""

    # sizes that decide on the plan of the search
    small_dictionary: int = 600
    """Up to this many atoms the whole Gram matrix is stored and every initialisation is cheap."""
    large_dictionary: float = 1e7
    """From this many entries of the dictionary on, working sets are used to save Gram rows."""
    noise_factors: tuple[float, ...] = (3.0, 10.0)
    """Factors by which the noise is raised while the signal is divided among the parts of a
    union."""
    same_objective_tol: float = 1e-4
    """Local optima with equally many atoms are the same if their objectives differ by less."""

    # beam search among columns with entry penalties
    beam_width: int = 30
    """Number of subsets of each size that the beam search keeps."""
    max_beam_evaluations: int = 6000
    """The beam is narrower if its subsets times the number of columns exceed this: some
    milliseconds."""
    max_subset_size: int = 8
    """Largest number of columns of a subset; larger ones are found by forward selection and
    recombination."""
    n_subsets: int = 6
    """Number of subsets, the best of any size, from which ascents start."""


DEFAULT = SearchTuning()
