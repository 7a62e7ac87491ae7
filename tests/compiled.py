"""Test modules compiled once: in a clean checkout each of several processes would compile all of them."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from _pytest.assertion.rewrite import PYC_TAIL


def import_share(modules: list[Path], root: Path, process: int, processes: int) -> None:
    """Import the share of this process of the modules that are not compiled yet; importing one stores it compiled."""
    for path in missing(modules[process::processes]):
        # Collection imports the module again and reports the error.
        with suppress(Exception):
            import_module(module_name(path, root))


def missing(modules: list[Path]) -> Iterator[Path]:
    """Yield modules that are not compiled."""
    if not sys.dont_write_bytecode:
        yield from (path for path in modules if not (path.parent / "__pycache__" / (path.stem + PYC_TAIL)).exists())


def module_name(path: Path, root: Path) -> str:
    """Return the name under which pytest imports a module of a package of tests."""
    return ".".join(path.relative_to(root.parent).with_suffix("").parts)
