"""Parsers that take long, fail or die, for the processes that run them."""

import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from longline.plugins import Item, Link, Page, parser


@parser("where", match="https://where.example/*")
async def where(page: Page) -> AsyncIterator[Item | Link]:
    yield Item("process", title=page.title, pid=os.getpid(), config=dict(page.config), status=page.status)
    yield Link(page.url + "next")


@parser("light", match="https://light.example/*", light=True)
def light(page: Page) -> Iterator[Item]:
    yield Item("process", url=page.url, pid=os.getpid())


@parser("busy", match="https://busy.example/*", light=True)
def busy(page: Page) -> Iterator[Item]:
    """Use the processor for a tenth of a second."""
    until = time.thread_time() + 0.1
    while time.thread_time() < until:
        pass
    yield Item("process", url=page.url)


@parser("raises", match="https://raises.example/*")
def raises(page: Page) -> Iterator[Item]:
    yield Item("half", url=page.url)
    raise RuntimeError("no good")


@parser("hangs", match="https://hangs.example/*")
def hangs(page: Page) -> Iterator[Item]:
    while page.url:
        time.sleep(0.01)
    yield Item("never")


@parser("dies", match="https://dies.example/*")
def dies(page: Page) -> Iterator[Item]:
    """Kill the process for each letter of the file that the page names: by a signal for k, else by an exit."""
    left = Path(page.html)
    if letters := left.read_text():
        left.write_text(letters[1:])
        if letters[0] == "k":
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(3)
    yield Item("survivor", pid=os.getpid())


@parser("uncarried", match="https://uncarried.example/*")
def uncarried(page: Page) -> Iterator[Any]:
    yield Item("node", node=page.tree.body)


@parser("naps", match="https://naps.example/*")
def naps(page: Page) -> Iterator[Item]:
    time.sleep(0.5)
    yield Item("late", url=page.url)


@parser("greedy", match="https://greedy.example/*")
def greedy(page: Page) -> Iterator[Item]:
    yield Item("large", size=len(bytearray(2 * 1024 * 1024 * 1024)), url=page.url)


@parser("verbose", match="https://verbose.example/*")
def verbose(page: Page) -> Iterator[Item]:
    yield Item("long", url=page.url, text="x" * (80 * 1024 * 1024))
