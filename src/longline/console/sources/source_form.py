"""The form of a source: registered and changed, with the problems of every field at once."""

from typing import Annotated, Any

import msgspec

from longline.console.actions import acted
from longline.console.page_format import wrong_fields
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.errors import BadInput, Conflict
from longline.model.sources.source import NewSource, SourceRow
from longline.model.sources.use import SourceUse, Taken
from longline.model.url import BadUrl, parse
from longline.services.sources.source_schedules import SourceSchedules
from longline.services.sources.sources import Sources
from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.operation import ApiResponse, operation

Text = Annotated[str, msgspec.Meta(max_length=4000)]
SECOND_MS = 1000


class SourceFormServices(msgspec.Struct, frozen=True):
    """The services behind the form of a source; `parsers` are the names of known parsers."""

    pages: Pages
    sources: Sources
    source_schedules: SourceSchedules
    parsers: tuple[str, ...]


class SourceForm(msgspec.Struct, frozen=True):
    """The fields of the form, as text: empty fields mean the operator's default."""

    name: Text = ""
    base_url: Text = ""
    use: SourceUse = SourceUse.INTERVAL
    parser: Text = ""
    config: Text = ""
    delay: Text = ""
    concurrency: Text = ""
    user_agent: Text = ""
    feed_url: Text = ""
    proxy_pools: Text = ""
    max_depth: Text = ""

    def facts(self) -> dict[str, Any]:
        """Return the facts of a source; raise `InvalidRequest` with every wrong field."""
        problems: list[Problem] = []
        facts: dict[str, Any] = {
            "name": _required(self.name, "name", problems),
            "base_url": _url(self.base_url, "base_url", problems, is_required=True),
            "feed_url": _url(self.feed_url, "feed_url", problems) or None,
            "delay_ms": _number(self.delay, "delay", problems, SECOND_MS, least=0, most=86_400),
            "concurrency": _number(self.concurrency, "concurrency", problems, 1, least=1, most=100),
            "parser": self.parser.strip() or None,
            "config": _object(self.config, "config", problems),
            "user_agent": self.user_agent.strip() or None,
            "proxy_pools": msgspec.json.encode(self.proxy_pools.replace(",", " ").split()).decode(),
        }
        depth = _number(self.max_depth, "max_depth", problems, 1, least=0, most=1000)
        if problems:
            raise InvalidRequest(problems)
        return facts | {"crawl": {} if depth is None else {"max_depth": depth}}


def _required(text: str, name: str, problems: list[Problem]) -> str:
    if not text.strip():
        problems.append(Problem(name, "check", "A source needs a name."))
    return text.strip()


def _url(text: str, name: str, problems: list[Problem], *, is_required: bool = False) -> str:
    if not text.strip() and not is_required:
        return ""
    try:
        return parse(text.strip()).href
    except BadUrl as error:
        problems.append(Problem(name, "check", f"This is no URL: {error}."))
        return ""


def _number(text: str, name: str, problems: list[Problem], unit: int, *, least: int, most: int) -> int | None:
    """Return a number in its unit; None for an empty field."""
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not least <= value <= most:
        problems.append(Problem(name, "check", f"Enter a number from {least} to {most:,}."))
        return None
    return round(value * unit)


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
