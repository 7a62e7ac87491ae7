"""Keys and times of the contract's cache."""

import hashlib

import msgspec

from longline.services.sources.source_cache import CacheEntry

LIST_KEY = "crawler:sources:list"
"""Key of the generation of the list; its pages have keys that begin with it."""

LIST_SECONDS, SOURCE_SECONDS, HEALTH_SECONDS = 60.0, 120.0, 30.0


def list_entry(query: msgspec.Struct) -> CacheEntry:
    """Return the entry of a page of the list; queries with the same meaning have the same."""
    digest = hashlib.sha256(msgspec.json.encode(query, order="sorted")).hexdigest()[:16]
    return CacheEntry(f"{LIST_KEY}:{digest}", None, LIST_SECONDS)


def source_entry(source_id: int) -> CacheEntry:
    """Return the entry of a source."""
    return CacheEntry(f"crawler:source:{source_id}", source_id, SOURCE_SECONDS)


def health_entry(source_id: int) -> CacheEntry:
    """Return the entry of the health of a source."""
    return CacheEntry(f"crawler:source:{source_id}:health", source_id, HEALTH_SECONDS)


def keys_of(source_id: int) -> list[str]:
    """Return the keys of a source that a change of it removes."""
    return [source_entry(source_id).key, health_entry(source_id).key]
