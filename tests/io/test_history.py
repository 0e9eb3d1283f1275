"""Files with names of an earlier release."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest

from relvec.io import ModelFileError, history, load, save
from relvec.io.container import write_file
from tests.io import zoo

NOW, THEN = "relvec.bases.linear.LinearBasis", "relvec.basis_functions.Inputs"


@pytest.fixture
def old(tmp_path):
    """Return a file whose basis has a name of long ago and lacks an attribute."""
    path = save(zoo.fitted("linear_basis")[0], tmp_path / "m.relvec")
    with zipfile.ZipFile(path) as archive:
        header, payload = json.loads(archive.read("relvec.json")), archive.read("model.skops")
    module, _, cls = NOW.rpartition(".")
    then_module, _, then_cls = THEN.rpartition(".")

    def visit(tree):
        for part in tree.values() if isinstance(tree, dict) else tree:
            if isinstance(part, dict | list):
                visit(part)
        if isinstance(tree, dict) and (tree.get("__module__"), tree.get("__class__")) == (
            module,
            cls,
        ):
            tree["__module__"], tree["__class__"] = then_module, then_cls

    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(payload)) as before,
        zipfile.ZipFile(buffer, "w") as after,
    ):
        for name in before.namelist():
            data = before.read(name)
            if name == "schema.json":
                schema = json.loads(data)
                visit(schema)
                data = json.dumps(schema)
                assert then_cls in data
            after.writestr(name, data)
    del header["format"], header["sha256"]
    write_file(path, header, buffer.getvalue())
    return path


def test_a_type_that_was_moved(old, monkeypatch):
    with pytest.raises(ModelFileError, match=THEN):
        load(old)
    monkeypatch.setitem(history.MOVED, THEN, NOW)
    model, inputs = zoo.fitted("linear_basis")
    np.testing.assert_array_equal(load(old).predict(inputs), model.predict(inputs))


def test_an_attribute_that_was_added(old, monkeypatch):
    monkeypatch.setitem(history.MOVED, THEN, NOW)
    monkeypatch.setitem(history.ADDED, NOW, {"order": [1, None, "x"]})
    assert load(old).basis.order == [1, None, "x"]


def test_what_has_not_changed_is_left_alone(tmp_path, monkeypatch):
    path = save(zoo.fitted("regressor")[0], tmp_path / "m.relvec")
    with zipfile.ZipFile(path) as archive:
        payload = archive.read("model.skops")
    monkeypatch.setitem(history.MOVED, THEN, NOW)
    assert (
        hashlib.sha256(history.update_names(payload)).digest() == hashlib.sha256(payload).digest()
    )


def test_names_lead_to_trusted_types_only(old, monkeypatch):
    monkeypatch.setitem(history.MOVED, THEN, "os.system")
    with pytest.raises(ModelFileError, match="it names os.system"):
        load(old)


@pytest.mark.parametrize("payload", [b"", b"no zip", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_model_is_left_to_the_check(payload, monkeypatch):
    monkeypatch.setitem(history.MOVED, THEN, NOW)
    assert history.update_names(payload) == payload
