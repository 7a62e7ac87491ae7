"""DNS lookups of the crawler itself, so that the dialled address is the checked address."""

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from math import inf
from typing import NamedTuple

from longline.model.fetch.egress import Address
from longline.ports.http import FetchFailed

Resolve = Callable[[str], Awaitable[tuple[Address, ...]]]
"""A function that returns the dialable addresses of a host name, by preference, or raises `FetchFailed`."""


class _CachedAddresses(NamedTuple):
    until: float
    addresses: tuple[Address, ...]
    error: str = ""


class NameResolver:
    """A cache of the system's resolver; concurrent lookups of a name share one query."""

    def __init__(
        self, seconds: float = 60.0, failure_seconds: float = 5.0, patience: float = 10.0, size: int = 10_000
    ) -> None:
        self._seconds = seconds
        self._failure_seconds = failure_seconds
        self._patience = patience
        self._size = size
        self._answers: OrderedDict[str, _CachedAddresses] = OrderedDict()
        self._asking: dict[str, asyncio.Task[_CachedAddresses]] = {}

    async def resolve(self, hostname: str) -> tuple[Address, ...]:
        """Return the addresses of a host name; an IP address resolves to itself."""
        answer = self._answers.get(hostname)
        if answer is None or answer.until <= asyncio.get_running_loop().time():
            literal = as_address(hostname)
            answer = self._keep(hostname, _CachedAddresses(inf, (literal,))) if literal else await self._wait(hostname)
        if not answer.addresses:
            raise FetchFailed("dns", f"{hostname}: {answer.error}")
        return answer.addresses

    async def close(self) -> None:
        """Cancel open lookups and clear the cache."""
        tasks = tuple(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._answers.clear()

    async def _wait(self, hostname: str) -> _CachedAddresses:
        task = self._asking.get(hostname) or self._start(hostname)
        try:
            async with asyncio.timeout(self._patience):
                # Shielded: a waiter that gives up must not cancel the lookup of the others.
                return await asyncio.shield(task)
        except TimeoutError:
            raise FetchFailed("dns", f"{hostname}: the name did not resolve in {self._patience:g} s") from None

    def _start(self, hostname: str) -> asyncio.Task[_CachedAddresses]:
        task = asyncio.create_task(self._ask(hostname))
        self._asking[hostname] = task
        task.add_done_callback(lambda _: self._asking.pop(hostname, None))
        return task

    async def _ask(self, hostname: str) -> _CachedAddresses:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(hostname, None, type=socket.SOCK_STREAM)
            addresses = tuple(dict.fromkeys(ip_address(entry[4][0]) for entry in found))
            return self._keep(hostname, _CachedAddresses(loop.time() + self._seconds, addresses))
        except (OSError, UnicodeError) as error:  # UnicodeError: a label that is too long
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            return self._keep(hostname, _CachedAddresses(loop.time() + self._failure_seconds, (), reason))

    def _keep(self, hostname: str, answer: _CachedAddresses) -> _CachedAddresses:
        self._answers[hostname] = answer
        self._answers.move_to_end(hostname)
        while len(self._answers) > self._size:
            self._answers.popitem(last=False)
        return answer


def as_address(hostname: str) -> Address | None:
    """Return the IP address of a host that is written as one, in brackets or without, or None for a name."""
    # Names rarely end in a digit or a bracket; an exception for each name would cost more than the rest.
    if not hostname[-1:].isdigit() and not hostname.endswith("]"):
        return None
    try:
        return ip_address(hostname.strip("[]"))
    except ValueError:
        return None
