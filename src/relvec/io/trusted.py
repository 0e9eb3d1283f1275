"""The list of types that a model file may contain.

A file that names any other type is refused before anything is imported. Besides the types listed
here, a part of those that skops trusts is allowed: scikit-learn's estimators that predict in Python
(`ESTIMATORS`), NumPy arrays, numbers and universal functions, and Python's plain containers. Types
are grouped by how they are rebuilt, and none may be rebuilt in another way: attributes of `OBJECTS`
are restored without a call of the class, and `TUPLES` are rebuilt from their fields.
"""

from __future__ import annotations

import relvec.kernels  # noqa: F401  (defines its kernels)
from relvec.kernels.definition import KERNEL_DEFINITIONS

__all__ = [
    "CONTAINERS",
    "ESTIMATORS",
    "KEYS",
    "OBJECTS",
    "SCALARS",
    "TRUSTED_TYPES",
    "TUPLES",
    "is_estimator",
]

_RELVEC_OBJECTS = """
bases.callable.FunctionAtoms bases.callable.FunctionBasis
bases.cosine.CosineAtoms bases.cosine.CosineBasis
bases.grid.RegularGrid
bases.kernel.KernelAtoms bases.kernel.KernelBasis
bases.linear.ColumnAtoms bases.linear.LinearBasis
bases.polynomial.PolynomialAtoms bases.polynomial.PolynomialBasis
bases.precomputed.PrecomputedBasis
bases.series.atoms.SeriesAtoms bases.series.scaling.SeriesScaling
bases.series.periodic.PeriodicBasis bases.series.product.ProductBasis
bases.series.shapes.KinkBasis bases.series.shapes.RampBasis bases.series.shapes.StepBasis
bases.series.trends.SlopeWalkBasis bases.series.trends.SmoothBasis bases.series.trends.WalkBasis
bases.union.MeanKernel bases.union.UnionAtoms bases.union.UnionBasis
bases.wavelet.WaveletAtoms bases.wavelet.WaveletBasis
denoising.channel.Channel denoising.layout.Layout denoising.tuning.DenoisingTuning
error_bars.Augmentation error_bars.Novelty
estimators._latent_model.FittedLatentModel estimators._count_model.FittedCountModel
estimators._drawn_functions.DrawnFunctions
estimators._output.FittedOutput estimators._sampled_output.SampledOutput
estimators._sampled_classes.SampledClassModel
estimators._class_model.ClassModel estimators._class_model.ClassModelAverage
estimators.classification.RVMClassifier estimators.classification.SparseBayesClassifier
estimators.counts.SparseBayesCountRegressor
estimators.denoising.SmoothDenoiser estimators.density.SparseBayesDensity
estimators._search_results.StructureComponent estimators.kernel_search.KernelSearchRegressor
estimators.regression.RVMRegressor estimators.regression.SparseBayesRegressor
estimators.sampled_classification.SampledRVMClassifier
estimators.sampled_classification.SampledSparseBayesClassifier
estimators.sampled_regression.SampledRVMRegressor
estimators.sampled_regression.SampledSparseBayesRegressor
estimators.selection.DRVMRegressor estimators.selection.PFCVMClassifier
kernels.expansions.base.Product kernels.expansions.periodic.Harmonics
kernels.expansions.shapes.Kink kernels.expansions.shapes.Line kernels.expansions.shapes.Step
kernels.expansions.smooth.Smooth kernels.expansions.walks.SlopeWalk kernels.expansions.walks.Walk
laplace.pairs.PairPosterior
likelihoods.bernoulli.Bernoulli likelihoods.negative_binomial.NegativeBinomial
likelihoods.poisson.Poisson likelihoods.softmax.Softmax
learning.density.atoms.DensityAtoms learning.density.coordinates.Coordinates
learning.density.fitted.FittedDensity learning.density.grid.Axis
learning.density.margins.ExponentialMargin learning.density.margins.LogNormalMargin
learning.density.margins.NormalMargin learning.density.margins.StudentMargin
learning.density.margins.TwoNormalsMargin learning.density.margins.UniformMargin
likelihoods.robust_noise.ContaminatedNoise likelihoods.robust_noise.StudentNoise
likelihoods.transforms.IdentityTransform
likelihoods.transforms.LogTransform likelihoods.transforms.YeoJohnsonTransform
learning.learnt.LearntLengthScales learning.length_scale_uncertainty.ScaleUncertainty
learning.length_scales.LengthScaleLearner
learning.noise_dictionary.Level learning.noise_dictionary.NoiseCoordinates
learning.noise_dictionary.NoiseDictionary learning.noise_dictionary.NoiseTuning
learning.noise_variance.HeteroscedasticNoise
learning.structures.arbiter.HeldOut learning.structures.construct.Construction
learning.structures.rows.SearchRows learning.structures.rows.TransformedTarget
learning.structures.score.Scored learning.structures.structure.Component
learning.structures.structure.Structure learning.structures.transforms.SquareRootTransform
learning.tuning.LengthScaleTuning
noise.report.NoiseLevel noise.tuning.EnvelopeTuning noise.tuning.NoiseTuning
noise.tuning.PatchTuning noise.tuning.ReadingTuning
posterior.Posterior
priors.base.InverseGamma priors.flat.FlatPrior priors.gamma.GammaPrior priors.laplace.LaplacePrior
priors.smoothness.SmoothnessPrior
sampling.length_scales.ScaledAtoms sampling.priors.BetaBinomialSize sampling.priors.ExponentialSize
sampling.priors.PrecisionGrid
solvers.base.Solution
published.fixed_point.FixedPointSolver solvers.latent.laplace.LaplaceSolver
published.laplace_fixed_point.LaplaceFixedPointSolver solvers.gaussian.orthonormal.OrthonormalSolver
published.random_order.RandomOrderSolver solvers.gaussian.search.SequentialSolver
solvers.gaussian.tuning.SearchTuning
published.textbook.TextbookSolver
"""

_RELVEC_TUPLES = """
bases.base.BasisPart bases.callable.FunctionColumn
learning.learnt.LearntBlock
learning.structures.arbiter.Member learning.structures.construct.Lost
learning.structures.rows.Scaling
solvers.base.Candidate solvers.base.Certificate
"""

_SKLEARN_OBJECTS = """
calibration._CalibratedClassifier calibration._SigmoidCalibration
compose._column_transformer.make_column_selector
metrics._scorer._PassthroughScorer
model_selection._split.KFold model_selection._split.StratifiedKFold
"""

_PREDICTING_IN_PYTHON = """
calibration compose cross_decomposition decomposition._factor_analysis decomposition._fastica
decomposition._incremental_pca decomposition._kernel_pca decomposition._pca
decomposition._sparse_pca decomposition._truncated_svd discriminant_analysis dummy
ensemble._bagging ensemble._stacking ensemble._voting ensemble._weight_boosting
feature_extraction._dict_vectorizer feature_extraction.text feature_selection frozen
gaussian_process impute kernel_approximation kernel_ridge linear_model mixture model_selection
multiclass multioutput naive_bayes neural_network pipeline preprocessing random_projection
"""
ESTIMATORS = tuple(f"sklearn.{name}." for name in _PREDICTING_IN_PYTHON.split())
"""Modules of scikit-learn whose estimators predict in Python and NumPy. Others (trees, support
vector machines, neighbours, clusters) pass stored numbers to compiled code that uses them as
positions in memory without a check: a malicious file could crash the process or worse."""
_COMPILED = frozenset({"sklearn.feature_extraction.text.HashingVectorizer"})


def is_estimator(name: str) -> bool:
    """Whether a type belongs to the modules of scikit-learn that may be in a file.

    Examples
    --------
    >>> is_estimator("sklearn.pipeline.Pipeline"), is_estimator("sklearn.svm._classes.SVC")
    (True, False)
    """
    return name.startswith(ESTIMATORS) and name not in _COMPILED


_NUMBERS = """
bool bool_ int8 int16 int32 int64 longlong uint8 uint16 uint32 uint64 ulonglong
float16 float32 float64 longdouble complex64 complex128 clongdouble str_
"""
SCALARS = frozenset(f"numpy.{name}" for name in _NUMBERS.split())
"""NumPy's numbers and text. Types whose size in bytes is stored in the file are left out."""

KEYS = SCALARS | {f"builtins.{name}" for name in ("bool", "float", "int", "str")}
"""Types that a key of a dict may have."""

OBJECTS = frozenset(
    [f"relvec.{name}" for name in _RELVEC_OBJECTS.split()]
    + [f"sklearn.{name}" for name in _SKLEARN_OBJECTS.split()]
    + [f"{kind.__module__}.{kind.__qualname__}" for kind in KERNEL_DEFINITIONS]
)
"""Types whose attributes are restored."""

TUPLES = frozenset(f"relvec.{name}" for name in _RELVEC_TUPLES.split())
"""Named tuples, rebuilt from their fields."""

CONTAINERS = {
    "DTypeNode": frozenset({"numpy.dtype"}),
    "DictNode": frozenset(
        {"builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch"}
    ),
    "ListNode": frozenset({"builtins.list"}),
    "MaskedArrayNode": frozenset({"numpy.ma.MaskedArray"}),
    "RandomStateNode": frozenset({"numpy.random.mtrand.RandomState"}),
    "SetNode": frozenset({"builtins.set"}),
    "SliceNode": frozenset({"builtins.slice"}),
}
"""Types of Python and NumPy that each kind of node of skops may build."""

TRUSTED_TYPES = tuple(sorted(OBJECTS | TUPLES | {"numpy.dtype", "sklearn.utils._bunch.Bunch"}))
"""Types that a model file may contain besides those that skops trusts by itself."""
