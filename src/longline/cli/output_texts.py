"""Texts that the program prints: command lines that work as they stand, and numbers with their nouns."""

import shlex
import sys
from pathlib import Path
from shutil import which


def command(*words: str) -> str:
    """Return the command line that runs this program with these words."""
    return shlex.join([_program(), *words])


def counted(number: int, noun: str) -> str:
    """Return a number with its noun and verb, as in "1 item is" and "2 items are"."""
    return f"1 {noun} is" if number == 1 else f"{number:,} {noun}s are"


def _program() -> str:
    """Return the name of this program where the search path leads to it, else its path."""
    path = Path(sys.argv[0])
    if path.name != "longline" or not path.is_file():
        path = Path(sys.executable).parent / "longline"
    found = which("longline")
    return "longline" if found and Path(found).resolve() == path.resolve() else str(path.absolute())
