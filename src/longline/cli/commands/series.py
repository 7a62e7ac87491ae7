"""`longline series …`: series of catalogues, the sources that have them, and the runs that crawl them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, NamedTuple

import msgspec
import typer

from longline.cli.audited_changes import operator_order, run_change
from longline.cli.data_folder import read, read_rows
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing
from longline.model.errors import BadInput
from longline.model.logs.run_log import LogQuery
from longline.model.runs.run import RunKind
from longline.model.series.series import NewSeries, NewTarget, SeriesRow
from longline.model.series.series_run import SeriesRunQuery, SeriesRunRow, SourceRunCounts
from longline.model.sources.source import NewSource, SourceQuery, SourceRow
from longline.model.sources.source_uses import SourceUse
from longline.model.states import RUN_ENDED
from longline.model.timestamps import written, written_us
from longline.model.urls.url import parse
from longline.services.logs.log_pages import LogPages
from longline.services.runs.queued_runs import QueuedRuns
from longline.services.series.series import Series
from longline.services.series.series_runs import ReplacedRun, SeriesRunOrderRequest, SeriesRuns
from longline.services.sources.sources import Sources
from longline.settings import Loaded
from longline.settings.values import JSON_OBJECT
from longline.wiring import open_platform
from longline.wiring.platform import migrate_tables
from longline.wiring.subjects.logs import catalogue_logs
from longline.wiring.subjects.runs import queued_runs, series_runs
from longline.wiring.subjects.sources import catalogue_series, source_service

MAX_SHOWN = 1000
TAIL_INTERVAL_SECONDS = 0.5
LOG_PAGE = 1000

SourceId = Annotated[int, typer.Option("--source", help="Number of the source.", min=1, show_default=False)]
SeriesId = Annotated[str | None, typer.Option("--series", help="Id of the series.", show_default=False)]
Reason = Annotated[str | None, typer.Option("--reason", help="Reason, for the audit.", show_default=False)]
RunId = Annotated[str, typer.Argument(help="Id of the run.", show_default=False)]


class SeriesServices(NamedTuple):
    """The services behind the commands."""

    series: Series
    sources: Sources
    runs: SeriesRuns
    logs: LogPages
    queue: QueuedRuns


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(help="Crawl catalogues: their sources, series and runs.", no_args_is_help=True)
    commands = {
        "list": show_series,
        "add": add_series,
        "link": link,
        "sources": show_sources,
        "add-source": add_source,
        "enable": enable,
        "disable": disable,
        "health": show_health,
        "start": start,
        "runs": show_runs,
        "cancel": cancel,
        "replace-stuck": replace_stuck,
        "logs": tail_logs,
        "pause": pause,
        "resume": resume,
    }
    for name, command in commands.items():
        app.command(name)(command)
    return app


@asynccontextmanager
async def _opened(loaded: Loaded) -> AsyncIterator[SeriesServices]:
    async with open_platform(loaded.settings, reading=True) as platform:
        await migrate_tables(platform, may_migrate=False)
        yield SeriesServices(
            catalogue_series(platform),
            source_service(platform),
            series_runs(platform),
            catalogue_logs(platform),
            queued_runs(platform),
        )


@takes("data", "database")
def show_series(
    loaded: Loaded, title: Annotated[str | None, typer.Argument(help="Part of the title.", show_default=False)] = None
) -> None:
    """List series, by title."""

    async def work() -> list[SeriesRow]:
        async with _opened(loaded) as services:
            return (await services.series.find(title, MAX_SHOWN, 0))[0]

    listing = Listing(Column("series", copied=True), "title", "status", Column("slug", copied=True))
    for row in read_rows(loaded, work):
        listing.add(row.id, row.title, row.status, row.slug)
    listing.print()
    if not listing.count:
        listing.note("no series" if title is None else "no series has this in its title")


@takes("data", "database")
def add_series(loaded: Loaded, title: Annotated[str, typer.Argument(help="Title.", show_default=False)]) -> None:
    """Add a series; its printed id is for `link` and `start`."""

    async def work() -> SeriesRow:
        async with _opened(loaded) as services:
            return await services.series.make(NewSeries(title.strip()))

    typer.echo(run_change("series.create", work()).id)


@takes("data", "database")
def link(
    loaded: Loaded,
    series_id: Annotated[str, typer.Argument(help="Id of the series.", show_default=False)],
    url: Annotated[str, typer.Argument(help="Page of the series on the source.", show_default=False)],
    source: SourceId,
    external_id: Annotated[str, typer.Option("--external-id", help="Id that the source gives.", show_default=False)],
) -> None:
    """Link a series to its page on a source."""
    new = NewTarget(series_id, source, external_id, parse(url).href)

    async def work() -> int:
        async with _opened(loaded) as services:
            return (await services.series.link(new)).id

    typer.echo(f"target {run_change('target.create', work())} made")


@takes("data", "database")
def show_sources(loaded: Loaded) -> None:
    """List sources with an extension, by name."""

    async def work() -> list[SourceRow]:
        async with _opened(loaded) as services:
            rows, _ = await services.sources.find(SourceQuery(), MAX_SHOWN, 0)
            return [row for row in rows if row.extension is not None]

    listing = Listing(
        "source", "name", "state", Column("failures", right=True), "extension", Column("url", copied=True)
    )
    for row in read_rows(loaded, work):
        state = "enabled" if row.enabled else "disabled"
        listing.add(str(row.id), row.name, state, str(row.failures), row.extension or "", row.base_url)
    listing.print()
    if not listing.count:
        listing.note("no sources with an extension; add one with longline series add-source")


@takes("data", "database")
def add_source(
    loaded: Loaded,
    name: Annotated[str, typer.Argument(help="Unique name of the source.", show_default=False)],
    url: Annotated[str, typer.Argument(help="URL at which its catalogue starts.", show_default=False)],
    extension: Annotated[str, typer.Option("--extension", help="Extension that reads its pages.", show_default=False)],
    extension_config: Annotated[
        str, typer.Option("--extension-config", help="Config of the extension, a JSON object.", metavar="JSON")
    ] = "{}",
) -> None:
    """Add a source with a catalogue."""
    text = JSON_OBJECT.take(extension_config, "--extension-config") or "{}"
    new = NewSource(name, parse(url).href, extension=extension, extension_config=text, use=SourceUse.CATALOGUE)

    async def work() -> SourceRow:
        async with _opened(loaded) as services:
            return await services.sources.make(new)

    row = run_change("source.create", work())
    typer.echo(f"{row.id} {row.name}: {row.extension}")


@takes("data", "database")
def enable(loaded: Loaded, source: SourceId, reason: Reason = None) -> None:
    """Enable a source, and forget its failures."""
    _switch(loaded, source, reason, on=True)


@takes("data", "database")
def disable(loaded: Loaded, source: SourceId, reason: Reason = None) -> None:
    """Disable a source; its queued runs wait."""
    _switch(loaded, source, reason, on=False)


def _switch(loaded: Loaded, source: int, reason: str | None, *, on: bool) -> None:
    async def work() -> SourceRow:
        async with _opened(loaded) as services:
            return await services.sources.switch(await services.sources.ours(source), on, reason)

    row = run_change("source.enable" if on else "source.disable", work(), reason)
    typer.echo(f"{row.name} is {'enabled' if row.enabled else 'disabled'}")


@takes("data", "database")
def show_health(loaded: Loaded, source: SourceId) -> None:
    """Print the health of a source as JSON."""

    async def work() -> tuple[SourceRow, SourceRunCounts]:
        async with _opened(loaded) as services:
            return await services.sources.get(source), await services.runs.of_source(source)

    row, counts = read(loaded, work)
    shown = {
        "source": row.id,
        "enabled": row.enabled,
        "failures": row.failures,
        "succeeded_at": None if row.succeeded_at is None else written(row.succeeded_at),
        "failed_at": None if row.failed_at is None else written(row.failed_at),
        "runs": counts.total,
        "states": counts.states,
        "last": None if counts.last is None else counts.last.run.uid,
    }
    typer.echo(msgspec.json.encode(shown).decode())


@takes("data", "database")
def start(loaded: Loaded, source: SourceId, series: SeriesId = None) -> None:
    """Queue a run of one series, or of the whole catalogue of a source; workers start it."""

    async def work() -> SeriesRunRow:
        async with _opened(loaded) as services:
            row = await services.sources.get(source)
            if not row.enabled:
                raise BadInput(f"source {row.name} is disabled: enable it first")
            linked = [] if series is None else await services.series.linked(series, row.id)
            seeds = (row.base_url,) if series is None else tuple(target.url for target in linked)
            if not seeds:
                raise BadInput(f"series {series} has no active target on source {row.name}")
            order = SeriesRunOrderRequest(row, seeds, series)
            return await services.runs.order(order, operator_order("run.trigger").caller)

    typer.echo(run_change("run.trigger", work()).run.uid)


@takes("data", "database")
def show_runs(loaded: Loaded, source: Annotated[int | None, typer.Option(help="Number of a source.")] = None) -> None:
    """List runs, newest first."""

    async def work() -> list[SeriesRunRow]:
        async with _opened(loaded) as services:
            return (await services.runs.find(SeriesRunQuery(source_id=source), MAX_SHOWN, 0))[0]

    listing = Listing(
        *(Column("run", copied=True), "source", "series", "state", Column("pages", right=True)),
        *(Column("errors", right=True), "by", "error"),
    )
    for row in read_rows(loaded, work):
        one = row.run
        place = (str(one.source_id or ""), row.series_id or "–", one.state, str(one.completed), str(one.failed))
        listing.add(one.uid, *place, row.caller_name or row.caller_id or "–", one.error or "")
    listing.print()
    if not listing.count:
        listing.note("no runs of catalogues for this choice")


@takes("data", "database")
def cancel(loaded: Loaded, run_id: RunId, reason: Reason = None) -> None:
    """Cancel a queued or running run."""

    async def work() -> SeriesRunRow:
        async with _opened(loaded) as services:
            return await services.runs.cancel(run_id, reason)

    typer.echo(f"{run_change('run.cancel', work(), reason).run.uid} is cancelled")


@takes("data", "database")
def replace_stuck(loaded: Loaded, reason: Reason = None) -> None:
    """Fail runs that run for over 30 minutes, and queue new ones in their places."""

    async def work() -> list[ReplacedRun]:
        async with _opened(loaded) as services:
            return await services.runs.replace_stuck(operator_order("run.reset").caller)

    for each in run_change("run.reset", work(), reason):
        typer.echo(f"{each.stuck_uid} failed as stuck; {each.run.run.uid} is queued")


@takes("data", "database", "objects")
def tail_logs(
    loaded: Loaded, run_id: RunId, follow: Annotated[bool, typer.Option(help="Go on until the run has ended.")] = True
) -> None:
    """Print the log of a run as JSON lines."""

    async def work() -> None:
        async with _opened(loaded) as services:
            since: int | None = None
            while True:
                found = (await services.runs.get(run_id)).run
                page = await services.logs.get(found.id, LogQuery(since_us=since), LOG_PAGE)
                for entry in page.entries:
                    since = entry.at_us
                    fields = None if entry.fields is None else msgspec.json.decode(entry.fields)
                    line = {"at": written_us(entry.at_us), "level": entry.level, "message": entry.message}
                    typer.echo(msgspec.json.encode(line | {"fields": fields}).decode())
                if not page.entries and (not follow or found.state in RUN_ENDED):
                    return
                await asyncio.sleep(0 if page.entries else TAIL_INTERVAL_SECONDS)

    read(loaded, work)


@takes("data", "database")
def pause(loaded: Loaded, reason: Reason = None) -> None:
    """Start no queued run of a catalogue; runs that have started go on."""
    _pause(loaded, reason, on=True)


@takes("data", "database")
def resume(loaded: Loaded, reason: Reason = None) -> None:
    """Start queued runs of catalogues again."""
    _pause(loaded, reason, on=False)


def _pause(loaded: Loaded, reason: str | None, *, on: bool) -> None:
    async def work() -> bool:
        async with _opened(loaded) as services:
            queue = services.queue
            return await (queue.pause(RunKind.SERIES) if on else queue.resume(RunKind.SERIES))

    changed = run_change("run kind.pause" if on else "run kind.resume", work(), reason)
    state = "paused" if on else "not paused"
    typer.echo(f"queued runs of catalogues are {state}" + ("" if changed else " already"))
