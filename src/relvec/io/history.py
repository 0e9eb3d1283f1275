"""Read model files of earlier releases: all changes of stored names are listed here.

Rules that keep every saved model loadable:

- The number of the file format (`relvec.io.container.FORMAT`) grows only when older releases could
  not read the new files; files with every smaller number are read.
- A class on the list of `relvec.io.trusted` that is moved or renamed gets a line in `MOVED`, a
  renamed attribute a line in `RENAMED`.
- A new attribute of such a class gets a default in the class, or a line in `ADDED` if its value
  depends on the class only. An attribute that is no longer used may stay in the file.
- Every minor release keeps its files in ``tests/io/data``, made by
  ``python -m tests.io.make_release_files``; the tests load them all.

Names are changed before the file is checked, so that the new names must be on the list of trusted
types like all others.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from relvec.io.audit import SCHEMA, read_schema
from relvec.io.bounded import ModelFileError

__all__ = ["ADDED", "MOVED", "RENAMED", "update_names"]

MOVED: dict[str, str] = {
    "relvec.estimators._machine.FittedMachine": (
        "relvec.estimators._latent_model.FittedLatentModel"
    ),
    "relvec.estimators._panels.Panel": "relvec.estimators._class_model.ClassModel",
    "relvec.learning.learnt.LearntScales": "relvec.learning.learnt.LearntLengthScales",
    "relvec.learning.scale_uncertainty.ScaleUncertainty": (
        "relvec.learning.length_scale_uncertainty.ScaleUncertainty"
    ),
}
"""Former name of a type: its name now."""

RENAMED: dict[str, str] = {
    "agree": "agreement_factor",
    "caution": "stein_factor",
    "comparable_from": "min_comparable_pixels",
    "compatible": "compatibility_limit",
    "core_of_lines": "min_core_ratio_lines",
    "core_of_planes": "min_core_ratio_planes",
    "core_scatter": "core_ratio_scatter",
    "dense_below": "all_patches_below",
    "diagnosed_blocks": "max_diagnosed_blocks",
    "disagree": "max_disagreement",
    "enough_for_small_shares": "min_for_small_fractions",
    "equal_noise": "equal_noise_ratio",
    "error_of_all": "error_factor_all",
    "error_of_chosen": "error_factor_selected",
    "expected_error_": "estimated_mse_",
    "few_samples": "min_samples",
    "fewest": "min_patches",
    "flattest": "min_plane_side",
    "averages": "marginalises",
    "given": "fixed_intercept",
    "learnt_scales_": "learnt_length_scales_",
    "line": "line_length",
    "machines": "models",
    "most_equal": "max_equal_fraction",
    "most_pixels": "max_pixels",
    "most_samples": "max_samples",
    "noise_reach": "max_noise_ratio",
    "null_share": "min_null_fraction",
    "nearest": "variational_posterior",
    "panel_": "class_model_",
    "patches_from": "min_patch_pixels",
    "plenty_in_lines": "enough_in_lines",
    "plenty_in_planes": "enough_in_planes",
    "price": "penalty",
    "price_curvature": "penalty_curvature",
    "propagate": "length_scale_uncertainty",
    "quiet_share": "min_quiet_fraction",
    "refine": "n_refinements",
    "saturated": "reached_max_active",
    "saturated_": "reached_max_active_",
    "scale_kind_": "model_kind_",
    "scale_path_": "feature_relevance_path_",
    "scale_path_objective_": "feature_relevance_path_objective_",
    "scales": "length_scales",
    "shortest_envelope": "min_envelope_samples",
    "strip": "strip_height",
    "stuck": "min_stuck_run",
    "transform_errors_": "transform_mse_",
    "weak_error": "max_standard_error",
    "widest": "strip_width",
    "shares": "class_prior",
    "widens": "adds_novelty_variance",
    "width": "scale_factor",
}
"""Former name of an attribute of a type of relvec: its name now."""

ADDED: dict[str, dict[str, Any]] = {
    "relvec.bases.kernel.KernelBasis": {"tune": True},
    "relvec.estimators.regression.RVMRegressor": {"tune_atoms": None},
    "relvec.estimators.regression.SparseBayesRegressor": {"tune_atoms": None},
}
"""Current name of a type: new attributes and their values (JSON types) for older files."""


def update_names(payload: bytes) -> bytes:
    """Return a stored model in which old names are replaced by those of this release.

    Parameters
    ----------
    payload : bytes
        A skops file of any release. Other data are returned unchanged; the audit refuses them.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as old:
            schema = read_schema(old, len(payload))
            if not _update_tree(schema):
                return payload
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as new:
                for info in old.infolist():
                    if info.filename != SCHEMA:
                        new.writestr(info.filename, old.read(info))
                new.writestr(SCHEMA, json.dumps(schema))
            return buffer.getvalue()
    except ModelFileError:
        raise
    except Exception:
        return payload


def _update_tree(tree: Any) -> bool:
    """Replace old names in a tree in place; return whether anything was changed."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    changed = [_update_tree(part) for part in list(parts)]
    if not isinstance(tree, dict) or "__loader__" not in tree:
        return any(changed)
    name = f"{tree.get('__module__')}.{tree.get('__class__')}"
    if name in MOVED:
        changed.append(True)
        name = MOVED[name]
        tree["__module__"], _, tree["__class__"] = name.rpartition(".")
    if tree["__loader__"] == "ObjectNode" and name.startswith("relvec."):
        state = tree["content"]
        old = {each for each in state["content"] if each in RENAMED}
        if old:
            changed.append(True)
            state["content"] = {RENAMED.get(k, k): v for k, v in state["content"].items()}
        for attribute, value in ADDED.get(name, {}).items():
            if attribute not in state["content"]:
                changed.append(True)
                state["content"][attribute] = _node("JsonNode", "str", content=json.dumps(value))
                state["key_types"]["content"].append(_node("TypeNode", "str"))
    return any(changed)


def _node(loader: str, name: str, **rest: Any) -> dict[str, Any]:
    return {"__loader__": loader, "__module__": "builtins", "__class__": name, **rest}
