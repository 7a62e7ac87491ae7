"""Checks between tables: proxy pools and their cycles, the object store, keys of tenants, the size of manifests."""

import re
from collections.abc import Iterable, Mapping

from longline.model.errors import BadInput
from longline.settings.tables import Tables
from longline.settings.tables.engines import MAX_MANIFEST_BYTES
from longline.settings.tables.proxy_pools import ProxyPoolTable

Origins = Mapping[str, str]

MIN_KEY_CHARS = 16
"""Fewest characters of a key for manifests."""

_HASH = re.compile(r"[0-9a-fA-F]{64}")


def check_tables(tables: Tables, origins: Origins) -> None:
    """Raise `BadInput` for tables that contradict each other."""
    pools = tables.proxy.pools
    for name, pool in pools.items():
        _check_references(f"proxy.pools.{name}.fallbacks", pool.fallbacks, pools, origins)
    for name, job_type in tables.job_types.items():
        _check_references(f"job_types.{name}.proxy.primary", filter(None, [job_type.proxy.primary]), pools, origins)
        _check_references(f"job_types.{name}.proxy.fallbacks", job_type.proxy.fallbacks, pools, origins)
    _check_cycles(pools, origins)
    _check_storage(tables, origins)
    _check_keys(tables, origins)
    _check_sizes(tables, origins)
    server = tables.server
    if server.max_manifest_bytes > MAX_MANIFEST_BYTES and not server.allow_large_manifests:
        key = "server.max_manifest_bytes"
        raise BadInput(f"{_origin(origins, key)}: {key} is above 5MB; set server.allow_large_manifests to allow that")


def _check_sizes(tables: Tables, origins: Origins) -> None:
    """Raise `BadInput` for a limit of zero, under which no manifest would be taken or kept."""
    sizes = {
        "server.max_manifest_bytes": tables.server.max_manifest_bytes,
        "server.max_upload_bytes": tables.server.max_upload_bytes,
        "retention.ledger_max_bytes": tables.retention.ledger_max_bytes,
    }
    for key, size in sizes.items():
        if size < 1:
            raise BadInput(f"{_origin(origins, key)}: {key} is at least 1 byte")


def _check_storage(tables: Tables, origins: Origins) -> None:
    """Raise `BadInput` for a short key, and for an S3 store without a bucket or with one half of its credentials."""
    storage = tables.storage
    if storage.client_side_key and len(storage.client_side_key) < MIN_KEY_CHARS:
        key = "storage.client_side_key"
        raise BadInput(f"{_origin(origins, key)}: {key} has fewer than {MIN_KEY_CHARS} characters")
    if storage.provider != "s3":
        return
    origin = _origin(origins, "storage.provider")
    if not storage.bucket:
        raise BadInput(f"{origin}: storage.bucket is needed for an S3 server")
    if bool(storage.access_key) != bool(storage.secret_key):
        raise BadInput(f"{origin}: storage.access_key and storage.secret_key belong together")


def _check_keys(tables: Tables, origins: Origins) -> None:
    """Raise `BadInput` for keys of tenants that are no hashes, and for keys or subjects of two tenants."""
    owners: dict[str, str] = {}
    owners_of_subjects: dict[str, str] = {}
    for name, tenant in tables.tenants.items():
        key = f"tenants.{name}.subjects"
        for subject in tenant.subjects:
            if (owner := owners_of_subjects.setdefault(subject, name)) != name:
                raise BadInput(f"{_origin(origins, key)}: {key} has a subject of the tenant {owner}")
        key = f"tenants.{name}.api_keys"
        for found in tenant.api_keys:
            if not _HASH.fullmatch(found):
                raise BadInput(f"{_origin(origins, key)}: {key} has an entry that is no SHA-256 hash in hexadecimal")
            if owners.setdefault(found.lower(), name) != name:
                raise BadInput(f"{_origin(origins, key)}: {key} has a key of the tenant {owners[found.lower()]}")


def _check_references(key: str, names: Iterable[str], pools: Mapping[str, ProxyPoolTable], origins: Origins) -> None:
    for name in names:
        if name not in pools:
            known = ", ".join(sorted(pools)) or "none"
            raise BadInput(f'{_origin(origins, key)}: {key} names the proxy pool "{name}"; configured are: {known}')


def _check_cycles(pools: Mapping[str, ProxyPoolTable], origins: Origins) -> None:
    """Raise `BadInput` for pools that follow each other in a circle. The stack is explicit: chains may be long."""
    done: set[str] = set()
    for first in pools:
        path: dict[str, None] = {}
        stack = [(first, False)]
        while stack:
            name, leaves = stack.pop()
            if leaves:
                path.pop(name)
                done.add(name)
            elif name in path:
                circle = " -> ".join([*path, name])
                key = f"proxy.pools.{name}.fallbacks"
                raise BadInput(f"{_origin(origins, key)}: proxy pools follow each other in a circle: {circle}")
            elif name not in done:
                path[name] = None
                stack += [(name, True), *((after, False) for after in reversed(pools[name].fallbacks))]


def _origin(origins: Origins, key: str) -> str:
    return origins.get(key, "settings")
