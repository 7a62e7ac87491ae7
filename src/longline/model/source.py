"""A source is a place to crawl, with its settings."""

import msgspec


class NewSource(msgspec.Struct, frozen=True):
    """A source to be registered; `config` is a JSON object, `budget` bounds what all its runs together may admit."""

    name: str
    base_url: str
    config: str = "{}"
    budget: int | None = None


class SourceRow(msgspec.Struct, frozen=True):
    """A source as stored; ids count from 100000. `admitted` is kept only while there is a budget."""

    id: int
    name: str
    base_url: str
    config: str
    enabled: bool
    created_at: int
    updated_at: int
    budget: int | None = None
    admitted: int = 0
