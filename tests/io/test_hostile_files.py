"""Malicious files: nothing in them is imported, run or unpacked without a limit."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import sys
import time
import zipfile

import numpy as np
import pytest

from relvec.io import ModelFileError, load, save
from relvec.io.audit import audit
from tests.io import zoo

NUMBERS = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "1"}


def node(loader, name, **rest):
    module, _, cls = name.rpartition(".")
    return {"__loader__": loader, "__module__": module, "__class__": cls, **rest}


def text(value):
    return NUMBERS | {"content": json.dumps(value)}


def many(loader, name, items):
    return node(loader, name, content=items)


def mapping(**items):
    types = many("ListNode", "builtins.list", [node("TypeNode", "builtins.str") for _ in items])
    return node("DictNode", "builtins.dict", content=items, key_types=types)


def array(value):
    buffer = io.BytesIO()
    np.save(buffer, value, allow_pickle=True)
    return buffer.getvalue()


def packed(schema, files=None, protocol=2, packing=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing) as archive:
        for name, data in (files or {}).items():
            archive.writestr(name, data)
        archive.writestr("schema.json", json.dumps({**schema, "protocol": protocol}))
    return buffer.getvalue()


@pytest.fixture
def stored(tmp_path):
    """Return a file with a good header and any payload."""
    good = save(zoo.fitted("linear_basis")[0], tmp_path / "good.relvec")
    with zipfile.ZipFile(good) as archive:
        header = json.loads(archive.read("relvec.json"))

    def store(payload):
        path = tmp_path / "bad.relvec"
        header["sha256"] = hashlib.sha256(payload).hexdigest()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("relvec.json", json.dumps(header))
            archive.writestr("model.skops", payload)
        return path

    return store


REGRESSOR = "relvec.estimators.regression.RVMRegressor"
COMMAND = many("TupleNode", "builtins.tuple", [text("touch was_here")])

NAMED = {
    "os.system": node("FunctionNode", "os.system"),
    "posix.system": node("TypeNode", "posix.system"),
    "builtins.eval": node("FunctionNode", "builtins.eval"),
    "builtins.exec": node("TypeNode", "builtins.exec"),
    "subprocess.Popen": node("ObjectNode", "subprocess.Popen", content=mapping(args=text("ls"))),
    "os.popen": node("ConstructorFromReduceNode", "os.popen", content=COMMAND),
    "functools.partial": node(
        "PartialNode",
        "functools.partial",
        content={
            "func": node("FunctionNode", "os.system"),
            "args": COMMAND,
            "kwds": mapping(),
            "namespace": mapping(),
        },
    ),
    "operator.methodcaller": node("OperatorFuncNode", "operator.methodcaller", attrs=COMMAND),
    f"{REGRESSOR}.fit": node(
        "MethodNode", REGRESSOR, content={"func": "fit", "obj": node("ObjectNode", REGRESSOR)}
    ),
    # functions of our own that are no classes
    "relvec.io.models.load": node("FunctionNode", "relvec.io.models.load"),
    "relvec.io.container.write_atomically": node(
        "ConstructorFromReduceNode", "relvec.io.container.write_atomically", content=COMMAND
    ),
    "relvec._compat.optional": node("ListNode", "relvec._compat.optional", content=[]),
    "relvec.estimators.denoise_function.denoise": node(
        "ObjectNode", "relvec.estimators.denoise_function.denoise"
    ),
    # a module that has not been imported, and one that does not exist
    "antigravity.fly": node("ObjectNode", "antigravity.fly"),
    "no_such_module.Thing": node("ObjectNode", "no_such_module.Thing"),
    "__main__.Thing": node("ObjectNode", "__main__.Thing"),
    # known to crash when their content is wrong
    "sklearn.tree._tree.Tree": node(
        "TreeNode", "sklearn.tree._tree.Tree", content=mapping(), __reduce__={}
    ),
    "sklearn.ensemble._gb.GradientBoostingRegressor": node(
        "ObjectNode", "sklearn.ensemble._gb.GradientBoostingRegressor"
    ),
    "sklearn.svm._classes.SVR": node("ObjectNode", "sklearn.svm._classes.SVR"),
    "sklearn.cluster._kmeans.KMeans": node("ObjectNode", "sklearn.cluster._kmeans.KMeans"),
    "sklearn.feature_extraction.text.HashingVectorizer": node(
        "ObjectNode", "sklearn.feature_extraction.text.HashingVectorizer"
    ),
    # makes as many bytes as a number says
    "numpy.bytes_": node("NdArrayNode", "numpy.bytes_", type="json", content=[], shape=text([1])),
    "numpy.void": node("NdArrayNode", "numpy.void", type="json", content=[], shape=text([1])),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("inside", [False, True])
def test_types_that_are_not_trusted_are_named(name, inside, stored, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    schema = NAMED[name]
    if inside:
        schema = node("ObjectNode", REGRESSOR, content=mapping(kernel=schema))
    before = set(sys.modules)
    with pytest.raises(ModelFileError, match="bad.relvec was not loaded") as error:
        load(stored(packed(schema)))
    owner = name.removesuffix(".fit")
    assert owner in str(error.value)
    assert "antigravity" not in set(sys.modules) - before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad.relvec", "good.relvec"]


TRUSTED_BUT_CALLED = {
    "a class called with arguments": node(
        "ConstructorFromReduceNode", REGRESSOR, content=many("TupleNode", "builtins.tuple", [])
    ),
    "a class called with a list": many("ListNode", REGRESSOR, []),
    "a class called as a dict": node(
        "DictNode", REGRESSOR, content={}, key_types=many("ListNode", "builtins.list", [])
    ),
    "a class called with a key": node(
        "DictNode",
        "builtins.dict",
        content={"x": text(1)},
        key_types=many("ListNode", "builtins.list", [node("TypeNode", REGRESSOR)]),
    ),
    "an object called with a key": node(
        "DictNode",
        "builtins.dict",
        content={"x": text(1)},
        key_types=many(
            "ListNode", "builtins.list", [node("ObjectNode", "relvec.bases.union.MeanKernel")]
        ),
    ),
    "a function called with a key": node(
        "DictNode",
        "builtins.dict",
        content={"x": text(1)},
        key_types=many("TupleNode", "builtins.tuple", [node("FunctionNode", "numpy.sin")]),
    ),
    "a class called with an array": node("NdArrayNode", REGRESSOR, type="numpy", file="a.npy"),
    "a class as a function": node("FunctionNode", REGRESSOR),
    "a class called by a random state": node("RandomStateNode", REGRESSOR, content=mapping()),
    "a named tuple without its fields": node("ObjectNode", "relvec.solvers.base.Candidate"),
}


@pytest.mark.parametrize("what", TRUSTED_BUT_CALLED)
def test_trusted_types_are_built_in_one_way_only(what, stored, monkeypatch):
    from relvec import RVMRegressor

    monkeypatch.setattr(RVMRegressor, "__init__", lambda *a, **k: pytest.fail("called"))
    files = {"a.npy": array(np.zeros(2))}
    with pytest.raises(ModelFileError, match="which may not be in a model file"):
        load(stored(packed(TRUSTED_BUT_CALLED[what], files)))


class Bomb:
    def __reduce__(self):
        return (sys.exit, ("the pickle was run",))


def test_a_pickle_is_not_run(stored):
    holds = node(
        "ObjectNode",
        REGRESSOR,
        content=mapping(x=node("NdArrayNode", "numpy.ndarray", type="numpy", file="a.npy")),
    )
    objects = np.empty(1, dtype=object)
    objects[0] = Bomb()
    with pytest.raises(ModelFileError, match="contains a pickle"):
        load(stored(packed(holds, {"a.npy": array(objects)})))
    with pytest.raises(ModelFileError, match="damaged"):
        load(stored(packed(holds, {"a.npy": pickle.dumps(Bomb())})))
    with pytest.raises(ModelFileError, match="damaged"):
        load(stored(pickle.dumps(Bomb())))


def test_a_random_generator_cannot_call_functions(stored):
    state = mapping(bit_generator=text("seed"))
    schema = node(
        "RandomGeneratorNode",
        "numpy.random._generator.Generator",
        content={"bit_generator": state, "seed_seq": mapping()},
    )
    with pytest.raises(ModelFileError, match="Generator"):
        load(stored(packed(schema)))


def test_an_array_that_claims_more_than_there_is(stored):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    raw = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + header.ljust(117) + b"\n" + bytes(16)
    schema = node(
        "ObjectNode",
        REGRESSOR,
        content=mapping(x=node("NdArrayNode", "numpy.ndarray", type="numpy", file="a.npy")),
    )
    with pytest.raises(ModelFileError, match=r"claims the shape \(1000000000000,\)"):
        load(stored(packed(schema, {"a.npy": raw})))


def test_an_array_that_is_read_again_and_again(stored):
    huge = array(np.zeros(1 << 21))
    again = [node("NdArrayNode", "numpy.ndarray", type="numpy", file="a.npy") for _ in range(200)]
    path = stored(packed(many("ListNode", "builtins.list", again), {"a.npy": huge}))
    assert path.stat().st_size < 1 << 17
    with pytest.raises(ModelFileError, match="the stored array a.npy is read by several objects"):
        load(path)


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_bomb_inside(stored, packing):
    schema, files = node("ObjectNode", REGRESSOR), {"a.npy": array(np.zeros(1_000_000))}
    with pytest.raises(ModelFileError, match=r"claims 8000\d*: it is compressed twice"):
        load(stored(packed(schema, files, packing=packing)))


def test_a_short_file_for_a_tree_without_end(stored):
    """Each list holds the one before twice: 60 of them are more than can ever be walked."""
    lists = [many("ListNode", "builtins.list", []) | {"__id__": 1}]
    for number in range(2, 60):
        before = {"__id__": number - 1}
        first = lists.pop()
        lists.append(many("ListNode", "builtins.list", [first, before]) | {"__id__": number})
    started = time.monotonic()
    with pytest.raises(ModelFileError, match="two different objects with number"):
        load(stored(packed(lists[0])))
    assert time.monotonic() - started < 5.0


def test_an_object_that_holds_itself(stored):
    schema = many("ListNode", "builtins.list", [{"__id__": 5}]) | {"__id__": 5}
    with pytest.raises(ModelFileError, match="two different objects with number 5"):
        load(stored(packed(schema)))


@pytest.mark.parametrize("number", [1.0, True, "1", [1]])
def test_numbers_that_are_equal_but_not_the_same(stored, number):
    """For a dict 1, 1.0 and true are one key, and a few words could stand for a whole tree."""
    before = many("ListNode", "builtins.list", [text(1)]) | {"__id__": 1}
    short = many("ListNode", "builtins.list", []) | {"__id__": number}
    with pytest.raises(ModelFileError, match="an object number that is not an integer"):
        load(stored(packed(many("ListNode", "builtins.list", [before, short]))))


def test_an_object_that_stands_for_another_of_the_same_size(stored):
    """What is checked in its second place would not be what is built."""
    first = many("ListNode", "builtins.list", [node("FunctionNode", "numpy.sin")]) | {"__id__": 7}
    second = many("ListNode", "builtins.list", [node("TypeNode", "builtins.str")]) | {"__id__": 7}
    keys = node("DictNode", "builtins.dict", content={"x": text(1)}, key_types=second)
    with pytest.raises(ModelFileError, match="two different objects with number 7"):
        load(stored(packed(many("ListNode", "builtins.list", [first, keys]))))


@pytest.mark.parametrize("position", [text(625), text(-1), text(1e9), text(10**9), mapping()])
def test_a_random_state_that_draws_from_elsewhere(stored, position):
    key = node("NdArrayNode", "numpy.ndarray", type="numpy", file="a.npy")
    inner = mapping(key=key, pos=position)
    state = mapping(bit_generator=text("MT19937"), state=inner, has_gauss=text(0), gauss=text(0.0))
    draws = node("RandomStateNode", "numpy.random.mtrand.RandomState", content=state)
    schema = node("ObjectNode", REGRESSOR, content=mapping(random_state=draws))
    files = {"a.npy": array(np.zeros(624, np.uint32))}
    with pytest.raises(ModelFileError, match="was not loaded: the stored model"):
        load(stored(packed(schema, files)))


@pytest.mark.parametrize("memory", [text("//evil/share"), many("ListNode", "builtins.list", [])])
def test_a_folder_of_pickles_for_the_next_fit(stored, memory):
    schema = node("ObjectNode", "sklearn.pipeline.Pipeline", content=mapping(memory=memory))
    with pytest.raises(
        ModelFileError, match="was not loaded: it has a pipeline with a cache folder"
    ):
        load(stored(packed(schema)))


def test_formats_of_skops_that_name_functions_in_another_way(stored):
    content = {"module_path": "relvec.bases.kernel", "function": "KernelBasis"}
    schema = node("FunctionNode", "numpy.sin", content=content)
    for protocol in (0, 1):
        with pytest.raises(ModelFileError, match="a format of skops that relvec.io.save never"):
            load(stored(packed(schema, protocol=protocol)))


def test_a_schema_that_takes_too_much_memory(stored):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", '{"protocol": 2, "a": [' + "[]," * 3_000_000 + "[]]}")
    path = stored(buffer.getvalue())
    assert path.stat().st_size < 1 << 15
    with pytest.raises(ModelFileError, match="has 600000. values; at most 1048576"):
        load(path)


def test_messages_are_short_and_plain(stored):
    loud = node("ObjectNode", "\x1b[2Jevil\nTraceback." + "x" * 100_000)
    with pytest.raises(ModelFileError) as error:
        load(stored(packed(loud)))
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 600


@pytest.mark.parametrize("depth", [500, 5000])
def test_a_tree_that_is_too_deep(stored, depth):
    deep = '{"__loader__": "ListNode", "__module__": "builtins", "__class__": "list", "content": ['
    raw = deep * depth + "]}" * depth
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", raw.replace("{", '{"protocol": 2, ', 1))
    with pytest.raises(ModelFileError, match="was not loaded"):
        load(stored(buffer.getvalue()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"__loader__": "ObjectNode"},
        {"__loader__": 3, "__module__": [], "__class__": {}},
        {"__id__": {"a": 1}},
        node("ObjectNode", REGRESSOR, content="text"),
        node("ObjectNode", REGRESSOR, content=text([1])),
        node("NdArrayNode", "numpy.ndarray", type="numpy", file="../../etc/passwd"),
        node("NdArrayNode", "numpy.ndarray", type="other"),
        node("TupleNode", "relvec.solvers.base.Candidate", content=[text(1)]),
        node("JsonNode", "builtins.str", content="{"),
        many("ListNode", "builtins.list", ["text"]),
        text("not an estimator"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 0, -1, 99, "2"])
def test_nonsense(schema, protocol, stored):
    with pytest.raises(ModelFileError, match="was not loaded"):
        load(stored(packed(schema, protocol=protocol)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["regressor", "softmax_scales", "mixed_pipeline", "denoiser"])
def test_good_models_pass_the_audit(name):
    import skops.io

    assert audit(skops.io.dumps(zoo.fitted(name)[0])) == []
