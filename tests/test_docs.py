"""The site: nothing public is left out, pages are reachable, what they name is there."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re

import pytest
from sklearn.base import BaseEstimator

import relvec
from relvec.comparing import ModelComparison
from relvec.estimators import OptimaReport
from relvec.noise import NoiseLevel
from tests.helpers_docs import DOCS, ROOT, load

PUBLIC = (
    "relvec",
    "relvec.assessing",
    "relvec.bases",
    "relvec.comparing",
    "relvec.datasets",
    "relvec.dictionaries",
    "relvec.estimators",
    "relvec.io",
    "relvec.kernels",
    "relvec.learning",
    "relvec.published",
    "relvec.likelihoods",
    "relvec.moments",
    "relvec.noise",
    "relvec.plotting",
    "relvec.priors",
    "relvec.reporting",
    "relvec.solvers",
    "relvec.testing",
)
# small answers of functions that show them, and what is at home in files
SHOWN_ELSEWHERE = {
    "Decision",
    "ModelFile",
    "CoefficientRow",
    "ReliabilityCurve",
    "Report",
    "inspect",
    "load",
}
# every class begins with a fit; what follows it at once needs no example of its own
SHOWN_BY_THE_CLASS = {"fit", "fit_transform"}
EXPORTED = [getattr(relvec, name) for name in relvec.__all__]
CLASSES = [*filter(inspect.isclass, EXPORTED), ModelComparison, OptimaReport, NoiseLevel]
ENTRIES = re.compile(r"^\.\. currentmodule:: (\S+)$|^   ([A-Za-z]\w*)$", re.MULTILINE)
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def listed() -> dict[str, list[str]]:
    """Names in the reference, by module."""
    found: dict[str, list[str]] = {}
    for page in (DOCS / "api").glob("*.rst"):
        if page.stem == "index":
            continue
        module = ""
        for home, name in ENTRIES.findall(page.read_text("utf-8")):
            module = home or module
            if name:
                found.setdefault(module, []).append(name)
    return found


@pytest.mark.parametrize("module", PUBLIC)
def test_reference_lists_every_public_name(module: str, listed: dict[str, list[str]]) -> None:
    names = set(importlib.import_module(module).__all__) - {"__version__"}
    if module in ("relvec.comparing", "relvec.estimators"):  # at home in relvec itself
        names -= set(listed["relvec"])
    if module == "relvec.noise":
        names -= {"estimate_noise"}
    if module == "relvec.assessing":  # functions are at home in relvec itself
        names -= set(listed["relvec"])
    missing = sorted(names - set(listed[module]))
    assert not missing, f"add {missing} of {module} to a page in docs/api"


def test_reference_lists_nothing_twice_and_nothing_that_is_not_there(
    listed: dict[str, list[str]],
) -> None:
    for module, names in listed.items():
        assert len(names) == len(set(names)), module
        for name in names:
            assert hasattr(importlib.import_module(module), name), f"{module}.{name}"


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_class_and_function_has_an_example(module: str) -> None:
    rooms = importlib.import_module(module)
    lacking = []
    for name in set(rooms.__all__) - SHOWN_ELSEWHERE:
        item = getattr(rooms, name)
        is_error = inspect.isclass(item) and issubclass(item, Exception)
        if (inspect.isclass(item) or inspect.isfunction(item)) and not is_error:
            lacking += [name] if ">>> " not in (item.__doc__ or "") else []
    assert not lacking, f"{module}: add Examples to the docstrings of {sorted(lacking)}"


def own_members(public: type) -> dict[str, object]:
    """Public methods and properties that are not those of scikit-learn, by name."""
    members = {}
    for name in dir(public):
        home = next((base for base in public.__mro__ if name in vars(base)), public)
        member = vars(home).get(name)
        is_ours = home.__module__.startswith("relvec.") and not name.startswith("_")
        if is_ours and (inspect.isfunction(member) or isinstance(member, property)):
            members[name] = member
    return members


@pytest.mark.parametrize("public", CLASSES, ids=lambda public: public.__name__)
def test_every_method_that_users_call_has_an_example(public: type) -> None:
    members = own_members(public)
    if not issubclass(public, BaseEstimator):  # an answer: its properties are fields
        members = {name: each for name, each in members.items() if inspect.isfunction(each)}
    assert members
    lacking = [
        name
        for name, member in members.items()
        if name not in SHOWN_BY_THE_CLASS and ">>> " not in (member.__doc__ or "")
    ]
    assert not lacking, f"{public.__name__}: add Examples to the docstrings of {lacking}"


def test_pages_ask_for_no_package_that_relvec_does_not_bring() -> None:
    scripts = {path.name: path.read_text("utf-8") for path in (ROOT / "examples").glob("*.py")}
    for page in [ROOT / "README.md", *DOCS.glob("*.md"), *(DOCS / "guide").glob("*.md")]:
        if page.name != "command_line.md":  # writes tables for other programs to read
            scripts[page.name] = "\n".join(CODE.findall(page.read_text("utf-8")))
    for name, code in scripts.items():
        needs = re.findall(r"as_frame=True|import pandas|\"pandas\"", code)
        assert not needs, f"{name} needs pandas, which `relvec[all]` does not install"


def test_every_page_is_in_a_table_of_contents() -> None:
    reached = {DOCS / "index.md"}
    for page in DOCS.rglob("*.md"):
        for entries in TREE.findall(page.read_text("utf-8")):
            for entry in entries.split("\n"):
                if entry and not entry.startswith(":"):
                    reached.add(page.parent / f"{entry}.md")
    written = {page for page in DOCS.rglob("*.md") if "_" not in page.relative_to(DOCS).parts[0][0]}
    assert written <= reached


def test_links_to_files_of_the_repository_lead_to_pages() -> None:
    links = load(DOCS / "_ext" / "repository_links.py")
    text = "[b](../../bench/README.md#genes) [e](../../examples/x.py) [n](../notation.md) "
    text += "[s](../../src)"
    page = DOCS / "guide" / "features.md"
    assert links.rewritten(text, page, page) == (
        "[b](../benchmarks.md#genes) [e](../gallery/x.rst) [n](../notation.md) s"
    )
    code = '```python\nanswer["predict"](X[0])\n```\n```{figure} x\n[e](../../examples/x.py)\n```'
    assert links.rewritten(code, page, page).count("](") == 2
    assert 'answer["predict"](X[0])' in links.rewritten(code, page, page)


@pytest.mark.parametrize(
    "name", ["_ext/docstrings.py", "_ext/repository_links.py", "_tools/transcripts.py"]
)
def test_examples_of_the_tools(name: str) -> None:
    failed, tried = doctest.testmod(load(DOCS / name))
    assert tried > 0
    assert failed == 0


def test_attributes_that_have_no_value_are_in_the_reference() -> None:
    docstrings = load(DOCS / "_ext" / "docstrings.py")

    class Annotated:
        """What autodoc hands over for ``kind: str`` with a docstring."""

    Annotated.__module__ = "sphinx.ext.autodoc.importer"
    assert docstrings.skip_inherited(None, "class", "kind", Annotated(), False, None) is None
    assert docstrings.skip_inherited(None, "class", "index", tuple.index, False, None)
    assert docstrings.skip_inherited(None, "class", "fit", BaseEstimator.get_params, False, None)


def test_pictures_of_pages_are_made_by_an_example() -> None:
    for page in DOCS.rglob("*.md"):
        for name in re.findall(r"sphx_glr_(\w+)_\d{3}\.png", page.read_text("utf-8")):
            assert (ROOT / "examples" / f"{name}.py").exists(), f"{page.name} shows {name}"


def test_gallery_has_an_order_for_every_example() -> None:
    order = re.findall(r'^    "(\w+\.py)",$', (DOCS / "conf.py").read_text("utf-8"), re.MULTILINE)
    assert sorted(order) == sorted(path.name for path in (ROOT / "examples").glob("*.py"))


def test_every_room_is_in_the_table_of_rooms() -> None:
    rooms = {path.parent.name for path in (ROOT / "src" / "relvec").glob("*/__init__.py")}
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert rooms <= set(re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE))


def test_targets_of_make_that_pages_name_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md")]
    for page in pages:
        named = re.findall(r"^make (?:\w+=\S+ )?(\w+)|`make (\w+)`", page.read_text("utf-8"), re.M)
        assert {first or second for first, second in named} <= targets, page.name


def test_commands_of_the_table_are_those_that_exist() -> None:
    pytest.importorskip("typer")
    transcripts = load(DOCS / "_tools" / "transcripts.py")
    text, code = transcripts.run("relvec --help", DOCS)
    assert code == 0
    existing = set(re.findall(r"^  (\w+) ", text.partition("Commands:")[2], re.MULTILINE))
    page = (DOCS / "guide" / "command_line.md").read_text("utf-8")
    assert existing == set(re.findall(r"^\| `relvec (\w+)` \|", page, re.MULTILINE))
