"""Query strings of the lists: their filters, their paging, and the refusal of keys that a route does not know."""

from collections import Counter
from typing import Any

from longline.model.bots.bot import PolicyFilter, ResultFilter, TaskFilter
from longline.model.states import ScheduleState
from longline.surfaces.bots.envelope import Ask, Handle, Reply
from longline.surfaces.bots.fields import Fields, moment
from longline.surfaces.bots.words import STATES, stored

MAX_LIMIT = 200

_TOKEN = "token"
"""Query parameter that every route accepts: credentials of a client that cannot set headers."""

PAGE = ("limit", "offset")
POLICIES = ("enabled", "priority", "created_after", "created_before", "next_run_after", "next_run_before", *PAGE)
_PERIODS_OF_JOBS = ("created_after", "created_before", "locked_after", "locked_before")
JOBS = ("status", "priority", "bot_id", "search", *_PERIODS_OF_JOBS, *PAGE)
RESULTS = ("currency", "in_stock", "created_after", "created_before", "crawled_after", "crawled_before", *PAGE)


def knowing(handle: Handle, *keys: str) -> Handle:
    """Return a handler that refuses query parameters other than these, and any that is sent twice."""

    async def checked(request: Ask) -> Reply:
        fields = Fields({})
        for key, times in Counter(key for key, _ in request.query_params.multi_items()).items():
            if key not in keys and key != _TOKEN:
                fields.wrong(key, "Unknown query parameter.")
            elif times > 1:
                fields.wrong(key, "This query parameter may be sent once.")
        fields.check()
        return await handle(request)

    checked.__name__, checked.__doc__ = handle.__name__, handle.__doc__
    return checked


def page(request: Ask) -> tuple[Fields, dict[str, int]]:
    """Return the fields of a list's query string, and its limit and offset."""
    query = Fields(request.query_params, loose=True)
    return query, {"limit": query.whole("limit", 1, MAX_LIMIT, default=50), "offset": query.whole("offset", 0)}


def policies(query: Fields) -> PolicyFilter:
    """Return the filter of policies."""
    state = None
    if query.has("enabled"):
        state = ScheduleState.SCHEDULED if query.flag("enabled") else ScheduleState.PAUSED
    due = {f"next_due_{side}": moment(query, f"next_run_{side}") for side in ("after", "before")}
    return PolicyFilter(state=state, priority=_priority(query), **_period(query, "created"), **due)


def jobs(query: Fields) -> TaskFilter:
    """Return the filter of jobs."""
    status = query.text("status")
    if status and status not in STATES:
        query.wrong("status", f'"{status}" is not a valid choice.')
    holder, part = query.text("bot_id") or None, query.text("search") or None
    periods = _period(query, "created") | _period(query, "locked")
    return TaskFilter(state=STATES.get(status), priority=_priority(query), holder=holder, part=part, **periods)


def results(query: Fields) -> ResultFilter:
    """Return the filter of results."""
    currency = query.text("currency").upper() or None
    in_stock = query.flag("in_stock") if query.has("in_stock") else None
    return ResultFilter(currency=currency, in_stock=in_stock, **_period(query, "created"), **_period(query, "crawled"))


def _priority(query: Fields) -> int | None:
    return stored(query.whole("priority", 1, 20)) if query.has("priority") else None


def _period(query: Fields, name: str) -> dict[str, Any]:
    return {f"{name}_{side}": moment(query, f"{name}_{side}") for side in ("after", "before")}
