"""Idempotency keys: a repeated request gets the answer of the first, and nothing happens twice."""

import msgspec

from longline.model.duration import DAY_MS

LEASE_MS = 60_000
"""Length of a reservation: after a kill a key is free again then."""

FORGOTTEN_AFTER_MS = DAY_MS
"""Time after the end of its lease when a reservation that has no answer is deleted."""

MAX_WAIT_SECONDS = 25.0
"""Longest time for which a repeated request waits for the answer of the first."""


class ScopedKey(msgspec.Struct, frozen=True):
    """A sender's key; senders of different tenants, and manifests of different kinds, do not share keys."""

    tenant: str
    kind: str
    key: str


class Reservation(msgspec.Struct, frozen=True):
    """A key in use by one request: `holder` is the id of its manifest, `window_ms` the time for which it is kept."""

    key: ScopedKey
    holder: str
    digest: str
    window_ms: int


class IdempotencyRow(msgspec.Struct, frozen=True):
    """A stored key. Without an answer (`run_uid`) it is reserved until `lease_until`."""

    tenant: str
    kind: str
    key: str
    holder: str
    digest: str
    lease_until: int
    run_uid: str | None = None
    metadata_key: str | None = None
    resources: int | None = None
    expires_at: int | None = None
