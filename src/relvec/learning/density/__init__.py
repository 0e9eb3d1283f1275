"""Density estimation: a log density on bins, with one precision for each width of its atoms."""

from relvec.learning.density.distribution import sample_points, tabulate_distribution
from relvec.learning.density.fit import fit_density
from relvec.learning.density.fitted import FittedDensity
from relvec.learning.density.scan import PeakScan, scan_peaks
from relvec.learning.density.tuning import DensityTuning

__all__ = [
    "DensityTuning",
    "FittedDensity",
    "PeakScan",
    "fit_density",
    "sample_points",
    "scan_peaks",
    "tabulate_distribution",
]
