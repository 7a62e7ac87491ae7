"""Modules, classes and functions stay within bounds of size. `python -m tests.house.sizes` prints the figures."""

import math
from functools import cache
from textwrap import dedent

import pytest

from tests.house import sizes
from tests.house.tree import ROOT, Module, modules, project_files


@cache
def measured() -> list[sizes.Size]:
    """Return the sizes of the source; measured in the first test, because every process of tests imports this."""
    return sizes.measure(modules())


def planted(text: str, path: str = "engine/planted.py") -> Module:
    return Module(path, dedent(text))


def amounts(measure: str) -> list[int]:
    return [size.amount for size in measured() if size.measure == measure]


def test_nothing_is_over_its_bound():
    assert not sizes.over(measured())


@pytest.mark.parametrize("measure", sizes.NINE_IN_TEN)
def test_nine_in_ten_are_small(measure: str):
    assert sizes.ninth_decile(amounts(measure)) <= sizes.NINE_IN_TEN[measure]


def test_no_folder_has_too_many_modules():
    assert not sizes.crowded([module.path for module in modules()])


def test_a_crowded_folder_is_found():
    paths = [f"engine/planted/m{n}.py" for n in range(16)]
    assert sizes.crowded([*paths, "engine/planted/__init__.py"]) == [("engine/planted", 16)]
    assert not sizes.crowded(paths[1:])
    assert not sizes.crowded([f"cli/commands/m{n}.py" for n in range(40)])


def test_no_module_is_badly_named():
    ours = [name for name in project_files() if name.endswith(".py") and name.startswith(("src/", "tests/", "bench/"))]
    assert not sizes.badly_named(ours)


def test_imports_stand_at_the_top():
    assert not [where for module in modules() for where in sizes.local_imports(module)]


def test_suppressions_are_few_and_give_their_reason():
    found = [found for module in modules() for found in sizes.suppressions(module)]
    lines = sum(module.lines for module in modules())
    assert len(found) <= math.ceil(sizes.SUPPRESSIONS_PER_1000 * lines / 1000), found
    assert not [where for where, has_reason in found if not has_reason]


def test_no_module_holds_state():
    assert not [fault for module in modules() for fault in sizes.mutable_state(module)]


def test_the_report_can_be_printed():
    report = sizes.table(modules(), modules(ROOT / "tests"))
    assert "function lines" in report
    assert f"{sum(module.lines for module in modules())} lines of source" in report


LONG_BODY = "\n".join(f"    x{i} = {i}" for i in range(60))

TOO_LARGE = {
    "module lines": planted("x = 1\n" * 501),
    "function lines": planted(f"def f():\n{LONG_BODY}\n"),
    "class lines": planted("class C:\n" + "    x = 1\n" * 250),
    "public methods of a class": planted("class C:\n" + "".join(f"    def m{i}(self): return 1\n" for i in range(13))),
    "methods of a port": planted(
        "class C(Protocol):\n" + "".join(f"    def m{i}(self): ...\n" for i in range(13)), "ports/planted.py"
    ),
    "parameters of a function": planted("def f(self, a, b, c, d, *, e, f, g, h): return 1\n"),
    "body of a service method": planted(
        "async def f():\n" + "\n".join(LONG_BODY.splitlines()[:26]) + "\n", "services/planted.py"
    ),
    "body of a route handler": planted(
        '@get("/x")\nasync def f():\n' + "\n".join(LONG_BODY.splitlines()[:16]) + "\n", "surfaces/bots/planted.py"
    ),
}


@pytest.mark.parametrize("measure", sizes.HARD)
def test_a_planted_giant_is_seen(measure: str):
    faults = sizes.over(sizes.measure([TOO_LARGE[measure]]))
    assert len(faults) == 1
    assert f": {measure} " in faults[0]


def test_bad_names_are_seen():
    bad = ["src/longline/utils.py", "src/longline/common/x_rays.py", "src/longline/engine/qm.py", "tests/test_base.py"]
    assert sizes.badly_named([*bad, "src/longline/model/ids.py", "src/longline/__init__.py"]) == sorted(bad)


@pytest.mark.parametrize("text", ["import json", "from longline.drivers.search import opensearch"])
def test_a_hidden_import_is_seen(text: str):
    hidden = f"def f():\n    {text}\n    return 1\n"
    assert sizes.local_imports(planted(hidden)) == ["engine/planted.py:2"]
    assert bool(sizes.local_imports(planted(hidden, "wiring/platform.py"))) is ("drivers" not in text)


def test_a_suppression_without_a_reason_is_seen():
    module = planted("""\
        a = 1  # noqa: E501
        b = 2  # noqa: E501, S608 - the table reads best so
        c = 3  # type: ignore[arg-type]
        d = 4  # type: ignore[arg-type]  # the stubs say otherwise
        e = "# noqa: E501 in a text is none"
        """)
    assert [reasoned for _, reasoned in sizes.suppressions(module)] == [False, True, False, True]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("cache = {}", 1),
        ("seen: set[str] = set()", 1),
        ("waiting = defaultdict(list)", 1),
        ("WORDS = {'a': 1}\ndef f():\n    WORDS['b'] = 2", 1),
        ("WORDS = []\ndef f():\n    WORDS.append(2)", 1),
        ("n = 0\ndef f():\n    global n\n    n = 1", 1),
        ("WORDS = {'a': 1}\ntable: Final = {'a': 1}\n__all__ = ['f']\ndef f():\n    own = {}\n    own['a'] = 1", 0),
    ],
)
def test_state_of_a_module_is_seen(text: str, faults: int):
    assert len(sizes.mutable_state(planted(text))) == faults
