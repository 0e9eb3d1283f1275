"""The problem a solver is given and the answer it returns."""

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
    """Return what each atom must gain, if that and the bound prior fit the atoms; or raise."""
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
    """Maximise the (penalised) log evidence over the precisions and, unless held, the noise.

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
    """Per atom, or one number for all: log-evidence an atom must bring to be in the model. It is
    the log prior odds against inclusion, so the objective charges it for every atom kept."""
    prior: BoundPrior = BoundFlat()  # noqa: RUF009  # immutable
    """What the prior of these atoms adds to the log evidence."""
    noise_variance: float | None = None
    """Held noise variance, in squared units of the target; None to estimate it."""
    max_active: int | None = None
    """Cap on the number of active atoms; None for half the effective sample size."""

    def __post_init__(self) -> None:
        """Check that the parts fit each other, and give every atom its penalty."""
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
        """Most atoms a model may have: half the sample size identifies a free noise."""
        n_atoms = self.moments.n_atoms
        if self.max_active is not None:
            return self.max_active
        if self.noise_variance is not None:
            return n_atoms
        return max(1, int(min(self.moments.n_effective // 2, n_atoms)))


class Progress(NamedTuple):
    """What a solver tells the outside after each step.

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


class Relay:
    """Passes on what several runs in a row say, their steps counted through; keeps the answer.

    Parameters
    ----------
    monitor : callable, optional
        Who is told.

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
        """Tell the monitor, if there is one."""
        if self.monitor is not None:
            progress = progress._replace(n_iter=self.n_iter + progress.n_iter)
            self.is_stop_requested = self.monitor(progress)
        return self.is_stop_requested


class Certificate(NamedTuple):
    """Why the solver stopped: both numbers are zero at an exact local maximum.

    Both are computed in floating point. Where atoms are nearly collinear and the noise small,
    the objective itself is only known to some digits; a solver then stops when what is left to
    gain is below that, which may be before the gradient is.

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
    """Largest gain of any atom that is not in the model and not, to rounding, a combination of
    those that are; net of its penalty or, if that is less, of the solver's tolerance. Never
    negative."""


class Candidate(NamedTuple):
    """One end state among several, for the user to see.

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
    objective: float
    n_active: int


@dataclass(frozen=True)
class Solution:
    """An active set with its precisions and the noise, in the units of the moments.

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
    """Penalised log evidence: what was maximised."""
    n_iter: int
    converged: bool
    certificate: Certificate
    reached_max_active: bool = False
    """Whether the cap on active atoms was hit: the noise level is then not identified."""
    trace: tuple[float, ...] = ()
    """Objective after each accepted step of the run that won, and of the one it began from."""
    candidates: tuple[Candidate, ...] = field(default=())
    """Every end state that was compared, best first."""
    laplace_rate: float = 0.0
    """Rate of the Laplace prior, given or learnt; zero without one."""


class WarmStart(NamedTuple):
    """A previous active set to continue from.

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
    """Anything that turns a `Problem` into a `Solution`.

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
