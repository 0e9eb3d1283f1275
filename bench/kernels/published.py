"""Published errors of automated kernel construction on the series.

Lloyd, Duvenaud, Grosse, Tenenbaum and Ghahramani (2014), Automatic construction and
natural-language description of nonparametric regression models, supplement: root mean squared
errors of the last tenth of 13 series, each divided by the smallest of the nine methods. The eight
series here are rows 1, 2, 3, 6, 7, 9, 11 and 13.
"""

from __future__ import annotations

__all__ = ["ABCD", "BEST_RMSE", "METHODS", "RELATIVE"]

METHODS = (
    "ABCD-accuracy",
    "ABCD-interpretable",
    "spectral kernels",
    "trend-cyclical-irregular",
    "multiple kernel learning",
    "equation learning",
    "change points",
    "squared exponential",
    "linear",
)
ABCD = METHODS[:2]
RELATIVE = {
    "airline": (1.14, 2.10, 1.00, 1.44, 4.73, 3.24, 4.80, 32.21, 4.94),
    "solar": (1.00, 1.26, 1.21, 1.03, 1.00, 2.64, 1.03, 1.61, 1.07),
    "mauna": (1.40, 1.00, 1.32, 1.29, 1.74, 2.54, 1.74, 1.85, 3.19),
    "internet": (1.00, 2.03, 3.38, 2.14, 4.09, 6.26, 4.17, 4.13, 4.93),
    "calls": (2.98, 1.00, 11.04, 1.80, 1.80, 493.30, 3.54, 22.63, 28.76),
    "gas": (1.00, 2.05, 1.61, 1.52, 2.90, 2.73, 3.14, 2.85, 2.64),
    "unemployment": (2.16, 2.03, 3.57, 2.23, 1.71, 2.23, 1.66, 1.89, 1.00),
    "wages": (3.03, 4.00, 3.63, 3.12, 3.16, 1.00, 5.83, 5.35, 4.25),
}
BEST_RMSE = {
    "airline": 14.618,
    "solar": 0.38179,
    "mauna": 1.3728,
    "internet": 5159.6,
    "calls": 13.647,
    "gas": 3036.2,
    "unemployment": 123.9,
    "wages": 4.9177,
}
"""The smallest of the nine, computed from the forecasts that the authors published in the
repository jamesrobertlloyd/gpss-research."""
