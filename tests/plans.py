"""Plans of crawls for tests, from fields of any of their parts."""

from typing import Any

import msgspec

from longline.engine.stored_secrets import Vault
from longline.model.runs.crawl_plan import CrawlPlan
from longline.ports.records import Records
from longline.services.crawls.crawls import CrawlStores

PARTS = ("bounds", "politeness", "retries", "fetch", "parse")


def crawl_plan(seeds: tuple[str, ...] = (), **fields: Any) -> CrawlPlan:
    """Return a plan with these fields, each in its part."""
    return changed(CrawlPlan(seeds), **fields)


def changed(plan: CrawlPlan, **fields: Any) -> CrawlPlan:
    """Return the plan with other values of these fields."""
    parts: dict[str, dict[str, Any]] = {}
    for name, value in fields.items():
        part = next((part for part in PARTS if name in getattr(plan, part).__struct_fields__), "")
        parts.setdefault(part, {})[name] = value
    whole = parts.pop("", {})
    return msgspec.structs.replace(
        plan, **whole, **{part: msgspec.structs.replace(getattr(plan, part), **given) for part, given in parts.items()}
    )


def crawl_stores(records: Records) -> CrawlStores:
    """Return the stores of crawls in a database."""
    return CrawlStores(records.runs, records.workers, records.refused_urls, Vault("a key for tests"))
