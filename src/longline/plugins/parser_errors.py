"""Exceptions of parsers, described with the file and the line of the author's code."""

import os
import traceback
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from selectolax.lexbor import SelectolaxError

_FROZEN_OS = "<frozen os>"
"""File name of the module os where it is part of the interpreter."""

NO_CSS = (
    "::text and ::attr() are no CSS: use page.text(selector) or node.text() for a text, "
    'node.attributes["href"] for an attribute'
)


class ParserMistake(TypeError):
    """A mistake in the use of this interface, in a sentence with its remedy; `place` is its file and line, if known."""

    def __init__(self, text: str, place: str = "") -> None:
        super().__init__(text)
        self.place = place


def bad_selector(selector: str) -> ParserMistake:
    """Return the mistake of a selector that is no CSS."""
    remedy = NO_CSS if "::" in selector else "check its brackets and quotes"
    return ParserMistake(f"the CSS selector {selector!r} cannot be read; {remedy}")


def yield_place(results: Any, file: str) -> str:
    """Return the file and the line at which a generator waits."""
    frame = getattr(results, "gi_frame", None) or getattr(results, "ag_frame", None)
    return f"{shown(file)}:{frame.f_lineno}" if frame is not None else ""


def describe(error: BaseException, file: str) -> str:
    """Return the exception in one line, preceded by the line of `file` that raised or called the raising code."""
    place = getattr(error, "place", "") or place_of(error, file)
    return f"{place}: {_told(error)}" if place else _told(error)


def _told(error: BaseException) -> str:
    """Return an exception as a sentence with a remedy where it is a common mistake, else its representation."""
    if isinstance(error, ParserMistake):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    if isinstance(error, KeyError) and _raised_in(error, os.__file__):
        return f"the environment variable {error.args[0]} is not set; set it before the start"
    if isinstance(error, SelectolaxError) and "CSS" in str(error):
        return f"a CSS selector cannot be read; {NO_CSS}"
    # The representation has no NUL and no line break, which not every store or log takes.
    return repr(error)


def _raised_in(error: BaseException, file: str) -> bool:
    frames = _frames(error.__traceback__)
    return bool(frames) and frames[-1][0].f_code.co_filename in (file, _FROZEN_OS)


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
