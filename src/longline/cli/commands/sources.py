"""`longline sources …`: sources, their parsers, sinks and budgets."""

from typing import Annotated

import msgspec
import typer

from longline.cli.audited_changes import run_change
from longline.cli.data_folder import read_rows
from longline.cli.event_loop import run
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing
from longline.model.sources.source import NewSource, SourceQuery, SourceRow
from longline.model.sources.source_uses import SourceUse, decode_uses
from longline.model.urls.url import parse
from longline.model.urls.url_credentials import without_credentials
from longline.services.sources.source_robots import RobotsRefresh
from longline.services.sources.sources import Sources
from longline.settings import Loaded, Settings
from longline.settings.values import JSON_OBJECT
from longline.wiring import open_platform, platform_parsers
from longline.wiring.platform import Platform, migrate_tables
from longline.wiring.subjects.recrawls import recrawl_services, recrawled_sources
from longline.wiring.subjects.schedules import schedule_services
from longline.wiring.subjects.sources import source_robots, source_service

Parsing = Annotated[
    str | None, typer.Option("--parser", help="Parser of the pages; if not given, the closest match.", metavar="NAME")
]
ParserConfig = Annotated[
    str | None, typer.Option("--parser-config", help="Config of that parser, a JSON object.", metavar="JSON")
]
SinkNames = Annotated[
    list[str] | None,
    typer.Option("--sink", help="Name of a sink that gets the items. Can be given several times.", metavar="NAME"),
]
PoolNames = Annotated[
    list[str] | None,
    typer.Option(
        "--proxy-pool", help="Pool of proxies of its requests; further pools are fallbacks, in order.", metavar="NAME"
    ),
]
SourceId = Annotated[int, typer.Option("--id", help="Number of the source.", min=1)]
Most = Annotated[int | None, typer.Option("--most", help="URLs that all runs of the source together may admit.", min=1)]
Limit = Annotated[int, typer.Option("--limit", help="Maximum number.", min=1, max=1000)]


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(
        help="List and add sources, set their parsers, sinks, proxy pools and uses, limit their URLs.",
        no_args_is_help=True,
    )
    commands = {
        "list": show,
        "add": add,
        "parser": set_parser,
        "sinks": set_sinks,
        "pools": set_pools,
        "budget": budget,
        "use": set_use,
        "enable": enable,
        "disable": disable,
        "robots": refresh_robots,
    }
    for name, command in commands.items():
        app.command(name)(command)
    return app


@takes("data", "database", "parsers")
def add(
    loaded: Loaded,
    name: Annotated[str, typer.Argument(help="Unique name of the source.", show_default=False)],
    url: Annotated[str, typer.Argument(help="URL to start from.", show_default=False)],
    parser: Parsing = None,
    parser_config: ParserConfig = None,
    sink: SinkNames = None,
    proxy_pool: PoolNames = None,
) -> None:
    """Add a source; schedules and single URLs name it by the printed id.

    Without --parsers the parsers of the running platform are known.
    """
    source = NewSource(
        name,
        parse(url).href,
        parser or None,
        _config(parser_config),
        sinks=_names(sink),
        proxy_pools=_names(proxy_pool),
    )
    settings = _with_parsers(loaded)

    async def work() -> SourceRow:
        async with open_platform(settings) as platform:
            return await (await _sources(platform)).make(source)

    row = run_change("source.create", work())
    typer.echo(
        f"{row.id} {row.name}: {_parser_of(row)}{_sinks_of(row, ', sinks ')}, id in the HTTP API {row.public_id}"
    )


@takes("data", "database", "parsers")
def set_parser(
    loaded: Loaded,
    source_id: SourceId,
    parser: Parsing = None,
    parser_config: ParserConfig = None,
    none: Annotated[bool, typer.Option("--none", help="Let the closest match parse the pages.")] = False,
) -> None:
    """Set the parser of a source and its config; the next run goes by it."""
    if (parser is None) != none:
        raise typer.BadParameter("give either --parser or --none")
    config, settings = _config(parser_config), _with_parsers(loaded)

    async def work() -> SourceRow:
        async with open_platform(settings) as platform:
            sources = await _sources(platform)
            row = await sources.get(source_id)
            await sources.ours(row.public_id)
            return await sources.change(
                source_id, lambda was: msgspec.structs.replace(was, parser=parser, config=config)
            )

    row = run_change("source.change", work())
    typer.echo(f"{row.id} {row.name}: {_parser_of(row)}")


@takes("data", "database")
def set_sinks(
    loaded: Loaded,
    source_id: SourceId,
    sink: SinkNames = None,
    none: Annotated[bool, typer.Option("--none", help="Name no sink.")] = False,
) -> None:
    """Set the sinks of a source; they get the items of all its runs, the stored ones first."""
    if (not sink) != none:
        raise typer.BadParameter("give either --sink or --none")

    async def work() -> SourceRow:
        async with open_platform(loaded.settings) as platform:
            return await (await _sources(platform)).change(
                source_id, lambda was: msgspec.structs.replace(was, sinks=_names(sink))
            )

    row = run_change("source.change", work())
    typer.echo(f"{row.id} {row.name}: {_sinks_of(row, 'sinks ') or 'no sinks of its own'}")


@takes("data", "database")
def set_pools(
    loaded: Loaded,
    source_id: SourceId,
    proxy_pool: PoolNames = None,
    none: Annotated[bool, typer.Option("--none", help="Name no pool.")] = False,
) -> None:
    """Set the pool of proxies of a source, and its fallbacks; proxies that are assigned to the source go first."""
    if (not proxy_pool) != none:
        raise typer.BadParameter("give either --proxy-pool or --none")

    async def work() -> SourceRow:
        async with open_platform(loaded.settings) as platform:
            return await (await _sources(platform)).change(
                source_id, lambda was: msgspec.structs.replace(was, proxy_pools=_names(proxy_pool))
            )

    row = run_change("source.change", work())
    typer.echo(f"{row.id} {row.name}: {'proxy pools ' + ', '.join(proxy_pool) if proxy_pool else 'no proxy pool'}")


@takes("data", "database", "egress_allow", "user_agent")
def refresh_robots(
    loaded: Loaded,
    source_id: SourceId,
    force: Annotated[bool, typer.Option("--force", help="Take over a shorter Crawl-delay, too.")] = False,
) -> None:
    """Fetch the robots.txt of a source now; a longer Crawl-delay becomes the delay of the source."""

    async def work() -> RobotsRefresh:
        async with open_platform(loaded.settings) as platform:
            await _sources(platform)
            return await source_robots(platform).refresh(source_id, force=force)

    found = run_change("source.refresh_robots", work())
    asked = "no Crawl-delay" if found.crawl_delay_seconds is None else f"Crawl-delay {found.crawl_delay_seconds:g} s"
    taken = ", which is the delay of the source now" if found.is_delay_taken else ""
    row = found.source
    typer.echo(f"{row.id} {row.name}: {row.robots_url} answered {found.status}, {asked}{taken}")


@takes("data", "database")
def enable(loaded: Loaded, source_id: SourceId) -> None:
    """Fetch the recrawls of a source again."""
    _switch(loaded, source_id, on=True)


@takes("data", "database")
def disable(loaded: Loaded, source_id: SourceId) -> None:
    """Begin no further request for the recrawls of a source; within a second everywhere."""
    _switch(loaded, source_id, on=False)


def _switch(loaded: Loaded, source_id: int, *, on: bool) -> None:
    async def work() -> SourceRow:
        async with open_platform(loaded.settings) as platform:
            await migrate_tables(platform, may_migrate=False)
            return await recrawled_sources(platform, recrawl_services(platform).holds).switch(source_id, on=on)

    row = run_change("source.enable" if on else "source.disable", work())
    typer.echo(f"{row.id} {row.name}: {'enabled' if row.enabled else 'disabled'}")


def _names(names: list[str] | None) -> str:
    return msgspec.json.encode(names or []).decode()


def _sinks_of(row: SourceRow, before: str) -> str:
    names: list[str] = msgspec.json.decode(row.sinks)
    return before + ", ".join(names) if names else ""


def _with_parsers(loaded: Loaded) -> Settings:
    """Return the settings with the custom parsers of the running platform, unless others were given."""
    if loaded.origins["parsers"] != "default":
        return loaded.settings
    return msgspec.structs.replace(loaded.settings, parsers=run(platform_parsers(loaded.settings)))


def _config(text: str | None) -> str:
    found: str = JSON_OBJECT.take(text or "{}", "--parser-config")
    return found or "{}"


def _parser_of(row: SourceRow) -> str:
    config = "" if row.config == "{}" else f" {row.config}"
    return f"parser {row.parser}{config}" if row.parser else "parser by the closest match"


@takes("data", "database")
def budget(
    loaded: Loaded,
    source_id: SourceId,
    most: Most = None,
    none: Annotated[bool, typer.Option("--none", help="Remove the limit.")] = False,
) -> None:
    """Limit the URLs that all runs of a source together may admit; URLs admitted before count."""
    if (most is None) != none:
        raise typer.BadParameter("give either --most or --none")

    async def work() -> SourceRow:
        async with open_platform(loaded.settings) as platform:
            return await (await _sources(platform)).limit(source_id, most)

    row = run_change("source.limit", work())
    bound = "no budget" if row.budget is None else f"{row.admitted} of {row.budget} admitted"
    typer.echo(f"{row.id} {row.name}: {bound}")


@takes("data", "database")
def set_use(
    loaded: Loaded,
    source_id: SourceId,
    add: Annotated[SourceUse | None, typer.Option("--add", help="API that crawls the source from now on.")] = None,
    remove: Annotated[SourceUse | None, typer.Option("--remove", help="API that leaves the source alone.")] = None,
) -> None:
    """Let an API crawl a source, or leave it alone; a schedule without its use is paused."""
    use = add or remove
    if use is None or (add and remove):
        raise typer.BadParameter("give either --add or --remove")

    async def work() -> SourceRow:
        async with open_platform(loaded.settings) as platform:
            row = await (await _sources(platform)).set_use(source_id, use, on=add is not None)
            schedules = schedule_services(platform, platform.records)[1]
            if use == SourceUse.INTERVAL and add is None:
                await schedules.disabled(row.public_id)
            elif use == SourceUse.INTERVAL and row.enabled:
                await schedules.enabled(row.public_id)
            return row

    row = run_change("source.change_uses", work())
    typer.echo(f"{row.id} {row.name}: {_uses_of(row)}")


def _uses_of(row: SourceRow) -> str:
    return ", ".join(sorted(decode_uses(row.uses))) or "–"


@takes("data", "database")
def show(loaded: Loaded, limit: Limit = 100) -> None:
    """List the sources by name, with their ids, parsers, sinks and budgets."""

    async def work() -> list[SourceRow]:
        async with open_platform(loaded.settings, reading=True) as platform:
            return (await (await _sources(platform)).find(SourceQuery(), limit, 0))[0]

    found = read_rows(loaded, work)
    keys = (Column("id", copied=True, right=True), "name", Column("id in the HTTP API", copied=True))
    numbers = (Column("budget", right=True), Column("admitted", right=True))
    listing = Listing(*keys, Column("URL", copied=True), "enabled", "uses", "parser", "sinks", *numbers)
    for row in found:
        spent = ("–", "–") if row.budget is None else (str(row.budget), str(row.admitted))
        facts = ("yes" if row.enabled else "no", _uses_of(row), row.parser or "–", _sinks_of(row, "") or "–")
        rest = (without_credentials(row.base_url), *facts, *spent)
        listing.add(str(row.id), row.name, row.public_id, *rest)
    listing.print()
    if not found:
        listing.note("no sources; add one with: longline sources add NAME URL")


async def _sources(platform: Platform) -> Sources:
    await migrate_tables(platform, may_migrate=False)
    return source_service(platform)
