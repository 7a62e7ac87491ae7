"""Signals over a server that may go away: subscribe, deliver, and subscribe again after a failure."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from longline.drivers.signals.codec import checked_signal, checked_topics, read, written
from longline.drivers.signals.fanout import Fanout
from longline.model.errors import Unavailable
from longline.ports.signals import Signal

_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.1, 5.0
_SUBSCRIBE_TIMEOUT_SECONDS = 10.0
_SEND_TIMEOUT_SECONDS, _SEND_PAUSE_SECONDS = 2.0, 5.0


class SignalTransport(Protocol):
    """A server that carries payloads. Every method raises `Unavailable` when the server cannot be reached."""

    async def publish(self, payload: str) -> None:
        """Send a payload to all subscribers."""
        ...

    def receive(self) -> AbstractAsyncContextManager[AsyncIterator[str | bytes]]:
        """Iterate over payloads from the moment the context is entered; raise when the connection is lost."""
        ...

    async def check(self) -> str:
        """Prove that the server answers, and name it."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class ReconnectingSignals:
    """Signals over a transport; one subscription serves all listeners of the process and is renewed when it breaks."""

    def __init__(self, carrier: SignalTransport) -> None:
        self._carrier = carrier
        self._fanout = Fanout()
        self._subscribed = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._trouble = "it does not answer"
        self._silent_until = 0.0

    async def send(self, topic: str, text: str = "") -> None:
        """Send a signal. A request waits for it: while the server hangs, only one send in some seconds waits."""
        payload = written(checked_signal(topic, text))
        self._refuse_when_closed()
        now = asyncio.get_running_loop().time
        if now() < self._silent_until:
            raise Unavailable("no signal is sent: the server has not answered the last one")
        try:
            async with asyncio.timeout(_SEND_TIMEOUT_SECONDS):
                await self._carrier.publish(payload)
        except TimeoutError:
            self._silent_until = now() + _SEND_PAUSE_SECONDS
            raise Unavailable(f"the signal was not sent within {_SEND_TIMEOUT_SECONDS:g} s") from None

    @asynccontextmanager
    async def listen(self, *topics: str) -> AsyncIterator[AsyncIterator[Signal]]:
        wanted = checked_topics(topics)
        self._refuse_when_closed()
        await self._subscribe()
        with self._fanout.inbox(wanted) as inbox:
            yield inbox

    async def check(self) -> str:
        return await self._carrier.check()

    async def close(self) -> None:
        self._fanout.close()
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        await self._carrier.close()

    async def _subscribe(self) -> None:
        if not self._subscribed.is_set():
            await self._carrier.check()  # raises at once, with the transport's own message
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.create_task(self._keep_hearing(), name="signals")
        try:
            async with asyncio.timeout(_SUBSCRIBE_TIMEOUT_SECONDS):
                await self._subscribed.wait()
        except TimeoutError:
            raise Unavailable(f"no signals can be received: {self._trouble}") from None

    async def _keep_hearing(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                async with self._carrier.receive() as payloads:
                    self._subscribed.set()
                    pause = _FIRST_PAUSE_SECONDS
                    await self._hand_out(payloads)
            except Unavailable as error:
                self._trouble = str(error)
            finally:
                self._subscribed.clear()
            # Jitter: all processes lose a server at the same moment.
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, _MAX_PAUSE_SECONDS)

    async def _hand_out(self, payloads: AsyncIterator[str | bytes]) -> None:
        async for payload in payloads:
            signal = read(payload)
            if signal is not None:
                self._fanout.deliver(signal)

    def _refuse_when_closed(self) -> None:
        if self._fanout.closed:
            raise Unavailable("signals are closed")
