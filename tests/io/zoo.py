"""Small fitted models of every kind, each with inputs to predict."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.ensemble import VotingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import relvec.published as published
import relvec.solvers as S
from relvec import (
    DRVMRegressor,
    KernelSearchRegressor,
    PFCVMClassifier,
    RVMClassifier,
    RVMRegressor,
    SampledRVMClassifier,
    SampledRVMRegressor,
    SampledSparseBayesClassifier,
    SampledSparseBayesRegressor,
    SmoothDenoiser,
    SparseBayesClassifier,
    SparseBayesCountRegressor,
    SparseBayesDensity,
    SparseBayesRegressor,
)
from relvec.bases import (
    CosineBasis,
    FunctionBasis,
    KernelBasis,
    KinkBasis,
    LinearBasis,
    PeriodicBasis,
    PolynomialBasis,
    PrecomputedBasis,
    RampBasis,
    SlopeWalkBasis,
    SmoothBasis,
    StepBasis,
    UnionAtoms,
    WalkBasis,
    WaveletBasis,
)
from relvec.datasets import make_noisy_signal
from relvec.denoising import DenoisingTuning
from relvec.kernels import (
    Cosine,
    Laplacian,
    Linear,
    LinearSpline,
    Periodic,
    Polynomial,
    Sigmoid,
    SpectralMixture,
    StringSpectrum,
    ThinPlateSpline,
    Warped,
)
from relvec.learning import LengthScaleLearner, LengthScaleTuning
from relvec.priors import FlatPrior, GammaPrior, InverseGamma, LaplacePrior, SmoothnessPrior
from relvec.sampling import BetaBinomialSize, ExponentialSize, PrecisionGrid

_rng = np.random.default_rng(0)
X = _rng.normal(size=(60, 3))
Y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 3.0 + 0.1 * _rng.normal(size=60)
TWO = (Y > 3.0).astype(int)
THREE = np.array(["high", "low", "middle"])[np.digitize(Y, [2.6, 3.4])]
NEW = np.vstack([_rng.normal(size=(40, 3)), 30.0 * _rng.normal(size=(10, 3))])
_NOISE = np.random.default_rng(5).normal(size=60)
LINE = np.arange(64.0)[:, None]
WAVE = np.sin(LINE[:, 0] / 5.0) + 0.1 * _rng.normal(size=64)
_NOISE_OF_LINE = 0.1 * np.random.default_rng(6).normal(size=64)
MONTHS = np.arange("2020-01", "2024-01", dtype="datetime64[M]").astype("datetime64[D]")
TEXTS = [a + b + c for a in "abcd" for b in ("", "ab", "dd") for c in "abcd"]
SQUARE = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
FRAME = pd.DataFrame(
    {
        "size": np.where(np.arange(60) % 7 == 0, np.nan, X[:, 0]),
        "age": X[:, 1],
        "town": np.array(["Bern", "Lund", "Nice"])[np.arange(60) % 3],
    }
)

SOLVERS = {
    "sequential": S.SequentialSolver(tuning=S.SearchTuning()),
    "fixed_point": published.FixedPointSolver("em"),
    "textbook": published.TextbookSolver(),
    "random_order": published.RandomOrderSolver(),
}
KERNELS = {
    "rbf_each": RBF([1.0, 2.0, 3.0]),
    "matern": Matern(1.0, nu=0.5),
    "rational_quadratic": RationalQuadratic(),
    "periodic": ExpSineSquared(3.0, 5.0),
    "dot_product": DotProduct(),
    "pairwise": PairwiseKernel(gamma=0.2, metric="rbf"),
    "constant": ConstantKernel(2.0) * RBF(1.5),
    "sum": RBF(1.0) + 0.1 * Matern(2.0),
    "power": RBF(1.0) ** 2,
    "laplacian": Laplacian(0.3),
    "linear": Linear(),
    "cosine": Cosine(),
    "polynomial": Polynomial(0.2, degree=2),
    "sigmoid": Sigmoid(0.1),
    "linear_spline": LinearSpline(2.0),
    "thin_plate_spline": ThinPlateSpline(2.0),
    "own_periodic": Periodic(2.0, 5.0),
    "spectral_mixture": SpectralMixture([1.0, 0.5], [0.05, 0.1], [0.005, 0.01]),
    "warped": Warped(RBF(1.0), np.arctan),
}
PRIORS = {
    "flat": FlatPrior(),
    "gamma": GammaPrior(noise=InverseGamma(1e-4, 1e-4)),
    "laplace": LaplacePrior(),
    "smoothness": SmoothnessPrior(2.0),
}


def _mixed_columns() -> ColumnTransformer:
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    names = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return ColumnTransformer([("numbers", numbers, ["size", "age"]), ("names", names, ["town"])])


def _tuned_atoms():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3.0, 3.0, 150))
    y = np.sin(x) + np.exp(-0.5 * ((x - 1.0) / 0.1) ** 2) + 0.05 * rng.normal(size=150)
    model = RVMRegressor(gamma=2.0, tune_atoms="widths").fit(x[:, np.newaxis], y)
    assert isinstance(model.atoms_, UnionAtoms)  # else the moved kernels were not better
    return model


def _series():
    t, rng = np.arange(60.0), np.random.default_rng(0)
    season = PeriodicBasis(12.0) + PeriodicBasis(12.0) * RampBasis()
    trends = SmoothBasis() + WalkBasis() + SlopeWalkBasis() + StepBasis(30.0) + KinkBasis(40.0)
    y = 0.1 * t + np.sin(2 * np.pi * t / 12) + (t > 30) + 0.2 * rng.normal(size=60)
    return SparseBayesRegressor(season + trends).fit(t[:, np.newaxis], y)


def _warm() -> RVMRegressor:
    model = RVMRegressor(gamma=0.1, warm_start=True, random_state=np.random.RandomState(3))
    return model.fit(X, Y).fit(X, Y + 0.01)


SHORT = {"n_chains": 2, "n_draws": 50, "max_doublings": 0, "random_state": 0}
"""Options of sampled models that are fitted in a moment."""
_MAKERS = {
    "sampled_rvm": lambda: (SampledRVMRegressor(**SHORT).fit(X, Y), NEW),
    "sampled_fixed": lambda: (
        SampledRVMRegressor(
            gamma=0.1, size_prior=ExponentialSize(1.0), draw_dtype="float32", **SHORT
        ).fit(X, Y),
        NEW,
    ),
    "sampled_two": lambda: (SampledRVMClassifier(gamma=0.1, **SHORT).fit(X, TWO), NEW),
    "sampled_three": lambda: (
        SampledSparseBayesClassifier(LinearBasis(), **SHORT).fit(X, THREE),
        NEW,
    ),
    "sampled_linear": lambda: (
        SampledSparseBayesRegressor(
            LinearBasis(),
            size_prior=BetaBinomialSize(),
            precision_grid=PrecisionGrid(1e-6, 0.1),
            noise_prior=InverseGamma(1.0, 0.1),
            **SHORT,
        ).fit(X, Y),
        NEW,
    ),
    "regressor": lambda: (RVMRegressor().fit(X, Y), NEW),
    "regressor_given_width": lambda: (RVMRegressor(gamma=0.1).fit(X, Y), NEW),
    "regressor_student_t": lambda: (
        RVMRegressor(gamma=0.1, noise="student_t").fit(X, Y + 3.0 * (np.arange(60) % 9 == 0)),
        NEW,
    ),
    "regressor_heteroscedastic": lambda: (
        RVMRegressor(gamma=0.1, noise="heteroscedastic").fit(
            X, Y + np.where(X[:, 0] > 0.0, 2.0, 0.01) * np.sin(77.0 * np.arange(60.0) ** 2)
        ),
        NEW,
    ),
    "regressor_power": lambda: (
        RVMRegressor(gamma=0.1, target_transform="yeo-johnson").fit(X, np.exp(Y)),
        NEW,
    ),
    "regressor_log": lambda: (
        RVMRegressor(gamma=0.1, target_transform="log").fit(X, np.exp(Y)),
        NEW,
    ),
    "regressor_contaminated": lambda: (
        RVMRegressor(gamma=0.1, noise="contaminated").fit(X, Y + 3.0 * (np.arange(60) % 9 == 0)),
        NEW,
    ),
    "regressor_plain": lambda: (RVMRegressor(gamma=0.1, error_bars="plain").fit(X, Y), NEW),
    "regressor_augmented": lambda: (RVMRegressor(gamma=0.1, error_bars="augmented").fit(X, Y), NEW),
    "regressor_no_intercept": lambda: (RVMRegressor(gamma=0.1, fit_intercept=False).fit(X, Y), NEW),
    "regressor_few_centres": lambda: (RVMRegressor(gamma=0.1, centers=9).fit(X, Y), NEW),
    "regressor_weights": lambda: (
        RVMRegressor(gamma=0.1).fit(X, Y, sample_weight=1.0 + (np.arange(60) % 3)),
        NEW,
    ),
    "regressor_constant": lambda: (RVMRegressor(gamma=0.1).fit(X, np.full(60, 2.0)), NEW),
    "regressor_linear": lambda: (RVMRegressor().fit(X, X @ [1.0, 2.0, -1.0] + 1e-4 * _NOISE), NEW),
    "regressor_null": lambda: (RVMRegressor().fit(X, _NOISE), NEW),
    "two_outputs": lambda: (RVMRegressor(gamma=0.1).fit(X, np.column_stack([Y, Y**2])), NEW),
    "two_outputs_scales": lambda: (RVMRegressor().fit(X, np.column_stack([Y, Y**2])), NEW),
    "isotropic": lambda: (RVMRegressor(length_scales="isotropic").fit(X, Y), NEW),
    "scale_learner": lambda: (
        RVMRegressor(length_scales=LengthScaleLearner("ard", n_refinements=1)).fit(X, Y),
        NEW,
    ),
    "learnt_kernel": lambda: (
        RVMRegressor(ConstantKernel() * RBF(), length_scales="kernel").fit(X, Y),
        NEW,
    ),
    "several_kernels": lambda: (
        SparseBayesRegressor(
            KernelBasis(RBF()) + KernelBasis(Matern(nu=1.5), tune=False) + LinearBasis(),
            length_scales="kernel",
        ).fit(X, Y),
        NEW,
    ),
    "tuned_atoms": lambda: (_tuned_atoms(), NEW[:, :1]),
    "series": lambda: (_series(), np.linspace(0.0, 70.0, 20)[:, np.newaxis]),
    "warm_start": lambda: (_warm(), NEW),
    "precomputed": lambda: (RVMRegressor("precomputed").fit(SQUARE, Y), SQUARE[:20]),
    "precomputed_basis": lambda: (
        SparseBayesRegressor(PrecomputedBasis(localised=False)).fit(SQUARE[:, :20], Y),
        SQUARE[:10, :20],
    ),
    "drvm": lambda: (DRVMRegressor().fit(X, Y), NEW),
    "drvm_propagate": lambda: (DRVMRegressor(length_scale_uncertainty=True).fit(X, Y), NEW),
    "drvm_laplace": lambda: (DRVMRegressor(prior="laplace").fit(X, Y), NEW),
    "linear_basis": lambda: (SparseBayesRegressor(LinearBasis()).fit(X, Y), NEW),
    "counts": lambda: (SparseBayesCountRegressor().fit(X, np.rint(np.exp(Y))), NEW),
    "counts_tied": lambda: (
        SparseBayesCountRegressor(precision="tied", likelihood="negative_binomial").fit(
            X[:, :1], np.rint(np.exp(Y))
        ),
        NEW[:, :1],
    ),
    "polynomial_basis": lambda: (SparseBayesRegressor(PolynomialBasis()).fit(X, Y), NEW),
    "cosine_basis": lambda: (SparseBayesRegressor(CosineBasis()).fit(LINE, WAVE), LINE),
    "wavelet_basis": lambda: (SparseBayesRegressor(WaveletBasis()).fit(LINE, WAVE), LINE),
    "orthonormal": lambda: (
        SparseBayesRegressor(CosineBasis(), solver=S.OrthonormalSolver(), prior="bic").fit(
            LINE, WAVE
        ),
        LINE,
    ),
    "ufuncs": lambda: (
        SparseBayesRegressor(FunctionBasis([np.sin, np.cos]) + LinearBasis()).fit(X, Y),
        NEW,
    ),
    "union": lambda: (
        SparseBayesRegressor(KernelBasis(gamma=0.1) + PolynomialBasis()).fit(X, Y),
        NEW,
    ),
    "two_kernels": lambda: (
        SparseBayesRegressor(KernelBasis(gamma=0.1) + KernelBasis(gamma=1.0)).fit(X, Y),
        NEW,
    ),
    "classifier": lambda: (RVMClassifier().fit(X, TWO), NEW),
    "classifier_given_width": lambda: (RVMClassifier(gamma=0.1).fit(X, TWO), NEW),
    "classifier_intercept": lambda: (RVMClassifier(gamma=0.1, fit_intercept=True).fit(X, TWO), NEW),
    "classifier_plain": lambda: (RVMClassifier(gamma=0.1, error_bars="plain").fit(X, TWO), NEW),
    "classifier_balanced": lambda: (
        RVMClassifier(gamma=0.1, class_weight={0: 1.0, 1: 2.0}).fit(X, TWO),
        NEW,
    ),
    "classifier_booleans": lambda: (RVMClassifier(gamma=0.1).fit(X, TWO == 1), NEW),
    "softmax": lambda: (RVMClassifier(gamma=0.1).fit(X, THREE), NEW),
    "softmax_scales": lambda: (RVMClassifier().fit(X, THREE), NEW),
    "softmax_intercept": lambda: (RVMClassifier(gamma=0.1, fit_intercept=True).fit(X, THREE), NEW),
    "softmax_shared": lambda: (RVMClassifier(gamma=0.1, multi_class="shared").fit(X, THREE), NEW),
    "softmax_objects": lambda: (RVMClassifier(gamma=0.1).fit(X, THREE.astype(object)), NEW),
    "one_vs_rest": lambda: (
        RVMClassifier(gamma=0.1, multi_class="one_vs_rest").fit(X, THREE),
        NEW,
    ),
    "laplace_solver": lambda: (
        RVMClassifier(gamma=0.1, solver=S.LaplaceSolver(exact=True)).fit(X, TWO),
        NEW,
    ),
    "laplace_fixed_point": lambda: (
        RVMClassifier(gamma=0.1, solver=published.LaplaceFixedPointSolver()).fit(X, TWO),
        NEW,
    ),
    "softmax_solver": lambda: (
        RVMClassifier(gamma=0.1, solver=S.LaplaceSolver(tol=1e-3)).fit(X, THREE),
        NEW,
    ),
    "classifier_basis": lambda: (SparseBayesClassifier(LinearBasis()).fit(X, TWO), NEW),
    "classifier_union": lambda: (
        SparseBayesClassifier(KernelBasis(gamma=0.1) + LinearBasis()).fit(X, THREE),
        NEW,
    ),
    "pfcvm": lambda: (PFCVMClassifier().fit(X, TWO), NEW),
    "pfcvm_three": lambda: (PFCVMClassifier(select="never").fit(X, THREE), NEW),
    "feature_names": lambda: (
        RVMRegressor(gamma=0.1).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y),
        pd.DataFrame(NEW, columns=["a", "b", "c"]),
    ),
    "scaled_pipeline": lambda: (
        make_pipeline(StandardScaler(), RVMRegressor(gamma=0.1)).fit(X, Y),
        NEW,
    ),
    "mixed_pipeline": lambda: (
        make_pipeline(_mixed_columns(), RVMRegressor(gamma=0.1)).fit(FRAME, Y),
        FRAME,
    ),
    "mixed_classifier": lambda: (
        make_pipeline(_mixed_columns(), RVMClassifier(gamma=0.1)).fit(FRAME, TWO),
        FRAME,
    ),
    "logarithms": lambda: (
        make_pipeline(FunctionTransformer(np.log1p), RVMRegressor(gamma=0.1)).fit(np.abs(X), Y),
        np.abs(NEW),
    ),
    "searched": lambda: (
        GridSearchCV(RVMRegressor(effort="fast"), {"gamma": [0.1, 0.3]}, cv=3).fit(X, Y),
        NEW,
    ),
    "calibrated": lambda: (CalibratedClassifierCV(RVMClassifier(gamma=0.1), cv=3).fit(X, TWO), NEW),
    "voting": lambda: (
        VotingRegressor([("a", RVMRegressor(gamma=0.1)), ("b", Ridge())]).fit(X, Y),
        NEW,
    ),
    "chosen_columns": lambda: (
        make_pipeline(
            make_column_transformer((StandardScaler(), make_column_selector("age|size"))),
            SimpleImputer(),
            RVMRegressor(gamma=0.1),
        ).fit(FRAME, Y),
        FRAME,
    ),
    "texts": lambda: (
        RVMRegressor(StringSpectrum(2)).fit(TEXTS, np.arange(len(TEXTS)) % 4.0),
        TEXTS[:9],
    ),
    "tuned_scales": lambda: (
        RVMRegressor(length_scales=LengthScaleLearner("ard", tuning=LengthScaleTuning())).fit(X, Y),
        NEW,
    ),
    "density": lambda: (SparseBayesDensity().fit(X[:, :1]), NEW[:, :1]),
    "density_heavy": lambda: (
        SparseBayesDensity(reference="two_normals", normalise=False).fit(X[:, :1]),
        NEW[:, :1],
    ),
    "density_student": lambda: (
        SparseBayesDensity(reference="student_t").fit(X[:, :1]),
        NEW[:, :1],
    ),
    "density_bounded": lambda: (
        SparseBayesDensity([(-9.0, 9.0), (-9.0, None)], bins=16).fit(X[:, :2]),
        NEW[:, :2],
    ),
    "density_positive": lambda: (
        SparseBayesDensity((0, None)).fit(np.exp(X[:, :1])),
        NEW[:, :1],
    ),
    "kernel_search_dates": lambda: (
        KernelSearchRegressor(effort="fast").fit(
            MONTHS,
            np.exp(
                0.03 * np.arange(48) + 0.4 * np.sin(np.arange(48) * np.pi / 6) + 0.05 * _NOISE[:48]
            ),
        ),
        MONTHS + np.timedelta64(400, "D"),
    ),
    "kernel_search_shapes": lambda: (
        KernelSearchRegressor(
            factors=("step", "kink", "linear"), transforms=("identity",), mode="interpretable"
        ).fit(LINE, 3.0 * (LINE[:, 0] > 20) + np.maximum(LINE[:, 0] - 40, 0) + _NOISE_OF_LINE),
        LINE + 5.0,
    ),
    "kernel_search_table": lambda: (KernelSearchRegressor().fit(X, Y), NEW),
    "kernel_search_sparse": lambda: (
        KernelSearchRegressor(effort="fast").fit(LINE, WAVE).sparse_model(),
        LINE,
    ),
    "denoiser": lambda: (SmoothDenoiser().fit(_signal()), _signal()),
    "denoiser_plain": lambda: (SmoothDenoiser(mode="plain").fit(_signal()), _signal()),
    "denoiser_cosine": lambda: (
        SmoothDenoiser(mode="plain", dictionary="cosine").fit(_signal()),
        _signal(),
    ),
    "denoiser_tuned": lambda: (
        SmoothDenoiser(noise_std=0.3, tuning=DenoisingTuning(stein_factor=2.0)).fit(_signal()),
        _signal(),
    ),
    "denoiser_image": lambda: (SmoothDenoiser().fit(_image()), _image()),
    "denoiser_colours": lambda: (
        SmoothDenoiser(noise_std=0.3).fit(np.stack([_image()] * 3, axis=-1)),
        np.stack([_image()] * 3, axis=-1),
    ),
}
for _name, _solver in SOLVERS.items():
    _MAKERS[f"solver_{_name}"] = lambda s=_solver: (
        RVMRegressor(gamma=0.1, solver=s).fit(X, Y),
        NEW,
    )
for _name, _kernel in KERNELS.items():
    _MAKERS[f"kernel_{_name}"] = lambda k=_kernel: (RVMRegressor(k).fit(X, Y), NEW)
for _name, _prior in PRIORS.items():
    _MAKERS[f"prior_{_name}"] = lambda p=_prior: (RVMRegressor(gamma=0.1, prior=p).fit(X, Y), NEW)

NAMES = tuple(_MAKERS)


def _signal() -> np.ndarray:
    return make_noisy_signal("doppler", 256, snr=5, random_state=0).noisy


def _image() -> np.ndarray:
    rows, columns = np.mgrid[:32, :32] / 32.0
    return np.sin(5 * rows) + columns + 0.1 * np.random.default_rng(1).normal(size=(32, 32))


@cache
def fitted(name: str):
    """Return a fitted model and inputs to predict."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        return _MAKERS[name]()


def answers(model, inputs) -> list[np.ndarray]:
    """All predictions of a model."""
    if isinstance(model, SmoothDenoiser):
        return [np.asarray(model.transform(inputs))]
    if isinstance(model, SparseBayesDensity):
        return [*model.pdf(inputs, coverage=0.9), model.sample(5, random_state=0)]
    predicted = [model.predict(inputs)]
    if hasattr(model, "predict_proba"):
        predicted.append(model.predict_proba(inputs))
    if isinstance(
        model,
        (
            RVMRegressor,
            DRVMRegressor,
            KernelSearchRegressor,
            SparseBayesCountRegressor,
            SparseBayesRegressor,
            SampledRVMRegressor,
            SampledSparseBayesRegressor,
        ),
    ):
        predicted += [
            model.predict(inputs, return_std=True)[1],
            model.sample_y(inputs, 2, random_state=0),
        ]
    return [np.asarray(each) for each in predicted]
