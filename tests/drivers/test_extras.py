import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from longline.drivers.extras import EXTRAS, load_driver
from longline.model.errors import BadInput

ROOT = Path(__file__).parents[2]
BARE = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(EXTRAS)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
from longline.cli.main import main
main()
"""
"""The program in an environment without any extra."""


def bare(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BARE, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("words", "library"),
    [
        (("--database", "postgresql://127.0.0.1/x"), "asyncpg"),
        (("--objects", "s3://bucket?endpoint=http://127.0.0.1:1"), "obstore"),
        (("--redis", "redis://127.0.0.1:1"), "redis"),
    ],
)
def test_an_engine_without_its_library_is_reported_in_one_line(tmp_path: Path, words: tuple[str, ...], library: str):
    done = bare(tmp_path, "api", "--port", "0", *words)
    assert done.returncode == 2
    told = f"error: the package {library} is not installed; run: pip install 'longline[{EXTRAS[library]}]'\n"
    assert done.stderr.endswith(told)


def test_the_demo_needs_no_extra(tmp_path: Path):
    done = bare(tmp_path, "demo", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "completed" in done.stdout


def test_a_module_that_is_missing_for_another_reason_is_a_fault():
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        load_driver("longline.drivers.nowhere")
    with pytest.raises(BadInput, match="the package redis is not installed"):
        _load_without_redis()


def _load_without_redis() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "redis.asyncio", None)
        patch.delitem(sys.modules, "longline.drivers.signals.redis", raising=False)
        load_driver("longline.drivers.signals.redis")


def test_every_library_is_in_the_extra_that_is_named():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for library, extra in EXTRAS.items():
        assert any(one.startswith(library) for one in extras[extra]), library
