"""The check must catch what it promises to catch."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from relvec.kernels import LinearSpline, ThinPlateSpline
from relvec.testing import check_kernel


class WrongGradient(LinearSpline):
    def _value_and_slope(self, inputs):
        value, slope = super()._value_and_slope(inputs)
        return value, -slope


class GradientOfLength(LinearSpline):
    """The derivative by the length instead of its logarithm."""

    def _value_and_slope(self, inputs):
        value, slope = super()._value_and_slope(inputs)
        return value, slope / self.length_scale


class WrongValueWithGradient(LinearSpline):
    def _value_and_slope(self, inputs):
        value, slope = super()._value_and_slope(inputs)
        return 2 * value, slope


class NoGradientAxis(LinearSpline):
    def __call__(self, X, Y=None, eval_gradient=False):
        if not eval_gradient:
            return super().__call__(X, Y)
        value, gradient = super().__call__(X, Y, eval_gradient)
        return value, np.concatenate([gradient, gradient], axis=2)


class WrongDiagonal(LinearSpline):
    def diag(self, X):
        return np.ones(len(X))


class NotStationary(LinearSpline):
    def is_stationary(self):
        return True


class NotSymmetric(LinearSpline):
    def __call__(self, X, Y=None, eval_gradient=False):
        value = super().__call__(X, Y, eval_gradient)
        left = 1.0 + 0.1 * np.atleast_2d(X)[:, :1]
        return (value[0] * left, value[1] * left[:, :, None]) if eval_gradient else value * left

    def diag(self, X):
        return super().diag(X) * (1.0 + 0.1 * np.atleast_2d(X)[:, 0])


class Growing(RBF):
    """Stationary, of positive variance, and no covariance."""

    def __call__(self, X, Y=None, eval_gradient=False):
        value = super().__call__(X, Y, eval_gradient)
        return (2.0 - value[0], -value[1]) if eval_gradient else 2.0 - value


class DependsOnOtherRows(LinearSpline):
    def _value(self, left, right):
        return super()._value(left, right) / len(left)


class DependsOnOtherColumns(LinearSpline):
    def _value(self, left, right):
        return super()._value(left, right) / len(right)


class InfiniteAtZeroDistance(ThinPlateSpline):
    def _value(self, left, right):
        value = super()._value(left, right)
        return np.where(value == 0, -np.inf, value)


class ForgetsItsLength(LinearSpline):
    def __init__(self, length_scale=1.0, length_scale_bounds=(1e-5, 1e5)):
        super().__init__(length_scale, length_scale_bounds)
        self.hidden = 1.0

    def _scaled(self, X):
        return super()._scaled(X) / self.hidden


def with_hidden_state():
    kernel = ForgetsItsLength()
    kernel.hidden = 3.0
    return kernel


@pytest.mark.parametrize(
    ("kernel", "complaint"),
    [
        (
            WrongGradient(2.0),
            r"gradient of WrongGradient.*theta\[0\] differs from central differences",
        ),
        (GradientOfLength(2.0), "gradient of GradientOfLength.*differs from central differences"),
        (WrongValueWithGradient(), "values differ with eval_gradient=True"),
        (NoGradientAxis(), r"must have shape \(12, 12, 1\); got \(12, 12, 2\)"),
        (WrongDiagonal(), "WrongDiagonal.*diag differs"),
        (NotStationary(), "is_stationary.* is True, but"),
        (NotSymmetric(), "is not symmetric"),
        (Growing(), "claims to be a covariance that decays, but is not positive semi-definite"),
        (DependsOnOtherRows(), "rows evaluated separately differ"),
        (DependsOnOtherColumns(), "columns evaluated separately differ"),
        (InfiniteAtZeroDistance(), "InfiniteAtZeroDistance.*cannot be evaluated.*finite"),
        (with_hidden_state(), "clone of ForgetsItsLength.*has different values"),
        (RBF() + WhiteKernel(), r"k\(X\) differs from k\(X, X\)"),
        (lambda X, Z: np.ones(len(X)), r"cannot be evaluated.*shape \(12,\)"),
        (lambda X, Z: X @ Z.T / len(Z), "columns evaluated separately differ"),
    ],
)
def test_broken_kernel_is_caught(kernel, complaint):
    with pytest.raises(AssertionError, match=complaint):
        check_kernel(kernel)


def test_functions_pass():
    check_kernel(lambda X, Z: X @ Z.T)
