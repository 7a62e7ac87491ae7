"""Command lines of this program that work as they stand, as hints print them."""

import shlex
import sys
from pathlib import Path
from shutil import which


def command(*words: str) -> str:
    """Return the command line that runs this program with these words."""
    return shlex.join([_program(), *words])


def _program() -> str:
    """Return the name of this program where the search path leads to it, else its path."""
    path = Path(sys.argv[0])
    if path.name != "longline" or not path.is_file():
        path = Path(sys.executable).parent / "longline"
    found = which("longline")
    return "longline" if found and Path(found).resolve() == path.resolve() else str(path.absolute())
