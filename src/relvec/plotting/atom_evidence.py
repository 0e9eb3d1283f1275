"""Plot of the log evidence as a function of the precision of a single atom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from relvec._checks import check_choice
from relvec._compat import import_optional
from relvec.describing import AtomEvidence, compute_atom_evidence, shorten
from relvec.plotting._axes import (
    adapt_colour,
    compute_text_scale,
    escape_mathtext,
    finish_axes,
    get_axes,
    set_title,
)
from relvec.plotting._style import DATA, INK, MODEL, OTHER, STYLE

__all__ = ["AtomEvidence", "AtomEvidenceDisplay"]

KINDS = ("curves", "ellipses")


class AtomEvidenceDisplay:
    """Plot of the gain in log evidence of single atoms, as a function of their precisions.

    An atom is a basis function; the evidence is the marginal likelihood. All other atoms and the
    noise variance are held fixed. For a large precision the weight is zero and the gain vanishes.
    If ``q^2 > s`` (quality and sparsity factors of Tipping and Faul), the gain has a maximum at a
    finite precision, and the atom can be kept. Otherwise the gain increases towards zero: the
    optimal precision is infinite, and the atom is pruned. Under a prior with a penalty on degrees
    of freedom the gain is smaller (dashed: log evidence alone), and its maximum is at a larger
    precision or at infinity.

    ``kind="ellipses"`` shows the same in the space of the target, whitened by the marginal
    covariance ``C`` of the model without the atom: its one-standard-deviation contour is a circle,
    which the atom widens to an ellipse along its own direction. The evidence increases if the
    target (cross) is more than one standard deviation away in that direction. Without penalties
    the optimal ellipse reaches as far as the target.

    Use `from_estimator` to create one.

    Parameters
    ----------
    atoms : sequence of AtomEvidence
        One panel per atom.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        One per atom.
    lines_ : list of matplotlib Line2D or Ellipse
        Curves, or ellipses of the model with the atom.
    marks_ : list of matplotlib Line2D or None
        Maxima, None where the maximum is at infinity; or the targets.
    notes_ : list of matplotlib Text
        Text in each panel.

    See Also
    --------
    ShrinkageDisplay : Shrinkage of single coefficients of an orthonormal basis.

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
        """Plot atoms of a fitted regression.

        Parameters
        ----------
        estimator : regressor of relvec, or a pipeline that ends in one
            Fitted to one target, under any prior but a Gamma prior.
        X : array-like of shape (n_samples, n_features)
            Training inputs, which determine the candidate atoms.
        y : array-like of shape (n_samples,)
            Training targets.
        atoms : sequence of int, optional
            Indices of candidates: rows of `X` for kernels, columns for `LinearBasis`. By default
            the kept atoms with the largest and the smallest gain, and the pruned atom closest to
            entering.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights of the fit.
        kind : {"curves", "ellipses"}, default="curves"
            As in `plot`.
        ax : sequence of matplotlib Axes, optional
            One per atom; a new figure by default.

        Returns
        -------
        display : AtomEvidenceDisplay
        """
        return cls(compute_atom_evidence(estimator, X, y, atoms, sample_weight)).plot(ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: str = "curves") -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, optional
            One per atom; a new figure by default.
        kind : {"curves", "ellipses"}, default="curves"
            Gain as a function of the precision; or contours of the marginal density of the
            target with and without the atom. Ellipses use the fitted precision or, for a pruned
            atom, the optimal one; ``s`` if that is infinite.

        Returns
        -------
        display : AtomEvidenceDisplay
        """
        check_choice("kind", kind, KINDS)
        count = len(self.atoms)
        n_columns = min(count, 3)
        n_rows = -(-count // n_columns)
        self.figure_, axes = get_axes(
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
            title = f"{escape_mathtext(shorten(atom.name))}: {'kept' if atom.is_kept else 'pruned'}"
            set_title(each, title, _colour(atom))
            finish_axes(each)
        return self

    def _draw_curve(self, axes: Any, atom: AtomEvidence) -> None:
        best, top = atom.best_precision, atom.best_gain
        is_finite = math.isfinite(best)
        colour = adapt_colour(axes, _colour(atom))
        scales = [atom.sparsity] + ([best] if is_finite else [])
        precision = np.geomspace(min(scales) / 100.0, max(scales) * 1000.0, 400)
        gain = atom.gain(precision)
        axes.axhline(0.0, color=adapt_colour(axes, DATA), lw=0.8, ls=":")
        if atom.penalty or atom.rate:
            evidence_gain = atom.gain(precision, penalised=False)
            axes.plot(precision, evidence_gain, "--", color=colour, lw=1.2, alpha=0.7)
            top = max(top, float(evidence_gain.max()))
        (line,) = axes.plot(precision, gain, color=colour, lw=1.8)
        self.lines_.append(line)
        if (
            atom.entry_penalty > 0.05
        ):  # nats; smaller values cannot be distinguished from zero in the plot
            axes.axhline(atom.entry_penalty, color=adapt_colour(axes, INK), lw=0.9, ls="-.")
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
            xlabel="precision α of the weight",
            ylabel="gain in objective (nats)"
            if atom.penalty or atom.rate
            else "gain in log evidence (nats)",
        )
        self._write_note(axes, atom, _describe_optimum(atom))

    def _draw_ellipse(self, axes: Any, atom: AtomEvidence) -> None:
        precision = atom.precision if atom.is_kept else atom.best_precision
        if not math.isfinite(precision):
            precision = atom.sparsity
        reach = math.sqrt(atom.sparsity / precision)
        width = math.hypot(1.0, reach)
        colour, paler = adapt_colour(axes, _colour(atom)), adapt_colour(axes, DATA)
        ellipse = import_optional("matplotlib.patches").Ellipse
        axes.add_patch(ellipse((0, 0), 2, 2, fill=False, ls="--", ec=paler, label="without atom"))
        drawn = ellipse((0, 0), 2.0 * width, 2, fill=False, ec=colour, lw=1.8, label="with atom")
        self.lines_.append(axes.add_patch(drawn))
        axes.annotate(
            "", (reach, 0.0), (0.0, 0.0), arrowprops={"arrowstyle": "->", "color": colour}
        )
        axes.plot(
            [atom.parallel_deviation] * 2,
            [0.0, atom.orthogonal_deviation],
            ":",
            color=paler,
            lw=1.0,
        )
        (mark,) = axes.plot(
            atom.parallel_deviation,
            atom.orthogonal_deviation,
            "X",
            color=adapt_colour(axes, INK),
            mew=0,
            ms=8,
            label="target",
        )
        self.marks_.append(mark)
        right, top = (
            1.2 * max(atom.parallel_deviation, width),
            1.2 * max(atom.orthogonal_deviation, 1.0),
        )
        axes.set(
            xlim=(-right, right),
            ylim=(-1.35 * top, 1.45 * top),
            xlabel="direction of the atom (std)",
            ylabel="orthogonal direction (std)",
        )
        axes.legend(
            frameon=False,
            fontsize=STYLE.font_size * compute_text_scale(axes),
            loc="upper center",
            ncols=3,
            handlelength=1.2,
            handletextpad=0.5,
            columnspacing=1.0,
            borderaxespad=0.1,
        )
        self._write_note(axes, atom, "", height=0.03)

    def _write_note(self, axes: Any, atom: AtomEvidence, text: str, height: float = 0.97) -> None:
        note = axes.text(
            0.98,
            height,
            f"q²/s = {atom.ratio:.3g}\n{text}".rstrip(),
            transform=axes.transAxes,
            ha="right",
            va="top" if height > 0.5 else "bottom",
            fontsize=STYLE.font_size,
            color=adapt_colour(axes, INK),
        )
        self.notes_.append(note)


def _colour(atom: AtomEvidence) -> str:
    return MODEL if atom.is_kept else OTHER


def _describe_optimum(atom: AtomEvidence) -> str:
    if not math.isfinite(atom.best_precision):
        return "optimum at infinity →"
    text = f"optimum at {atom.best_precision:.3g}"
    if not atom.is_kept and atom.best_gain < atom.entry_penalty:
        text += f",\nbelow the minimum gain {atom.entry_penalty:.2g}"
    return text
