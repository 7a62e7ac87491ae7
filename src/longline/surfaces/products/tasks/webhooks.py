"""`/api/admin/webhooks`: the log of webhooks, and their body in the words of the contract."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from longline.model.recrawls.webhook import WebhookFilter
from longline.services.recrawls.webhooks import Webhooks
from longline.surfaces.operation import operation
from longline.surfaces.products import examples
from longline.surfaces.products.envelope import ListSuccess, listed
from longline.surfaces.products.field_types import PagedQuery, TaskId
from longline.surfaces.products.tasks.webhook_responses import DeliveryState, TaskWebhook, delivery_of


@dataclass(frozen=True, slots=True)
class WebhookServices:
    """The log of webhooks."""

    webhooks: Webhooks


class DeliveryQuery(PagedQuery, frozen=True, kw_only=True):
    """The filter and the page of the log."""

    task_id: TaskId | None = None
    status: Annotated[DeliveryState, Meta(description="State of the webhook.")] | None = None


@operation(
    "GET", "/api/admin/webhooks", "List webhooks and their tries", access="admin", response_example=examples.DELIVERIES
)
async def list_deliveries(services: WebhookServices, query: DeliveryQuery) -> ListSuccess[TaskWebhook]:
    """List webhooks, the newest first; ended ones are deleted after 30 days."""
    wanted = WebhookFilter(query.task_id, query.status)
    logs, total = await services.webhooks.find(wanted, limit=query.per_page, offset=query.offset)
    return listed([delivery_of(log) for log in logs], query.page, query.per_page, total)


WEBHOOKS = (list_deliveries,)
