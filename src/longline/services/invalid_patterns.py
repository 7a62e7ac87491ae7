"""Stored patterns of sources and of bot policies that cannot be compiled, and so match nothing."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec

from longline.model.bots.bot_policy import PolicyFilter
from longline.model.errors import BadInput
from longline.model.patterns import compile_pattern
from longline.model.sources.source import SourceQuery
from longline.ports.records import Records

BATCH_SIZE = 500


class BadPattern(msgspec.Struct, frozen=True):
    """A pattern that cannot be compiled: its owner, and the error of the compiler, which quotes the pattern."""

    owner: str
    error: str


async def find_bad_patterns(records: Records) -> tuple[int, list[BadPattern]]:
    """Return the number of stored patterns, and the patterns that cannot be compiled."""
    count, bad = 0, list[BadPattern]()
    async for owner, text in _patterns(records):
        count += 1
        try:
            compile_pattern(text)
        except BadInput as error:
            bad.append(BadPattern(owner, str(error)))
    return count, bad


async def _patterns(records: Records) -> AsyncIterator[tuple[str, str]]:
    offset = 0
    while sources := await records.sources.find(SourceQuery(), limit=BATCH_SIZE, offset=offset):
        offset += len(sources)
        for source in sources:
            for name, text in _of_source(msgspec.json.decode(source.crawl)):
                yield f"{name} of source {source.name}", text
    offset = 0
    while policies := await records.bot_schedules.find(PolicyFilter(), limit=BATCH_SIZE, offset=offset):
        offset += len(policies)
        for policy in policies:
            if policy.pattern:
                yield f"url_pattern of policy {policy.name or policy.uid}", policy.pattern


def _of_source(crawl: dict[str, Any]) -> Iterator[tuple[str, str]]:
    rules = crawl.get("rules") or {}
    lists = {"rules.allow": rules.get("allow"), "rules.disallow": rules.get("disallow")}
    for name, texts in {**lists, "article_url_patterns": crawl.get("article_url_patterns")}.items():
        for text in texts if isinstance(texts, list) else ():
            yield name, str(text)
