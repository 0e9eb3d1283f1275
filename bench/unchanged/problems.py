"""The problems: one line for each, through the public interface of relvec alone.

Both versions run the same definitions. If a class or an argument gets another name, `make` is the
place to say so, once for all problems; if an attribute does, `bench.unchanged.quantities` is.

Problems whose names begin with "refused-" are meant to end with an exception, the same with both
versions; everywhere else an exception counts as a difference.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import relvec
from bench.unchanged.data import (
    Array,
    Data,
    as_sparse,
    collinear_columns,
    columns,
    constant_target,
    counts,
    fractional,
    friedman,
    gaussians,
    image,
    image_grid,
    kernel_matrix,
    line,
    named_classes,
    noise_target,
    partly_zero,
    plane,
    random_classes,
    rare_class,
    repeated_rows,
    ring,
    ripley,
    several_outputs,
    signal,
    sinc,
    surface,
    two_sides,
    twonorm,
    uniforms,
    volume,
    with_gaps,
)
from bench.unchanged.quantities import (
    OF_ALL_MODELS,
    Quantities,
    attributes,
    classification,
    denoising,
    fitted,
    of_classifier,
    of_regressor,
    regression,
)

__all__ = ["PROBLEMS", "make"]

# ------------------------------------------------------------------ how models are made


def make(name: str, *arguments: Any, **options: Any) -> Any:
    """Return an estimator of relvec, or a basis, a kernel or a prior as "bases.KernelBasis"."""
    found: Any = relvec
    for part in name.split("."):
        found = getattr(found, part)
    return found(*arguments, **options)


def noise_prior(shape: float, rate: float) -> Any:
    """Return a flat prior of the weights with a density of the noise."""
    if hasattr(relvec.priors, "InverseGamma"):
        return relvec.priors.FlatPrior(noise=relvec.priors.InverseGamma(shape, rate))
    return relvec.priors.GammaPrior(0.0, 0.0, shape, rate)


rvm = partial(make, "RVMRegressor")
sparse = partial(make, "SparseBayesRegressor")
drvm = partial(make, "DRVMRegressor")
rvm_labels = partial(make, "RVMClassifier")
sparse_labels = partial(make, "SparseBayesClassifier")
pfcvm = partial(make, "PFCVMClassifier")
denoiser = partial(make, "SmoothDenoiser")

kernels = partial(make, "bases.KernelBasis")
linear = partial(make, "bases.LinearBasis")
polynomial = partial(make, "bases.PolynomialBasis")
wavelets = partial(make, "bases.WaveletBasis")
cosines = partial(make, "bases.CosineBasis")
functions = partial(make, "bases.FunctionBasis")
precomputed = partial(make, "bases.PrecomputedBasis")


def gp(name: str, *arguments: Any, **options: Any) -> Any:
    """Return a kernel of scikit-learn."""
    from sklearn.gaussian_process import kernels

    return getattr(kernels, name)(*arguments, **options)


def triangular_kernel(X: Array, Z: Array) -> Array:
    """Kernel as a function, not positive definite."""
    distance = np.abs(X[:, np.newaxis] - Z[np.newaxis]).sum(axis=2)
    return np.maximum(0.0, 1.0 - 0.3 * distance)


def hinges(X: Array) -> Array:
    """Ten hinge functions."""
    return np.maximum(0.0, X[:, :1] - np.linspace(-9, 9, 10))


# ------------------------------------------------------------------ problems of several steps


def warm_start(before: str, **options: Any) -> Quantities:
    """Fit again from where another fit ended."""
    first, second = sinc(120, seed=1), sinc(120, seed=2)
    model = rvm(gamma=1 / 9, warm_start=True, **options)
    if before == "the same inputs":
        second = second._replace(X=first.X)
    elif before == "more rows":
        second = sinc(200, seed=1)
    return regression(model.fit(first.X, first.y), second)


def all_answers_of_a_regressor() -> Quantities:
    """Ask what is not asked elsewhere."""
    data = plane(90)
    basis = linear() + kernels(gamma=1.0)
    model = sparse(basis, prior="bic").fit(data.X, data.y)
    parts, parts_std = model.predict_components(data.X_new, return_std=True, centred=True)
    left_out, left_out_std = model.leave_one_out(data.X, data.y)
    return {
        "covariance": model.predict(data.X_new, return_cov=True)[1],
        "components": parts,
        "std of components": parts_std,
        "leave one out": left_out,
        "std of leave one out": left_out_std,
        "log density": model.log_predictive_density(data.X, data.y),
        "draws": model.sample_y(data.X_new, 3, random_state=0),
        "functions drawn": model.sample_y(data.X_new, 3, random_state=0, include_noise=False),
        "weight_covariance_": model.weight_covariance_,
        "well_determined_": model.well_determined_,
        "atom names": np.array(model.atom_names()),
        "score": np.array(model.score(data.X, data.y)),
    }


def joint(model: Any, data: Data) -> Quantities:
    """Ask for joint distributions."""
    model = fitted(model, data)
    return {
        "covariance": model.predict(data.X_new, return_cov=True)[1],
        "draws": model.sample_y(data.X_new, 3, random_state=0),
    }


def names_and_shares() -> Quantities:
    """Ask what the atoms of several bases are and what each basis does."""
    found = {}
    data = line(64, "Blocks")
    for prior in ("flat", "bic"):
        basis = wavelets("haar") + cosines() + polynomial(2)
        model = sparse(basis, prior=prior).fit(data.X, data.y)
        parts = model.components_
        found[f"names, {prior}"] = np.array(model.atom_names())
        found[f"kept, {prior}"] = np.array([part.n_relevant for part in parts])
        found[f"share, {prior}"] = np.array([part.share for part in parts])
    return found


def all_answers_of_a_classifier() -> Quantities:
    """Ask what is not asked elsewhere."""
    data = gaussians(120)
    model = rvm_labels(gamma=0.5).fit(data.X, data.y)
    decision = model.decide(data.X_new, 1.0 - np.eye(3), reject_cost=0.2)
    return {
        "log probability": model.predict_log_proba(data.X_new),
        "log odds not marginalise": model.decision_function(data.X_new, marginalise=False),
        **{
            f"decision, {number}": np.asarray(value, dtype=str if number == 0 else None)
            for number, value in enumerate(decision)
        },
        "score": np.array(model.score(data.X, data.y)),
    }


def selected_features() -> Quantities:
    """Use a model with feature selection as a transformer."""
    data = friedman(100)
    model = drvm(select="always", n_refinements=0, effort="fast").fit(data.X, data.y)
    return {"support": model.get_support(), "transformed": model.transform(data.X_new)}


def optima(prior: str) -> Quantities:
    """Map the local maxima of the evidence."""
    data = sinc(40, noise=0.07)
    model = rvm(make("kernels.LinearSpline", 3.0), prior=prior)
    report = relvec.explore_optima(model, data.X, data.y, n_runs=6, random_state=0)
    return {
        **{name: np.asarray(values) for name, values in report.to_dict().items()},
        "chosen": np.array([report.chosen.objective, report.chosen.error]),
        "rank": np.array(report.rank),
        "active": np.concatenate(report.active_sets),
    }


def as_published(name: str, data: Data, **options: Any) -> Quantities:
    """Fit an estimator of a paper or thesis."""
    try:
        home = importlib.import_module("relvec.published")
    except ModuleNotFoundError:
        home = importlib.import_module("relvec.learning.reference")
    model = getattr(home, name)(**options).fit(data.X, data.y)
    told = ["feature_weights_", "feature_precision_", "input_scales_", "trace_", "n_iter_"]
    found = attributes(model, (*OF_ALL_MODELS, "weight_precision_", "noise_variance_", *told))
    if hasattr(model, "predict_proba"):
        return found | {"probabilities": model.predict_proba(data.X, moderation="mackay")}
    mean, std = model.predict(data.X, return_std=True)
    return found | {"mean": mean, "std": std}


def denoised(values: Array, **options: Any) -> Quantities:
    """Use denoising as a function."""
    clean, std = relvec.denoise(values, return_std=True, **options)
    return {"denoised": np.asarray(clean), "std": np.asarray(std)}


def denoised_in_pieces() -> Quantities:
    """Denoise a signal that arrives piece by piece."""
    pieces = iter(np.split(signal("Doppler", 4096), 8))
    clean = relvec.denoise(pieces, n_samples=4096, dictionary="sym8", noise_std=0.2)
    return {"denoised": np.concatenate(list(clean))}


def denoised_again() -> Quantities:
    """Denoise another signal with the noise of the first."""
    model = denoiser().fit(signal("Blocks", 256))
    return {"transform": model.transform(signal("Bumps", 300))}


def plain_model() -> Quantities:
    """Look at the model in closed form."""
    model = denoiser("plain", dictionary="sym8").fit(signal("HeaviSine", 512)).model_
    return {"n_components": np.array(model.n_components_)}


def noise(values: Array, **options: Any) -> Quantities:
    """Estimate the level of the noise."""
    std, report = relvec.estimate_noise(values, return_report=True, **options)
    reports = report if isinstance(report, list) else [report]
    return {
        "std": np.asarray(std),
        "standard error": np.array([each.standard_error for each in reports]),
        "reliable": np.array([each.is_reliable for each in reports]),
    }


def line_of_noise(n: int = 1000) -> Array:
    """Noise of unit variance."""
    return np.random.default_rng(n).normal(size=n)


# ------------------------------------------------------------------ the table

PROBLEMS: dict[str, Callable[[], Quantities]] = {
    # -------- RVMRegressor: efforts, sizes, solvers
    "rvm-effort-fast": lambda: regression(rvm(gamma=0.5, effort="fast"), friedman()),
    "rvm-effort-balanced": lambda: regression(rvm(gamma=0.5, effort="balanced"), friedman()),
    "rvm-effort-thorough": lambda: regression(rvm(gamma=0.5, effort="thorough"), friedman()),
    "rvm-20-rows": lambda: regression(rvm(gamma=0.2), sinc(20)),
    "rvm-2-rows": lambda: regression(rvm(gamma=0.2), sinc(2)),
    "rvm-1000-rows": lambda: regression(rvm(gamma=0.5), friedman(1000)),
    "rvm-1000-rows-thorough": lambda: regression(rvm(gamma=0.5, effort="thorough"), friedman(1000)),
    "rvm-2000-rows": lambda: regression(rvm(gamma=0.05, effort="fast"), surface(2000)),
    "rvm-2000-rows-1-input": lambda: regression(rvm(gamma=1 / 9), sinc(2000)),
    "rvm-2000-rows-low-memory": lambda: regression(
        rvm(gamma=0.05, effort="fast", low_memory=True), surface(2000)
    ),
    "rvm-3300-rows-working-sets": lambda: regression(rvm(gamma=0.3, effort="fast"), sinc(3300)),
    "rvm-low-memory": lambda: regression(rvm(gamma=0.5, low_memory=True), friedman(300)),
    "rvm-low-memory-weights": lambda: regression(
        rvm(gamma=0.5, low_memory=True, prior="bic"), fractional(friedman(200))
    ),
    "rvm-solver-sequential": lambda: regression(rvm(gamma=1 / 9, solver="sequential"), sinc()),
    "rvm-solver-mackay": lambda: regression(rvm(gamma=1 / 9, solver="mackay"), sinc()),
    "rvm-solver-em": lambda: regression(rvm(gamma=1 / 9, solver="em"), sinc(60)),
    "rvm-solver-textbook": lambda: regression(rvm(gamma=1 / 9, solver="textbook"), sinc()),
    "rvm-solver-random-order": lambda: regression(rvm(gamma=1 / 9, solver="random_order"), sinc()),
    "rvm-mackay-weights": lambda: regression(
        rvm(gamma=0.5, solver="mackay"), fractional(friedman(100))
    ),
    "rvm-mackay-held-noise": lambda: regression(
        rvm(gamma=1 / 9, solver="mackay", noise_variance=0.01), sinc()
    ),
    "rvm-textbook-weights-bic": lambda: regression(
        rvm(gamma=0.5, solver="textbook", prior="bic"), partly_zero(friedman(100))
    ),
    "rvm-random-order-outputs": lambda: regression(
        rvm(gamma=1 / 9, solver="random_order"), several_outputs(sinc(60))
    ),
    # -------- kernels
    "rvm-kernel-rbf": lambda: regression(rvm("rbf", gamma=0.7), plane()),
    "rvm-kernel-laplacian": lambda: regression(rvm("laplacian", gamma=0.7), plane()),
    "rvm-kernel-matern32": lambda: regression(rvm("matern32", gamma=0.7), plane()),
    "rvm-kernel-matern52": lambda: regression(rvm("matern52", gamma=0.7), plane()),
    "rvm-kernel-rational-quadratic": lambda: regression(
        rvm("rational_quadratic", gamma=0.7), plane()
    ),
    "rvm-kernel-polynomial": lambda: regression(
        rvm("polynomial", gamma=0.7, degree=4, coef0=0.5), plane()
    ),
    "rvm-kernel-linear": lambda: regression(rvm("linear"), plane()),
    "rvm-kernel-sigmoid": lambda: regression(rvm("sigmoid", gamma=0.1, coef0=-1.0), plane()),
    "rvm-kernel-cosine": lambda: regression(rvm("cosine"), plane()),
    "rvm-kernel-linear-spline": lambda: regression(rvm("linear_spline", gamma=0.7), plane()),
    "rvm-kernel-thin-plate-spline": lambda: regression(
        rvm("thin_plate_spline", gamma=0.7), plane()
    ),
    "rvm-kernel-precomputed": lambda: regression(rvm("precomputed"), kernel_matrix(sinc(), 1 / 9)),
    "rvm-kernel-precomputed-weights": lambda: regression(
        rvm("precomputed"), partly_zero(kernel_matrix(sinc(), 1 / 9))
    ),
    "rvm-kernel-function": lambda: regression(rvm(triangular_kernel), plane()),
    "rvm-kernel-object": lambda: regression(
        rvm(gp("Matern", 1.5, nu=1.5) + 0.1 * gp("DotProduct")), plane()
    ),
    "rvm-kernel-spline-object": lambda: regression(rvm(make("kernels.LinearSpline", 3.0)), sinc()),
    "rvm-kernel-laplacian-object": lambda: regression(
        rvm(make("kernels.Laplacian", 0.4), prior="bic"), plane()
    ),
    "rvm-gamma-auto": lambda: regression(rvm(gamma="auto", length_scales=None), friedman(100)),
    "rvm-gamma-scale": lambda: regression(rvm(gamma="scale", length_scales=None), friedman(100)),
    "rvm-centers-chosen": lambda: regression(
        rvm(gamma=0.5, centers=40, random_state=0), friedman(300)
    ),
    "rvm-centers-random": lambda: regression(
        rvm(gamma=0.5, centers=40, center_method="random", random_state=0), friedman(300)
    ),
    "rvm-centers-grid": lambda: regression(
        rvm(gamma=0.5, centers=7, center_method="grid"), plane()
    ),
    "rvm-centers-given": lambda: regression(
        rvm(gamma=0.1, centers=np.linspace(-10, 10, 31)[:, np.newaxis]), sinc(300)
    ),
    # -------- scales
    "rvm-scales-auto": lambda: regression(rvm(), friedman(150)),
    "rvm-scales-auto-1-input": lambda: regression(rvm(), sinc()),
    "rvm-scales-auto-outputs": lambda: regression(rvm(), several_outputs(plane(60))),
    "rvm-scales-auto-weights": lambda: regression(rvm(), partly_zero(plane())),
    "rvm-scales-auto-1200-rows": lambda: regression(rvm(effort="fast"), surface(1200)),
    "rvm-scales-ard": lambda: regression(rvm(length_scales="ard"), friedman(150)),
    "rvm-scales-ard-matern52": lambda: regression(
        rvm("matern52", length_scales="ard"), friedman(100)
    ),
    "rvm-scales-ard-polynomial": lambda: regression(
        rvm("polynomial", length_scales="ard", degree=2), friedman(60, n_features=6)
    ),
    "rvm-scales-isotropic": lambda: regression(rvm(length_scales="isotropic"), friedman(150)),
    "rvm-scales-kernel": lambda: regression(
        rvm(gp("RBF", 2.0) + gp("RationalQuadratic"), length_scales="kernel"), plane()
    ),
    "rvm-scales-noise": lambda: regression(rvm(), noise_target(friedman(80))),
    # -------- priors, penalties, noise, intercept
    "rvm-prior-flat": lambda: regression(rvm(gamma=0.5, prior="flat"), plane(120)),
    "rvm-prior-gamma": lambda: regression(rvm(gamma=0.5, prior="gamma"), plane(120)),
    "rvm-prior-laplace": lambda: regression(rvm(gamma=0.5, prior="laplace"), plane(120)),
    "rvm-prior-aic": lambda: regression(rvm(gamma=0.5, prior="aic"), plane(120)),
    "rvm-prior-bic": lambda: regression(rvm(gamma=0.5, prior="bic"), plane(120)),
    "rvm-prior-ric": lambda: regression(rvm(gamma=0.5, prior="ric"), plane(120)),
    "rvm-prior-number": lambda: regression(
        rvm(gamma=0.5, prior=make("priors.SmoothnessPrior", 1.3)), friedman(150)
    ),
    "rvm-prior-laplace-rate": lambda: regression(
        rvm(gamma=1 / 9, prior=make("priors.LaplacePrior", 0.5)), sinc()
    ),
    "rvm-prior-gamma-noise": lambda: regression(
        rvm(gamma=1 / 9, prior=noise_prior(2.0, 0.5)), sinc()
    ),
    "rvm-prior-gamma-em": lambda: regression(
        rvm(gamma=1 / 9, prior="gamma", solver="em"), sinc(50)
    ),
    "rvm-min-gain-0": lambda: regression(rvm(gamma=0.5, min_gain=0.0), friedman(150)),
    "rvm-min-gain-3": lambda: regression(rvm(gamma=0.5, min_gain=3.0), friedman(150)),
    "rvm-held-noise": lambda: regression(rvm(gamma=0.5, noise_variance=0.05), friedman(150)),
    "rvm-held-noise-bic": lambda: regression(
        rvm(gamma=1 / 9, noise_variance=0.02, prior="bic", effort="thorough"), sinc()
    ),
    "rvm-no-intercept": lambda: regression(rvm(gamma=0.5, fit_intercept=False), friedman(150)),
    "rvm-no-intercept-weights": lambda: regression(
        rvm(gamma=1 / 9, fit_intercept=False), fractional(sinc())
    ),
    "rvm-weights-fractional": lambda: regression(rvm(gamma=0.5), fractional(friedman(200))),
    "rvm-weights-zero": lambda: regression(rvm(gamma=0.5), partly_zero(friedman(200))),
    "rvm-weights-ric-fast": lambda: regression(
        rvm(gamma=1 / 9, prior="ric", effort="fast"), partly_zero(sinc(150))
    ),
    "rvm-outputs": lambda: regression(rvm(gamma=0.5), several_outputs(plane(120))),
    "rvm-outputs-weights": lambda: regression(
        rvm(gamma=0.5, prior="bic"), fractional(several_outputs(plane(120)))
    ),
    "rvm-error-bars-novelty": lambda: regression(
        rvm(gamma=0.5, error_bars="novelty"), friedman(200)
    ),
    "rvm-error-bars-plain": lambda: regression(rvm(gamma=0.5, error_bars="plain"), friedman(200)),
    "rvm-error-bars-augmented": lambda: regression(
        rvm(gamma=0.5, error_bars="augmented"), friedman(200)
    ),
    "rvm-error-bars-augmented-weights": lambda: regression(
        rvm(gamma=1 / 9, error_bars="augmented"), partly_zero(several_outputs(sinc(80)))
    ),
    "rvm-error-bars-spline": lambda: regression(
        rvm("thin_plate_spline", gamma=0.5, error_bars="novelty"), plane(60)
    ),
    "rvm-warm-start-mackay": lambda: warm_start("the same inputs", solver="mackay"),
    "rvm-warm-start-other-inputs": lambda: warm_start("other inputs"),
    "rvm-warm-start-same-inputs": lambda: warm_start("the same inputs"),
    "rvm-warm-start-more-rows": lambda: warm_start("more rows"),
    # -------- hard or degenerate data
    "rvm-constant-target": lambda: regression(rvm(gamma=0.5), constant_target(plane())),
    "rvm-constant-target-no-intercept": lambda: regression(
        rvm(gamma=0.5, fit_intercept=False), constant_target(plane(40))
    ),
    "rvm-zero-target": lambda: regression(rvm(gamma=0.5), constant_target(plane(40), 0.0)),
    "rvm-pure-noise": lambda: regression(rvm(gamma=1 / 9), noise_target(sinc(200))),
    "rvm-pure-noise-narrow": lambda: regression(rvm(gamma=30.0), noise_target(sinc(100))),
    "rvm-nearly-noiseless": lambda: regression(rvm(gamma=1 / 9), sinc(100, noise=1e-6)),
    "rvm-noiseless": lambda: regression(rvm(gamma=0.3), sinc(60, noise=0.0)),
    "rvm-wide-kernels": lambda: regression(rvm(gamma=1e-4), sinc(80)),
    "rvm-repeated-rows": lambda: regression(rvm(gamma=1 / 9), repeated_rows(sinc())),
    "rvm-friedman-2": lambda: regression(rvm(prior="bic"), friedman(120, kind=2)),
    "rvm-friedman-3": lambda: regression(rvm(), friedman(120, kind=3)),
    "rvm-draws-augmented": lambda: joint(rvm(gamma=0.5, error_bars="augmented"), plane(60)),
    "rvm-draws-plain": lambda: joint(rvm(gamma=0.5, error_bars="plain"), plane(60)),
    "rvm-all-answers": all_answers_of_a_regressor,
    # -------- SparseBayesRegressor: explicit columns
    "sparse-default": lambda: regression(sparse(), sinc()),
    "sparse-linear": lambda: regression(sparse(linear()), columns()),
    "sparse-linear-wide": lambda: regression(sparse(linear()), columns(60, 400)),
    "sparse-linear-long": lambda: regression(sparse(linear()), columns(2000, 60, 20)),
    "sparse-linear-long-low-memory": lambda: regression(
        sparse(linear(), low_memory=True), columns(2000, 60, 20)
    ),
    "sparse-linear-csr": lambda: regression(sparse(linear()), as_sparse(counts(), "csr")),
    "sparse-linear-csc-weights": lambda: regression(
        sparse(linear()), fractional(as_sparse(counts(), "csc"))
    ),
    "sparse-linear-csr-no-intercept": lambda: regression(
        sparse(linear(), fit_intercept=False), as_sparse(counts(), "csr")
    ),
    "sparse-linear-collinear": lambda: regression(sparse(linear()), collinear_columns()),
    "sparse-linear-collinear-no-intercept": lambda: regression(
        sparse(linear(), fit_intercept=False, min_gain=0.0), collinear_columns()
    ),
    "sparse-linear-collinear-mackay": lambda: regression(
        sparse(linear(), solver="mackay"), collinear_columns()
    ),
    "sparse-linear-noise": lambda: regression(sparse(linear()), noise_target(columns())),
    "sparse-linear-noiseless": lambda: regression(sparse(linear()), columns(noise=1e-7)),
    "sparse-linear-weak-laplace": lambda: regression(
        sparse(linear(), prior="laplace", min_gain=0.0), columns(120, 60, 40, noise=6.0)
    ),
    "sparse-linear-laplace-rate": lambda: regression(
        sparse(linear(), prior=make("priors.LaplacePrior", 0.3)), columns(120, 60, 20)
    ),
    "sparse-linear-laplace-held-noise": lambda: regression(
        sparse(linear(), prior="laplace", noise_variance=1.0), columns(120, 60, 20)
    ),
    "sparse-linear-bic": lambda: regression(sparse(linear(), prior="bic"), columns()),
    "sparse-linear-ric-thorough": lambda: regression(
        sparse(linear(), prior="ric", effort="thorough"), columns(80, 200)
    ),
    "sparse-linear-aic-textbook": lambda: regression(
        sparse(linear(), prior="aic", solver="textbook"), columns()
    ),
    "sparse-linear-gamma": lambda: regression(sparse(linear(), prior="gamma"), columns()),
    "sparse-linear-random-order": lambda: regression(
        sparse(linear(), solver="random_order"), columns()
    ),
    "sparse-linear-em": lambda: regression(sparse(linear(), solver="em"), columns(60, 20)),
    "sparse-linear-outputs": lambda: regression(sparse(linear()), several_outputs(columns())),
    "sparse-polynomial": lambda: regression(sparse(polynomial(2)), friedman()),
    "sparse-polynomial-interactions": lambda: regression(
        sparse(polynomial(3, interaction_only=True), low_memory=True), friedman(n_features=6)
    ),
    "sparse-polynomial-no-linear": lambda: regression(
        sparse(polynomial(3, include_linear=False), prior="bic"), plane()
    ),
    # -------- other bases and sums of them
    "sparse-wavelets": lambda: regression(
        sparse(wavelets("sym8"), prior="bic", fit_intercept=False), line()
    ),
    "sparse-wavelets-orthonormal": lambda: regression(
        sparse(wavelets("db4", level=3), prior="ric", fit_intercept=False, solver="orthonormal"),
        line(250, "Blocks"),
    ),
    "sparse-wavelets-intercept": lambda: regression(sparse(wavelets("haar")), line(128, "Blocks")),
    "sparse-wavelets-flat-held-noise": lambda: regression(
        sparse(wavelets("haar"), fit_intercept=False, noise_variance=0.04), line(128, "Blocks")
    ),
    "sparse-wavelets-weights": lambda: regression(
        sparse(wavelets("haar"), prior="bic"), fractional(line(128, "Blocks"))
    ),
    "sparse-wavelets-plane": lambda: regression(
        sparse(wavelets("haar"), prior="bic", fit_intercept=False), image_grid()
    ),
    "sparse-cosines": lambda: regression(sparse(cosines(), prior="bic"), line(300)),
    "sparse-cosines-orthonormal": lambda: regression(
        sparse(cosines(), prior="aic", solver="orthonormal"), line(300)
    ),
    "sparse-cosines-plane-outputs": lambda: regression(
        sparse(cosines(), prior="ric"), several_outputs(image_grid())
    ),
    "sparse-cosines-flat": lambda: regression(sparse(cosines()), line(200)),
    "sparse-functions": lambda: regression(sparse(functions([np.sin, np.cos, hinges])), sinc()),
    "sparse-precomputed": lambda: regression(sparse(precomputed(localised=False)), columns()),
    "sparse-precomputed-kernels": lambda: regression(
        sparse(precomputed(), prior="bic"), kernel_matrix(sinc(), 0.2)
    ),
    "sparse-precomputed-sparse": lambda: regression(
        sparse(precomputed(localised=False)), as_sparse(counts(), "csc")
    ),
    "sparse-kernels-2-widths": lambda: regression(
        sparse(kernels(gamma=0.02) + kernels(gamma=1.0)), sinc(150)
    ),
    "sparse-kernels-and-columns": lambda: regression(
        sparse(kernels(gamma=0.5) + linear()), friedman(150)
    ),
    "sparse-kernels-and-columns-weights": lambda: regression(
        sparse(kernels("matern32", gamma=0.5) + linear() + polynomial(2, include_linear=False)),
        partly_zero(friedman(120)),
    ),
    "sparse-kernels-and-columns-scales": lambda: regression(
        sparse(kernels() + linear(), length_scales="ard"), friedman(100, n_features=6)
    ),
    "sparse-kernels-scales-auto": lambda: regression(
        sparse(kernels(), length_scales="auto"), plane()
    ),
    "sparse-wavelets-and-cosines": lambda: regression(
        sparse(wavelets("haar") + cosines(), prior="bic"), line(256, "Blocks")
    ),
    "sparse-wavelets-and-cosines-no-intercept": lambda: regression(
        sparse(wavelets("sym8") + cosines(), prior="ric", fit_intercept=False), line(200)
    ),
    "sparse-cosines-and-columns": lambda: regression(
        sparse(cosines() + linear(), prior="bic"), line(200, "Ramp")
    ),
    "sparse-names-and-shares": names_and_shares,
    "sparse-functions-and-kernels": lambda: regression(
        sparse(functions(hinges) + kernels(gamma=0.3), prior="bic", error_bars="augmented"), sinc()
    ),
    # -------- DRVMRegressor
    "drvm-default": lambda: regression(drvm(), friedman(120)),
    "drvm-always": lambda: regression(drvm(select="always", min_feature_gain=3.0), friedman(120)),
    "drvm-never": lambda: regression(drvm(select="never"), friedman(100, n_features=6)),
    "drvm-no-refinement": lambda: regression(drvm(n_refinements=0), friedman(120)),
    "drvm-refined-once-flat": lambda: regression(
        drvm(n_refinements=1, prior="flat"), friedman(100, n_features=7)
    ),
    "drvm-length-scale-uncertainty": lambda: regression(
        drvm(length_scale_uncertainty=True), friedman(100, n_features=6)
    ),
    "drvm-laplace": lambda: regression(
        drvm(prior="laplace", n_refinements=1), friedman(80, n_features=6)
    ),
    "drvm-matern52": lambda: regression(
        drvm("matern52", n_refinements=2, prior="bic"), friedman(80, n_features=6)
    ),
    "drvm-600-rows": lambda: regression(drvm(), friedman(600)),
    "drvm-draws-length-scale-uncertainty": lambda: joint(
        drvm(length_scale_uncertainty=True, n_refinements=1), plane(60)
    ),
    "drvm-laplacian-length-scale-uncertainty": lambda: regression(
        drvm("laplacian", length_scale_uncertainty=True, n_refinements=1), plane(60)
    ),
    "drvm-matern32-length-scale-uncertainty": lambda: regression(
        drvm("matern32", length_scale_uncertainty=True, n_refinements=1), plane(60)
    ),
    "drvm-rational-quadratic": lambda: regression(
        drvm("rational_quadratic", length_scale_uncertainty=True, n_refinements=1), plane(60)
    ),
    "drvm-kernel-object": lambda: regression(
        drvm(
            gp("RBF", [1.0, 1.0]) * gp("RationalQuadratic"),
            length_scale_uncertainty=True,
            n_refinements=1,
        ),
        plane(60),
    ),
    "drvm-outputs": lambda: regression(drvm(), several_outputs(plane(70))),
    "drvm-weights": lambda: regression(drvm(), partly_zero(friedman(100, n_features=6))),
    "drvm-held-noise-no-intercept": lambda: regression(
        drvm(noise_variance=0.05, fit_intercept=False, error_bars="plain"), plane()
    ),
    "drvm-centers": lambda: regression(
        drvm(centers=30, random_state=0, effort="fast"), friedman(200, n_features=6)
    ),
    "drvm-120-inputs": lambda: regression(
        drvm(effort="fast", n_refinements=1), columns(50, 120, 2, noise=0.3)
    ),
    "drvm-noise": lambda: regression(drvm(), noise_target(friedman(60, n_features=6))),
    "drvm-as-transformer": selected_features,
    # -------- as published
    "published-drvm": lambda: as_published("AlternatingDRVM", plane(60), max_iter=60),
    "published-drvm-exact-printed": lambda: as_published(
        "AlternatingDRVM", plane(60), truncation="exact", line_search="as_printed", max_iter=60
    ),
    "published-interleaved": lambda: as_published(
        "InterleavedRVM", plane(60), columns="quadratic", max_iter=100
    ),
    "published-pfcvm": lambda: as_published("LiteralPFCVM", ring(60, 3), max_iter=20),
    "published-pfcvm-exact": lambda: as_published(
        "LiteralPFCVM", ring(60, 3), truncation="exact", curvature="diagonal", max_iter=20
    ),
    # -------- local maxima
    "optima-flat": lambda: optima("flat"),
    "optima-bic": lambda: optima("bic"),
    # -------- RVMClassifier: two classes
    "labels-solver-sequential": lambda: classification(
        rvm_labels(gamma=4.0, solver="sequential"), ripley()
    ),
    "labels-solver-exact": lambda: classification(rvm_labels(gamma=4.0, solver="exact"), ripley()),
    "labels-solver-mackay": lambda: classification(
        rvm_labels(gamma=4.0, solver="mackay"), ripley(120)
    ),
    "labels-solver-em": lambda: classification(rvm_labels(gamma=4.0, solver="em"), ripley(60)),
    "labels-prior-aic": lambda: classification(rvm_labels(gamma=4.0, prior="aic"), ripley()),
    "labels-prior-bic": lambda: classification(rvm_labels(gamma=4.0, prior="bic"), ripley()),
    "labels-prior-ric": lambda: classification(rvm_labels(gamma=4.0, prior="ric"), ripley()),
    "labels-prior-gamma": lambda: classification(rvm_labels(gamma=4.0, prior="gamma"), ripley(100)),
    "labels-penalty-curvature-model": lambda: classification(
        rvm_labels(gamma=4.0, prior="bic", penalty_curvature="model"), ripley()
    ),
    "labels-penalty-curvature-model-exact": lambda: classification(
        rvm_labels(gamma=4.0, prior="aic", penalty_curvature="model", solver="exact"), ripley(100)
    ),
    "labels-intercept": lambda: classification(rvm_labels(gamma=4.0, fit_intercept=True), ripley()),
    "labels-no-intercept": lambda: classification(
        rvm_labels(gamma=4.0, fit_intercept=False), ripley()
    ),
    "labels-intercept-auto-wide": lambda: classification(
        rvm_labels(gamma=0.01, fit_intercept="auto"), ripley()
    ),
    "labels-intercept-auto-rare": lambda: classification(
        rvm_labels(gamma=4.0, fit_intercept="auto"), rare_class(ripley(300))
    ),
    "labels-error-bars-plain": lambda: classification(
        rvm_labels(gamma=4.0, error_bars="plain", fit_intercept=True), ripley()
    ),
    "labels-weights-fractional": lambda: classification(
        rvm_labels(gamma=4.0), fractional(ripley())
    ),
    "labels-weights-zero": lambda: classification(rvm_labels(gamma=4.0), partly_zero(ripley())),
    "labels-class-weight-balanced": lambda: classification(
        rvm_labels(gamma=4.0, class_weight="balanced"), rare_class(ripley(300))
    ),
    "labels-class-weight-given": lambda: classification(
        rvm_labels(gamma=4.0, class_weight={0: 1.0, 1: 2.5}), fractional(ripley())
    ),
    "labels-min-gain-2": lambda: classification(rvm_labels(gamma=4.0, min_gain=2.0), ripley()),
    "labels-largest-logit-10": lambda: classification(
        rvm_labels(gamma=4.0, largest_logit=10.0), ring()
    ),
    "labels-low-memory": lambda: classification(rvm_labels(gamma=4.0, low_memory=True), ripley()),
    "labels-2000-rows": lambda: classification(rvm_labels(gamma=4.0), ripley(2000)),
    "labels-1000-rows-many-vectors": lambda: classification(
        rvm_labels(gamma=0.3), two_sides(surface(1000))
    ),
    "labels-exact-many-vectors": lambda: classification(
        rvm_labels(gamma=0.3, solver="exact"), two_sides(surface(120))
    ),
    "labels-1-input": lambda: classification(rvm_labels(gamma=10.0), uniforms()),
    "labels-scales-auto": lambda: classification(rvm_labels(), ring()),
    "labels-scales-ard": lambda: classification(rvm_labels(length_scales="ard"), ring(100)),
    "labels-scales-isotropic": lambda: classification(
        rvm_labels(length_scales="isotropic"), twonorm()
    ),
    "labels-scales-kernel": lambda: classification(
        rvm_labels(gp("Matern", 1.0, nu=2.5), length_scales="kernel"), ripley(100)
    ),
    "labels-scales-weights": lambda: classification(rvm_labels(), fractional(ring(100))),
    "labels-scales-400-rows": lambda: classification(rvm_labels(), ripley(400)),
    "labels-kernel-linear": lambda: classification(rvm_labels("linear"), twonorm()),
    "labels-kernel-laplacian": lambda: classification(rvm_labels("laplacian", gamma=2.0), ripley()),
    "labels-kernel-precomputed": lambda: classification(
        rvm_labels("precomputed"), kernel_matrix(ripley(), 4.0)
    ),
    "labels-centers": lambda: classification(
        rvm_labels(gamma=4.0, centers=25, random_state=0), ripley(300)
    ),
    "labels-random": lambda: classification(rvm_labels(gamma=4.0), random_classes(ripley())),
    "labels-separable": lambda: classification(
        rvm_labels(gamma=0.5), two_sides(sinc(80, noise=0.0), 0.1)
    ),
    "labels-20-rows": lambda: classification(rvm_labels(gamma=1.0), gaussians(20, 2)),
    "labels-repeated-rows": lambda: classification(
        rvm_labels(gamma=0.5), two_sides(repeated_rows(sinc(60)))
    ),
    # -------- several classes
    "classes-softmax": lambda: classification(
        rvm_labels(gamma=0.5, multi_class="softmax"), gaussians()
    ),
    "classes-shared": lambda: classification(
        rvm_labels(gamma=0.5, multi_class="shared"), gaussians()
    ),
    "classes-one-vs-rest": lambda: classification(
        rvm_labels(gamma=0.5, multi_class="one_vs_rest"), gaussians()
    ),
    "classes-one-vs-rest-exact": lambda: classification(
        rvm_labels(gamma=0.5, multi_class="one_vs_rest", solver="exact"), gaussians(90)
    ),
    "classes-softmax-4-names": lambda: classification(
        rvm_labels(gamma=0.5, prior="bic"), named_classes(gaussians(200, 4))
    ),
    "classes-softmax-intercept": lambda: classification(
        rvm_labels(gamma=0.5, fit_intercept=True), gaussians()
    ),
    "classes-softmax-weights": lambda: classification(
        rvm_labels(gamma=0.5, class_weight="balanced"), partly_zero(gaussians())
    ),
    "classes-softmax-scales": lambda: classification(rvm_labels(), gaussians(90, n_features=4)),
    "classes-softmax-ric-low-memory": lambda: classification(
        rvm_labels(gamma=0.5, prior="ric", low_memory=True, error_bars="plain"), gaussians()
    ),
    "classes-softmax-500-rows": lambda: classification(
        rvm_labels(gamma=2.0), gaussians(500, 4, spread=1.0)
    ),
    "classes-shared-500-rows": lambda: classification(
        rvm_labels(gamma=2.0, multi_class="shared"), gaussians(500, 4, spread=1.0)
    ),
    "classes-softmax-linear": lambda: classification(
        sparse_labels(linear()), gaussians(150, 3, n_features=15)
    ),
    "classes-shared-polynomial": lambda: classification(
        sparse_labels(polynomial(2), multi_class="shared", prior="aic"),
        gaussians(150, 4, n_features=4),
    ),
    "classes-shared-model-curvature": lambda: classification(
        rvm_labels(gamma=0.5, multi_class="shared", prior="bic", penalty_curvature="model"),
        gaussians(90),
    ),
    "labels-all-answers": all_answers_of_a_classifier,
    # -------- SparseBayesClassifier
    "sparse-labels-default": lambda: classification(sparse_labels(), ripley(120)),
    "sparse-labels-linear": lambda: classification(
        sparse_labels(linear()), two_sides(columns(200, 30))
    ),
    "sparse-labels-linear-wide": lambda: classification(
        sparse_labels(linear()), two_sides(columns(80, 300))
    ),
    "sparse-labels-linear-csr": lambda: classification(
        sparse_labels(linear(), prior="bic"), two_sides(as_sparse(counts(), "csr"))
    ),
    "sparse-labels-linear-collinear": lambda: classification(
        sparse_labels(linear()), two_sides(collinear_columns(120))
    ),
    "sparse-labels-linear-mackay": lambda: classification(
        sparse_labels(linear(), solver="mackay"), two_sides(columns(150, 20))
    ),
    "sparse-labels-polynomial": lambda: classification(
        sparse_labels(polynomial(2), prior="bic"), ring()
    ),
    "sparse-labels-functions": lambda: classification(
        sparse_labels(functions([np.sin, hinges])), two_sides(sinc(150), 0.2)
    ),
    "sparse-labels-precomputed": lambda: classification(
        sparse_labels(precomputed(localised=False)), two_sides(columns(150, 20))
    ),
    "sparse-labels-kernels-and-columns": lambda: classification(
        sparse_labels(kernels(gamma=2.0) + linear()), ripley()
    ),
    "sparse-labels-scales": lambda: classification(
        sparse_labels(kernels(), length_scales="ard"), ring(90, 4)
    ),
    # -------- PFCVMClassifier
    "pfcvm-default": lambda: classification(pfcvm(), ring()),
    "pfcvm-free-signs": lambda: classification(pfcvm(signed=False), ring(100)),
    "pfcvm-always": lambda: classification(pfcvm(select="always", min_feature_gain=2.0), twonorm()),
    "pfcvm-never": lambda: classification(pfcvm(select="never"), twonorm()),
    "pfcvm-exact": lambda: classification(pfcvm(solver="exact", prior="bic"), ring(80, 4)),
    "pfcvm-mackay": lambda: classification(pfcvm(solver="mackay", signed=False), ring(60, 3)),
    "pfcvm-3-classes": lambda: classification(pfcvm(), gaussians(90, n_features=4)),
    "pfcvm-weights": lambda: classification(
        pfcvm(class_weight="balanced", fit_intercept=True), fractional(ring(100, 4))
    ),
    "pfcvm-120-inputs": lambda: classification(pfcvm(), two_sides(columns(60, 120, 2, noise=0.3))),
    "pfcvm-centers": lambda: classification(
        pfcvm(centers=30, random_state=0, prior="ric"), ring(100, 4)
    ),
    # -------- denoising
    "denoise-line": lambda: denoising(denoiser(), signal()),
    "denoise-line-odd-length": lambda: denoising(denoiser(), signal("Doppler", 777)),
    "denoise-line-short": lambda: denoising(denoiser(), signal("HeaviSine", 40)),
    "denoise-plain": lambda: denoising(denoiser("plain"), signal("Bumps", 1024)),
    "denoise-plain-level-flat": lambda: denoising(
        denoiser("plain", dictionary="haar", level=4, prior="flat", noise_std=0.2), signal()
    ),
    "denoise-plain-model": plain_model,
    "denoise-noise-profile": lambda: denoising(denoiser("plain", noise_std="profile"), signal()),
    "denoise-noise-mad": lambda: denoising(denoiser(noise_std="mad"), signal("Bumps")),
    "denoise-noise-per-sample": lambda: denoising(
        denoiser(noise_std=np.linspace(0.1, 0.3, 512)), signal()
    ),
    "denoise-dictionaries": lambda: denoising(
        denoiser(dictionary=["haar", "cosine"], neighbours=3), signal("BlocksSinc")
    ),
    "denoise-dictionary-coif": lambda: denoising(
        denoiser(dictionary="coif3", boundary="periodic", prior="ric"), signal("Doppler")
    ),
    "denoise-boundary-reflect": lambda: denoising(
        denoiser(boundary="reflect", prior="aic"), signal("HeaviSine", 300)
    ),
    "denoise-boundary-constant": lambda: denoising(
        denoiser(boundary="constant", with_std=False), signal("Ramp", 300)
    ),
    "denoise-gaps": lambda: denoising(denoiser(), with_gaps(signal())),
    "denoise-mask": lambda: denoising(denoiser(), signal(), mask=np.arange(512) % 17 > 0),
    "denoise-weights": lambda: denoising(
        denoiser(), signal(), sample_weight=np.linspace(0.5, 2.0, 512)
    ),
    "denoise-positions": lambda: denoising(
        denoiser(), signal(), x=np.random.default_rng(2).permutation(512) ** 1.1
    ),
    "denoise-complex": lambda: denoising(denoiser(), signal("Doppler") + 1j * signal("HeaviSine")),
    "denoise-channels": lambda: denoising(
        denoiser(channel_axis=1), np.column_stack([signal("Blocks"), signal("Bumps")])
    ),
    "denoise-image": lambda: denoising(denoiser(), image()),
    "denoise-image-plain": lambda: denoising(denoiser("plain"), image(64, 64)),
    "denoise-colours": lambda: denoising(denoiser(), image(32, 36, 3)),
    "denoise-colours-apart": lambda: denoising(
        denoiser("plain", decorrelate=False), image(32, 36, 3)
    ),
    "denoise-image-gaps": lambda: denoising(denoiser(), with_gaps(image())),
    "denoise-image-weights": lambda: denoising(
        denoiser(), image(), sample_weight=np.linspace(0.5, 2.0, 48 * 40).reshape(48, 40)
    ),
    "denoise-stack": lambda: denoising(
        denoiser("plain", channel_axis=0), np.stack([image(), 2.0 * image()])
    ),
    "denoise-colours-unequal": lambda: denoising(
        denoiser(noise_std=[0.1, 0.2, 0.3]), image(32, 36, 3)
    ),
    "denoise-tiles": lambda: denoising(
        denoiser(dictionary="haar", with_std=False, noise_std=0.2), signal("Blocks", 1_600_000)
    ),
    "denoise-long-noise-profile": lambda: denoising(
        denoiser("plain", dictionary="haar", with_std=False, noise_std="profile"),
        signal("Blocks", 1_600_000),
    ),
    "denoise-volume": lambda: denoising(denoiser(noise_std=0.2), volume()),
    "denoise-function": lambda: denoised(signal("QuadChirp", 400), prior="ric"),
    "denoise-function-constant": lambda: denoised(np.full(128, 3.0)),
    "denoise-function-noise": lambda: denoised(line_of_noise()),
    "denoise-pieces": denoised_in_pieces,
    "denoise-again": denoised_again,
    # -------- the level of the noise
    "noise-auto": lambda: noise(signal("MishMash", 1024)),
    "noise-mad": lambda: noise(signal("Blocks", 1024), method="mad"),
    "noise-envelope": lambda: noise(signal("Doppler", 700), method="envelope"),
    "noise-short": lambda: noise(signal("HeaviSine", 24)),
    "noise-alone": lambda: noise(line_of_noise()),
    "noise-none": lambda: noise(np.linspace(0.0, 1.0, 300)),
    "noise-mask": lambda: noise(signal("Bumps"), mask=np.arange(512) % 50 > 3),
    "noise-complex": lambda: noise(signal("Doppler") + 1j * signal("HeaviSine")),
    "noise-channels": lambda: noise(image(40, 40, 3)),
    "noise-image": lambda: noise(image(64, 64)),
    "noise-image-patches": lambda: noise(image(130, 130), method="patches"),
    "noise-large-image": lambda: noise(image(900, 700)),
    "noise-long-line": lambda: noise(line_of_noise(400_000)),
    "noise-stack": lambda: noise(np.stack([image(40, 40)] * 9), channel_axis=None),
    "noise-volume": lambda: noise(volume(20)),
    # -------- what is refused
    "refused-kernel": lambda: regression(rvm("gauss"), plane(20)),
    "refused-solver": lambda: regression(rvm(solver="newton"), plane(20)),
    "refused-orthonormal": lambda: regression(rvm(gamma=1.0, solver="orthonormal"), plane(20)),
    "refused-prior": lambda: classification(rvm_labels(prior="laplace"), ripley(40)),
    "refused-softmax-solver": lambda: classification(
        rvm_labels(gamma=1.0, solver="mackay"), gaussians(40)
    ),
    "refused-signed-mackay": lambda: classification(pfcvm(solver="mackay"), ripley(40)),
    "refused-sparse": lambda: regression(rvm(), as_sparse(counts(), "csr")),
    "refused-not-a-number": lambda: regression(
        rvm(), plane(20)._replace(X=np.full((20, 2), np.nan))
    ),
    "refused-one-class": lambda: classification(
        rvm_labels(), ripley(20)._replace(y=np.zeros(20, dtype=int))
    ),
    "refused-plain-weights": lambda: denoising(
        denoiser("plain"), signal(), sample_weight=np.linspace(1.0, 2.0, 512)
    ),
    "refused-not-fitted": lambda: of_regressor(rvm(), plane(20)),
    "refused-other-inputs": lambda: of_classifier(
        fitted(rvm_labels(gamma=1.0), ripley(40)), gaussians(20, n_features=5)
    ),
}
