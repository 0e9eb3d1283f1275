"""Fitted models as ONNX graphs."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

import relvec
from relvec._checks import check_bool, check_choice
from relvec._typing import Matrix
from relvec.io.container import write_atomically
from relvec.io.extract import formula_of, warn_of_rounding
from relvec.io.formula import (
    LARGEST_DISTANCE,
    PRECISIONS,
    Block,
    Cover,
    Extrapolation,
    Formula,
    Table,
)
from relvec.io.graph import Graph, Value
from relvec.kernels import KernelProfile

__all__ = ["export_onnx"]


def export_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    dtype: str = "float32",
    std: bool = True,
) -> bytes | Path:
    """Write a fitted model as an ONNX graph.

    The graph has one input, ``X`` of shape (n, n_features), and consists of plain operators (opset
    17). Regressors have the outputs ``mean`` and ``std``, as `predict` with ``return_std=True``
    gives them; classifiers ``label`` and ``probabilities``, as `predict` and `predict_proba` do,
    averaged over the weights in the same way. Inputs are not checked.

    All rows are answered at once, and each takes memory while that lasts: about eight bytes (twice
    that in double precision) for every number in tables of vectors, and two thousand for every
    class of each model that is averaged if there are more than two classes. Give large tables in
    parts of a few thousand rows.

    Parameters
    ----------
    model : estimator
        `RVMRegressor`, `DRVMRegressor`, `RVMClassifier`, `PFCVMClassifier`; or
        `SparseBayesRegressor` and `SparseBayesClassifier` on one `KernelBasis` or on
        `LinearBasis`; or a pipeline of `StandardScaler` and one of them. Kernels: RBF, Laplacian,
        Matern, rational quadratic, thin-plate spline, linear, dot product, polynomial and
        sigmoid, also with learnt scales and times a constant.
    path : str or path-like, optional
        Name of a file to write.
    dtype : {"float32", "float64"}, default="float32"
        Of input, output and all numbers.
    std : bool, default=True
        Whether regressors say how sure they are; without, the file is smaller.

    Returns
    -------
    written : bytes or Path
        The file as bytes if no path was given.

    Raises
    ------
    ExportError
        If the model cannot be written as a formula.

    Warns
    -----
    UserWarning
        If single precision costs more than a hundredth of a standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.io import export_onnx
    >>> X = np.linspace(-5, 5, 40)[:, None]
    >>> y = np.sinc(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    >>> written = export_onnx(RVMRegressor(gamma=0.5).fit(X, y))
    >>> import onnx
    >>> [output.name for output in onnx.load_from_string(written).graph.output]
    ['mean', 'std']
    """
    check_choice("dtype", dtype, PRECISIONS)
    check_bool("std", std)
    formula = formula_of(model, std=std)
    warn_of_rounding(formula, dtype, inputs_too=True)
    written = _Drawing(formula, dtype).written()
    if path is None:
        return written
    write_atomically(Path(path), written)
    return Path(path)


class _Drawing:
    """A formula as a graph."""

    def __init__(self, formula: Formula, dtype: str) -> None:
        self.formula, self.graph = formula, Graph(dtype)

    def written(self) -> bytes:
        """Draw everything and return the bytes."""
        formula, graph = self.formula, self.graph
        phi = self._basis()
        explained = [self._explained(cover) for cover in formula.covers]
        blocks = [self._moments(block, phi, explained) for block in formula.blocks]
        if not formula.is_classifier:
            self._targets(blocks)
        else:
            probability = self._probability(blocks, explained)
            assert formula.classes is not None
            best = graph.node("ArgMax", probability, axis=1, keepdims=0)
            classes = _plain(formula.classes)
            label = graph.node("Gather", graph.constant(classes, as_is=True), best, axis=0)
            graph.give(label, "label", classes.dtype, ["n"])
            graph.give(probability, "probabilities", graph.dtype, ["n", len(classes)])
        about = {"model": formula.source, "kernel": formula.profile.name}
        if formula.feature_names is not None:
            names = ", ".join(formula.feature_names)
            about["features"] = names.encode(errors="replace").decode()
        return graph.written(formula.n_features, about, relvec.__version__)

    def _basis(self) -> Value:
        """Kernels between inputs and vectors, and if it is needed a column of ones."""
        formula, graph = self.formula, self.graph
        tables = [self._kernels(table, formula.profile) for table in formula.kernel_tables]
        phi = self._joined(tables)
        if not any((block.index < 0).any() for block in formula.blocks):
            return phi
        rows = graph.node("Shape", phi).picked(np.array([0]), 0)
        column = graph.node("Concat", rows, np.array([1], dtype=np.int64), axis=0)
        ones = graph.node("Expand", graph.constant([[1.0]]), column)
        return graph.node("Concat", phi, ones, axis=1)

    def _kernels(self, table: Table, profile: KernelProfile) -> Value:
        graph = self.graph
        x = Value(graph, "X")
        if len(table.inputs) != self.formula.n_features:
            x = x.picked(table.inputs, 1)
        # a number times a matrix: ONNX Runtime joins both in single precision, so there is none
        if profile.measure == "product":
            t = (x - table.shift) @ (table.vectors * table.factor).T
        else:
            u = (x - table.shift) * table.factor
            difference = u.widened(1) - table.vectors
            is_squared = profile.measure == "squared"
            each = difference * difference if is_squared else graph.node("Abs", difference)
            t = each.summed(2)
        phi: Value = profile.value(t, graph)
        return phi

    def _explained(self, cover: Cover) -> Value:
        """Shares of the variance that each vector of a cover explains after those before it."""
        white = self._kernels(cover.table, cover.profile) @ _inverse(cover.cholesky).T
        return white * white

    def _moments(self, block: Block, phi: Value, explained: list[Value]) -> tuple[Value, Value]:
        """Mean (n, k) and covariance (n, k, k) of a block; for one value, its variance (n, 1).

        Covariances of several values are in double precision.
        """
        graph, extrapolation = self.graph, block.extrapolation
        a = phi.picked(self.formula.places(block), 1) - block.centre
        white_map = _inverse(block.factor).T
        if len(block.offset) == 1:
            scale = (block.design[0] * block.scale)[:, None]
            mean = a @ (scale * block.weights[:, None]) + block.offset
            white = a @ (scale * white_map)
            variance = (white * white).summed(1, keep=True) * block.spread + block.constant
            if extrapolation is None:
                return mean, variance
            rho, tau = self._beyond(extrapolation, explained)
            if extrapolation.centre is None:
                return mean, variance + rho * extrapolation.amplitude
            return self._fallen_back(extrapolation, rho, tau, mean, variance)
        rows = (a * block.scale).widened(1) * block.design
        mean = (rows @ block.weights[:, None]).narrowed(2) + block.offset
        if extrapolation is not None:
            assert extrapolation.centre is None, "several values have no centre"
            more = (self._beyond(extrapolation, explained)[0] * extrapolation.amplitude).widened(2)
        # in double precision: rounded to single, a singular matrix has negative eigenvalues
        white, held = (rows @ white_map).cast("float64"), graph.dtype
        graph.dtype = np.dtype(np.float64)
        turned = graph.node("Transpose", white, perm=[0, 2, 1])
        covariance = (white @ turned) * block.spread + block.constant
        if extrapolation is not None:
            covariance = covariance + more.cast("float64") * np.eye(len(block.offset))
        graph.dtype = held
        return mean, covariance

    def _beyond(self, given: Extrapolation, explained: list[Value]) -> tuple[Value, Value]:
        """``rho`` and ``tau``, of shape (n, 1).

        ``(1 - e - limit) / (1 - limit)`` as ``1 - e / (1 - limit)``, in one product with a matrix:
        ONNX Runtime takes a factor that is nearly one for none.
        """
        both = self._shares_beyond(given.cover, [given.offset, given.known], explained)
        return both.picked(np.array([0]), 1), both.picked(np.array([1]), 1)

    def _shares_beyond(self, cover: int, limits: list[float], explained: list[Value]) -> Value:
        n_vectors = len(self.formula.covers[cover].cholesky)
        rest = np.tile(1.0 / (1.0 - np.array(limits)), (n_vectors, 1))
        return self.graph.maximum(1.0 - explained[cover] @ rest, 0.0)

    def _fallen_back(
        self, given: Extrapolation, rho: Value, tau: Value, mean: Value, variance: Value
    ) -> tuple[Value, Value]:
        graph = self.graph
        away = mean - given.centre
        distance = graph.node("Abs", away) * (1.0 / math.sqrt(given.amplitude))
        squared = graph.minimum(distance, LARGEST_DISTANCE)
        squared = squared * squared
        fourth = squared * squared
        implausible = fourth / (fourth + 4.0)
        absurd = fourth / (fourth + 65536.0)
        pull = tau * implausible * (1.0 - (1.0 - absurd) * given.known**8)
        moved, rest = pull * away, (1.0 - pull) * away
        other = graph.maximum(rho, implausible) * (rest * rest) + given.amplitude
        return mean - moved, (1.0 - rho) * (variance + moved * moved) + rho * other

    def _targets(self, blocks: list[tuple[Value, Value]]) -> None:
        formula, graph = self.formula, self.graph
        noise = np.array([block.noise for block in formula.blocks])
        answers = {"mean": self._joined([mean for mean, _ in blocks])}
        if formula.has_std:
            variance = self._joined([variance for _, variance in blocks])
            answers["std"] = graph.sqrt(variance + noise)
        for name, value in answers.items():
            if len(blocks) == 1:
                graph.give(value.narrowed(1), name, graph.dtype, ["n"])
            else:
                graph.give(value, name, graph.dtype, ["n", len(blocks)])

    def _joined(self, columns: list[Value]) -> Value:
        return columns[0] if len(columns) == 1 else self.graph.node("Concat", *columns, axis=1)

    def _probability(self, blocks: list[tuple[Value, Value]], explained: list[Value]) -> Value:
        """Average over all members, each mixed with the shares of the classes."""
        formula = self.formula
        assert formula.shares is not None
        n_blocks, total = len(blocks) // len(formula.members), None
        for number, member in enumerate(formula.members):
            p = self._linked(blocks[number * n_blocks : (number + 1) * n_blocks])
            kept, shares = 1.0 - member.shrinkage, formula.shares[None]
            if member.cover is not None:
                rho = self._shares_beyond(member.cover, [member.offset], explained)
                for _ in range(3):
                    rho = rho * rho
                gone = 1.0 - (1.0 - rho) * kept
                p = p * (1.0 - gone) + gone * shares
            elif member.shrinkage:
                p = p * kept + (1.0 - kept) * shares
            part = p if len(formula.members) == 1 else p * member.weight
            total = part if total is None else total + part
        assert total is not None
        return total

    def _linked(self, blocks: list[tuple[Value, Value]]) -> Value:
        """Probabilities by one member."""
        graph = self.graph
        if self.formula.link == "softmax":
            return self._averaged(*blocks[0])
        odds = self._joined(
            [mean / graph.sqrt(variance * (math.pi / 8.0) + 1.0) for mean, variance in blocks]
        )
        if self.formula.link == "logistic":
            both = graph.node("Concat", -odds, odds, axis=1)
            return graph.node("Sigmoid", both)
        # log of the logistic function, also where that is too small for a number
        away = graph.exp(-graph.node("Abs", odds))
        log = graph.minimum(odds, 0.0) - graph.log(away + 1.0)
        return graph.node("Softmax", log, axis=1)

    def _averaged(self, mean: Value, covariance: Value) -> Value:
        graph, points = self.graph, self.formula.points
        assert points is not None
        n_classes = len(points)
        size = np.array([n_classes], dtype=np.int64)
        up = {"axis": 1, "largest": 0, "sorted": 1, "result": 1}
        rank = graph.node("TopK", graph.node("TopK", mean, size, **up), size, **up)
        both = np.hstack([points, -points])
        spread = graph.node("Gather", graph.constant(both), rank, axis=0)
        logits = mean.widened(2) + self._root(covariance, n_classes) @ spread
        share = graph.node("Softmax", logits, axis=1)
        return share.summed(2) * (1.0 / both.shape[1])

    def _root(self, covariance: Value, size: int) -> Value:
        """Symmetric root by the coupled iteration of Newton and Schulz, in double precision.

        Each step multiplies what is left of a small eigenvalue by 2.25: after forty those that
        are not below 1e-12 of the trace have arrived, the others do not matter.
        """
        graph, eye = self.graph, np.eye(size)
        held, graph.dtype = graph.dtype, np.dtype(np.float64)
        # A covariance may be zero far from the data. A limit, since ONNX Runtime takes the
        # addition of a tiny number for none.
        trace = graph.maximum((covariance * eye).summed(2, keep=True).summed(1, keep=True), 1e-30)
        root = covariance / trace
        inverse = 1.5 * eye - root * 0.5  # the first step, in which it is the identity
        root = root @ inverse
        for _ in range(40):
            step = 1.5 * eye - (inverse @ root) * 0.5
            root, inverse = root @ step, step @ inverse
        result = root * graph.sqrt(trace)
        graph.dtype = held
        return result.cast(held.name)


def _inverse(factor: Matrix) -> Matrix:
    inverse: Matrix = solve_triangular(factor, np.eye(len(factor)), lower=True)
    return inverse


def _plain(classes: np.ndarray) -> np.ndarray:
    """Classes as numbers or text that ONNX knows."""
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    return classes if classes.dtype.kind in "fb" else np.array([str(each) for each in classes])
