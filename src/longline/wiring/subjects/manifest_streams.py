"""Streams of manifests in Redis, from the parts of the platform: the mirror, and the tasks of direct producers."""

import asyncio
from functools import partial

from longline.drivers.extras import load_driver
from longline.engine.lifecycle.manifests import ManifestLifecycle
from longline.engine.loop_supervisor import Loop, cancel_on_stop, chore
from longline.model.duration import DAY_MS
from longline.model.manifests.manifest import StreamName
from longline.ports.manifests import ManifestStreams
from longline.services.logs.log_pages import LogPages
from longline.services.manifests.direct_tasks import TASK_BATCH_SIZE, DirectTasks
from longline.services.manifests.stream_mirror import MIRROR_INTERVAL_SECONDS, MirrorStores, StreamMirror
from longline.settings import Settings
from longline.surfaces.manifests.streams.stream_names import GROUPS, NAMES, POSITIONS_KEY
from longline.surfaces.manifests.streams.stream_records import StreamRecords, read_task, unreadable_record
from longline.wiring.platform import Platform
from longline.wiring.subjects.logs import run_log_blobs
from longline.wiring.subjects.manifests import manifest_kinds, object_places


def manifest_streams(settings: Settings) -> ManifestStreams:
    """Return the streams in Redis, with the retention of the settings."""
    kept = settings.tables.retention
    days: dict[StreamName, int] = {
        "tasks": kept.tasks_ttl_days,
        "status": kept.status_ttl_days,
        "logs": kept.logs_ttl_days,
        "dead_letters": kept.dlq_ttl_days,
    }
    ages = {name: count * DAY_MS for name, count in days.items()}
    driver = load_driver("longline.drivers.manifests.redis_streams")
    streams: ManifestStreams = driver.RedisManifestStreams(settings.redis, NAMES, ages, GROUPS, POSITIONS_KEY)
    return streams


def stream_mirror_loop(platform: Platform) -> Loop:
    """Return the loop that copies manifests to the streams."""
    records = platform.records
    logs = LogPages(records.log_pages, run_log_blobs(platform))
    stores = MirrorStores(records.events, records.manifests.snapshots, records.downloads, records.dead_letters, logs)

    async def mirror(stop: asyncio.Event) -> None:
        streams = manifest_streams(platform.settings)
        copier = StreamMirror(stores, streams, StreamRecords(object_places(platform.settings)))
        try:
            await chore(copier.once, MIRROR_INTERVAL_SECONDS)(stop)
        finally:
            await streams.close()

    return mirror


def direct_task_loop(platform: Platform) -> Loop:
    """Return the loop that takes the tasks of direct producers."""
    records = platform.records

    def parked(body: bytes, times: int, why: str) -> bytes:
        return unreadable_record(body, times, why, platform.clock.now())

    async def consume(stop: asyncio.Event) -> None:
        driver = load_driver("longline.drivers.sources.redis_events")
        names = (NAMES["tasks"], GROUPS["tasks"], NAMES["dead_letters"])
        queue = driver.RedisQueue(*names, "data", TASK_BATCH_SIZE, parked)
        messages = driver.RedisSourceEvents(platform.settings.redis, queue)
        lifecycle = ManifestLifecycle(records.manifests.runs, platform.lifecycle.downloads)
        kinds = manifest_kinds(platform.settings)
        tasks = DirectTasks(messages, records.manifests.snapshots, lifecycle, kinds, platform.vault, read_task)
        try:
            # The stop does not wait for messages: unsettled ones are delivered again.
            await cancel_on_stop(partial(_run, tasks))(stop)
        finally:
            await messages.close()

    return consume


async def _run(tasks: DirectTasks, stop: asyncio.Event) -> None:
    await chore(tasks.once, 0.0)(stop)
