"""Sinks by address, the items that are sent to them, and their positions in runs."""

import hashlib
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec

from longline.model.errors import BadInput
from longline.model.search.item import RunItem, own_fields

FIRST_RETRY_MS = 1000
MAX_RETRY_MS = 300_000


class SinkAddress(msgspec.Struct, frozen=True):
    """The address of a sink: a URL, which may hold secrets as user information, query and fragment.

    `key` identifies the sink in the database. Credentials and fragment are no part of the key: a sink goes on at its
    position after its password or its signing secret was changed.
    """

    url: str
    scheme: str
    label: str
    key: str

    @classmethod
    def parse(cls, text: str) -> "SinkAddress":
        """Return the address of a URL; raise `BadInput` for a text that is no URL, without showing the text."""
        try:
            parts = urlsplit(text.strip())
            port = f":{parts.port}" if parts.port else ""
        except ValueError:
            raise BadInput("not a sink: the URL cannot be parsed") from None  # not shown: it may hold a password
        if not parts.scheme or not parts.netloc:
            raise BadInput("not a sink: write a URL such as postgresql://user@host/database/table or https://host/path")
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        label = urlunsplit((parts.scheme, host + port, parts.path, "", ""))
        identity = urlunsplit((parts.scheme, host + port, parts.path, parts.query, ""))
        return cls(text.strip(), parts.scheme, label, hashlib.sha256(identity.encode()).hexdigest())

    @property
    def hostname(self) -> str:
        """Return the name of the host."""
        return urlsplit(self.url).hostname or ""

    def __repr__(self) -> str:
        return f"SinkAddress({self.label!r})"


class SinkItem(msgspec.Struct, frozen=True):
    """An item as a sink gets it. An item that is sent again has the same `id`.

    `run` and `position` give the order: positions of a run grow. `item` and `version` are those of the platform.
    `found_at` is the time of the change that made the version, in milliseconds since 1970.
    """

    id: str
    run: int
    position: int
    item: int
    version: int
    kind: str
    url: str
    found_at: int
    fields: dict[str, Any]


class SinkRow(msgspec.Struct, frozen=True):
    """A sink as stored. `uid` makes the ids of its items unique among all installations."""

    id: int
    uid: str
    label: str
    failures: int = 0


class SinkLease(msgspec.Struct, frozen=True):
    """The right to deliver to a sink, for one process at a time."""

    sink_id: int
    token: int
    failures: int


class SinkBacklog(msgspec.Struct, frozen=True):
    """A run with items behind the position of a sink."""

    run_id: int
    position: int
    last: int


class SinkLag(msgspec.Struct, frozen=True):
    """The number of items that wait for a sink, and the failures since its last delivery."""

    id: int
    label: str
    waiting: int
    delivered: int
    failures: int
    error: str


def sink_item(sink: SinkRow, item: RunItem) -> SinkItem:
    """Return an item as a sink gets it."""
    return SinkItem(
        id=f"{sink.uid}-{item.run_id}-{item.position}",
        run=item.run_id,
        position=item.position,
        item=item.id,
        version=item.version,
        kind=item.kind,
        url=item.url,
        found_at=item.updated_at,
        fields=own_fields(item),
    )
