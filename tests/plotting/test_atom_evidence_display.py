"""Evidence of single atoms against that of whole models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.optimize import minimize_scalar
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("matplotlib")

from matplotlib import colors, pyplot

from relvec import DRVMRegressor, RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis
from relvec.describing import compute_atom_evidence
from relvec.plotting import AtomEvidence, AtomEvidenceDisplay
from relvec.priors import GammaPrior, LaplacePrior, SmoothnessPrior

RNG = np.random.default_rng(2)
X = np.sort(RNG.uniform(-5.0, 5.0, 40))[:, None]
Y = np.sin(X[:, 0]) + 0.3 * RNG.normal(size=40)
Z = RNG.normal(size=(50, 6))
T = Z[:, 0] + 0.35 * Z[:, 1] + RNG.normal(size=50)


def objective(Phi, precision, noise, target, penalty=0.0, rate=0.0, weight=None):
    """Log evidence of a model with a flat intercept and some precisions, written out."""
    weight = np.ones(len(target)) if weight is None else weight
    root = np.sqrt(weight)
    # what is orthogonal to the weighted intercept
    Q = null_space(root[None])
    Phi, target = Q.T @ (root[:, None] * Phi), Q.T @ (root * target)
    used = np.isfinite(precision)
    C = noise * np.eye(len(target)) + Phi[:, used] / precision[used] @ Phi[:, used].T
    dof = len(target) - noise * np.trace(np.linalg.inv(C))
    value = -0.5 * (np.linalg.slogdet(C)[1] + target @ np.linalg.solve(C, target))
    lam = precision[used] * noise / (Phi[:, used] ** 2).sum(axis=0)
    return value - penalty * dof - 0.5 * rate * (1.0 / lam).sum()


def check_by_brute_force(model, Phi, X, y, penalty=0.0, rate=0.0, atoms=None, weight=None):
    display = AtomEvidenceDisplay.from_estimator(model, X, y, atoms=atoms, sample_weight=weight)
    last = model[-1] if hasattr(model, "steps") else model
    precision = np.full(Phi.shape[1], np.inf)
    precision[last.outputs_[0].active] = np.ravel(last.weight_precision_)
    noise = last.outputs_[0].solution.noise_variance

    def value(atom, at):
        changed = precision.copy()
        changed[atom] = at
        return objective(Phi, changed, noise, y, penalty, rate, weight)

    for number, atom in zip(atoms, display.atoms, strict=True):
        assert atom.is_kept == np.isfinite(precision[number])
        np.testing.assert_allclose(atom.precision, precision[number], rtol=1e-6)
        without = value(number, np.inf)
        steps = np.geomspace(0.01, 100.0, 7) * atom.sparsity
        brute = [value(number, each) - without for each in steps]
        np.testing.assert_allclose(atom.gain(steps), brute, rtol=1e-6, atol=1e-7)
        found = minimize_scalar(
            lambda log: without - value(number, np.exp(log)),  # noqa: B023
            bracket=np.log(atom.sparsity) + np.array([-6.0, 0.0]),
            tol=1e-10,
        )
        if np.isfinite(atom.best_precision):
            np.testing.assert_allclose(atom.best_gain, -found.fun, rtol=1e-6, atol=1e-8)
            np.testing.assert_allclose(np.log(atom.best_precision), found.x, atol=1e-3)
        else:
            assert -found.fun < 1e-6
        if atom.is_kept:  # the model has it where it is best
            np.testing.assert_allclose(atom.best_precision, atom.precision, rtol=1e-2)
    return display


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prior", "penalty", "rate"),
    [("flat", 0.0, 0.0), (SmoothnessPrior(1.5), 1.5, 0.0), (LaplacePrior(2.0), 0.0, 2.0)],
)
def test_curves_agree_with_the_evidence_of_the_whole_model(prior, penalty, rate):
    columns = SparseBayesRegressor(LinearBasis(), prior=prior, min_gain=1e-3).fit(Z, T)
    check_by_brute_force(columns, Z, Z, T, penalty, rate, atoms=range(6))
    kernels = RVMRegressor(gamma=0.3, prior=prior).fit(X, Y)
    Phi = np.exp(-0.3 * (X - X.T) ** 2)
    atoms = [*kernels.relevance_[:2], 3, 20]
    check_by_brute_force(kernels, Phi, X, Y, penalty, rate, atoms=list(dict.fromkeys(atoms)))


def test_sample_weights_and_pipelines():
    weight = RNG.integers(0, 3, 50).astype(float)
    model = SparseBayesRegressor(LinearBasis()).fit(Z, T, sample_weight=weight)
    check_by_brute_force(model, Z, Z, T, atoms=[0, 1, 2], weight=weight)
    pipeline = make_pipeline(StandardScaler(), SparseBayesRegressor(LinearBasis())).fit(Z, T)
    seen = StandardScaler().fit_transform(Z)
    check_by_brute_force(pipeline, seen, Z, T, atoms=[0, 1, 2])


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        RVMRegressor(length_scales="ard"),
        DRVMRegressor(select="always"),
        SparseBayesRegressor(KernelBasis(gamma=0.1) + LinearBasis()),
        RVMRegressor(gamma=0.1, centers=20, random_state=0),
        RVMRegressor(gamma=0.1, fit_intercept=False),
        RVMRegressor(gamma=0.1, noise_variance=1.0),
    ],
    ids=["scales", "drvm", "sum", "centres", "no intercept", "held noise"],
)
def test_all_regressors_are_drawn(model):
    model.fit(Z, T)
    display = AtomEvidenceDisplay.from_estimator(model, Z, T)
    assert 2 <= len(display.atoms) <= 3
    for atom in display.atoms:
        if atom.is_kept:
            np.testing.assert_allclose(atom.best_precision, atom.precision, rtol=0.05)
            assert np.isclose(model.weight_precision_, atom.precision).any()
        else:
            assert atom.best_gain <= atom.entry_penalty + 1e-3


@pytest.mark.parametrize("prior", ["flat", "bic"])
def test_parallel_and_orthogonal_deviation(prior):
    model = RVMRegressor(gamma=0.3, prior=prior).fit(X, Y)
    Phi = np.exp(-0.3 * (X - X.T) ** 2)
    Q = null_space(np.ones((1, 40)))
    Phi, target = Q.T @ Phi, Q.T @ Y
    precision = np.full(40, np.inf)
    precision[model.relevance_] = model.weight_precision_
    atoms = [model.relevance_[0], 3, 20]
    for number, atom in zip(atoms, compute_atom_evidence(model, X, Y, atoms, None), strict=True):
        others = np.isfinite(precision) & (np.arange(40) != number)
        C = model.noise_variance_ * np.eye(39)
        C += Phi[:, others] / precision[others] @ Phi[:, others].T
        values, vectors = np.linalg.eigh(C)
        white = vectors / np.sqrt(values) @ vectors.T
        direction, seen = white @ Phi[:, number], white @ target
        direction /= np.linalg.norm(direction)
        along = float(direction @ seen)
        np.testing.assert_allclose(atom.parallel_deviation, abs(along), rtol=1e-5, atol=1e-8)
        rest = np.linalg.norm(seen - along * direction)
        np.testing.assert_allclose(atom.orthogonal_deviation, rest / np.sqrt(38), rtol=1e-6)
        # an ellipse and the circle tell the target apart by what the atom brings
        wide = 1.0 + atom.sparsity / 0.7
        difference = 0.5 * (along**2 - along**2 / wide - np.log(wide))
        np.testing.assert_allclose(atom.gain(0.7, penalised=False), difference, rtol=1e-6)


def test_ellipses():
    atoms = [
        AtomEvidence(
            "a", sparsity=2.0, quality=4.0, precision=4.0 / 14.0, orthogonal_deviation=0.9
        ),
        AtomEvidence("b", sparsity=2.0, quality=1.0),
    ]
    display = AtomEvidenceDisplay(atoms).plot(kind="ellipses")
    # without penalties the best ellipse reaches as far as the target
    np.testing.assert_allclose(display.lines_[0].get_width() / 2.0, np.sqrt(8.0))
    np.testing.assert_allclose(display.marks_[0].get_xydata(), [[np.sqrt(8.0), 0.9]])
    np.testing.assert_allclose(display.lines_[1].get_width() / 2.0, np.sqrt(2.0))
    labels = [text.get_text() for text in display.axes_[0].get_legend().get_texts()]
    assert labels == ["without atom", "with atom", "target"]
    with pytest.raises(ValueError, match="kind must be one of"):
        display.plot(kind="circles")


def test_default_atoms():
    model = RVMRegressor(gamma=0.3).fit(X, Y)
    everything = compute_atom_evidence(model, X, Y, range(40), None)
    drawn = AtomEvidenceDisplay.from_estimator(model, X, Y).atoms
    kept = [atom for atom in everything if atom.is_kept]
    gains = [atom.best_gain for atom in kept]
    assert drawn[0].name == kept[int(np.argmax(gains))].name
    assert drawn[1].name == kept[int(np.argmin(gains))].name
    out = [atom for atom in everything if not atom.is_kept]
    assert not drawn[2].is_kept
    np.testing.assert_allclose(drawn[2].ratio, max(atom.ratio for atom in out), rtol=1e-3)


@pytest.mark.slow
def test_what_is_drawn():
    atoms = [
        AtomEvidence("a$_b", sparsity=2.0, quality=3.0, precision=4.0 / 7.0),
        AtomEvidence("b", sparsity=2.0, quality=1.0),
        AtomEvidence("c", sparsity=2.0, quality=3.0, dof_factor=2.0, penalty=1.0),
        AtomEvidence("d", sparsity=2.0, quality=2.0, entry_penalty=3.0),
    ]
    display = AtomEvidenceDisplay(atoms).plot()
    assert len(display.axes_) == 4
    assert display.marks_[1] is None
    x, y = (float(each[0]) for each in display.marks_[0].get_data())
    np.testing.assert_allclose([x, y], [4 / 7, 0.5 * (4.5 - 1.0 - np.log(4.5))])
    assert [note.get_text().split("\n")[-1] for note in display.notes_] == [
        "optimum at 0.571",
        "optimum at infinity →",
        f"optimum at {atoms[2].best_precision:.3g}",
        "below the minimum gain 3",
    ]
    assert [title.get_title(loc="left") for title in display.axes_][:2] == [
        r"a\$_b: kept",
        "b: pruned",
    ]
    assert [len(ax.get_lines()) for ax in display.axes_] == [3, 2, 4, 4]
    display.figure_.canvas.draw()
    one = AtomEvidenceDisplay(atoms[1]).plot()
    assert len(one.figure_.axes) == 1


def test_penalty_increases_the_optimal_precision():
    free = AtomEvidence("a", sparsity=2.0, quality=3.0, dof_factor=2.0)
    some = AtomEvidence("a", sparsity=2.0, quality=3.0, dof_factor=2.0, penalty=1.0)
    much = AtomEvidence("a", sparsity=2.0, quality=3.0, dof_factor=2.0, penalty=5.0)
    assert free.best_precision < some.best_precision < much.best_precision == np.inf
    assert (free.gain([0.1, 1.0, 10.0]) > some.gain([0.1, 1.0, 10.0])).all()
    np.testing.assert_array_equal(free.gain([1.0]), some.gain([1.0], penalised=False))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sparsity": 0.0}, "sparsity must be"),
        ({"quality": np.nan}, "quality must be a finite number"),
        ({"penalty": -1.0}, "penalty must"),
        ({"penalty": 1.0, "rate": 1.0}, "give only one of them"),
        ({"precision": 0.0}, "precision must be positive or infinite"),
    ],
)
def test_invalid_atoms_raise(options, message):
    with pytest.raises(ValueError, match=message):
        AtomEvidence("a", **{"sparsity": 1.0, "quality": 1.0, **options})


def test_invalid_models_and_data_raise():
    draw = AtomEvidenceDisplay.from_estimator
    model = RVMRegressor(gamma=0.3).fit(X, Y)
    with pytest.raises(ValueError, match="must be the rows that the model was fitted to"):
        draw(model, X, Y[::-1])
    with pytest.raises(ValueError, match="must be the rows that the model was fitted to"):
        draw(model, X[:30], Y[:30])
    with pytest.raises(ValueError, match="must have the same rows; got 40 and shape"):
        draw(model, X, Y[:30])
    with pytest.raises(ValueError, match="between 0 and 39, as there are 40 candidates"):
        draw(model, X, Y, atoms=[40])
    with pytest.raises(ValueError, match="atoms must be indices of candidates"):
        draw(model, X, Y, atoms=["first"])
    with pytest.raises(NotFittedError):
        draw(RVMRegressor(), X, Y)
    with pytest.raises(TypeError, match="needs a fitted regressor of relvec.*RVMClassifier"):
        draw(RVMClassifier(gamma=1.0).fit(X, Y > 0), X, Y > 0)
    two = RVMRegressor(gamma=0.3).fit(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="plots one target; the model has 2"):
        draw(two, X, np.column_stack([Y, Y]))
    gamma = SparseBayesRegressor(LinearBasis(), prior=GammaPrior()).fit(Z, T)
    with pytest.raises(ValueError, match="Under a Gamma prior on precisions every atom is kept"):
        draw(gamma, Z, T)
    flat = np.column_stack([Z[:, 0], np.ones(50)])
    with pytest.raises(ValueError, match="candidate 1 is constant over the rows"):
        draw(SparseBayesRegressor(LinearBasis()).fit(flat, T), flat, T, atoms=[1])
    with pytest.raises(TypeError, match="one or more AtomEvidence"):
        AtomEvidenceDisplay([])
    with pytest.raises(ValueError, match="ax must be 1 matplotlib axes, for the atoms"):
        AtomEvidenceDisplay(AtomEvidence("a", 1.0, 2.0)).plot([])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["curves", "ellipses"])
@pytest.mark.parametrize("is_dark", [False, True])
def test_text_fits_small_panels_on_light_and_dark_backgrounds(is_dark, kind):
    atom = AtomEvidence("x1", sparsity=2.0, quality=2.0, entry_penalty=3.0)
    with pyplot.style.context("dark_background" if is_dark else "default"):
        figure, ax = pyplot.subplots(figsize=(3.0, 2.0), layout="constrained")
        display = AtomEvidenceDisplay([atom]).plot(ax, kind=kind)
        figure.canvas.draw()
        (note,) = display.notes_
        box = note.get_window_extent()
        assert ax.get_window_extent().x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert box.height < 0.45 * ax.get_window_extent().height
        paper = float(np.mean(colors.to_rgb(ax.get_facecolor())))
        line = display.lines_[0]
        drawn = line.get_color() if kind == "curves" else line.get_edgecolor()[:3]
        for colour in (note.get_color(), drawn):
            assert abs(float(np.mean(colors.to_rgb(colour))) - paper) > 0.3
