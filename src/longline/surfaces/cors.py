"""Cross-origin requests (CORS): pages of any origin may call the HTTP APIs, without cookies."""

from typing import Literal

from litestar.config.cors import CORSConfig
from litestar.types import Method

_METHODS: list[Method | Literal["*"]] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_MAX_AGE_SECONDS = 12 * 3600
"""Seconds for which a browser may reuse the answer to a preflight request."""


def cors_config() -> CORSConfig:
    """Return the methods and headers that pages of other origins may send."""
    return CORSConfig(allow_methods=_METHODS, allow_headers=["*"], max_age=_MAX_AGE_SECONDS)
