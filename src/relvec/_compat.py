"""Optional dependencies, imported when first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["import_optional"]

EXTRAS = {"matplotlib": "plot", "onnx": "export", "pywt": "wavelets", "skops": "export"}
"""The extra of relvec that installs each optional module."""


def import_optional(module: str) -> Any:
    """Import an optional dependency.

    Parameters
    ----------
    module : str
        Name of the module, for example ``"pywt"`` or ``"matplotlib.pyplot"``.

    Raises
    ------
    ImportError
        If it is not installed; the message has the command that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        root = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != root:
            raise  # the module is installed, but one of its own dependencies is not
        package = {"pywt": "PyWavelets"}.get(root, root)
        raise ImportError(
            f"This needs {package}, which is not installed. "
            f'Install it with: pip install "relvec[{EXTRAS[root]}]"'
        ) from error
