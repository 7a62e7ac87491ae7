"""Queries of the lists of the bot-pull contract: their filters and their paging."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from longline.model.bots.bot_policy import PolicyFilter
from longline.model.bots.bot_task import ResultFilter, TaskFilter
from longline.model.states import ScheduleState
from longline.surfaces.bots.field_types import MAX_INT, Priority, QueryMoment, Text
from longline.surfaces.bots.job_statuses import STATES, stored_priority

MAX_PAGE_SIZE = 200

After = Annotated[QueryMoment, Meta(description="First time of the period.")] | None
Before = Annotated[QueryMoment, Meta(description="End of the period, itself excluded.")] | None


class BotPageQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The query of a list: one page of it."""

    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE_SIZE, description="Entries of the page.")] = 50
    offset: Annotated[int, Meta(ge=0, le=MAX_INT, description="Entries before the page.")] = 0


class PolicyQuery(BotPageQuery, frozen=True, kw_only=True):
    """The query of the list of policies."""

    enabled: Annotated[bool, Meta(description="Whether jobs are made of the policy.")] | None = None
    priority: Priority | None = None
    created_after: After = None
    created_before: Before = None
    next_run_after: After = None
    next_run_before: Before = None

    def filter(self) -> PolicyFilter:
        """Return the filter of policies."""
        states = {None: None, True: ScheduleState.SCHEDULED, False: ScheduleState.PAUSED}
        return PolicyFilter(
            state=states[self.enabled],
            priority=_stored_priority(self.priority),
            created_after=_plain(self.created_after),
            created_before=_plain(self.created_before),
            next_due_after=_plain(self.next_run_after),
            next_due_before=_plain(self.next_run_before),
        )


class BotJobQuery(BotPageQuery, frozen=True, kw_only=True):
    """The query of the list of jobs."""

    status: Annotated[
        Literal["", "pending", "locked", "done", "failed", "expired"], Meta(description="State; empty for all.")
    ] = ""
    priority: Priority | None = None
    bot_id: Annotated[Text, Meta(description="Name of the bot that holds the lock.")] = ""
    search: Annotated[Text, Meta(description="Part of the URL or of the bot's name.")] = ""
    created_after: After = None
    created_before: Before = None
    locked_after: After = None
    locked_before: Before = None

    def filter(self) -> TaskFilter:
        """Return the filter of jobs."""
        return TaskFilter(
            state=STATES[self.status] if self.status else None,
            priority=_stored_priority(self.priority),
            holder=self.bot_id or None,
            part=self.search or None,
            created_after=_plain(self.created_after),
            created_before=_plain(self.created_before),
            locked_after=_plain(self.locked_after),
            locked_before=_plain(self.locked_before),
        )


class ResultQuery(BotPageQuery, frozen=True, kw_only=True):
    """The query of the list of results."""

    currency: Annotated[Text, Meta(description="Currency code, in any case.")] = ""
    in_stock: Annotated[bool, Meta(description="Whether the product was in stock.")] | None = None
    created_after: After = None
    created_before: Before = None
    crawled_after: After = None
    crawled_before: Before = None

    def filter(self) -> ResultFilter:
        """Return the filter of results."""
        return ResultFilter(
            currency=self.currency.upper() or None,
            in_stock=self.in_stock,
            created_after=_plain(self.created_after),
            created_before=_plain(self.created_before),
            crawled_after=_plain(self.crawled_after),
            crawled_before=_plain(self.crawled_before),
        )


def _stored_priority(priority: int | None) -> int | None:
    return None if priority is None else stored_priority(priority)


def _plain(at: int | None) -> int | None:
    return None if at is None else int(at)
