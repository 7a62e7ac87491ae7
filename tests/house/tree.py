"""Input of the house tests: the modules of a source tree, and the files of the project."""

import ast
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "longline"

_NOT_OURS = {".git", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "dist"}


@dataclass(frozen=True)
class Module:
    """One Python file: its path below its tree, and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    def walk(self) -> Iterator[ast.AST]:
        return iter(self._nodes)

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))


@cache
def modules(top: Path = SRC) -> tuple[Module, ...]:
    """Return every Python file under `top`; each is read and parsed once, for all rules."""
    return tuple(
        Module(path.relative_to(top).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(top.rglob("*.py"))
        if not _NOT_OURS & set(path.parts)
    )


def project_files() -> list[str]:
    """Return paths of the files that are, or are about to be, under version control."""
    if shutil.which("git") and (ROOT / ".git").exists():
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    else:
        listed = [p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*") if not _NOT_OURS & set(p.parts)]
    return sorted(name for name in set(listed) if (ROOT / name).is_file())


def read(name: str) -> str:
    """Return the text of a project file; empty for one that is not text."""
    raw = (ROOT / name).read_bytes()
    return "" if b"\0" in raw else raw.decode("utf-8", errors="replace")
