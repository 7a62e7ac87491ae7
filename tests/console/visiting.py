"""Visits of the console without a browser: a client that keeps cookies, and forms that are found on pages."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape

import httpx

from longline.services.callers.tokens import Tokens
from longline.settings import jwt_secret
from tests.surfaces.intervals.platform import Door


def token(door: Door, role: str = "admin", seconds: float = 3600) -> str:
    """Return a token of a person with this role."""
    return Tokens(jwt_secret(door.platform.settings), door.platform.clock.wall).issue(role, f"a-{role}", seconds)


@asynccontextmanager
async def stranger(door: Door) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client without a login."""
    async with httpx.AsyncClient(base_url=door.address, timeout=60) as client:
        yield client


@asynccontextmanager
async def log_in(door: Door, role: str = "admin") -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client with a session."""
    async with stranger(door) as client:
        answer = await client.post("/console/login", data={"credentials": token(door, role)})
        assert answer.status_code == 303, answer.text
        yield client


def csrf(page: str) -> str:
    """Return the token of the forms on a page."""
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found, page
    return found[1]


def text_of(page: str) -> str:
    """Return the text of a page without its tags."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())
