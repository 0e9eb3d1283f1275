"""Evidence of structures: gradients, and columns against exact covariance functions."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.kernels.expansions import Harmonics, Kink, Line, SlopeWalk, Smooth, Step, Walk
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.fit import StructureFitter, compute_evidence
from relvec.learning.structures.structure import Component, Structure

N = 200
U = np.linspace(-1.0, 1.0, N)[:, None]

FACTORS = {
    "line": [Line()],
    "smooth": [Smooth(length_scale=0.3)],
    "walk": [Walk()],
    "slope walk": [SlopeWalk()],
    "periodic": [Harmonics(period=0.25)],
    "step": [Step(origin=0.2)],
    "kink": [Kink(origin=-0.3)],
    "three factors": [
        Harmonics(period=0.25, n_harmonics=3),
        Smooth(length_scale=0.5, n_terms=20),
        Line(origin=-1.0),
    ],
}


def draw(component, seed):
    """Targets of the exact covariance function, standardised."""
    rng = np.random.default_rng(seed)
    covariance = component.product.covariance(U, U)
    values, vectors = np.linalg.eigh(covariance)
    signal = vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.normal(size=N))
    target = signal / signal.std() + 0.4 * rng.normal(size=N)
    return (target - target.mean()) / target.std()


def dense(structure, target):
    """Log evidence with the exact covariance functions."""
    covariance = structure.covariance(U, U) + np.exp(structure.log_noise) * np.eye(N)
    lower = np.linalg.cholesky(covariance)
    white = np.linalg.solve(lower, target)
    return -0.5 * (N * np.log(2 * np.pi) + white @ white) - np.log(np.diagonal(lower)).sum()


@pytest.mark.parametrize("name", FACTORS)
def test_gradients(name):
    component = Component.of(*FACTORS[name], log_variance=-0.4)
    other = Component.of(Smooth(length_scale=0.2, n_terms=30), log_variance=-1.0)
    structure = Structure((component, other), log_noise=-1.3)
    store = ColumnStore(U, draw(component, 0), np.random.default_rng(1).uniform(0.5, 2.0, N))
    design = store.design(structure)

    def evaluate(vector):
        trial = structure.with_vector(vector)
        return compute_evidence(design, design.log_variances(trial), trial.log_noise)

    start = structure.vector
    found = evaluate(start)
    slopes, place = [np.array([found.by_noise])], design.n_diffuse
    for each in structure.components:
        part = found.by_variance[place : place + each.product.n_columns]
        place += each.product.n_columns
        slopes += [part.sum(keepdims=True), each.product.spectrum_slopes() @ part]
    gradient = np.concatenate(slopes)
    assert len(gradient) == len(start)
    for number in range(len(start)):
        step = np.zeros(len(start))
        step[number] = 1e-5
        numeric = (evaluate(start + step).value - evaluate(start - step).value) / 2e-5
        assert gradient[number] == pytest.approx(numeric, abs=1e-5, rel=1e-5)


@pytest.mark.parametrize("name", FACTORS)
def test_columns_have_the_evidence_of_the_exact_covariance(name):
    """Within 5 nats after the fit, on data of that covariance function."""
    component = Component.of(*FACTORS[name])
    target = draw(component, 2)
    fitter = StructureFitter(ColumnStore(U, target), 2.0 / N)
    start = Structure((component,), log_noise=-1.0)
    fitted = fitter.fit(start, 35)
    assert fitted.log_evidence > fitter.compute_log_evidence(start)
    assert fitted.log_evidence == pytest.approx(dense(fitted, target), abs=5.0)


def test_noise_can_be_held():
    component = Component.of(Smooth())
    fitter = StructureFitter(ColumnStore(U, draw(component, 3)), 2.0 / N, noise_bounds=(-2.0, -2.0))
    assert fitter.fit(Structure((component,), log_noise=-2.0), 20).log_noise == -2.0
