"""`longline manifests …`: jobs of manifests, their logs, dead letters, export and pruning."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import typer

from longline.cli.audited_changes import run_change
from longline.cli.data_folder import read, read_rows
from longline.cli.event_loop import run
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing
from longline.model.downloads.dead_letter import DeadLetter, DeadLetterFilter
from longline.model.duration import parse_duration
from longline.model.errors import BadInput
from longline.model.manifests.manifest import ManifestFilter, ManifestSnapshot, PrunedManifests
from longline.model.object_keys import DOCUMENT_FILE, METADATA_FILE, manifest_key
from longline.services.manifests.dead_letters import filters_of
from longline.services.manifests.pruning import exported
from longline.settings import Loaded
from longline.surfaces.manifests.dead_letters import chosen_reasons
from longline.surfaces.manifests.responses import dead_letter_body, log_envelope, rfc3339, snapshot_body, status_of
from longline.surfaces.manifests.services import ManifestServices
from longline.surfaces.manifests.snapshots import read_time
from longline.surfaces.manifests.streams.stream_records import read_task
from longline.wiring import open_platform
from longline.wiring.doors.manifests import manifest_services
from longline.wiring.platform import Platform, migrate_tables
from longline.wiring.subjects.manifest_streams import manifest_streams
from longline.wiring.subjects.manifests import checked_kinds, manifest_blobs, manifest_pruning

T = TypeVar("T")

MAX_SHOWN = 1000
TAIL_INTERVAL_SECONDS = 0.5
_ENDED = ("completed", "failed")

JobId = Annotated[str, typer.Option("--job-id", help="Id of the job.", show_default=False)]
Code = Annotated[str | None, typer.Option(help="Failure code, such as HTTP_503.", show_default=False)]
Host = Annotated[str | None, typer.Option(help="Host of the URL.", show_default=False)]
Since = Annotated[str | None, typer.Option(help="Earliest time, by RFC 3339.", show_default=False)]
Job = Annotated[str | None, typer.Option("--job-id", help="Id of a job.", show_default=False)]


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(help="Show jobs of manifests, replay dead letters, export and prune.", no_args_is_help=True)
    commands = {
        "list": show_list,
        "show": show,
        "document": document,
        "logs": tail_logs,
        "status": tail_status,
        "export": export,
        "prune": prune,
        "check": check,
        "publish-task": publish_task,
        "streams": set_up_streams,
    }
    for name, command in commands.items():
        app.command(name)(command)
    app.add_typer(build_dead_letters(), name="dlq")
    return app


def build_dead_letters() -> typer.Typer:
    """Return the command group of dead letters."""
    app = typer.Typer(help="List, show, replay and purge dead letters.", no_args_is_help=True)
    for name, command in {"list": list_letters, "show": show_letter, "replay": replay, "purge": purge}.items():
        app.command(name)(command)
    return app


@asynccontextmanager
async def _opened(loaded: Loaded) -> AsyncIterator[tuple[Platform, ManifestServices]]:
    async with open_platform(loaded.settings, reading=True) as platform:
        await migrate_tables(platform, may_migrate=False)
        yield platform, manifest_services(platform)


def _echo(value: msgspec.Struct) -> None:
    typer.echo(msgspec.json.encode(value).decode())


@takes("data", "database")
def show_list(
    loaded: Loaded,
    job_type: Annotated[str | None, typer.Option(help="Job type.", show_default=False)] = None,
    tenant: Annotated[str | None, typer.Option(help="Tenant.", show_default=False)] = None,
    since: Since = None,
) -> None:
    """List jobs, newest first."""
    wanted = ManifestFilter(kind=job_type, tenant=tenant, since=_time("--since", since))

    async def work() -> list[ManifestSnapshot]:
        async with _opened(loaded) as (_, services):
            return (await services.snapshots.page(wanted, None, MAX_SHOWN))[0]

    listing = Listing(Column("job", copied=True), "type", "tenant", "status", Column("done", right=True), "created")
    for one in read_rows(loaded, work):
        done = f"{one.completed}/{one.expected}"
        listing.add(one.uid, one.kind, one.tenant or "–", status_of(one), done, rfc3339(one.created_at))
    listing.print()
    if not listing.count:
        listing.note("no jobs of manifests for this choice")


@takes("data", "database", "objects")
def show(loaded: Loaded, job_id: Annotated[str, typer.Argument(help="Id of the job.", show_default=False)]) -> None:
    """Print the snapshot of a job as JSON."""

    async def work() -> None:
        async with _opened(loaded) as (_, services):
            _echo(snapshot_body(await services.snapshots.get(job_id), services.places))

    read(loaded, work)


@takes("data", "database", "objects")
def document(
    loaded: Loaded,
    job_id: Annotated[str, typer.Argument(help="Id of the job.", show_default=False)],
    metadata: Annotated[bool, typer.Option("--metadata", help="Print the metadata alone.")] = False,
) -> None:
    """Print the manifest of a job as it was sent, decrypted where it is stored encrypted."""

    async def work() -> None:
        async with _opened(loaded) as (platform, services):
            found = await services.snapshots.get(job_id)
            key = manifest_key(found.kind, found.uid, METADATA_FILE if metadata else DOCUMENT_FILE)
            typer.echo((await manifest_blobs(platform).get(key)).decode())

    read(loaded, work)


@takes("data", "database", "objects")
def tail_logs(
    loaded: Loaded,
    job_id: JobId,
    since_offset: Annotated[int, typer.Option(help="First offset, inclusive.", min=0)] = 0,
    follow: Annotated[bool, typer.Option(help="Go on until the job has ended.")] = True,
) -> None:
    """Print the log of a job as JSON lines, until the job has ended."""

    async def work() -> None:
        async with _opened(loaded) as (_, services):
            found = await services.snapshots.get(job_id)
            after = since_offset
            while True:
                is_open = status_of(await services.snapshots.get(job_id)) not in _ENDED
                async for line in services.logs.read(found, after, None, None):
                    _echo(log_envelope(line.entry, job_id, truncated=line.truncated))
                    after = line.entry.number + 1
                if not follow or not is_open:
                    return
                await asyncio.sleep(TAIL_INTERVAL_SECONDS)

    read(loaded, work)


@takes("data", "database", "objects")
def tail_status(loaded: Loaded, job_id: JobId) -> None:
    """Print the snapshot of a job as JSON at each change, until the job has ended."""

    async def work() -> None:
        async with _opened(loaded) as (_, services):
            printed: msgspec.Struct | None = None
            while True:
                body = snapshot_body(await services.snapshots.get(job_id), services.places)
                if body != printed:
                    _echo(body)
                    printed = body
                if body.status in _ENDED:
                    return
                await asyncio.sleep(TAIL_INTERVAL_SECONDS)

    read(loaded, work)


@takes("data", "database", "objects")
def export(
    loaded: Loaded,
    out: Annotated[Path, typer.Option(help="File for the snapshots, as JSON lines.", show_default=False)],
    since: Since = None,
) -> None:
    """Write the snapshots of all jobs into a file, as before a pruning."""

    async def work() -> int:
        count = 0
        async with _opened(loaded) as (platform, services):
            with out.open("wb") as file:
                async for one in exported(platform.records.manifests.snapshots, _time("--since", since) or 0):
                    file.write(msgspec.json.encode(snapshot_body(one, services.places)) + b"\n")
                    count += 1
        return count

    typer.echo(f"{read(loaded, work)} snapshots written to {out}")


@takes("data", "database", "objects")
def prune(
    loaded: Loaded,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Delete nothing; count only.")] = False,
) -> None:
    """Delete ended jobs that are too old, and the oldest ones beyond the size limit."""

    async def work() -> PrunedManifests:
        async with _opened(loaded) as (platform, _):
            return await manifest_pruning(platform).prune(is_dry=dry_run)

    found = run(work())
    typer.echo(f"{found.pruned} jobs {'would be ' if dry_run else ''}pruned, {found.remaining_bytes} bytes remain")


@takes("data", "database")
def list_letters(loaded: Loaded, job_id: Job = None, code: Code = None, host: Host = None, since: Since = None) -> None:
    """List dead letters in the order of their offsets."""

    async def work() -> list[DeadLetter]:
        async with _opened(loaded) as (_, services):
            wanted = _letters(job_id, code, host, since)
            return await services.letters.find(wanted, -1, MAX_SHOWN)

    listing = Listing(Column("offset", right=True), Column("job", copied=True), "resource", "code", "attempts", "URL")
    for one in read_rows(loaded, work):
        body = dead_letter_body(one)
        listing.add(str(one.number), one.run_uid, one.resource_id, body.failure_code, str(one.attempts), one.url)
    listing.print()
    if not listing.count:
        listing.note("no dead letters for this choice")


@takes("data", "database")
def show_letter(
    loaded: Loaded, offset: Annotated[int, typer.Argument(help="Offset of the dead letter.", show_default=False)]
) -> None:
    """Print a dead letter as JSON."""

    async def work() -> None:
        async with _opened(loaded) as (_, services):
            _echo(dead_letter_body(await services.letters.get(offset)))

    read(loaded, work)


@takes("data", "database")
def replay(
    loaded: Loaded,
    offset: Annotated[int | None, typer.Option(help="Offset of one dead letter.", show_default=False)] = None,
    job_id: Job = None,
    code: Code = None,
    host: Host = None,
    since: Since = None,
) -> None:
    """Queue the tasks of dead letters again: one, or all that fit."""
    if offset is None and not any((job_id, code, host, since)):
        raise BadInput("name --offset, or at least one of --job-id, --code, --host and --since")

    async def work() -> int:
        async with _opened(loaded) as (_, services):
            if offset is not None:
                return await services.letters.replay_one(offset)
            return await services.letters.replay(_letters(job_id, code, host, since))

    typer.echo(f"{run_change('dead_letter.replay', work())} tasks queued again")


@takes("data", "database")
def purge(
    loaded: Loaded,
    older_than: Annotated[str, typer.Option(help="Age of the failures.", metavar="DURATION")] = "90d",
) -> None:
    """Delete dead letters that are older than an age."""
    try:
        age_ms = round(parse_duration(older_than) * 1000)
    except ValueError:
        raise BadInput(f'--older-than "{older_than}" is not a duration like 90d') from None

    async def work() -> int:
        async with _opened(loaded) as (_, services):
            return await services.letters.purge(age_ms)

    typer.echo(f"{run(work())} dead letters purged")


@takes("data", "database", "objects", "redis")
def check(loaded: Loaded) -> None:
    """Check the settings of manifests: job types, handlers, proxy pools, storage and retention."""
    kinds = checked_kinds(loaded.settings)
    typer.echo(f"the settings are valid; job types: {', '.join(kinds.names)}")
    for note in loaded.notes:
        typer.echo(f"warning: {note}", err=True)


@takes("redis")
def publish_task(
    loaded: Loaded,
    file: Annotated[Path, typer.Option(help="File with a task as JSON.", show_default=False)],
) -> None:
    """Add a task to the stream of tasks, as a direct producer does."""
    data = file.read_bytes()
    task = read_task(data)
    if task is None:
        raise BadInput(f"{file} has the origin of a task of the platform, which would be left alone")
    typer.echo(run(_with_streams(loaded, lambda streams: streams.publish(data))))


@takes("redis")
def set_up_streams(loaded: Loaded) -> None:
    """Make the streams in Redis, and the consumer groups of their readers."""
    for name in run(_with_streams(loaded, lambda streams: streams.set_up())):
        typer.echo(name)


async def _with_streams(loaded: Loaded, work: Callable[[Any], Awaitable[T]]) -> T:
    if not loaded.settings.redis:
        raise BadInput("there are no streams without Redis; set redis, or broker.endpoint")
    streams = manifest_streams(loaded.settings)
    try:
        return await work(streams)
    finally:
        await streams.close()


def _letters(job_id: str | None, code: str | None, host: str | None, since: str | None) -> list[DeadLetterFilter]:
    reasons, status = chosen_reasons(code)
    if code and not reasons and status is None:
        raise BadInput(f'--code: there is no failure code "{code}"')
    return filters_of(DeadLetterFilter(run_uid=job_id, host=host, since=_time("--since", since)), reasons, status)


def _time(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return read_time(name, text)
    except Exception as error:
        raise BadInput(f'{name} "{text}" is not a time by RFC 3339') from error
