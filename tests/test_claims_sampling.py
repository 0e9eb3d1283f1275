"""What the guide claims of sampled models, at their defaults, on data of its own."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from relvec import RVMRegressor, SampledRVMRegressor, SampledSparseBayesRegressor
from relvec.bases import KernelBasis
from tests.helpers_claims import GUIDE, claimed

X = np.linspace(-10.0, 10.0, 64)[:, np.newaxis]
TRUTH = np.sinc(X[:, 0] / np.pi)
NOISE_STD = TRUTH.std() / 5.0


@cache
def fit_all(kind: str, n_sets: int = 12) -> list[tuple[float, float, float, bool]]:
    """Coverage of the function and of targets, squared error, convergence; one row per data set."""
    found = []
    for seed in range(9700, 9700 + n_sets):
        rng = np.random.default_rng(seed)
        y = TRUTH + NOISE_STD * rng.normal(size=len(X))
        kernel = KernelBasis(gamma=1.0 / 9.0)
        model = {
            "plain": RVMRegressor(gamma=1.0 / 9.0, error_bars="plain", calibrate=False),
            "sampled": SampledSparseBayesRegressor(kernel, random_state=0),
            "learnt": SampledRVMRegressor(random_state=0),
        }[kind].fit(X, y)
        low, high = model.predict_interval(X, include_noise=False).T
        below, above = model.predict_interval(X).T
        new = TRUTH + NOISE_STD * rng.normal(size=(100, len(X)))
        found.append(
            (
                float(np.mean((low <= TRUTH) & (high >= TRUTH))),
                float(np.mean((below <= new) & (above >= new))),
                float(np.mean((model.predict(X) - TRUTH) ** 2)),
                bool(getattr(model, "converged_", True)),
            )
        )
    return found


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """Mean over data sets, with its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


@pytest.mark.slow
def test_bands_of_sampled_models_cover_as_the_table_says() -> None:
    plain, sampled = fit_all("plain"), fit_all("sampled")
    page = GUIDE / "sampling.md"
    of_function = claimed(page, r"covers of the function \| # \| # \| #")
    of_targets = claimed(page, r"covers of new targets \| # \| # \| #")
    for column, claims in ((0, of_function), (1, of_targets)):
        for rows, claim in ((plain, claims[0]), (sampled, claims[2])):
            mean, error = mean_and_error([row[column] for row in rows])
            assert mean == pytest.approx(claim, abs=4.0 * error)
    gain, error = mean_and_error([one[0] - two[0] for one, two in zip(sampled, plain, strict=True)])
    assert gain > 2.0 * error
    assert np.mean([row[2] for row in sampled]) < 1.02 * np.mean([row[2] for row in plain])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_default_chains_converge_on_few_rows() -> None:
    assert all(row[3] for row in fit_all("sampled"))
    assert sum(row[3] for row in fit_all("learnt", 4)) >= 3
