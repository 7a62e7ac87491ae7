"""The form of a source: registered and changed, with the problems of every field at once."""

import re
from typing import Any

import msgspec

from longline.console.actions import acted, long_texts
from longline.console.error_pages import wrong_fields
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.errors import BadInput, Conflict
from longline.model.sources.source import MAX_RATE_LIMIT_SECONDS, NewSource, SourceRow, Taken
from longline.model.sources.source_uses import SourceUse
from longline.model.urls.url import BadUrl, parse
from longline.services.sources.source_schedules import SourceSchedules
from longline.services.sources.sources import Sources
from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.operation import ApiResponse, operation

SECOND_MS = 1000

ANY_DEPTH = -1
"""The depth of a source of which a run follows all links."""

_WHOLE = re.compile(r"-?[0-9]{1,9}", re.ASCII)
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?", re.ASCII)

MAX_TEXT_CHARS = 4000
"""Longest text of any field of the form."""

MAX_AGENT_CHARS = 255
MAX_NAME_CHARS = 500
"""Longest name of a source: an index of every database holds it in any script."""


class SourceFormServices(msgspec.Struct, frozen=True):
    """The services behind the form of a source; `parsers` are the names of known parsers."""

    pages: Pages
    sources: Sources
    source_schedules: SourceSchedules
    parsers: tuple[str, ...]


class SourceForm(msgspec.Struct, frozen=True):
    """The fields of the form, as text: empty fields mean the operator's default."""

    name: str = ""
    base_url: str = ""
    use: SourceUse = SourceUse.INTERVAL
    parser: str = ""
    config: str = ""
    delay: str = ""
    concurrency: str = ""
    user_agent: str = ""
    feed_url: str = ""
    proxy_pools: str = ""
    max_depth: str = ""

    def facts(self) -> dict[str, Any]:
        """Return the facts of a source; raise `InvalidRequest` with every wrong field."""
        typed = [name for name in self.__struct_fields__ if name != "use"]
        problems = long_texts(self, dict.fromkeys(typed, MAX_TEXT_CHARS))
        facts: dict[str, Any] = {
            "name": _name(self.name, "name", problems),
            "base_url": _url(self.base_url, "base_url", problems, is_required=True),
            "feed_url": _url(self.feed_url, "feed_url", problems) or None,
            "delay_ms": _seconds(self.delay, "delay", problems),
            "concurrency": _whole(self.concurrency, "concurrency", problems, least=1, most=100),
            "parser": self.parser.strip() or None,
            "config": _object(self.config, "config", problems),
            "user_agent": _agent(self.user_agent, "user_agent", problems),
            "proxy_pools": msgspec.json.encode(self.proxy_pools.replace(",", " ").split()).decode(),
        }
        depth = _whole(self.max_depth, "max_depth", problems, least=ANY_DEPTH, most=1000)
        if problems:
            raise InvalidRequest(problems)
        return facts | {"crawl": {} if depth is None else {"max_depth": depth}}


def _name(text: str, name: str, problems: list[Problem]) -> str:
    if not text.strip():
        problems.append(Problem(name, "check", "A source needs a name."))
    if len(text.strip()) > MAX_NAME_CHARS:
        problems.append(Problem(name, "check", f"A name has at most {MAX_NAME_CHARS} characters."))
    return text.strip()


def _agent(text: str, name: str, problems: list[Problem]) -> str | None:
    """Return the value of a header; None for an empty field."""
    if not (text.strip().isascii() and text.strip().isprintable() and len(text.strip()) <= MAX_AGENT_CHARS):
        told = f"A user agent is one line of ASCII text, of at most {MAX_AGENT_CHARS} characters."
        problems.append(Problem(name, "check", told))
    return text.strip() or None


def _whole(text: str, name: str, problems: list[Problem], *, least: int, most: int) -> int | None:
    """Return a whole number; None for an empty field."""
    given = text.strip()
    value = int(given) if _WHOLE.fullmatch(given) else None
    if given and (value is None or not least <= value <= most):
        problems.append(Problem(name, "check", f"Enter a whole number from {least} to {most:,}."))
    return value if given else None


def _url(text: str, name: str, problems: list[Problem], *, is_required: bool = False) -> str:
    if not text.strip() and not is_required:
        return ""
    try:
        return parse(text.strip()).href
    except BadUrl as error:
        problems.append(Problem(name, "check", f"This is no URL: {error.why}."))
        return ""


def _seconds(text: str, name: str, problems: list[Problem]) -> int | None:
    """Return milliseconds of a number of seconds; None for an empty field."""
    given = text.strip()
    if not given:
        return None
    value = float(given) if _DECIMAL.fullmatch(given) else -1.0
    if not 0 <= value <= MAX_RATE_LIMIT_SECONDS:
        problems.append(Problem(name, "check", f"Enter a number from 0 to {MAX_RATE_LIMIT_SECONDS:,.0f}."))
        return None
    return round(value * SECOND_MS)


def _object(text: str, name: str, problems: list[Problem]) -> str:
    try:
        msgspec.json.decode(text.strip() or "{}", type=dict[str, Any])
    except msgspec.DecodeError:
        problems.append(Problem(name, "check", "Enter a JSON object, or nothing."))
    return text.strip() or "{}"


def form_of(row: SourceRow) -> SourceForm:
    """Return the form of a registered source."""
    crawl = msgspec.json.decode(row.crawl, type=dict[str, Any])
    return SourceForm(
        name=row.name,
        base_url=row.base_url,
        parser=row.parser or "",
        config="" if row.config == "{}" else row.config,
        delay="" if row.delay_ms is None else f"{row.delay_ms / SECOND_MS:g}",
        concurrency="" if row.concurrency is None else str(row.concurrency),
        user_agent=row.user_agent or "",
        feed_url=row.feed_url or "",
        proxy_pools=", ".join(msgspec.json.decode(row.proxy_pools, type=list[str])),
        max_depth=str(crawl.get("max_depth", "")),
    )


@operation("GET", "/console/sources/new", "Show the form of a new source", access="reader")
async def show_new_source(services: SourceFormServices, identity: Visitor) -> ApiResponse[Any]:
    return _form(services, identity, SourceForm())


@operation("POST", "/console/sources", "Register a source", access="action", action="source.create")
async def make_source(services: SourceFormServices, body: SourceForm, identity: Visitor) -> ApiResponse[Any]:
    try:
        facts = body.facts()
        crawl = msgspec.json.encode(facts.pop("crawl")).decode()
        row = await services.sources.make(NewSource(**facts, crawl=crawl, use=body.use))
    except (BadInput, Conflict) as error:
        return _form(services, identity, body, problems=_problems(error))
    return acted(f"/console/sources/{row.id}", f"Source {row.name} is registered.")


@operation("GET", "/console/sources/{source_id}/edit", "Show the form of a source", access="reader")
async def show_source_form(services: SourceFormServices, source_id: int, identity: Visitor) -> ApiResponse[Any]:
    row = await services.sources.get(source_id)
    return _form(services, identity, form_of(row), row)


@operation("POST", "/console/sources/{source_id}", "Change a source", access="action", action="source.change")
async def change_source(
    services: SourceFormServices, source_id: int, body: SourceForm, identity: Visitor
) -> ApiResponse[Any]:
    row = await services.sources.get(await services.sources.ours(source_id))
    try:
        facts = body.facts()
        await services.sources.change(row.id, lambda was: _amended(was, facts))
    except (BadInput, Conflict) as error:
        return _form(services, identity, body, row, _problems(error))
    await services.source_schedules.changed(row.public_id, switched=False)
    return acted(f"/console/sources/{source_id}", "The source is changed.")


def _amended(was: SourceRow, facts: dict[str, Any]) -> SourceRow:
    crawl = msgspec.json.decode(was.crawl, type=dict[str, Any])
    crawl.pop("max_depth", None)
    merged = msgspec.json.encode(crawl | facts["crawl"]).decode()
    return msgspec.structs.replace(was, **facts | {"crawl": merged})


def _problems(error: BadInput | Conflict) -> dict[str, str]:
    """Return the problems of a form by field; the empty name stands for the whole form."""
    if isinstance(error, Taken):
        return {error.field: str(error)}
    return {"": str(error)} if isinstance(error, Conflict) else dict(wrong_fields(error))


def _form(
    services: SourceFormServices,
    visitor: Visitor,
    form: SourceForm,
    row: SourceRow | None = None,
    problems: dict[str, str] | None = None,
) -> ApiResponse[Any]:
    return services.pages.page(
        "sources/form.html",
        visitor,
        section="sources",
        is_refusal=bool(problems),
        form=form,
        source=row,
        problems=problems or {},
        parsers=services.parsers,
        uses=tuple(SourceUse),
    )


SOURCE_FORM = (show_new_source, make_source, show_source_form, change_source)
