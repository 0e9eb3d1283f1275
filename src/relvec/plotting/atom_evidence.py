"""The evidence of one atom as a function of its precision: why some stay and most leave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from relvec._checks import check_choice
from relvec._compat import import_optional
from relvec.describing import AtomEvidence, atoms_of, shorten
from relvec.plotting._axes import finish, plain, set_title, smallness, take_axes, tone
from relvec.plotting._style import DATA, INK, MODEL, OTHER, STYLE

__all__ = ["AtomEvidence", "AtomEvidenceDisplay"]

KINDS = ("curves", "ellipses")


class AtomEvidenceDisplay:
    """Picture of what single atoms add to the log evidence, over the precisions of their weights.

    All other atoms and the noise are held. Far to the right a weight is zero, and adds nothing. If
    the atom explains more than chance would (``q^2 > s``, in the notation of Tipping and Faul),
    there is a maximum at a finite precision, and the atom can stay. If not, the curve rises all
    the way: the best precision is infinite, and the atom leaves. Under a prior that charges for
    degrees of freedom the curve is lower (dashed: the evidence alone), and its maximum further to
    the right, or gone.

    As ellipses the same is seen from the side of the target. Directions are scaled by what the
    rest of the model expects of them, so that it expects a circle, of one standard deviation. The
    atom widens it along its own direction. That pays where the target (the cross) is further along
    that direction than one, and without penalties it pays most if the ellipse reaches just as far
    as the target. Where the circle does already, to widen it makes the target less probable.

    Use `from_estimator` to make one.

    Parameters
    ----------
    atoms : sequence of AtomEvidence
        One panel each.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        One for each atom.
    lines_ : list of matplotlib Line2D or Ellipse
        The curves, or the ellipses of the model with the atom.
    marks_ : list of matplotlib Line2D or None
        The maxima, None where it is at infinity; or the targets.
    notes_ : list of matplotlib Text
        What is said of each.

    See Also
    --------
    ShrinkageDisplay : What becomes of single coefficients of an orthonormal basis.

    References
    ----------
    Tipping and Faul (2003), Fast marginal likelihood maximisation for sparse Bayesian models,
    AISTATS.

    Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1; figure 8.

    Schmolck (2008), Smooth relevance vector machines, thesis, University of Exeter; figure 2.11.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.plotting import AtomEvidenceDisplay
    >>> X = np.linspace(-10, 10, 60)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).normal(size=60)
    >>> model = RVMRegressor(gamma=0.1).fit(X, y)
    >>> display = AtomEvidenceDisplay.from_estimator(model, X, y)
    >>> [atom.is_kept for atom in display.atoms]
    [True, True, False]
    """

    def __init__(self, atoms: Sequence[AtomEvidence]) -> None:
        self.atoms = [atoms] if isinstance(atoms, AtomEvidence) else list(atoms)
        if not self.atoms or not all(isinstance(each, AtomEvidence) for each in self.atoms):
            raise TypeError(f"atoms must be one or more AtomEvidence; got {atoms!r}.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        atoms: Sequence[int] | None = None,
        sample_weight: Any = None,
        kind: str = "curves",
        ax: Any = None,
    ) -> Self:
        """Draw atoms of a fitted regression.

        Parameters
        ----------
        estimator : regressor of relvec, or a pipeline that ends in one
            Fitted, to one target, under any prior but a Gamma prior.
        X : array-like of shape (n_samples, n_features)
            The rows it was fitted to: atoms that were left out are not kept in it.
        y : array-like of shape (n_samples,)
            Their targets.
        atoms : sequence of int, optional
            Numbers of the candidates: of rows of `X` for kernels, of columns for `LinearBasis`. By
            default the one that brings most, the one kept that brings least, and the one left
            out that is nearest to entering.
        sample_weight : array-like of shape (n_samples,), optional
            As in the fit.
        kind : {"curves", "ellipses"}, default="curves"
            As in `plot`.
        ax : sequence of matplotlib Axes, optional
            Where to draw, one for each atom; a new figure by default.

        Returns
        -------
        display : AtomEvidenceDisplay
        """
        return cls(atoms_of(estimator, X, y, atoms, sample_weight)).plot(ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: str = "curves") -> Self:
        """Draw.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, optional
            Where to draw, one for each atom; a new figure by default.
        kind : {"curves", "ellipses"}, default="curves"
            What each atom adds over its precision, or what is expected of the target with it and
            without it, and the target. An ellipse is that of the precision in the model or, of an
            atom that is left out, of its best; of ``s`` if that is infinite.

        Returns
        -------
        display : AtomEvidenceDisplay
        """
        check_choice("kind", kind, KINDS)
        count = len(self.atoms)
        n_columns = min(count, 3)
        n_rows = -(-count // n_columns)
        self.figure_, axes = take_axes(
            ax,
            count,
            "the atoms",
            nrows=n_rows,
            ncols=n_columns,
            figsize=(0.6 + 3.4 * n_columns, 3.2 * n_rows),
        )
        for spare in axes[count:]:
            spare.remove()
        self.axes_ = axes[:count]
        self.lines_: list[Any] = []
        self.marks_: list[Any] = []
        self.notes_: list[Any] = []
        for each, atom in zip(self.axes_, self.atoms, strict=True):
            (self._draw_curve if kind == "curves" else self._draw_ellipse)(each, atom)
            title = f"{plain(shorten(atom.name))}: {'kept' if atom.is_kept else 'left out'}"
            set_title(each, title, _colour(atom))
            finish(each)
        return self

    def _draw_curve(self, axes: Any, atom: AtomEvidence) -> None:
        best, top = atom.best_precision, atom.best_gain
        is_finite = math.isfinite(best)
        colour = tone(axes, _colour(atom))
        turns = [atom.sparsity] + ([best] if is_finite else [])
        precision = np.geomspace(min(turns) / 100.0, max(turns) * 1000.0, 400)
        gain = atom.gain(precision)
        axes.axhline(0.0, color=tone(axes, DATA), lw=0.8, ls=":")
        if atom.penalty or atom.rate:
            alone = atom.gain(precision, penalised=False)
            axes.plot(precision, alone, "--", color=colour, lw=1.2, alpha=0.7)
            top = max(top, float(alone.max()))
        (line,) = axes.plot(precision, gain, color=colour, lw=1.8)
        self.lines_.append(line)
        if atom.entry_penalty > 0.05:  # nats; less is not told from zero
            axes.axhline(atom.entry_penalty, color=tone(axes, INK), lw=0.9, ls="-.")
        mark = None
        if is_finite:
            (mark,) = axes.plot(best, atom.best_gain, "o", color=colour, ms=6, zorder=3)
        self.marks_.append(mark)
        height = max(top, 1.3 * atom.entry_penalty, 0.4)
        lowest = max(min(float(gain.min()), 0.0), -max(0.6 * height, 1.0))
        axes.set(
            xscale="log",
            xlim=(precision[0], precision[-1]),
            ylim=(lowest - 0.08 * height, 1.45 * height),
            xlabel="precision of the weight",
            ylabel="gain in objective (nats)" if atom.penalty or atom.rate else "gain (nats)",
        )
        self._note(axes, atom, _verdict(atom))

    def _draw_ellipse(self, axes: Any, atom: AtomEvidence) -> None:
        precision = atom.precision if atom.is_kept else atom.best_precision
        if not math.isfinite(precision):
            precision = atom.sparsity
        reach = math.sqrt(atom.sparsity / precision)
        width = math.hypot(1.0, reach)
        colour, paler = tone(axes, _colour(atom)), tone(axes, DATA)
        ellipse = import_optional("matplotlib.patches").Ellipse
        axes.add_patch(ellipse((0, 0), 2, 2, fill=False, ls="--", ec=paler, label="without it"))
        drawn = ellipse((0, 0), 2.0 * width, 2, fill=False, ec=colour, lw=1.8, label="with it")
        self.lines_.append(axes.add_patch(drawn))
        axes.annotate(
            "", (reach, 0.0), (0.0, 0.0), arrowprops={"arrowstyle": "->", "color": colour}
        )
        axes.plot([atom.along] * 2, [0.0, atom.across], ":", color=paler, lw=1.0)
        (mark,) = axes.plot(
            atom.along, atom.across, "X", color=tone(axes, INK), mew=0, ms=8, label="target"
        )
        self.marks_.append(mark)
        right, top = 1.2 * max(atom.along, width), 1.2 * max(atom.across, 1.0)
        axes.set(
            xlim=(-right, right),
            ylim=(-1.35 * top, 1.45 * top),
            xlabel="along the atom (std)",
            ylabel="across it (std)",
        )
        axes.legend(
            frameon=False,
            fontsize=STYLE.font_size * smallness(axes),
            loc="upper center",
            ncols=3,
            handlelength=1.2,
            handletextpad=0.5,
            columnspacing=1.0,
            borderaxespad=0.1,
        )
        self._note(axes, atom, "", height=0.03)

    def _note(self, axes: Any, atom: AtomEvidence, words: str, height: float = 0.97) -> None:
        note = axes.text(
            0.98,
            height,
            f"q²/s = {atom.ratio:.3g}\n{words}".rstrip(),
            transform=axes.transAxes,
            ha="right",
            va="top" if height > 0.5 else "bottom",
            fontsize=STYLE.font_size,
            color=tone(axes, INK),
        )
        self.notes_.append(note)


def _colour(atom: AtomEvidence) -> str:
    return MODEL if atom.is_kept else OTHER


def _verdict(atom: AtomEvidence) -> str:
    if not math.isfinite(atom.best_precision):
        return "best at infinity →"
    words = f"best at {atom.best_precision:.3g}"
    if not atom.is_kept and atom.best_gain < atom.entry_penalty:
        words += f",\nbut it must bring {atom.entry_penalty:.2g}"
    return words
