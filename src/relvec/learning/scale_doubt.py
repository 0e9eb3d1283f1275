"""What is not known of a function because the scales of its inputs are not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.kernels import KernelLike, kernel_block, scale_jacobian, scaled_inputs

__all__ = ["ScaleDoubt"]


@dataclass(frozen=True, eq=False)
class ScaleDoubt:
    """Change of a function with its scales, the weights following.

    To first order in the scales the joint posterior of weights and scales is a Gaussian. Given the
    scales, weights are as in the posterior; what is left is the derivative of the function
    in the scales less what other weights and another intercept make up for.
    """

    kernel: KernelLike
    """Of the inputs that are in the model, times the square roots of their scales."""
    inputs: IndexArray
    scale: Vector
    centers: Matrix
    weights: Vector
    middle: Vector
    """Mean over the training rows of the derivative in every scale."""
    atom_mean: Vector
    atom_norm: Vector
    response: Matrix
    """Change of the weights of unit atoms that makes up for a change of each scale."""
    root: Matrix
    """Root of the covariance of the scales."""

    def directions(self, X: Matrix) -> Matrix:
        """Change of the function along independent unit changes of the scales."""
        inside = X[:, self.inputs]
        jacobian = scale_jacobian(self.kernel, self.scale, inside, self.centers, self.weights)
        atoms = kernel_block(
            self.kernel,
            scaled_inputs(self.kernel, self.scale, inside),
            scaled_inputs(self.kernel, self.scale, self.centers),
        )
        unit = (atoms - self.atom_mean) / self.atom_norm
        moved = jacobian - self.middle - unit @ self.response
        result: Matrix = np.asarray(moved @ self.root)
        return result
