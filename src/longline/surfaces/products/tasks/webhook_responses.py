"""Bodies of webhooks, and responses about their deliveries."""

from typing import Literal

import msgspec

from longline.model.recrawls.webhook import Webhook, WebhookLog, WebhookTry
from longline.surfaces.products.field_types import Timestamp, time_text

EventName = Literal["task.completed", "task.failed"]

DeliveryState = Literal["waiting", "delivered", "failed", "refused"]

EVENTS: dict[str, EventName] = {"completed": "task.completed", "failed": "task.failed"}


class WebhookData(msgspec.Struct, frozen=True):
    """The task that has ended."""

    task_id: int
    url: str
    status: Literal["completed", "failed"]
    product_id: int | None


class WebhookBody(msgspec.Struct, frozen=True):
    """The body of a webhook."""

    event: EventName
    timestamp: Timestamp
    data: WebhookData


class DeliveryTry(msgspec.Struct, frozen=True):
    """One try: the status of the response, or the error."""

    number: int
    attempted_at: Timestamp
    response_time_ms: int
    http_status_code: int | None
    error_message: str | None


class TaskWebhook(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook and its tries; a refused one leads to an address that may not be reached."""

    id: str
    event: EventName
    task_id: int
    webhook_url: str
    status: DeliveryState
    attempts: list[DeliveryTry]
    created_at: Timestamp
    updated_at: Timestamp


def webhook_body(webhook: Webhook) -> bytes:
    """Return the body of a webhook as JSON."""
    data = WebhookData(webhook.task_id, webhook.task_url, webhook.outcome, webhook.item_id)
    return msgspec.json.encode(WebhookBody(EVENTS[webhook.outcome], time_text(webhook.created_at), data))


def delivery_of(log: WebhookLog) -> TaskWebhook:
    """Return a webhook with its tries."""
    webhook = log.webhook
    return TaskWebhook(
        id=webhook.uid,
        event=EVENTS[webhook.outcome],
        task_id=webhook.task_id,
        webhook_url=webhook.url,
        status=webhook.state,
        attempts=[_try(one) for one in log.tries],
        created_at=time_text(webhook.created_at),
        updated_at=time_text(webhook.updated_at),
    )


def _try(one: WebhookTry) -> DeliveryTry:
    return DeliveryTry(one.number, time_text(one.at), one.ms, one.status, one.error)
