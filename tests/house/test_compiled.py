"""Test modules are compiled by one process, and not again."""

import sys
from importlib import import_module
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import PYC_TAIL

from tests.compiled import import_share, missing, module_name


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A package of four test modules, one of which is compiled and one cannot be imported."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    folder = tmp_path / "shared_out"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "__init__.py").touch()
    found = [folder / f"test_{name}.py" for name in "abcd"]
    for path in found:
        path.write_text("1 / 0" if path.stem == "test_c" else "assert True")
    (folder / "__pycache__" / f"test_b{PYC_TAIL}").touch()
    return found


def imported() -> set[str]:
    return {name for name in sys.modules if name.startswith("shared_out.")}


def test_each_process_imports_its_share_of_the_missing_modules(modules: list[Path]):
    root = modules[0].parent
    assert [path.stem for path in missing(modules)] == ["test_a", "test_c", "test_d"]
    import_share(modules, root, 1, 2)
    assert imported() == {"shared_out.test_d"}
    import_share(modules, root, 0, 2)
    assert imported() == {"shared_out.test_a", "shared_out.test_d"}
    with pytest.raises(ZeroDivisionError):
        import_module(module_name(modules[2], root))


def test_nothing_is_imported_where_nothing_is_stored(modules: list[Path], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert list(missing(modules)) == []
