"""Files that are not model files, or are damaged: one message each."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relvec.io import ModelFileError, inspect, load, save
from relvec.io.bounded import LIMITS, FileLimits
from relvec.io.container import read_payload, write_file
from tests.io import zoo


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return save(zoo.fitted("linear_basis")[0], tmp_path_factory.mktemp("good") / "good.relvec")


def parts(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("relvec.json")), archive.read("model.skops")


def rebuilt(tmp_path, members):
    path = tmp_path / "bad.relvec"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def with_header(tmp_path, good, **changes):
    header, payload = parts(good)
    header.update(changes)
    header = {name: value for name, value in header.items() if value is not ...}
    return rebuilt(tmp_path, {"relvec.json": json.dumps(header), "model.skops": payload})


def test_a_missing_file(tmp_path):
    for read in (load, inspect):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "none.relvec")


def test_a_folder(tmp_path):
    for read in (load, inspect):
        with pytest.raises(IsADirectoryError, match="is a folder; give the name of a model file"):
            read(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_and_a_device(tmp_path):
    pipe = tmp_path / "pipe.relvec"
    os.mkfifo(pipe)
    for path in (pipe, "/dev/zero"):
        for read in (load, inspect):
            with pytest.raises(ModelFileError, match="is a device or a pipe; copy its content"):
                read(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read(tmp_path, good):
    path = tmp_path / "mine.relvec"
    path.write_bytes(good.read_bytes())
    path.chmod(0)
    with pytest.raises(PermissionError):
        load(path)


@pytest.mark.parametrize("data", [b"", b"hello", b"\x80\x04K\x01.", bytes(1000)])
def test_not_a_zip_archive(tmp_path, data):
    path = tmp_path / "text.relvec"
    path.write_bytes(data)
    for read in (load, inspect):
        with pytest.raises(ModelFileError, match="text.relvec is not a model file of relvec"):
            read(path)


def test_a_file_that_was_cut_short(tmp_path, good):
    path = tmp_path / "half.relvec"
    data = good.read_bytes()
    for share in (0.1, 0.5, 0.99):
        path.write_bytes(data[: int(share * len(data))])
        with pytest.raises(ModelFileError, match=r"half.relvec is damaged or truncated"):
            load(path)


@pytest.mark.parametrize("missing", ["relvec.json", "model.skops"])
def test_an_archive_without_a_part(tmp_path, good, missing):
    header, payload = parts(good)
    members = {"relvec.json": json.dumps(header), "model.skops": payload}
    del members[missing]
    with pytest.raises(ModelFileError, match=f"is a zip archive without {missing}"):
        load(rebuilt(tmp_path, members))


def test_a_spreadsheet_is_not_a_model(tmp_path):
    path = rebuilt(tmp_path, {"xl/workbook.xml": "<workbook/>"})
    with pytest.raises(ModelFileError, match="without relvec.json, so it is not a model file"):
        inspect(path)


@pytest.mark.parametrize("text", ["", "{", "\xff", "[" * 100_000])
def test_a_header_that_is_not_json(tmp_path, text):
    path = rebuilt(tmp_path, {"relvec.json": text.encode("latin-1"), "model.skops": b""})
    with pytest.raises(ModelFileError, match="its header is not JSON"):
        load(path)


@pytest.mark.parametrize("text", ["[]", "3", "null", "{}", '{"format": "1"}', '{"format": true}'])
def test_a_header_without_a_number(tmp_path, text):
    path = rebuilt(tmp_path, {"relvec.json": text, "model.skops": b""})
    with pytest.raises(ModelFileError, match="its header has no format number"):
        load(path)


@pytest.mark.parametrize("name", ["class_name", "made", "versions", "sha256", "about"])
@pytest.mark.parametrize("value", [..., 3, None, []])
def test_a_header_that_lacks_something(tmp_path, good, name, value):
    with pytest.raises(ModelFileError, match=f"its header has no {name}"):
        load(with_header(tmp_path, good, **{name: value}))


def test_a_header_without_a_version_of_relvec(tmp_path, good):
    with pytest.raises(ModelFileError, match="its header has no version of relvec"):
        inspect(with_header(tmp_path, good, versions={}))


def test_a_newer_format(tmp_path, good):
    path = with_header(tmp_path, good, format=7, versions={"relvec": "9.1"})
    for read in (load, inspect):
        with pytest.raises(
            ModelFileError,
            match=r"saved by relvec 9.1 in file format 7; this is relvec .*Upgrade relvec",
        ):
            read(path)


def test_a_wrong_checksum(tmp_path, good):
    with pytest.raises(ModelFileError, match="is damaged: the checksum"):
        load(with_header(tmp_path, good, sha256="0" * 64))


def test_a_header_that_announces_another_class(tmp_path, good):
    with pytest.raises(
        ModelFileError, match=r"names relvec.No.*stored model is relvec.SparseBayes"
    ):
        load(with_header(tmp_path, good, class_name="relvec.No"))


@pytest.mark.parametrize("payload", [b"", b"no zip", b"PK\x05\x06" + bytes(18)])
def test_a_payload_that_is_not_a_model(tmp_path, good, payload):
    header, _ = parts(good)
    header["sha256"] = hashlib.sha256(payload).hexdigest()
    path = rebuilt(tmp_path, {"relvec.json": json.dumps(header), "model.skops": payload})
    with pytest.raises(ModelFileError, match="was not loaded: the stored model is damaged"):
        load(path)


def test_a_part_that_cannot_be_unpacked(tmp_path, good):
    data = bytearray(good.read_bytes())
    with zipfile.ZipFile(good) as archive:
        start = archive.getinfo("model.skops").header_offset + 60
    data[start : start + 40] = bytes(40)
    path = tmp_path / "bad.relvec"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match="its part model.skops cannot be unpacked"):
        load(path)
    assert inspect(path).class_name == "relvec.SparseBayesRegressor"


@pytest.mark.parametrize("name", ["relvec.json", "model.skops"])
def test_a_part_that_claims_too_much(tmp_path, good, name):
    data = good.read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = archive.getinfo(name).file_size
    find = data.index if name == "relvec.json" else data.rindex
    central = find(b"PK\x01\x02")
    claimed = data[:central] + data[central:].replace(
        size.to_bytes(4, "little"), (0xFFFF_FFF0).to_bytes(4, "little"), 1
    )
    path = tmp_path / "bomb.relvec"
    path.write_bytes(claimed)
    with pytest.raises(ModelFileError, match=rf"its part {name} claims 4294967280 bytes"):
        load(path)


def test_a_header_that_unpacks_to_too_much(tmp_path):
    path = rebuilt(tmp_path, {"relvec.json": b" " * (1 << 25), "model.skops": b""})
    assert path.stat().st_size < 1 << 16
    with pytest.raises(ModelFileError, match="its part relvec.json claims 33554432 bytes"):
        inspect(path)


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_parts_that_are_packed_too_well(tmp_path, packing):
    """A thousand bytes can stand for a gigabyte, which would be unpacked before it is counted."""
    path = tmp_path / "bomb.relvec"
    with zipfile.ZipFile(path, "w", packing) as archive:
        archive.writestr("relvec.json", bytes(1 << 20))
    for read in (load, inspect):
        with pytest.raises(ModelFileError, match="relvec.json has a compression that model files"):
            read(path)


@pytest.mark.slow
def test_a_part_that_is_larger_than_it_claims(tmp_path, good):
    """No more is unpacked than a little beyond the claim."""
    header, _ = parts(good)
    text, size = json.dumps(header).encode(), 1 << 27
    path = rebuilt(tmp_path, {"relvec.json": text + b" " * size, "model.skops": b""})
    claimed = (len(text) + size).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(claimed, len(text).to_bytes(4, "little")))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="cannot be unpacked"):
        inspect(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 24


def test_a_model_larger_than_may_be_packed_is_stored(tmp_path):
    path, limits = tmp_path / "m.relvec", FileLimits(max_packed=1000)
    header = {"class_name": "X", "made": "", "versions": {"relvec": "0.1"}, "about": {}}
    for size, packing in ((1000, zipfile.ZIP_DEFLATED), (1001, zipfile.ZIP_STORED)):
        write_file(path, header, b"x" * size, limits)
        with zipfile.ZipFile(path) as archive:
            assert archive.getinfo("model.skops").compress_type == packing
        assert read_payload(path, limits)[1] == b"x" * size
    write_file(path, header, b"x" * 1001)
    with pytest.raises(ModelFileError, match="claims 1001 bytes; at most 1000"):
        read_payload(path, limits)


@pytest.mark.parametrize("text", ['{"format": NaN}', '{"format": 1, "about": {"x": -Infinity}}'])
def test_numbers_that_are_none(tmp_path, text):
    path = rebuilt(tmp_path, {"relvec.json": text, "model.skops": b""})
    with pytest.raises(ModelFileError, match="its header is not JSON .*is not a JSON number"):
        inspect(path)


def test_a_header_that_takes_too_much_memory(tmp_path):
    path = rebuilt(tmp_path, {"relvec.json": "[" + "[]," * 3_000_000 + "[]]", "model.skops": b""})
    with pytest.raises(ModelFileError, match="its header has 6000002 values; at most"):
        inspect(path)


def test_messages_are_short_and_plain(tmp_path, good):
    loud = "\x1b[2J\n" + "9" * 100_000
    for changes in (
        {"format": 10**4000},
        {"format": 7, "versions": {"relvec": loud}},
        {"class_name": loud},
    ):
        with pytest.raises(ModelFileError) as error:
            load(with_header(tmp_path, good, **changes))
        assert str(error.value).isprintable()
        assert len(str(error.value)) < 600


def test_a_file_that_is_too_large(tmp_path):
    path = tmp_path / "huge.relvec"
    with open(path, "wb") as file:
        file.truncate(LIMITS.max_bytes + 1)
    with pytest.raises(ModelFileError, match="a model file has at most"):
        load(path)


def test_other_members_are_not_looked_at(tmp_path, good):
    header, payload = parts(good)
    members = {"relvec.json": json.dumps(header), "model.skops": payload}
    path = rebuilt(tmp_path, {"../../evil": "x", "/etc/evil": "x", **members})
    np.testing.assert_array_equal(
        load(path).predict(zoo.NEW), zoo.fitted("linear_basis")[0].predict(zoo.NEW)
    )
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["bad.relvec"]


@given(st.data())
def test_any_damage_is_found(tmp_path_factory, good, data):
    """One byte changed: the same model, or a ModelFileError."""
    raw = bytearray(good.read_bytes())
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.getbasetemp() / "changed.relvec"
    path.write_bytes(raw)
    try:
        model = load(path)
    except ModelFileError:
        return
    np.testing.assert_array_equal(
        model.predict(zoo.NEW), zoo.fitted("linear_basis")[0].predict(zoo.NEW)
    )
