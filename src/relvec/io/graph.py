"""A few lines of arithmetic that write themselves down as an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._compat import import_optional

__all__ = ["Graph", "Value"]

OPSET = 17
IR_VERSION = 8
"""Old enough for runtimes of the year 2022."""


class Value:
    """The result of a node. Operators and functions make further nodes."""

    __array_ufunc__ = None  # arrays leave operators with them to this class

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    def _with(self, kind: str, other: Any, *, reflected: bool = False) -> Value:
        operands = (other, self) if reflected else (self, other)
        return self.graph.node(kind, *operands)

    def __add__(self, other: Any) -> Value:
        return self._with("Add", other)

    def __radd__(self, other: Any) -> Value:
        return self._with("Add", other, reflected=True)

    def __sub__(self, other: Any) -> Value:
        return self._with("Sub", other)

    def __rsub__(self, other: Any) -> Value:
        return self._with("Sub", other, reflected=True)

    def __mul__(self, other: Any) -> Value:
        return self._with("Mul", other)

    def __rmul__(self, other: Any) -> Value:
        return self._with("Mul", other, reflected=True)

    def __truediv__(self, other: Any) -> Value:
        return self._with("Div", other)

    def __matmul__(self, other: Any) -> Value:
        return self._with("MatMul", other)

    def __neg__(self) -> Value:
        return self.graph.node("Neg", self)

    def picked(self, index: np.ndarray, axis: int) -> Value:
        """Entries along an axis."""
        return self.graph.node("Gather", self, np.asarray(index, dtype=np.int64), axis=axis)

    def summed(self, axis: int, *, keep: bool = False) -> Value:
        """Sum along an axis."""
        axes = np.array([axis], dtype=np.int64)
        return self.graph.node("ReduceSum", self, axes, keepdims=int(keep))

    def widened(self, axis: int) -> Value:
        """The same with one more axis."""
        return self.graph.node("Unsqueeze", self, np.array([axis], dtype=np.int64))

    def narrowed(self, axis: int) -> Value:
        """The same without an axis of length one."""
        return self.graph.node("Squeeze", self, np.array([axis], dtype=np.int64))

    def cast(self, dtype: str) -> Value:
        """The same in another precision."""
        return self.graph.node("Cast", self, to=self.graph.number_type(dtype))


class Graph:
    """Collects nodes and constants.

    Parameters
    ----------
    dtype : {"float32", "float64"}
        Of numbers that are given as Python floats or as float arrays.
    """

    def __init__(self, dtype: str) -> None:
        self.onnx = import_optional("onnx")
        self.dtype = np.dtype(dtype)
        self.nodes: list[Any] = []
        self.constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self.tables: list[Any] = []
        self.results: list[Any] = []

    def number_type(self, dtype: Any) -> int:
        """Return what ONNX calls a type of numbers or text."""
        kind = np.dtype(dtype)
        if kind.kind in "OU":
            return int(self.onnx.TensorProto.STRING)
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(kind))

    def constant(self, value: Any, *, as_is: bool = False) -> Value:
        """Store a number or an array; equal ones once."""
        array = np.asarray(value)
        if array.dtype.kind == "f" and not as_is:
            array = array.astype(self.dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if array.dtype.kind in "OU" or key not in self.constants:
            name = f"c{len(self.tables)}"
            self.constants[key] = name
            self.tables.append(self._tensor(array, name))
        return Value(self, self.constants[key])

    def _tensor(self, array: np.ndarray, name: str) -> Any:
        if array.dtype.kind in "OU":
            texts = [str(item).encode() for item in array]
            kind = self.onnx.TensorProto.STRING
            return self.onnx.helper.make_tensor(name, kind, [len(texts)], texts)
        return self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)

    def node(self, kind: str, *operands: Any, result: int = 0, **attributes: Any) -> Value:
        """Append an operation, and return its result of that number."""
        values = [each if isinstance(each, Value) else self.constant(each) for each in operands]
        names = [f"v{len(self.nodes)}_{number}" for number in range(result + 1)]
        self.nodes.append(
            self.onnx.helper.make_node(kind, [v.name for v in values], names, **attributes)
        )
        return Value(self, names[result])

    def give(self, value: Value, name: str, dtype: Any, shape: list[Any]) -> None:
        """Make a value an output."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value.name], [name]))
        kind = self.number_type(dtype)
        self.results.append(self.onnx.helper.make_tensor_value_info(name, kind, shape))

    def written(self, n_features: int, about: dict[str, str], version: str) -> bytes:
        """Return the model as the bytes of an ONNX file whose input is ``X``."""
        helper = self.onnx.helper
        given = helper.make_tensor_value_info("X", self.number_type(self.dtype), ["n", n_features])
        graph = helper.make_graph(self.nodes, "relvec", [given], self.results, self.tables)
        model = helper.make_model(
            graph,
            producer_name="relvec",
            producer_version=version,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        helper.set_model_props(model, about)
        self.onnx.checker.check_model(model)
        written: bytes = model.SerializeToString()
        return written

    # functions of numbers, as kernels and links use them

    def exp(self, x: Value) -> Value:
        """Return the exponential."""
        return self.node("Exp", x)

    def log(self, x: Value) -> Value:
        """Return the logarithm."""
        return self.node("Log", x)

    def sqrt(self, x: Value) -> Value:
        """Return the square root."""
        return self.node("Sqrt", x)

    def tanh(self, x: Value) -> Value:
        """Return the hyperbolic tangent."""
        return self.node("Tanh", x)

    def power(self, x: Value, exponent: float) -> Value:
        """Return a power."""
        return self.node("Pow", x, exponent)

    def maximum(self, x: Value, least: Value | float) -> Value:
        """Return the larger of two numbers."""
        return self.node("Max", x, least)

    def minimum(self, x: Value, most: Value | float) -> Value:
        """Return the smaller of two numbers."""
        return self.node("Min", x, most)
