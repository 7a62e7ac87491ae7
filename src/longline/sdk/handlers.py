"""Handlers of a bot, by host."""

import inspect
from collections.abc import Callable, Coroutine
from typing import Any

import ada_url

from longline.sdk.job import Found, Job

Handler = Callable[[Job], Coroutine[Any, Any, Found]]

MAX_HOSTS = 100
"""Largest number of host names that the server accepts in one pull."""

_SUBDOMAINS = "*."


class Handlers:
    """The handlers of a bot: for single hosts, for all hosts below a name, and for every job."""

    def __init__(self) -> None:
        self._by_host: dict[str, Handler] = {}
        self._for_all: Handler | None = None

    def __len__(self) -> int:
        return len(self._by_host) + (self._for_all is not None)

    @property
    def hosts(self) -> list[str]:
        """Return the host names to pull jobs of; empty when there is a handler for every job."""
        return [] if self._for_all else sorted(self._by_host)

    def add(self, hosts: tuple[str, ...], handler: Handler) -> None:
        """Add a handler for these hosts, or without hosts for every job; raise for a handler that could never work."""
        _check_handler(handler)
        for host in hosts:
            if host in self._by_host:
                raise ValueError(f"this bot has a handler for {host} already")
            self._by_host[host] = handler
        if not hosts and self._for_all:
            raise ValueError("this bot has a handler for every job already")
        if not hosts:
            self._for_all = handler
        if len(self._by_host) > MAX_HOSTS:
            raise ValueError(f"a bot has handlers for at most {MAX_HOSTS} hosts; @bot.on() takes every job")

    def find(self, job: Job) -> Handler | None:
        """Return the handler of a job: for its host, for the nearest parent domain, or for every job."""
        names = [job.host_and_port, job.host]
        above = job.host.partition(".")[2]
        while above:
            names.append(_SUBDOMAINS + above)
            above = above.partition(".")[2]
        return next((self._by_host[name] for name in names if name in self._by_host), self._for_all)


def host_pattern(text: str) -> str:
    """Return a host name as the server spells it; `*.name` stands for every host below `name`."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is not a host name; write @bot.on() or @bot.on('shop.example')")
    below, name = (_SUBDOMAINS, text[2:]) if text.startswith(_SUBDOMAINS) else ("", text)
    if not name or any(char in "*/?#@\\" or char.isspace() for char in name):
        raise ValueError(f"{text!r} is not a host name, such as 'shop.example' or '*.shop.example'")
    try:
        return below + str(ada_url.URL(f"http://{name}/").host)
    except ValueError:
        raise ValueError(f"{text!r} is not a host name, such as 'shop.example' or '*.shop.example'") from None


def _check_handler(handler: Any) -> None:
    name = getattr(handler, "__name__", repr(handler))
    asked = handler if inspect.isroutine(handler) else getattr(handler, "__call__", handler)  # noqa: B004 - its type
    if not inspect.iscoroutinefunction(handler) and not inspect.iscoroutinefunction(asked):
        raise TypeError(f"the handler {name} is not async: write `async def {name}(job)`")
    try:
        inspect.signature(handler).bind(None)
    except TypeError:
        raise TypeError(f"the handler {name} does not take one argument, the job") from None
