"""Reading of limit and offset: values that are not numbers fall back to the default, large ones are capped."""

import re
from typing import Any

from litestar import Request

MOST = 250
FIGURE = re.compile(r"[+-]?[0-9]{1,400}")


def page(request: Request[Any, Any, Any], usual: int = 50, most: int = MOST) -> tuple[int, int]:
    """Return limit and offset."""
    limit, offset = (whole(request.query_params.get(name)) for name in ("limit", "offset"))
    return min(limit, most) if limit > 0 else usual, max(offset, 0)


def asked(request: Request[Any, Any, Any], name: str) -> str | None:
    """Return a query parameter, None if it is absent or empty."""
    return request.query_params.get(name) or None


def whole(text: str | None) -> int:
    """Return a number of a query; 0 for other text."""
    # The bound is larger than any list; databases do not accept arbitrarily large numbers.
    return min(int(text), 2**53) if text and FIGURE.fullmatch(text) else 0
