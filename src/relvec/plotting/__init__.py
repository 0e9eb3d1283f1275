"""Plots, as display classes in the style of scikit-learn; they need matplotlib.

Examples
--------
>>> from relvec.plotting import ShrinkageDisplay
>>> display = ShrinkageDisplay.from_priors(["bic"], thresholds=False)
>>> display.ax_.get_xlabel()
'observed coefficient / noise std'
"""

from relvec.plotting.atom_evidence import AtomEvidence, AtomEvidenceDisplay
from relvec.plotting.basis_functions import BasisFunctionsDisplay
from relvec.plotting.bias_variance import BiasVarianceDisplay
from relvec.plotting.calibration import ReliabilityCurve, ReliabilityDisplay
from relvec.plotting.coefficients import CoefficientDisplay, CoefficientRow
from relvec.plotting.components import ComponentCurve, ComponentsDisplay
from relvec.plotting.coverage import CoverageOutsideDisplay
from relvec.plotting.decision_surface import DecisionSurfaceDisplay
from relvec.plotting.density import DensityDisplay
from relvec.plotting.density_contours import DensityContourDisplay
from relvec.plotting.evidence_curve import EvidenceCurveDisplay
from relvec.plotting.evidence_trace import EvidenceTraceDisplay
from relvec.plotting.extrapolation import ExtrapolationDisplay, ExtrapolationMap
from relvec.plotting.feature_relevance import FeatureRelevanceDisplay
from relvec.plotting.feature_relevance_path import FeatureRelevancePathDisplay
from relvec.plotting.forecast import ForecastDisplay
from relvec.plotting.images import ImageDisplay
from relvec.plotting.inclusion import InclusionDisplay
from relvec.plotting.log_odds import LogOddsDisplay
from relvec.plotting.model_comparison import ModelComparisonDisplay
from relvec.plotting.noise_level import NoiseDisplay
from relvec.plotting.optima import OptimaDisplay
from relvec.plotting.predicted_observed import PredictedObservedDisplay
from relvec.plotting.rank import RankDisplay
from relvec.plotting.regression_fit import RegressionFitDisplay
from relvec.plotting.regression_surface import RegressionSurfaceDisplay
from relvec.plotting.residuals import ResidualDisplay
from relvec.plotting.rootogram import RootogramDisplay
from relvec.plotting.selection_frequency import SelectionFrequencyDisplay
from relvec.plotting.shrinkage import ShrinkageDisplay
from relvec.plotting.signal import SignalDisplay
from relvec.plotting.trace import TraceDisplay
from relvec.plotting.weight_prior import WeightPriorDisplay
from relvec.plotting.weights import WeightDisplay
from relvec.plotting.well_determined import WellDeterminedDisplay

__all__ = [
    "AtomEvidence",
    "AtomEvidenceDisplay",
    "BasisFunctionsDisplay",
    "BiasVarianceDisplay",
    "CoefficientDisplay",
    "CoefficientRow",
    "ComponentCurve",
    "ComponentsDisplay",
    "CoverageOutsideDisplay",
    "DecisionSurfaceDisplay",
    "DensityContourDisplay",
    "DensityDisplay",
    "EvidenceCurveDisplay",
    "EvidenceTraceDisplay",
    "ExtrapolationDisplay",
    "ExtrapolationMap",
    "FeatureRelevanceDisplay",
    "FeatureRelevancePathDisplay",
    "ForecastDisplay",
    "ImageDisplay",
    "InclusionDisplay",
    "LogOddsDisplay",
    "ModelComparisonDisplay",
    "NoiseDisplay",
    "OptimaDisplay",
    "PredictedObservedDisplay",
    "RankDisplay",
    "RegressionFitDisplay",
    "RegressionSurfaceDisplay",
    "ReliabilityCurve",
    "ReliabilityDisplay",
    "ResidualDisplay",
    "RootogramDisplay",
    "SelectionFrequencyDisplay",
    "ShrinkageDisplay",
    "SignalDisplay",
    "TraceDisplay",
    "WeightDisplay",
    "WeightPriorDisplay",
    "WellDeterminedDisplay",
]
