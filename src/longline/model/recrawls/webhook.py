"""Webhooks of recrawls: signed requests about the end of a recrawl, to a URL that was submitted with it."""

from typing import Literal

import msgspec

from longline.model.duration import DAY_MS

MAX_TRIES = 3
"""Largest number of tries to send a webhook."""

RETRY_FACTOR = 6
"""Growth of the delay from one retry to the next."""

LEASE_MS = 60_000
REQUEST_TIMEOUT_SECONDS = 20.0
MAX_RESPONSE_BYTES = 64 * 1024
MAX_ERROR_CHARS = 500
"""Length of the lease on a webhook, longest time of a try, and bytes and characters of its result that are kept."""


WebhookState = Literal["waiting", "delivered", "failed", "refused"]
"""`refused` is a webhook to an address that may not be reached: it is not tried again."""

KEEP_MS = 30 * DAY_MS
"""Age of the ended webhooks that are deleted."""


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook and its state. `outcome` is the end of the recrawl, `item_id` the first item of its page.

    `token` grows with every claim; `tries` counts the tries that were made.
    """

    id: int
    uid: str
    task_id: int
    task_url: str
    url: str
    outcome: Literal["completed", "failed"]
    state: WebhookState
    token: int
    tries: int
    created_at: int
    updated_at: int
    item_id: int | None = None


class WebhookTry(msgspec.Struct, frozen=True):
    """One try to send a webhook: the status of the response, or the error."""

    number: int
    at: int
    ms: int
    status: int | None = None
    error: str | None = None


class WebhookLog(msgspec.Struct, frozen=True):
    """A webhook with its tries."""

    webhook: Webhook
    tries: tuple[WebhookTry, ...]


class WebhookFilter(msgspec.Struct, frozen=True):
    """The filter of a list of webhooks; None means any."""

    task_id: int | None = None
    state: WebhookState | None = None


class TryResult(msgspec.Struct, frozen=True):
    """The result of a try. `is_refused` is set if the address may not be reached."""

    ms: int
    status: int | None = None
    error: str | None = None
    is_refused: bool = False


def state_after(made: TryResult, tries: int) -> WebhookState:
    """Return the state of a webhook after its try number `tries`."""
    if made.status is not None and 200 <= made.status < 300:
        return "delivered"
    if made.is_refused:
        return "refused"
    return "waiting" if tries < MAX_TRIES else "failed"


def retry_ms(first_ms: int, tries: int) -> int:
    """Return the delay after the try number `tries`, before the next one."""
    return first_ms * int(RETRY_FACTOR ** (tries - 1))
