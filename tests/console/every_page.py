"""All pages of the console, by its own table of operations: every check covers a new page, or fails."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple
from unittest.mock import MagicMock

from longline.console.door import console_door
from longline.surfaces.operation import PATH_PARAMETER
from longline.surfaces.sse import EventStream

NO_PAGES = frozenset(
    {"/console/static/{digest}/{name}", "/console/enter", "/admin/crawler", "/admin/secure-admin-2025"}
)
"""Operations that answer with a file or with a redirect."""

WITHOUT_SESSION = frozenset({"/console/login"})


class ShownPage(NamedTuple):
    """A page: the name of its picture, and its address."""

    name: str
    path: str


def templates() -> Iterator[str]:
    """Yield the paths of all operations of the console that show a page."""
    for endpoint in console_door(MagicMock()).endpoints():
        operation = endpoint.operation
        is_page = operation.method == "GET" and operation.answers[200] is not EventStream
        if is_page and operation.path not in NO_PAGES:
            yield operation.path


def every_page(samples: Mapping[str, str]) -> list[ShownPage]:
    """Return the addresses of all pages; `samples` has the address of an object for every path with a parameter.

    `samples` may have further addresses for paths without a parameter, such as a search for indexed words.
    """
    found = {path: samples.get(path, path) for path in templates()}
    missing = sorted(path for path, shown in found.items() if PATH_PARAMETER.search(shown))
    assert not missing, f"no thing to show on {missing}"
    return [ShownPage(_name(path), shown) for path, shown in found.items()]


def _name(template: str) -> str:
    """Return the name of a page: its words, with that of one object in the singular."""
    parts = [part for part in template.split("/")[2:] if part]
    if not parts:
        return "overview"
    if parts[-1].startswith("{"):
        return f"one-{'-'.join(part for part in parts if not part.startswith('{'))}"
    return "-".join(part for part in parts if not part.startswith("{"))
