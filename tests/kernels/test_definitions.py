"""One definition per kernel: names, derivatives, exports, files and defaults read the same."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Hyperparameter,
    Kernel,
    Matern,
    RationalQuadratic,
    StationaryKernelMixin,
)

from relvec import RVMClassifier, RVMRegressor
from relvec.bases import KernelBasis
from relvec.io import TRUSTED_TYPES, ExportError, export_python
from relvec.kernels import (
    KERNEL_NAMES,
    LEARNT_BY_DEFAULT,
    KernelProfile,
    Laplacian,
    Linear,
    Periodic,
    Polynomial,
    ScaledInputs,
    Sigmoid,
    SpectralMixture,
    ThinPlateSpline,
    Warped,
    kernel_block,
    raw_scale_gradient,
    resolve_kernel,
)
from relvec.kernels.definition import KERNEL_DEFINITIONS, decays, get_kernel_property
from relvec.testing import check_kernel

RNG = np.random.default_rng(0)
X, Z, E = RNG.normal(size=(9, 3)), RNG.normal(size=(6, 3)), RNG.normal(size=(9, 6))


class InverseMultiquadric(StationaryKernelMixin, Kernel):
    """A kernel of somebody else, who says all there is to say of it."""

    measure = "squared"

    def __init__(self, length_scale=1.0, length_scale_bounds=(1e-5, 1e5)):
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds

    @property
    def hyperparameter_length_scale(self):
        return Hyperparameter("length_scale", "numeric", self.length_scale_bounds)

    def __call__(self, X, Y=None, eval_gradient=False):
        X = np.atleast_2d(X)
        squared = cdist(X, X if Y is None else Y, "sqeuclidean") / self.length_scale**2
        value = 1.0 / np.sqrt(1.0 + squared)
        return (value, (squared * value**3)[:, :, None]) if eval_gradient else value

    def diag(self, X):
        return np.ones(len(X))

    def slope(self, X, Z, E):
        return E * self(X, Z) ** 3 * (-0.5 / self.length_scale**2)

    def profile(self):
        factor = 1.0 / self.length_scale
        return KernelProfile(
            "inverse multiquadric", "squared", lambda t, f: f.power(1.0 + t, -0.5), factor
        )


class Silent(InverseMultiquadric):
    """Computes something else, and so does not answer."""

    def __call__(self, X, Y=None, eval_gradient=False):
        return 3.0 * np.asarray(super().__call__(X, Y))


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_named_kernels_are_trusted_in_files_and_conform(name):
    kernel = resolve_kernel(name, 0.4)
    kind = type(kernel)
    assert f"{kind.__module__}.{kind.__qualname__}" in TRUSTED_TYPES
    assert (name in LEARNT_BY_DEFAULT) == KERNEL_DEFINITIONS[kind].learns_length_scales
    check_kernel(kernel)


@pytest.mark.parametrize("owner", [KernelBasis, RVMRegressor, RVMClassifier], ids=repr)
def test_docstrings_list_all_names(owner):
    text = inspect.getdoc(owner)
    for name in set(KERNEL_NAMES) - {"poly"}:  # the second name of one of them
        assert f'"{name}"' in text


def test_which_widths_are_learnt_by_default():
    assert set(LEARNT_BY_DEFAULT) == {
        "rbf",
        "laplacian",
        "matern32",
        "matern52",
        "rational_quadratic",
    }
    for name in LEARNT_BY_DEFAULT:
        assert decays(resolve_kernel(name, 1.0), X)


PROFILED = [
    RBF(0.7),
    RBF([1.0, 2.0, 3.0]),
    Matern(1.3, nu=0.5),
    Matern(1.3, nu=1.5),
    Matern([1.0, 2.0, 0.5], nu=2.5),
    Matern(nu=math.inf),
    RationalQuadratic(1.2, 0.6),
    DotProduct(0.3),
    Laplacian(0.4),
    Linear(),
    Polynomial(0.3, 2, 0.5),
    Sigmoid(0.3, 0.1),
    ThinPlateSpline(1.7),
    2.5 * RBF(0.8),
    RBF(0.8) * ConstantKernel(0.3),
    ScaledInputs(2.0 * Laplacian(0.5), [1.0, 0.0, 2.0]),
    InverseMultiquadric(1.4),
]


@pytest.mark.parametrize("kernel", PROFILED, ids=repr)
def test_the_profile_is_the_kernel(kernel):
    profile = get_kernel_property(kernel, "profile")()
    t = profile.compare(X * profile.factor, Z * profile.factor)
    np.testing.assert_allclose(
        profile.variance * profile.value(t, np), kernel_block(kernel, X, Z), rtol=1e-12, atol=1e-13
    )


def test_somebody_elses_kernel_needs_no_registration():
    check_kernel(InverseMultiquadric(1.4))
    y = np.sin(2.0 * X[:, 0])
    model = RVMRegressor(InverseMultiquadric(2.0), noise_variance=0.01).fit(X, y)
    program: dict = {}
    exec(export_python(model), program)
    np.testing.assert_allclose(program["predict"](X[0].tolist()), model.predict(X[:1])[0])


def test_a_subclass_is_not_taken_at_the_word_of_its_parent():
    kernel, scale = Silent(1.4), np.array([0.5, 1.0, 2.0])
    for answer in ("measure", "slope", "rate", "profile"):
        assert get_kernel_property(kernel, answer) is None
    np.testing.assert_allclose(
        raw_scale_gradient(kernel, scale, X, Z, E),
        3.0 * raw_scale_gradient(InverseMultiquadric(1.4), scale, X, Z, E),
        rtol=1e-6,
    )
    model = RVMRegressor(kernel, noise_variance=0.01).fit(X, X[:, 0])
    with pytest.raises(ExportError, match=r"cannot be exported.*with a method `profile`"):
        export_python(model)


class WrongSlope(InverseMultiquadric):
    def slope(self, X, Z, E):
        return -super().slope(X, Z, E)


class WrongMeasure(InverseMultiquadric):
    measure = "distance"


class WrongProfile(InverseMultiquadric):
    def profile(self):
        return KernelProfile("wrong", "squared", lambda t, f: f.exp(-t))


@pytest.mark.parametrize(
    ("kernel", "complaint"),
    [
        (WrongSlope(), "slope .or rate. is not E times the derivative in the squared measure"),
        (WrongMeasure(), 'must be "squared", "absolute" or "product"; got \'distance\''),
        (WrongProfile(), "profile of .* has different values than the kernel"),
    ],
)
def test_wrong_answers_are_found(kernel, complaint):
    with pytest.raises(AssertionError, match=complaint):
        check_kernel(kernel)


def test_decay():
    assert decays(RBF(1.0) + Matern(), X)
    assert not decays(RBF(1.0) + Linear(), X)
    assert not decays(ThinPlateSpline(), X)
    assert decays(InverseMultiquadric(), X)
    assert decays(RBF(1.0) ** 2, X)


@pytest.mark.parametrize(
    "kernel",
    [
        Periodic(period="long"),
        SpectralMixture(weights="heavy"),
        Laplacian(gamma="small"),
        ScaledInputs(RBF(), "wide"),
    ],
)
def test_a_kernel_with_a_wrong_parameter_can_be_shown(kernel):
    assert type(kernel).__name__ in repr(kernel)


def test_a_warped_kernel_takes_a_list_of_texts():
    lengths = Warped(RBF(), lambda texts: [float(len(text)) for text in texts])
    np.testing.assert_allclose(lengths(["ab", "abc"])[0, 1], np.exp(-0.5))
