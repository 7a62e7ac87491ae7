"""`[job_types.<name>]`: the types of jobs that a manifest can ask for."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from longline.model.downloads.download_plan import DEFAULT_PARALLEL
from longline.settings.tables.schema import SettingsTable, TableEntries, TableSection
from longline.settings.values import LIST, TEXT, VALUE, Key

JOINED_POOL_PREFIX = "job type "
"""Prefix of the names of pools that join the pools of one job type."""


class JobProxyTable(SettingsTable, frozen=True, kw_only=True):
    """The proxy pools of a job type."""

    primary: Annotated[str, Key(TEXT, "Proxy pool that downloads use first; if not set, they use no proxy.")] = ""
    fallbacks: Annotated[
        tuple[str, ...], Key(LIST, "Proxy pools that follow in this order when all proxies of a pool have failed.")
    ] = ()


class JobStorageTable(SettingsTable, frozen=True, kw_only=True):
    """The place of the objects of a job type."""

    bucket: Annotated[str, Key(TEXT, "Bucket of downloaded resources; if not set, the bucket of `storage`.")] = ""
    key_prefix: Annotated[
        str, Key(TEXT, "Prefix of the keys of downloaded resources; if not set, `resources/<job type>/`.")
    ] = ""


class JobTypeTable(SettingsTable, frozen=True, kw_only=True):
    """One type of jobs."""

    handler: Annotated[
        str, Key(TEXT, "Class that prepares manifests, as `package.module:Class`; if not set, the built-in one.")
    ] = ""
    default_headers: Annotated[
        dict[str, str], TableEntries(Key(TEXT, "Header of every download, unless the handler or the manifest sets it."))
    ] = msgspec.field(default_factory=dict)
    proxy: Annotated[JobProxyTable, TableSection(JobProxyTable)] = JobProxyTable()
    storage: Annotated[JobStorageTable, TableSection(JobStorageTable)] = JobStorageTable()
    options: Annotated[
        dict[str, Any], TableEntries(Key(VALUE, "Option of the handler, such as `max_parallel_downloads`."))
    ] = msgspec.field(default_factory=dict)


class KindOptions(msgspec.Struct, frozen=True):
    """The options of a job type that the platform reads; all others are for the handler alone."""

    max_parallel_downloads: int = DEFAULT_PARALLEL
    download_retry_limit: int | None = None
    storage_retry_limit: int = 3
    connect_timeout_seconds: float = 30.0
    idle_timeout_seconds: float = 30.0
    total_timeout_seconds: float = 3600.0
    max_body_bytes: int = 5 * 1024**3
    forbidden_blames_proxy: bool = False
    retry_backoff_ms: int | None = None


MAX_ATTEMPTS, MAX_BACKOFF_MS, MAX_TIMEOUT_SECONDS = 1000, 86_400_000, 604_800
MAX_PARALLEL_DOWNLOADS, MAX_FILE_BYTES = 10_000, 2**50

OPTION_RANGES: Mapping[str, tuple[float, float]] = {
    "max_parallel_downloads": (1, MAX_PARALLEL_DOWNLOADS),
    "download_retry_limit": (1, MAX_ATTEMPTS),
    "storage_retry_limit": (1, MAX_ATTEMPTS),
    "connect_timeout_seconds": (0.001, MAX_TIMEOUT_SECONDS),
    "idle_timeout_seconds": (0.001, MAX_TIMEOUT_SECONDS),
    "total_timeout_seconds": (0.001, MAX_TIMEOUT_SECONDS),
    "max_body_bytes": (1, MAX_FILE_BYTES),
    "retry_backoff_ms": (0, MAX_BACKOFF_MS),
}
"""Least and largest values of the options that are numbers."""
