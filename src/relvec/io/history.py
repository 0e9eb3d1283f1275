"""How files of earlier releases are read: the one place that knows what has changed.

The rules, so that a model that was saved once can always be loaded:

- The number of the format (`relvec.io.container.FORMAT`) grows only when older releases could not
  read what is written; files of every smaller number are read.
- A class on the list of `relvec.io.trusted` that is moved or renamed gets a line in `MOVED`, an
  attribute that is renamed one in `RENAMED`.
- An attribute that is added to such a class gets a default in the class, or, where that depends on
  nothing but the class, a line in `ADDED`. One that is no longer used is left alone.
- Every minor release keeps its files in ``tests/io/data``, made by
  ``python -m tests.io.make_release_files``; the tests load them all.

Changes are made to the names that a file holds, before it is checked: what they lead to must be on
the list like everything else.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from relvec.io.audit import SCHEMA, read_schema
from relvec.io.bounded import ModelFileError

__all__ = ["ADDED", "MOVED", "RENAMED", "renewed"]

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
"""What types were called in earlier releases, and what they are called now."""

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
    "learnt_scales_": "learnt_length_scales_",
    "line": "line_length",
    "machines": "models",
    "most_equal": "max_equal_fraction",
    "most_pixels": "max_pixels",
    "most_samples": "max_samples",
    "noise_reach": "max_noise_ratio",
    "null_share": "min_null_fraction",
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
    "width": "scale_factor",
}
"""What attributes of our types were called in earlier releases, and what they are called now."""

ADDED: dict[str, dict[str, Any]] = {}
"""Attributes that types, by their new names, did not have in earlier releases: what JSON knows."""


def renewed(payload: bytes) -> bytes:
    """Return a stored model with the names of this release.

    Parameters
    ----------
    payload : bytes
        A skops file of any release. What is not one is returned as it is, for the check to refuse.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as old:
            schema = read_schema(old, len(payload))
            if not _renew(schema):
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


def _renew(tree: Any) -> bool:
    """Change a tree in place; say whether anything was changed."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    changed = [_renew(part) for part in list(parts)]
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
