"""Regular expressions written by people: the only module that compiles and searches them.

The engine is RE2. Its search time is bounded by the length of the text times the size of the compiled pattern, for
every pattern; look-around and back references, which have no such bound, are refused. A pattern that is in the
database already and cannot be compiled matches nothing.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache

import re2

from longline.model.errors import BadInput

log = logging.getLogger(__name__)

MAX_PATTERN_CHARACTERS = 2048
MAX_PATTERNS = 200
"""Largest number of patterns in one list of a source: each URL is searched for every pattern."""

MAX_PROGRAM_SIZE = 1000
"""Largest number of instructions of a compiled pattern: the longest URL then costs some ten milliseconds at most."""

MAX_JOINED_PROGRAM_SIZE = 4 * MAX_PROGRAM_SIZE
"""Largest number of instructions of several patterns that are searched for together."""

MAX_MEMORY_BYTES = 1024 * 1024
"""Memory of a compiled pattern and of the states that its searches build; without room for states they are slower."""

_QUOTE = r"\Q"
"""The start of a literal text, the end of which may lie in the next of several joined patterns."""

_PYTHON_END = re.compile(r"(\\[^Z])|\\Z", re.DOTALL)
"""Python's `\\Z`, and every other escape, so that `\\\\Z` is not mistaken for the end of the text."""


class Pattern:
    """A compiled pattern, or several joined as alternatives."""

    def __init__(self, texts: Sequence[str], max_size: int = MAX_PROGRAM_SIZE) -> None:
        self._found = _compile("|".join(f"(?:{text})" for text in texts) if len(texts) > 1 else texts[0], max_size)

    def found_in(self, text: str) -> bool:
        """Return whether the pattern is found anywhere in a text."""
        return self._found.search(text.encode(errors="replace")) is not None


def compile_pattern(text: str) -> Pattern:
    """Compile a pattern as a person wrote it; raise `BadInput` with the fault in one line."""
    if len(text) > MAX_PATTERN_CHARACTERS:
        raise BadInput(f"bad pattern {text[:40]!r}...: longer than {MAX_PATTERN_CHARACTERS} characters")
    try:
        return Pattern((text,))
    except _Refused as refused:
        raise BadInput(f"bad pattern {text!r}: {refused}") from None


def check_patterns(name: str, texts: object) -> None:
    """Raise `BadInput` for a list of patterns, called `name` by its door, that cannot be used as it is."""
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadInput(f"{name} must be a list of strings")
    if len(texts) > MAX_PATTERNS:
        raise BadInput(f"{name} has more than {MAX_PATTERNS} patterns")
    for text in texts:
        try:
            compile_pattern(text)
        except BadInput as bad:
            raise BadInput(f"{name}: {bad}") from None


class Patterns:
    """Several patterns. Patterns that cannot be compiled match nothing and are logged."""

    def __init__(self, texts: Iterable[str]) -> None:
        usable = [text for text in texts if is_usable(text)]
        self._parts = _joined(usable)

    def found_in(self, text: str) -> bool:
        """Return whether one of the patterns is found anywhere in a text."""
        return any(part.found_in(text) for part in self._parts)


@lru_cache(maxsize=4096)
def is_usable(text: str) -> bool:
    """Return whether a stored pattern can be compiled; log a pattern that cannot, at its first use."""
    try:
        compile_pattern(text)
    except BadInput as bad:
        log.warning("stored pattern does not compile and matches nothing", extra={"error": str(bad)})
        return False
    return True


def _joined(texts: Sequence[str]) -> list[Pattern]:
    """Compile patterns as one, which costs less to search, or one by one where the joined pattern is refused."""
    if texts and not any(_QUOTE in text for text in texts):
        with suppress(_Refused):
            return [Pattern(texts, MAX_JOINED_PROGRAM_SIZE)]
    return [compile_pattern(text) for text in texts]


class _Refused(Exception):
    """The engine's reason for not compiling a pattern."""


def _compile(text: str, max_size: int) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MAX_MEMORY_BYTES
    try:
        found = re2.compile(_PYTHON_END.sub(_as_re2, text), options)
    except re2.error as error:
        raise _Refused(_reason(error)) from None
    except UnicodeEncodeError:
        raise _Refused("it holds half a character") from None
    if found.programsize > max_size:
        raise _Refused(f"it is too large: {found.programsize} instructions, {max_size} are allowed")
    return found


def _as_re2(found: re.Match[str]) -> str:
    return found[1] or r"\z"


def _reason(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    reason = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    if reason.startswith("invalid perl operator: (?"):
        return f"{reason}; look-around, atomic groups and the flags a, L, u and x are not supported"
    return reason
