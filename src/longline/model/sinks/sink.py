"""Sinks by address, the items that are sent to them, and their positions in runs."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, unquote, urldefrag, urlsplit, urlunsplit

import msgspec

from longline.model.duration import DAY_MS
from longline.model.errors import BadInput
from longline.model.search.item import RunItem, own_fields

DEFAULT_BATCH_SIZE = 100
FIRST_RETRY_MS = 1000
MAX_RETRY_MS = 300_000

FAILING_MS = 60_000
"""Milliseconds of failures after which a sink counts as failing."""

ABANDONED_MS = 7 * DAY_MS
"""Milliseconds after which a sink that no process has in its settings gets no new runs and holds back no deletion."""

UNSEEN_MS = 180_000
"""Milliseconds after which a sink is in the settings of no living process: each notes its sinks every minute."""

MIN_SECRET_CHARS, MIN_KEY_CHARS = 4, 16

LEASE_MS = 30_000
"""Length of the lease on a sink: after a kill another process delivers then."""

MAX_REFUSALS = 10
"""Runs in turn whose next item is refused, after which the sink itself counts as failed: it may refuse everything."""


_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_URL_START = re.compile(r"[:/?#]")

TABLE_SCHEMES = frozenset({"postgresql", "postgres"})

WEBHOOK_SCHEMES = frozenset({"http", "https"})
"""Schemes of the addresses of built-in sinks; all others belong to the functions of operators."""


class SinkAddress(msgspec.Struct, frozen=True):
    """The address of a sink: a URL, which may hold secrets as user information, query and fragment.

    `key` identifies the sink in the database. Credentials and fragment are no part of the key: a sink goes on at its
    position after its password or its signing secret was changed. A sink with a name gets the items of the sources
    that name it, a sink without one the items of all runs.
    """

    url: str
    scheme: str
    label: str
    key: str
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> "SinkAddress":
        """Return the address of `URL` or `NAME=URL`; raise `BadInput` for another text, without showing the text."""
        name, url = _split_name(text.strip())
        try:
            parts = urlsplit(url)
            port = f":{parts.port}" if parts.port else ""
        except ValueError:
            raise BadInput("not a sink: the URL cannot be parsed") from None  # not shown: it may hold a password
        if not parts.scheme or not parts.netloc:
            raise BadInput("not a sink: write a URL such as postgresql://user@host/database/table or https://host/path")
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        label = urlunsplit((parts.scheme, host + port, parts.path, "", ""))
        identity = urlunsplit((parts.scheme, host + port, parts.path, parts.query, ""))
        return cls(url, parts.scheme, label, hashlib.sha256(identity.encode()).hexdigest(), name)

    @property
    def hostname(self) -> str:
        """Return the name of the host."""
        return urlsplit(self.url).hostname or ""

    @property
    def title(self) -> str:
        """Return the name of the sink, or its label if it has none."""
        return self.name or self.label

    def masked(self, text: str) -> str:
        """Return a text without the secrets of the address; a foreign library may repeat them in its errors."""
        parts = urlsplit(self.url)
        user, at, _ = parts.netloc.rpartition("@")
        secrets = [self.url, urldefrag(self.url).url, user + at, user.partition(":")[2], parts.fragment, parts.query]
        secrets += [value for _, value in parse_qsl(parts.query)]
        # User information without a password is a key of an API, if it is as long as one.
        secrets += [user] if ":" not in user and len(user) >= MIN_KEY_CHARS else []
        for secret in sorted({*secrets, *map(unquote, secrets)} - {""}, key=len, reverse=True):
            # A short value is a part of many words, and no secret.
            if len(secret) >= MIN_SECRET_CHARS:
                text = text.replace(secret, self.label if "://" in secret else "***")
        return text

    def __repr__(self) -> str:
        return f"SinkAddress({self.label!r})"


def _split_name(text: str) -> tuple[str, str]:
    name, equals, url = text.partition("=")
    if not equals or not name or _URL_START.search(name):
        return "", text
    check_sink_name(name)
    return name, url


def check_sink_name(name: str) -> None:
    """Raise `BadInput` for a text that cannot be the name of a sink."""
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} cannot be the name of a sink: write up to 63 lower-case letters, digits and hyphens")


def parse_sinks(texts: Iterable[str]) -> tuple[SinkAddress, ...]:
    """Return the addresses of sinks; raise `BadInput` for a name or an address that stands twice."""
    found = tuple(map(SinkAddress.parse, texts))
    for name, count in Counter(sink.name for sink in found if sink.name).items():
        if count > 1:
            raise BadInput(f"two sinks are called {name!r}; rename one")
    for address in found:
        if sum(other.key == address.key for other in found) > 1:
            raise BadInput(f"the sink {address.label} stands twice; remove one")
    return found


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


class ItemRefused(Exception):
    """An item that the receiver refuses while it accepts others; a sink function raises it for the first such item.

    The run of the item waits until the receiver accepts the item or the operator skips it; other runs go on.
    """

    def __init__(self, item: SinkItem, reason: str) -> None:
        super().__init__(reason)
        self.item = item


class SinkRow(msgspec.Struct, frozen=True):
    """A sink as stored. `uid` makes the ids of its items unique among all installations."""

    id: int
    uid: str
    label: str
    failures: int = 0
    assigned: bool = True
    """Whether all runs that were there before have been assigned to the sink."""


class SinkLease(msgspec.Struct, frozen=True):
    """The right to deliver to a sink, for one process at a time."""

    sink_id: int
    token: int
    failures: int


class SinkBacklog(msgspec.Struct, frozen=True):
    """A run with items behind the position of a sink, and the refusals of its next item."""

    run_id: int
    position: int
    last: int
    failures: int = 0


class SinkLag(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a sink.

    `failures` counts failures since the last delivery, for `failing_ms`; `held_runs` are runs whose next item the sink
    refuses. `unseen_ms` is the time since a process last had the sink in its settings.
    """

    id: int
    label: str
    name: str = ""
    waiting: int = 0
    delivered: int = 0
    skipped: int = 0
    held_runs: int = 0
    failures: int = 0
    failing_ms: int = 0
    unseen_ms: int = 0
    error: str = ""

    @property
    def title(self) -> str:
        """Return the name of the sink, or its number, neither of which shows an address."""
        return self.name or str(self.id)

    @property
    def failing(self) -> bool:
        """Return whether the sink has been failing for some time, or refuses items."""
        return not self.abandoned and (self.failing_ms >= FAILING_MS or self.held_runs > 0)

    @property
    def abandoned(self) -> bool:
        """Return whether no process has had the sink in its settings for a long time."""
        return self.unseen_ms >= ABANDONED_MS


class SinkRunLag(msgspec.Struct, frozen=True):
    """The position of a sink in a run with waiting items; `refused` is the position of an item that it refuses."""

    run_id: int
    position: int
    last: int
    refused: int | None = None
    failures: int = 0
    error: str = ""


class SkippedItem(msgspec.Struct, frozen=True):
    """An item that a sink never gets, because the operator skipped it."""

    run_id: int
    position: int
    skipped_at: int
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
