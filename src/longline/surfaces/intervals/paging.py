"""How lists are asked for: odd figures mean the default, too large ones the most."""

import re
from typing import Any

from litestar import Request

MOST = 250
FIGURE = re.compile(r"[+-]?[0-9]{1,400}")


def page(request: Request[Any, Any, Any], usual: int = 50, most: int = MOST) -> tuple[int, int]:
    """How many are wanted, and from where."""
    limit, offset = (whole(request.query_params.get(name)) for name in ("limit", "offset"))
    return min(limit, most) if limit > 0 else usual, max(offset, 0)


def asked(request: Request[Any, Any, Any], name: str) -> str | None:
    """A parameter of the query; an empty one is none."""
    return request.query_params.get(name) or None


def whole(text: str | None) -> int:
    """A figure of a query; 0 for what is none."""
    # The bound is larger than any list can be; more the engines cannot count to.
    return min(int(text), 2**53) if text and FIGURE.fullmatch(text) else 0
