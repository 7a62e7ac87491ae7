"""Parts of manifests, from the settings and the platform: their kinds, proxy pools, tenants and chores."""

from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlsplit

import msgspec

from longline.drivers.blobs import open_blobs
from longline.drivers.blobs.encrypted import EncryptedBlobs
from longline.drivers.blobs.key_rules import checked_bucket, checked_key
from longline.engine.runs.retention import RunDeleter
from longline.model.downloads.download_plan import MAX_REDIRECTS, DownloadPlan
from longline.model.downloads.download_retries import DEFAULT_ATTEMPTS, FINAL_REASONS, RETRIED_STATUSES
from longline.model.duration import DAY_MS, HOUR_MS
from longline.model.errors import BadInput
from longline.model.fetch.credentials import header_problem
from longline.model.runs.crawl_plan import CrawlPlan, FetchOptions, ParseOptions, Politeness, Proxying, Retries
from longline.model.runs.end_judgement import EndRules
from longline.plugins.manifest_handlers import ManifestHandler, load_handler
from longline.services.manifests.dead_letters import DeadLetters
from longline.services.manifests.end_hooks import ManifestEndings
from longline.services.manifests.manifest_kinds import DEFAULT_KIND, ManifestKind, ManifestKinds
from longline.services.manifests.pruning import ManifestAges, ManifestPruning
from longline.services.manifests.submissions import IdempotencyRules
from longline.services.manifests.tenants import Tenant
from longline.services.manifests.uploads import ManifestUploads
from longline.services.proxies.configured_pools import ConfiguredPool, ConfiguredPools
from longline.settings import Settings
from longline.settings.tables.job_types import JOINED_POOL_PREFIX, OPTION_RANGES, JobTypeTable, KindOptions
from longline.settings.tables.proxy_pools import ProxyPoolTable
from longline.surfaces.manifests.responses import DEFAULT_BUCKET, ObjectPlaces
from longline.wiring.platform import Platform
from longline.wiring.subjects.logs import run_log_blobs


def manifest_kinds(settings: Settings) -> ManifestKinds:
    """Return the configured kinds of manifests; raise `BadInput` for a handler or an option that cannot be used."""
    tables = settings.tables
    wanted = {DEFAULT_KIND: JobTypeTable()} | tables.job_types
    return ManifestKinds(_kind(name, table, tables.proxy.pools) for name, table in wanted.items())


def checked_kinds(settings: Settings) -> ManifestKinds:
    """Return the configured kinds of manifests; raise `BadInput` also for an object store that could not be opened."""
    open_blobs(settings.objects)  # connects to nothing
    return manifest_kinds(settings)


def _kind(name: str, table: JobTypeTable, pools: Mapping[str, ProxyPoolTable]) -> ManifestKind:
    try:
        options = msgspec.convert(table.options, KindOptions)
        _check_options(options)
        _check_place(table)
        for header, value in table.default_headers.items():
            if problem := header_problem(header, value):
                raise BadInput(f"default_headers: {header} {problem}")
        handler = load_handler(table.handler, table.options) if table.handler else ManifestHandler()
    except msgspec.ValidationError as error:
        raise BadInput(f"job_types.{name}.options: {error}") from error
    except BadInput as error:
        raise BadInput(f"job_types.{name}: {error}") from error
    return ManifestKind(
        name,
        _plan(name, table, options, pools.get(table.proxy.primary)),
        handler,
        dict(table.default_headers),
        table.storage.bucket,
        table.storage.key_prefix,
    )


def _check_options(options: KindOptions) -> None:
    for option, (least, most) in OPTION_RANGES.items():
        value = getattr(options, option)
        if value is not None and not least <= value:
            raise BadInput(f"{option} is at least {least}")
        if value is not None and value > most:
            raise BadInput(f"{option} is at most {most}")


def _check_place(table: JobTypeTable) -> None:
    """Raise `BadInput` for a bucket or a prefix of keys under which no file can be stored."""
    try:
        checked_key(f"{table.storage.key_prefix}job/resource")
    except BadInput as error:
        raise BadInput(f"storage.key_prefix: {error}") from error
    try:
        if table.storage.bucket:
            checked_bucket(table.storage.bucket)
    except BadInput as error:
        raise BadInput(f"storage.bucket: {error}") from error


def _plan(name: str, table: JobTypeTable, options: KindOptions, pool: ProxyPoolTable | None) -> CrawlPlan:
    attempts = options.download_retry_limit or (1 + pool.max_retries if pool else DEFAULT_ATTEMPTS)
    backoff_ms = (pool or ProxyPoolTable()).retry_backoff_ms
    if options.retry_backoff_ms is not None:
        backoff_ms = options.retry_backoff_ms
    return CrawlPlan(
        seeds=(),
        politeness=Politeness(robots=False, delay_ms=0, concurrency=options.max_parallel_downloads),
        retries=Retries(
            max_attempts=attempts, delay_seconds=backoff_ms / 1000, final=FINAL_REASONS, statuses=RETRIED_STATUSES
        ),
        fetch=FetchOptions(
            max_redirects=MAX_REDIRECTS,
            cookies=False,
            conditional=False,
            proxying=Proxying(use=pool is not None, pool=_pool_name(name, table)),
        ),
        parse=ParseOptions(enabled=False),
        end=EndRules(judged="any"),
        downloads=DownloadPlan(
            kind=name,
            connect_seconds=options.connect_timeout_seconds,
            idle_seconds=options.idle_timeout_seconds,
            total_seconds=options.total_timeout_seconds,
            max_bytes=options.max_body_bytes,
            storage_attempts=options.storage_retry_limit,
            forbidden_blames_proxy=options.forbidden_blames_proxy,
        ),
        page_log_level="info",
        single=True,
    )


def _pool_name(name: str, table: JobTypeTable) -> str | None:
    """Return the pool of a job type: its primary one, or the pool that joins it with its fallbacks."""
    if not table.proxy.primary:
        return None
    return f"{JOINED_POOL_PREFIX}{name}" if table.proxy.fallbacks else table.proxy.primary


async def register_pools(platform: Platform) -> None:
    """Register the proxies and pools of the settings."""
    tables = platform.settings.tables
    pools = [ConfiguredPool(name, pool.primary, pool.fallbacks) for name, pool in tables.proxy.pools.items()]
    for name, table in tables.job_types.items():
        joined = _pool_name(name, table)
        if joined is not None and joined != table.proxy.primary:
            fallbacks = dict.fromkeys((table.proxy.primary, *table.proxy.fallbacks))
            pools.append(ConfiguredPool(joined, (), tuple(fallbacks)))
    proxies = platform.proxies
    await ConfiguredPools(proxies, platform.records.pools).register(pools)


def manifest_pruning(platform: Platform) -> ManifestPruning:
    """Return the chore that prunes manifests."""
    records, kept = platform.records, platform.settings.tables.retention
    ages = ManifestAges(kept.job_ttl_days * DAY_MS, kept.dlq_ttl_days * DAY_MS, kept.ledger_max_bytes)
    deleter = RunDeleter(records.retention, platform.blobs, run_log_blobs(platform))
    letters = DeadLetters(records.dead_letters, platform.lifecycle.downloads, platform.clock)
    return ManifestPruning(
        records.manifests.snapshots, records.manifests.keys, deleter, letters, ages, platform.clock, platform.metrics
    )


def manifest_blobs(platform: Platform) -> EncryptedBlobs:
    """Return the store of manifests, which are encrypted where the settings have a key."""
    return EncryptedBlobs(platform.blobs, platform.settings.tables.storage.client_side_key)


def manifest_uploads(platform: Platform) -> ManifestUploads:
    """Return the uploads of manifests in parts."""
    return ManifestUploads(manifest_blobs(platform), platform.clock, platform.settings.tables.server.max_upload_bytes)


def manifest_chore(platform: Platform) -> Callable[[], Awaitable[int]]:
    """Return the chore that deletes manifests, dead letters and uploads that are too old."""
    pruning, uploads = manifest_pruning(platform), manifest_uploads(platform)

    async def once() -> int:
        await uploads.sweep()
        return await pruning.once()

    return once


def manifest_endings(platform: Platform) -> ManifestEndings:
    """Return the handler of the ends of manifests."""
    return ManifestEndings(
        platform.records.manifests.snapshots, manifest_kinds(platform.settings), platform.records.run_effects.finish
    )


def idempotency_rules(settings: Settings) -> IdempotencyRules:
    """Return the windows of idempotency keys; none is longer than the retention of jobs."""
    tables = settings.tables
    longest = tables.retention.job_ttl_days * DAY_MS
    own = {
        name: min(tenant.idempotency_window_hours * HOUR_MS, longest)
        for name, tenant in tables.tenants.items()
        if tenant.idempotency_window_hours
    }
    return IdempotencyRules(min(tables.idempotency.window_hours * HOUR_MS, longest), own, tables.idempotency.strict)


def tenants(settings: Settings) -> dict[str, Tenant]:
    """Return the configured tenants."""
    return {
        name: Tenant(
            name, frozenset(key.lower() for key in one.api_keys), frozenset(one.subjects), one.requests_per_minute
        )
        for name, one in settings.tables.tenants.items()
    }


def object_places(settings: Settings) -> ObjectPlaces:
    """Return the URL of the default bucket; objects in a folder have the name of a bucket too."""
    parts = urlsplit(settings.objects)
    if parts.scheme == "s3":
        return ObjectPlaces(f"s3://{parts.netloc}{parts.path.rstrip('/')}")
    return ObjectPlaces(f"s3://{settings.tables.storage.bucket or DEFAULT_BUCKET}")
