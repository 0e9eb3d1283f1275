"""Base class of kernels that transform their inputs first."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sklearn.gaussian_process.kernels import Kernel

from relvec._typing import Matrix, Vector

__all__ = ["TransformedInputsKernel"]


class TransformedInputsKernel(Kernel):
    """``k(transform(x), transform(z))``; its hyper-parameters are those of the inner kernel `k`."""

    kernel: Kernel

    @abstractmethod
    def _transformed(self, X: Any) -> Any:
        """Return the inputs of the inner kernel."""

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Evaluate the kernel, optionally with its gradient with respect to `theta`.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Left inputs.
        Y : array-like of shape (n_samples_Y, n_features), default=None
            Right inputs; None means `X`.
        eval_gradient : bool, default=False
            Also return the gradient in the log hyper-parameters; `Y` must be None.
        """
        right = None if Y is None else self._transformed(Y)
        if eval_gradient:
            return self.kernel(self._transformed(X), right, eval_gradient=True)
        return self.kernel(self._transformed(X), right)

    def diag(self, X: Any) -> Vector:
        """Return ``k(x, x)`` for every row of `X`."""
        result: Vector = self.kernel.diag(self._transformed(X))
        return result

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with those of the inner kernel if `deep`."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            inner = self.kernel.get_params().items()
            params.update(("kernel__" + name, value) for name, value in inner)
        return params

    @property
    def hyperparameters(self) -> list[Any]:
        """Hyper-parameters of the inner kernel, their names prefixed by ``kernel__``."""
        return [each._replace(name="kernel__" + each.name) for each in self.kernel.hyperparameters]

    @property
    def theta(self) -> Vector:
        """Logarithms of the free hyper-parameters of the inner kernel."""
        result: Vector = self.kernel.theta
        return result

    @theta.setter
    def theta(self, theta: Vector) -> None:
        self.kernel.theta = theta

    @property
    def bounds(self) -> Matrix:
        """Bounds of `theta`."""
        result: Matrix = self.kernel.bounds
        return result
