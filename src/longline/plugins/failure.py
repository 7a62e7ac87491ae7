"""Exceptions of parsers, described with the file and the line of the author's code."""

import traceback
from pathlib import Path
from types import FrameType, TracebackType


def describe(error: BaseException, file: str) -> str:
    """Return the exception in one line, preceded by the line of `file` that raised or called the raising code."""
    place = place_of(error, file)
    # The representation has no NUL and no line break, which not every store or log takes.
    said = f"{type(error).__name__}: {error.msg}" if isinstance(error, SyntaxError) else repr(error)
    return f"{place}: {said}" if place else said


def place_of(error: BaseException, file: str) -> str:
    """Return `FILE:LINE` of the innermost frame in a file; of a syntax error, its own place; empty without either."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{shown(error.filename)}:{error.lineno or 1}"
    lines = [line for frame, line in _frames(error.__traceback__) if frame.f_code.co_filename == file]
    return f"{shown(file)}:{lines[-1]}" if lines else ""


def shown(file: str) -> str:
    """Return a path relative to the present folder, where the file is below it."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else file


def _frames(trace: TracebackType | None) -> list[tuple[FrameType, int]]:
    return list(traceback.walk_tb(trace))
