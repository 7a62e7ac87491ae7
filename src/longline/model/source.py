"""A source is a place to crawl, with its settings."""

import msgspec


class NewSource(msgspec.Struct, frozen=True):
    """A source to be registered; `config` is a JSON object."""

    name: str
    base_url: str
    config: str = "{}"


class SourceRow(msgspec.Struct, frozen=True):
    """A source as stored; ids count from 100000."""

    id: int
    name: str
    base_url: str
    config: str
    enabled: bool
    created_at: int
    updated_at: int
