"""Patterns that are in the database already and cannot be compiled."""

import msgspec

from longline.model.bots.bot_policy import NewBotPolicy
from longline.model.ids import new_id
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.services.invalid_patterns import BadPattern, find_bad_patterns
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names


async def test_unusable_patterns_are_found_with_their_owners(records: Records):
    assert await find_bad_patterns(records) == (0, [])
    crawl = {"rules": {"allow": ["/a", "("], "disallow": None}, "article_url_patterns": [r"(a)\1"]}
    await records.sources.add(NewSource("news", "https://a.example/", crawl=msgspec.json.encode(crawl).decode()))
    await records.sources.add(NewSource("plain", "https://b.example/"))
    policy = NewBotPolicy(
        uid=new_id(),
        domain="c.example",
        name="all",
        pattern="[z-a]",
        interval_ms=1000,
        priority=5,
        max_retries=0,
        backoff_ms=1000,
        lease_ms=1000,
        enabled=True,
        next_due=0,
    )
    assert await records.bot_schedules.add(policy)
    count, bad = await find_bad_patterns(records)
    assert count == 4
    assert [one.owner for one in bad] == [
        "rules.allow of source news",
        "article_url_patterns of source news",
        "url_pattern of policy all",
    ]
    assert bad[0] == BadPattern("rules.allow of source news", "bad pattern '(': missing ): (")
