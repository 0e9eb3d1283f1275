"""Interface of the solvers: the problem they receive and the solution they return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from relvec._checks import check_integer, check_positive
from relvec._typing import IndexArray, Vector
from relvec.moments.base import Moments
from relvec.priors import BoundFlat, BoundPrior


def check_penalties(min_gain: Any, prior: Any, n_atoms: int) -> Vector:
    """Return the minimum gain of each atom; raise if it or the prior does not fit the atoms."""
    if not isinstance(prior, BoundPrior):
        raise TypeError(f"prior must be bound: prior.bind(n_samples); got {prior!r}.")
    for name, given in (("min_gain", min_gain), ("penalty", prior.penalty)):
        values = np.asarray(given, float)
        if values.shape not in ((), (n_atoms,)) or not (values >= 0.0).all():
            raise ValueError(
                f"{name} must be a number, or one for each of {n_atoms} atoms, not negative and "
                f"not NaN; got {given!r}."
            )
    return np.broadcast_to(np.asarray(min_gain, float), (n_atoms,))


@dataclass(frozen=True)
class Problem:
    """An optimisation problem: maximise the penalised log evidence (log marginal likelihood).

    The variables are the precisions of the weights and, unless it is held, the noise variance. The
    objective is that of `relvec.evidence`, less `min_gain` for every active atom.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.moments import SufficientStatistics
    >>> from relvec.solvers import Problem, SequentialSolver
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(50, 4))
    >>> target = Phi[:, 1] + 0.1 * rng.normal(size=50)
    >>> moments = SufficientStatistics(4).update(Phi, target).moments()
    >>> held = Problem(moments, min_gain=np.log(4), noise_variance=0.01)
    >>> SequentialSolver().solve(held).noise_variance
    0.01
    """

    moments: Moments
    min_gain: Vector = 1e-3  # type: ignore[assignment]  # broadcast below
    """Minimum gain in log evidence for an atom to be in the model, one number or one per atom. It
    is the log prior odds against inclusion: the objective is reduced by it for every active
    atom."""
    prior: BoundPrior = BoundFlat()  # noqa: RUF009  # immutable
    """Prior of the precisions and of the noise, bound to these atoms."""
    noise_variance: float | None = None
    """Held noise variance, in squared units of the target; None to estimate it."""
    max_active: int | None = None
    """Cap on the number of active atoms; None for half the effective sample size."""

    def __post_init__(self) -> None:
        """Check that the parts fit each other; broadcast `min_gain` to one number per atom."""
        if not isinstance(self.moments, Moments):
            raise TypeError(
                "moments must be Moments, such as SufficientStatistics(n_atoms).update(Phi, "
                f"target).moments(); got {type(self.moments).__name__}."
            )
        if self.noise_variance is not None:
            check_positive("noise_variance", self.noise_variance, also="or None to estimate it")
        if self.max_active is not None:
            check_integer("max_active", self.max_active, minimum=0)
        penalties = check_penalties(self.min_gain, self.prior, self.moments.n_atoms)
        object.__setattr__(self, "min_gain", penalties)

    @property
    def active_cap(self) -> int:
        """Largest number of active atoms.

        An estimated noise variance needs residual degrees of freedom: by default at most half of
        the effective sample size is spent on atoms. A held noise needs no cap.
        """
        n_atoms = self.moments.n_atoms
        if self.max_active is not None:
            return self.max_active
        if self.noise_variance is not None:
            return n_atoms
        return max(1, int(min(self.moments.n_effective // 2, n_atoms)))


class Progress(NamedTuple):
    """State of a search after one step, as passed to a `Monitor`.

    Examples
    --------
    >>> from relvec.solvers import Progress
    >>> Progress(stage="balanced", n_iter=3, objective=-12.5, n_active=4)
    Progress(stage='balanced', n_iter=3, objective=-12.5, n_active=4)
    """

    stage: str
    n_iter: int
    objective: float
    n_active: int


Monitor = Callable[[Progress], bool]
"""Called after every step; returning True asks the solver to stop where it is."""


class SearchStopped(Exception):
    """A monitor requested to stop the search."""


class Relay:
    """Monitor that forwards the progress of several successive runs to one monitor.

    Steps are counted over all runs, and a request to stop is remembered.

    Parameters
    ----------
    monitor : callable, optional
        The monitor to call; None to call nobody.

    Examples
    --------
    >>> from relvec.solvers.base import Progress, Relay
    >>> relay = Relay(lambda progress: progress.n_iter > 10)
    >>> relay.n_iter += 8  # steps of an earlier run
    >>> relay(Progress("second", 3, -12.5, 4)), relay.is_stop_requested
    (True, True)
    """

    def __init__(self, monitor: Monitor | None) -> None:
        self.monitor = monitor
        self.n_iter = 0
        self.is_stop_requested = False

    def __call__(self, progress: Progress) -> bool:
        """Call the monitor, if there is one; return whether it requests a stop."""
        if self.monitor is not None:
            progress = progress._replace(n_iter=self.n_iter + progress.n_iter)
            self.is_stop_requested = self.monitor(progress)
        return self.is_stop_requested


class Certificate(NamedTuple):
    """Violation of the optimality conditions at the solution; zero at an exact local maximum.

    The conditions are those of Faul and Tipping (2002): the gradient in the log precisions of the
    active atoms vanishes, and no other atom would raise the objective. Both numbers are computed in
    floating point. If atoms are nearly collinear and the noise is small, the objective has few
    correct digits. A solver then stops when the possible gain is below the rounding error, even if
    the gradient is not small yet.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.moments import SufficientStatistics
    >>> from relvec.solvers import Problem, SequentialSolver
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(50, 4))
    >>> target = Phi[:, 1] + 0.1 * rng.normal(size=50)
    >>> moments = SufficientStatistics(4).update(Phi, target).moments()
    >>> certificate = SequentialSolver().solve(Problem(moments)).certificate
    >>> certificate.gradient < 1e-3, certificate.best_gain < 1e-3
    (True, True)
    """

    gradient: float
    """Largest absolute derivative of the objective in a log precision of an active atom."""
    best_gain: float
    """Largest gain of an inactive atom, less its penalty or the solver's tolerance, whichever is
    larger; never negative. Atoms that are linear combinations of active ones, to rounding, are left
    out."""


class Candidate(NamedTuple):
    """One of the local optima that were compared, as reported to the user.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> x = np.linspace(-3, 3, 30)[:, np.newaxis]
    >>> model = RVMRegressor(gamma=1.0).fit(x, np.sin(2 * x[:, 0]))
    >>> best = model.candidates_[0]
    >>> bool(np.isclose(best.objective, model.objective_))
    True
    >>> best.n_active == len(model.relevance_)
    True
    """

    start: str
    """Name of the initialisation that led to it."""
    objective: float
    n_active: int


@dataclass(frozen=True)
class Solution:
    """Result of a solver: active set, precisions and noise variance, in the units of the moments.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.moments import SufficientStatistics
    >>> from relvec.solvers import Problem, SequentialSolver
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(50, 4))
    >>> target = Phi[:, 1] + 0.1 * rng.normal(size=50)
    >>> moments = SufficientStatistics(4).update(Phi, target).moments()
    >>> solution = SequentialSolver().solve(Problem(moments, min_gain=np.log(4)))
    >>> solution.active, solution.converged
    (array([1]), True)
    """

    active: IndexArray
    """Atoms in the model, ascending."""
    log_lam: Vector
    """``log(alpha * sigma^2 / norm^2)`` of each active atom (see `Moments`)."""
    noise_variance: float
    objective: float
    """Penalised log evidence, the function that was maximised."""
    n_iter: int
    converged: bool
    certificate: Certificate
    reached_max_active: bool = False
    """Whether the cap on active atoms was reached; the noise variance is then not identifiable."""
    trace: tuple[float, ...] = ()
    """Objective after each accepted step of the best ascent, preceded by that of the ascent from
    whose optimum it started."""
    candidates: tuple[Candidate, ...] = field(default=())
    """All local optima that were compared, best first."""
    laplace_rate: float = 0.0
    """Rate of the Laplace prior, given or learnt; zero without one."""


class WarmStart(NamedTuple):
    """Active set and log precisions of a previous solution, as an initialisation.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.moments import SufficientStatistics
    >>> from relvec.solvers import Problem, SequentialSolver, WarmStart
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(50, 4))
    >>> target = Phi[:, 1] + 0.1 * rng.normal(size=50)
    >>> moments = SufficientStatistics(4).update(Phi, target).moments()
    >>> first = SequentialSolver().solve(Problem(moments))
    >>> again = SequentialSolver().solve(
    ...     Problem(moments), warm_start=WarmStart(first.active, first.log_lam)
    ... )
    >>> bool(again.objective >= first.objective - 1e-6)
    True
    """

    active: IndexArray
    log_lam: Vector


class Solver(Protocol):
    """Protocol of solvers: turn a `Problem` into a `Solution`.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> from relvec.solvers import SequentialSolver
    >>> RVMRegressor(solver=SequentialSolver(effort="fast"))
    RVMRegressor(solver=SequentialSolver(effort='fast'))
    """

    def solve(
        self,
        problem: Problem,
        *,
        warm_start: WarmStart | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Maximise the objective of `problem`."""
        ...
