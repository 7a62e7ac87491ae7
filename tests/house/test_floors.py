"""The import contracts hold, and each of them catches a planted violation."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.house.tree import ROOT, SRC, Module, modules

CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
CONTRACTS: dict[str, dict[str, Any]] = {contract["name"]: contract for contract in CONFIG["contracts"]}

FLOORS = "the house has floors"
DOORS = "doors speak to services only"
DRIVERS = "only wiring knows a concrete driver"
SETTINGS = "settings are read once"
SURFACES = "the five surfaces do not know each other"
CONSOLE = "the console knows the shared part of the surfaces only"
CYCLES = "no cycles between siblings, at any depth"
ENGINE = "the engine's subjects have an order"
CORE = "the core does no I/O of its own"

FIVE = ("catalogue", "intervals", "bots", "manifests", "products")

CORE_FLOORS = ("model/", "ports/", "html/", "plugins/", "engine/", "services/")

Plant = Mapping[str, str]

# Each plant is put into a fresh copy of the package: file -> its text.
PLANTS: tuple[tuple[str, str, Plant], ...] = (
    (FLOORS, "an import that goes up", {"model/planted.py": "import longline.ports.clock"}),
    (FLOORS, "neighbours that meet", {"parsers/planted.py": "import longline.drivers.clock"}),
    (FLOORS, "a package without a floor", {"attic.py": ""}),
    (DOORS, "a surface that asks a port", {"surfaces/planted.py": "import longline.ports.clock"}),
    (
        DOORS,
        "a console that asks the engine",
        {"console/planted.py": "import longline.engine.planted", "engine/planted.py": ""},
    ),
    (
        DOORS,
        "a surface that asks a plugin",
        {"surfaces/planted.py": "import longline.plugins.planted", "plugins/planted.py": ""},
    ),
    (DRIVERS, "a service that picks its driver", {"services/planted.py": "import longline.drivers.clock"}),
    (SETTINGS, "a second reader", {"testing/planted.py": "import longline.settings"}),
    (
        SURFACES,
        "a door that knows another",
        {"surfaces/bots/planted.py": "import longline.surfaces.products.planted", "surfaces/products/planted.py": ""},
    ),
    (
        SURFACES,
        "a shared part that knows a door",
        {"surfaces/middleware.py": "import longline.surfaces.bots.planted", "surfaces/bots/planted.py": ""},
    ),
    (
        CONSOLE,
        "a console that knows a door",
        {"console/planted.py": "import longline.surfaces.bots.planted", "surfaces/bots/planted.py": ""},
    ),
    (
        CYCLES,
        "two modules that need each other",
        {
            "drivers/deep/planted.py": "import longline.drivers.deep.other",
            "drivers/deep/other.py": "import longline.drivers.deep.planted",
        },
    ),
    (ENGINE, "a frontier that fetches", {"engine/frontier/planted.py": "import longline.engine.fetch.request_sender"}),
    (CORE, "an engine that opens its own database", {"engine/planted.py": "import sqlite3"}),
)


def lint(top: Path, plant: Plant) -> tuple[set[str], str]:
    """Return the contracts that break in a copy of the package with these files added, and the output."""
    package = top / "src" / "longline"
    shutil.copytree(SRC, package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in plant.items():
        path = package / name
        for folder in path.relative_to(package).parents:
            (package / folder).mkdir(exist_ok=True, parents=True)
            (package / folder / "__init__.py").touch()
        path.write_text(text + "\n", encoding="utf-8")
    # The copy precedes the installed package on the path; a plant that is found proves that the copy was read.
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache", "--no-logo", "--config", ROOT / "pyproject.toml"],
        cwd=top,
        env={**os.environ, "PYTHONPATH": str(top / "src"), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    verdicts = dict(re.findall(r"^(.+?) (KEPT|BROKEN)", said, re.M))
    assert set(verdicts) == set(CONTRACTS), f"not every contract was checked:\n{said}"
    broken = {name for name, verdict in verdicts.items() if verdict == "BROKEN"}
    assert (done.returncode != 0) == bool(broken), said
    return broken, said


def there(module: str) -> bool:
    """Return true if `longline.<module>` exists."""
    path = SRC / module.replace(".", "/")
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def test_the_contracts_are_there_and_each_has_its_plant():
    assert set(CONTRACTS) == {FLOORS, DOORS, DRIVERS, SETTINGS, SURFACES, CONSOLE, CYCLES, ENGINE, CORE}
    assert set(CONTRACTS) == {contract for contract, _, _ in PLANTS}


def test_the_package_as_it_is_breaks_nothing(tmp_path: Path):
    broken, said = lint(tmp_path, {})
    assert not broken, said


@pytest.mark.parametrize(("contract", "what", "plant"), PLANTS, ids=[what for _, what, _ in PLANTS])
def test_a_planted_violation_is_caught(tmp_path: Path, contract: str, what: str, plant: Plant):
    broken, said = lint(tmp_path, plant)
    assert contract in broken, f"{what} was not caught:\n{said}"


def test_every_io_library_is_barred_from_every_floor_of_the_core(tmp_path: Path):
    libraries = CONTRACTS[CORE]["forbidden_modules"]
    floors = [floor.rstrip("/") for floor in CORE_FLOORS]
    imports = "\n".join(f"import {library}" for library in libraries)
    _, said = lint(tmp_path, {f"{floor}/planted.py": imports for floor in floors})
    missed = [
        f"{floor} -> {library}"
        for floor in floors
        for library in libraries
        if f"longline.{floor}.planted -> {library} " not in said
    ]
    assert not missed


def requests_of_its_own(module: Module) -> list[str]:
    """Return imports of the part of `urllib` that opens connections; the linter sees whole packages only."""
    found = []
    for node in module.walk():
        match node:
            case ast.Import(names=names):
                said = {alias.name for alias in names}
            case ast.ImportFrom(module=str(source), names=names):
                said = {source, *(f"{source}.{alias.name}" for alias in names)}
            case _:
                continue
        if "urllib.request" in said:
            found.append(f"{module.path}:{node.lineno}")
    return found


def test_the_core_makes_no_requests_of_its_own():
    assert not [
        where for module in modules() if module.path.startswith(CORE_FLOORS) for where in requests_of_its_own(module)
    ]


@pytest.mark.parametrize(
    "text", ["import urllib.request", "from urllib import request", "from urllib.request import urlopen"]
)
def test_a_request_of_its_own_is_seen(text: str):
    assert requests_of_its_own(Module("engine/planted.py", text))
    assert not requests_of_its_own(Module("engine/planted.py", "from urllib.parse import quote"))


def test_only_absent_modules_may_be_optional():
    optional = re.findall(r"\((\w+)\)", " ".join(CONTRACTS[FLOORS]["layers"]))
    optional += re.findall(r"\(longline\.([\w.]+)\)", " ".join(CONTRACTS[SURFACES]["layers"]))
    for contract in CONTRACTS.values():
        for value in contract.values():
            optional += re.findall(r"longline\.([\w.]+)\.\*\*", " ".join(value) if isinstance(value, list) else "")
    late = sorted({name for name in optional if there(name)})
    assert not late, f"these exist now, so write them plainly in [tool.importlinter]: {late}"


def test_every_folder_of_surfaces_is_one_of_the_five():
    named = tuple(re.findall(r"longline\.surfaces\.(\w+)", CONTRACTS[SURFACES]["layers"][1]))
    assert named == FIVE
    folders = {path.parent.name for path in (SRC / "surfaces").glob("*/__init__.py")}
    assert folders <= {*FIVE, "mcp", "platform", "server"}
