"""Save and load fitted models, and export them to C, Python and ONNX.

`save` and `load` keep the whole model in a file that is safe to load. `export_onnx`, `export_c` and
`export_python` write what predictions need, for programs that do not have relvec.

Examples
--------
>>> import numpy as np
>>> from relvec import RVMClassifier
>>> from relvec.datasets import make_snake
>>> from relvec.io import export_python
>>> X, y = make_snake(60, random_state=0)
>>> text = export_python(RVMClassifier(gamma=0.5).fit(X, y))
>>> "def probabilities(x):" in text
True
"""

from relvec.io.bounded import ModelFileError
from relvec.io.c import export_c
from relvec.io.container import ModelFile
from relvec.io.models import ModelFileWarning, inspect, load, save
from relvec.io.onnx import export_onnx
from relvec.io.profiles import ExportError
from relvec.io.python import export_python
from relvec.io.trusted import TRUSTED_TYPES

__all__ = [
    "TRUSTED_TYPES",
    "ExportError",
    "ModelFile",
    "ModelFileError",
    "ModelFileWarning",
    "export_c",
    "export_onnx",
    "export_python",
    "inspect",
    "load",
    "save",
]
