"""Responses about results, and their making from rows."""

from decimal import Decimal

import msgspec
from msgspec import Raw

from longline.model.bots.bot_task import ResultRow
from longline.model.ids import task_uuid
from longline.surfaces.bots.field_types import JsonObject, Time, Uri, Uuid, amount, time_text


class BotResult(msgspec.Struct, frozen=True, kw_only=True):
    """A result without the text of its page."""

    id: Uuid
    job_id: Uuid
    url: Uri
    price: Decimal
    currency: str
    title: str
    in_stock: bool
    parsed_data: JsonObject
    crawled_at: Time
    created_at: Time


class BotResultDetail(BotResult, frozen=True, kw_only=True):
    """A result with the text of its page, if the bot sent one."""

    raw_html: str | None


class ResultPage(msgspec.Struct, frozen=True):
    """A page of results, newest first."""

    results: list[BotResult]
    count: int
    limit: int
    offset: int


def result_of(row: ResultRow) -> BotResult:
    """Return a result with all its fields except the page."""
    return BotResult(
        id=row.uid,
        job_id=task_uuid(row.id, row.task_created_at),
        url=row.url,
        price=amount(row.price),
        currency=row.currency,
        title=row.title,
        in_stock=row.in_stock,
        parsed_data=Raw(row.data.encode()),
        crawled_at=time_text(row.crawled_at),
        created_at=time_text(row.created_at),
    )
