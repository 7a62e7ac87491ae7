"""Source events of another service, each handled once, however often it is delivered."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

import msgspec

from longline.model.errors import Unavailable
from longline.model.runs.retention import HANDLED_MESSAGES_MS
from longline.ports.records.sources import HandledMessageStore
from longline.ports.sources import Delivery, SourceEvents

log = logging.getLogger(__name__)

MAX_DELIVERIES = 5
"""Failed deliveries after which a message is parked."""


Id = Annotated[str, msgspec.Meta(min_length=1, max_length=500, pattern=r"^[^\0]*\Z")]
"""Id of another service, in a form that every database can store."""

FORGET_INTERVAL_SECONDS = 3600.0
"""Seconds between two deletions of handled messages that are too old."""


class SourceEvent(msgspec.Struct, frozen=True):
    """An event about a source; `source_id` is the other service's."""

    event_id: Id
    event_type: str
    source_id: Id
    payload: dict[str, Any] = {}
    timestamp: str = ""


Reaction = Callable[[SourceEvent], Awaitable[None]]
"""Handler of a type of event; its last change commits together with the note that the event was handled."""


class SourceListener:
    """A consumer of messages that handles each event once."""

    def __init__(self, messages: SourceEvents, handled: HandledMessageStore, reactions: Mapping[str, Reaction]) -> None:
        self._messages, self._handled, self._reactions = messages, handled, reactions

    async def once(self) -> None:
        """Receive messages, waiting for a short time, and handle them."""
        settled = [delivery.id for delivery in await self._messages.receive() if await self._settles(delivery)]
        await self._messages.acknowledge(settled)

    async def forget(self) -> None:
        """Delete the ids of events that were handled more than 7 days ago."""
        await self._handled.prune(HANDLED_MESSAGES_MS)

    async def _settles(self, delivery: Delivery) -> bool:
        """Handle a message; return whether to settle it, otherwise it is delivered again."""
        try:
            event = msgspec.json.decode(delivery.body or b"", type=SourceEvent)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            return _dropped(delivery, error)
        reaction = self._reactions.get(event.event_type)
        if reaction is None or await self._handled.has(event.event_id):
            return True
        try:
            await reaction(event)
        except Unavailable:
            raise
        except msgspec.ValidationError as error:
            return _dropped(delivery, error)
        except Exception as error:
            return await self._failed(delivery, event, error)
        await self._handled.note(event.event_id)
        return True

    async def _failed(self, delivery: Delivery, event: SourceEvent, error: Exception) -> bool:
        said = {"event": event.event_id, "kind": event.event_type, "times": delivery.times, "error": repr(error)}
        log.warning("source event failed", extra=said)
        if delivery.times >= MAX_DELIVERIES:
            await self._messages.park(delivery, repr(error))
        return False


def _dropped(delivery: Delivery, error: Exception) -> bool:
    """Log an unreadable message and return True: another delivery would fail as well."""
    log.warning("source event not readable", extra={"message_id": delivery.id, "error": str(error)})
    return True
