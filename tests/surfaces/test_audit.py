"""Every operation that changes a row leaves exactly one audit row; a refused one leaves none."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from longline.model.callers.audit import AuditFilter, AuditRow
from longline.model.discovery.link import NewLink
from longline.model.downloads.dead_letter import DeadLetterFilter
from longline.model.downloads.download import NewDownload
from longline.model.downloads.download_plan import DownloadPlan
from longline.model.ids import new_id, task_uuid
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import NewRun, RunKind
from longline.model.search.item import Origin, new_items
from longline.services.callers.tokens import Tokens
from longline.settings import Settings, jwt_secret
from longline.surfaces.bots.bot_operations import BOT_OPERATIONS
from tests.drivers.records.peek import Peek, Snapshot
from tests.surfaces.intervals.platform import Door, open_door

BOTS = "/api/crawl/admin"
ADMIN = "/api/admin"
CATALOGUE = "/api/v1/admin"
HARMLESS = {"preview_rebalance", "test_crawl", "fetch_metadata", "fetch_page"}
"""Operations without a change, although their method could make one."""

CANARY = "hunter2canary"
NOBODY = "00000000-0000-7000-8000-000000000000"


class Change(NamedTuple):
    """A request that changes a row, and its action in the audit."""

    method: str
    path: str
    action: str
    body: Any = None


class World:
    """Objects to be changed, behind the doors."""

    def __init__(self, door: Door, client: httpx.AsyncClient) -> None:
        self.door, self.client, self.made = door, client, 0

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self.client.request(method, path, json=body)
        assert answer.status_code < 300, (method, path, answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def name(self) -> str:
        self.made += 1
        return f"s{self.made}"

    async def dump(self) -> Snapshot:
        """Return every row of every table."""
        looking = Peek(self.door.platform.settings.database)
        try:
            return await looking.snapshot()
        finally:
            await looking.close()

    async def source(self) -> str:
        name = self.name()
        body = {"name": name, "url": f"https://{name}.example/", "feed_url": f"https://{name}.example/feed"}
        return str((await self.ask("POST", "/api/v1/sources", body))["id"])

    async def job(self, *, recurring: bool = True) -> str:
        source = await self.source()
        body: dict[str, Any] = {"source_id": source, "url": f"https://s{self.made}.example/"}
        if recurring:
            body |= {"interval_minutes": 30, "interval_type": "minutes", "schedule_enabled": True}
        return str((await self.ask("POST", "/api/v1/jobs", body))["id"])

    async def running(self) -> tuple[str, int]:
        """Start a job, and return it with the number of its run."""
        job = await self.job()
        row = await self.door.platform.records.schedules.get_by_uid(job)
        assert row
        run = await self.door.run(row)
        lease = f"state = 'running', run_id = {run.id}, lease_until = 9999999999999"
        await self.write(f"UPDATE schedules SET {lease} WHERE uid = '{job}'")
        return job, run.id

    async def paused(self) -> str:
        job = await self.job()
        await self.ask("POST", f"/api/v1/jobs/{job}/pause")
        return job

    async def failed(self) -> str:
        job = await self.job()
        await self.write(f"UPDATE schedules SET state = 'failed' WHERE uid = '{job}'")
        return job

    async def url(self) -> str:
        body = {"url": f"https://{self.name()}.example/", "source_id": "x"}
        return str((await self.ask("POST", "/api/v1/frontier", body))["id"])

    async def dead_url(self) -> str:
        url = await self.url()
        await self.door.finish(url, "failed", "http_4xx", 404, "HTTP 404")
        return url

    async def link(self) -> str:
        run = await self.door.platform.records.runs.add(NewRun(new_id(), RunKind.CRAWL, "{}"))
        name = self.name()
        await self.door.platform.records.links.save(
            [NewLink(run.id, f"https://{name}.example/", "https://p.example/", 1)]
        )
        found = (await self.ask("GET", f"/api/v1/discovered-links?search={name}.example"))["links"]
        return str(found[0]["id"])

    async def dead_letter(self) -> str:
        platform, name = self.door.platform, self.name()
        plan = CrawlPlan((), single=True, downloads=DownloadPlan())
        file = NewDownload(resource_id=name, url=f"https://{name}.example/", key=name)
        run = NewRun(new_id(), RunKind.MANIFEST, plan.text())
        run_id = await platform.lifecycle.downloads.begin(run, [file], plan, "manifest")
        [task] = await platform.records.downloads.find(run_id)
        await self.write(
            "INSERT INTO dead_letters (run_id, run_uid, task_id, resource_id, url, kind, tenant, reason, attempts,"
            f" host, failed_at) VALUES ({run_id}, '{run.uid}', {task.task_id}, '{name}', 'u', 'k', '', '{name}', 1,"
            f" '{name}', 1)"
        )
        [letter] = await platform.records.dead_letters.find(DeadLetterFilter(run_id=run_id))
        return str(letter.number)

    async def bot_job(self) -> str:
        return str((await self.ask("POST", f"{BOTS}/jobs", {"url": f"https://{self.name()}.example/"}))["data"]["id"])

    async def locked_job(self) -> str:
        job = await self.bot_job()
        for _ in range(20):
            pulled = (await self.client.post("/api/crawl/pull/", json={"bot_id": "anyone", "max_jobs": 100})).json()
            if any(each["job_id"] == job for each in pulled["data"]["jobs"]):
                break
        return job

    async def expired_job(self) -> str:
        job = await self.locked_job()
        await self.write("UPDATE offers SET due = 1 WHERE owner IS NOT NULL")
        return job

    async def policy(self) -> str:
        body = {"url": f"https://{self.name()}.example/"}
        return str((await self.ask("POST", f"{BOTS}/policies", body))["data"]["id"])

    async def bot(self) -> str:
        name = self.name()
        await self.ask("POST", f"{BOTS}/bots", {"bot_id": name, "name": name})
        return name

    async def domain(self) -> str:
        return (await self.shop())[0]

    async def shop(self) -> tuple[str, str]:
        """Make a domain, and return its id and the start of its URLs."""
        name = f"{self.name()}.example"
        body = {"domain_name": name, "base_url": f"https://{name}", "parser_name": "product"}
        return str((await self.ask("POST", f"{ADMIN}/domains", body))["data"]["id"]), f"https://{name}"

    async def proxy(self) -> str:
        body = {"proxy_url": f"{self.name()}.example", "proxy_port": 8080}
        return str((await self.ask("POST", f"{ADMIN}/proxies", body))["data"]["id"])

    async def mapping(self) -> str:
        domain, proxy = await self.domain(), await self.proxy()
        await self.ask("POST", f"{ADMIN}/domains/{domain}/proxies", {"proxy_ids": [int(proxy)]})
        return f"domains/{domain}/proxies/{proxy}"

    async def product_task(self) -> str:
        domain, root = await self.shop()
        body = {"domain_id": int(domain), "url": f"{root}/1"}
        return str((await self.ask("POST", f"{ADMIN}/tasks", body))["data"]["task_id"])

    async def paused_product_task(self) -> str:
        task = await self.product_task()
        await self.ask("POST", f"{ADMIN}/tasks/{task}/pause")
        return task

    async def batch(self) -> str:
        batch = (await self.ask("POST", f"{ADMIN}/batches", {"name": self.name()}))["data"]["id"]
        domain, root = await self.shop()
        body = {"domain_id": int(domain), "url": f"{root}/1", "batch_id": batch}
        await self.ask("POST", f"{ADMIN}/tasks", body)
        return str(batch)

    async def paused_batch(self) -> str:
        batch = await self.batch()
        await self.ask("POST", f"{ADMIN}/batches/{batch}/pause")
        return batch

    async def catalogue_source(self) -> str:
        name = self.name()
        body = {"name": name, "slug": name.lower(), "baseurl": f"https://{name.lower()}.example"}
        return str((await self.ask("POST", f"{CATALOGUE}/crawler/sources", body))["data"]["id"])

    async def comic(self) -> str:
        return str((await self.ask("POST", f"{CATALOGUE}/comics", {"title": self.name()}))["data"]["id"])

    async def comic_mapping(self) -> str:
        comic, source = await self.comic(), await self.catalogue_source()
        body = {"sourceid": int(source), "sourceid_ext": self.name(), "sourceurl": "https://a.example/"}
        made = await self.ask("POST", f"{CATALOGUE}/comics/{comic}/sources", body)
        return f"{comic}/sources/{made['data']['id']}"

    async def catalogue_job(self) -> str:
        body = {"sourceid": int(await self.catalogue_source()), "scheduledat": "2099-01-01T00:00:00Z"}
        return str((await self.ask("POST", f"{CATALOGUE}/crawler/jobs", body))["data"]["id"])

    async def stuck_catalogue_job(self) -> str:
        job = await self.catalogue_job()
        await self.write(f"UPDATE runs SET state = 'running', started_at = 1 WHERE uid = '{job}'")
        return job

    async def door_setting(self) -> str:
        key = f"site.{self.name().lower()}"
        await self.ask("PUT", f"{CATALOGUE}/settings/{key}", {"value": "1"})
        return key

    async def write(self, sql: str) -> None:
        """Write to the database directly."""
        looking = Peek(self.door.platform.settings.database)
        await looking.rows(sql)
        await looking.close()

    async def short_documents(self) -> None:
        source = await self.source()
        row = await self.door.platform.records.sources.get_by_ref(source)
        assert row is not None
        run = await self.door.platform.records.runs.add(NewRun(new_id(), RunKind.CRAWL, "{}", source_id=row.id))
        item = ("article", {"title": "T", "raw_text": "B", "word_count": 3})
        await self.door.platform.records.items.put(new_items([item], Origin(run.id, 1, f"https://{source}.example/")))

    async def crowd(self) -> None:
        """Make jobs that are all due at the same time."""
        for _ in range(6):
            await self.job()
        due = "(SELECT MAX(next_due) + 7200000 FROM schedules)"
        await self.write(
            f"UPDATE schedules SET next_due = {due}, interval_ms = 36000000, placed_at = NULL WHERE state = 'scheduled'"
        )

    async def rows(self) -> list[AuditRow]:
        return await self.door.platform.records.audit.find(AuditFilter(), limit=10_000)


async def paused_by(world: World) -> Change:
    return Change("POST", f"/api/v1/jobs/{await world.job()}/pause", "schedule.pause")


async def on_source(world: World, method: str, way: str, action: str, body: Any = None) -> Change:
    return Change(method, f"/api/v1/sources/{await world.source()}{way}", action, body)


async def on_bot(world: World, method: str, way: str, action: str, body: Any = None) -> Change:
    return Change(method, f"{BOTS}/bots/{await world.bot()}{way}", action, body)


async def on_jobs(way: str, action: str, job: Awaitable[str]) -> Change:
    return Change("POST", f"{BOTS}/jobs/{way}", action, {"ids": [await job]})


async def backfill(world: World) -> Change:
    await world.short_documents()
    return Change("POST", "/api/v1/backfill/worst-sources?dry_run=false", "schedule.backfill")


async def rebalance(world: World) -> Change:
    await world.crowd()
    return Change("POST", "/api/v1/scheduler/rebalance", "schedule.rebalance")


async def expired_locks(world: World) -> Change:
    await world.expired_job()
    return Change("POST", f"{BOTS}/expire-locks", "task.sweep", {})


async def due_jobs(world: World) -> Change:
    await world.policy()
    return Change("POST", f"{BOTS}/create-jobs", "task.plan", {})


async def reviewed(world: World) -> Change:
    await world.link()
    path = f"/api/v1/discovered-domains/s{world.made}.example/state"
    return Change("PATCH", path, "domain.review", {"status": "ignored"})


async def new_product_task(world: World) -> Change:
    domain, root = await world.shop()
    body = {"domain_id": int(domain), "url": f"{root}/new"}
    return Change("POST", f"{ADMIN}/tasks", "task.submit", body)


async def new_product_tasks(world: World) -> Change:
    domain, root = await world.shop()
    body = {"domain_id": int(domain), "urls": [f"{root}/1", f"{root}/2"]}
    return Change("POST", f"{ADMIN}/tasks/batch", "task.submit", body)


async def new_batch(world: World) -> Change:
    return Change("POST", f"{ADMIN}/batches", "batch.create", {"name": world.name()})


async def new_catalogue_source(world: World) -> Change:
    name = world.name().lower()
    body = {"name": name, "slug": name, "baseurl": f"https://{name}.example"}
    return Change("POST", f"{CATALOGUE}/crawler/sources", "source.create", body)


async def new_comic(world: World) -> Change:
    return Change("POST", f"{CATALOGUE}/comics", "series.create", {"title": world.name()})


async def new_comic_mapping(world: World) -> Change:
    comic, source = await world.comic(), await world.catalogue_source()
    body = {"sourceid": int(source), "sourceid_ext": "x", "sourceurl": "https://a.example/"}
    return Change("POST", f"{CATALOGUE}/comics/{comic}/sources", "target.create", body)


async def triggered(world: World) -> Change:
    body = {"sourceid": int(await world.catalogue_source()), "scheduledat": "2099-01-01T00:00:00Z"}
    return Change("POST", f"{CATALOGUE}/crawler/jobs", "run.trigger", body)


async def new_door_setting(world: World) -> Change:
    path = f"{CATALOGUE}/settings/site.{world.name().lower()}"
    return Change("PUT", path, "door setting.update", {"value": "x"})


async def new_domain(world: World) -> Change:
    name = f"{world.name()}.example"
    body = {"domain_name": name, "base_url": f"https://{name}", "parser_name": "product"}
    return Change("POST", f"{ADMIN}/domains", "source.create", body)


async def refreshed_robots(world: World) -> Change:
    body = {"domain_name": f"{world.name()}.example", "base_url": world.door.address, "parser_name": "product"}
    domain = (await world.ask("POST", f"{ADMIN}/domains", body))["data"]["id"]
    return Change("POST", f"{ADMIN}/domains/{domain}/refresh-robots", "source.refresh_robots", {})


async def new_proxy(world: World) -> Change:
    body = {"proxy_url": f"{world.name()}.example", "proxy_port": 8080, "proxy_password": CANARY}
    return Change("POST", f"{ADMIN}/proxies", "proxy.create", body)


async def assigned(world: World) -> Change:
    body = {"proxy_ids": [int(await world.proxy())]}
    return Change("POST", f"{ADMIN}/domains/{await world.domain()}/proxies", "proxy.assign", body)


async def all_reviewed(world: World) -> Change:
    await world.link()
    body = {"domains": [f"s{world.made}.example"], "status": "ignored"}
    return Change("POST", "/api/v1/discovered-domains/bulk-state", "domain.review", body)


async def made_of_link(world: World) -> Change:
    return Change("POST", f"/api/v1/discovered-links/{await world.link()}/create-job", "schedule.create", {})


async def resumed(world: World) -> Change:
    return Change("POST", f"/api/v1/jobs/{await world.paused()}/resume", "schedule.resume")


async def synced(world: World) -> Change:
    await world.source()
    return Change("POST", "/api/v1/admin/sync-enabled-sources", "source.sync")


def new(world: World, **more: Any) -> dict[str, Any]:
    name = world.name()
    return {"url": f"https://{name}.example/"} | more


Prepare = Callable[[World], Awaitable[Change]]


async def at_once(change: Change) -> Change:
    return change


JOB = "/api/v1/jobs"


async def replayed(world: World) -> Change:
    await world.dead_letter()
    return Change("POST", "/operators/dlq/replay", "dead_letter.replay", {"host": f"s{world.made}"})


CHANGES: dict[str, Prepare] = {
    "bots_add_job": lambda w: at_once(Change("POST", f"{BOTS}/jobs", "task.create", new(w))),
    "bots_mark_pending": lambda w: on_jobs("mark-pending", "task.restart", w.locked_job()),
    "bots_mark_expired": lambda w: on_jobs("mark-expired", "task.expire", w.locked_job()),
    "bots_reset_lock": lambda w: on_jobs("reset-lock", "task.release", w.locked_job()),
    "bots_expire_locks": expired_locks,
    "bots_create_jobs": due_jobs,
    "bots_add_policy": lambda w: at_once(Change("POST", f"{BOTS}/policies", "schedule.create", new(w))),
    "bots_add_urls": lambda w: at_once(Change("POST", f"{BOTS}/urls", "url.add", {"urls": [new(w)["url"]]})),
    "bots_register_bot": lambda w: at_once(
        Change("POST", f"{BOTS}/bots", "bot.register", {"bot_id": w.name(), "name": "b"})
    ),
    "bots_change_bot": lambda w: on_bot(w, "PATCH", "", "bot.change", {"enabled": False}),
    "bots_rotate_token": lambda w: on_bot(w, "POST", "/rotate-token", "bot.rotate_token"),
    "bots_reset_statistics": lambda w: on_bot(w, "POST", "/reset-statistics", "bot.reset"),
    "intervals_backfill_worst_sources": backfill,
    "intervals_submit_url": lambda w: at_once(Change("POST", "/api/v1/frontier", "task.submit", new(w, source_id="x"))),
    "intervals_create_job": lambda w: at_once(Change("POST", JOB, "schedule.create", new(w, source_id="x"))),
    "intervals_resume_job": resumed,
    "intervals_apply_rebalance": rebalance,
    "intervals_review_domain": reviewed,
    "intervals_review_domains": all_reviewed,
    "intervals_create_job_of_link": made_of_link,
    "intervals_make_source": lambda w: at_once(
        Change("POST", "/api/v1/sources", "source.create", new(w, name=f"n{w.made}"))
    ),
    "intervals_change_source": lambda w: on_source(w, "PUT", "", "source.change", {"rate_limit": "7s"}),
    "intervals_delete_source": lambda w: on_source(w, "DELETE", "", "source.delete"),
    "intervals_enable_source": lambda w: on_source(w, "PATCH", "/enable", "source.enable"),
    "intervals_disable_source": lambda w: on_source(w, "PATCH", "/disable", "source.disable", {"reason": "broken"}),
    "intervals_enable_feed": lambda w: on_source(w, "PATCH", "/feed-enable", "source.enable_feed"),
    "intervals_disable_feed": lambda w: on_source(
        w, "PATCH", "/feed-disable", "source.disable_feed", {"reason": "not_found"}
    ),
    "intervals_limit_source": lambda w: on_source(w, "PUT", "/budget", "source.limit", {"budget": 9}),
    "intervals_sync_sources": synced,
}
"""For each operation a change that it makes. Operations on one thing with an id follow."""


def on(method: str, path: str, action: str, make: Callable[[World], Awaitable[str]], body: Any = None) -> Prepare:
    """Return a preparation that makes one change first."""

    async def prepare(world: World) -> Change:
        return Change(method, path.format(await make(world)), action, body)

    return prepare


CHANGES |= {
    "bots_delete_job": on("DELETE", f"{BOTS}/jobs/{{}}", "task.delete", World.bot_job),
    "bots_change_policy": on("PATCH", f"{BOTS}/policies/{{}}", "schedule.change", World.policy, {"enabled": False}),
    "bots_delete_policy": on("DELETE", f"{BOTS}/policies/{{}}", "schedule.delete", World.policy),
    "manifests_replay_dead_letter": on("POST", "/operators/dlq/{}/replay", "dead_letter.replay", World.dead_letter),
    "manifests_replay_dead_letters": replayed,
    "products_submit_task": new_product_task,
    "products_submit_tasks": new_product_tasks,
    "products_restart_task": on("POST", f"{ADMIN}/tasks/{{}}/restart", "task.restart", World.paused_product_task, {}),
    "products_pause_task": on("POST", f"{ADMIN}/tasks/{{}}/pause", "task.pause", World.product_task),
    "products_resume_task": on("POST", f"{ADMIN}/tasks/{{}}/resume", "task.resume", World.paused_product_task),
    "products_change_task_priority": on(
        "PATCH", f"{ADMIN}/tasks/{{}}/priority", "task.prioritize", World.product_task, {"priority": 2}
    ),
    "products_cancel_task": on("DELETE", f"{ADMIN}/tasks/{{}}", "task.cancel", World.product_task),
    "products_add_batch": new_batch,
    "products_restart_batch": on("POST", f"{ADMIN}/batches/{{}}/restart", "task.restart", World.paused_batch, {}),
    "products_pause_batch": on("POST", f"{ADMIN}/batches/{{}}/pause", "task.pause", World.batch),
    "products_resume_batch": on("POST", f"{ADMIN}/batches/{{}}/resume", "task.resume", World.paused_batch),
    "products_cancel_batch": on("POST", f"{ADMIN}/batches/{{}}/cancel", "task.cancel", World.batch),
    "catalogue_create_source": new_catalogue_source,
    "catalogue_change_source": on(
        "PATCH", f"{CATALOGUE}/crawler/sources/{{}}", "source.update", World.catalogue_source, {"config": {"a": 1}}
    ),
    "catalogue_delete_source": on(
        "DELETE", f"{CATALOGUE}/crawler/sources/{{}}", "source.delete", World.catalogue_source, {"reason": "gone"}
    ),
    "catalogue_switch_source": on(
        "PATCH",
        f"{CATALOGUE}/crawler/sources/{{}}/enable",
        "source.disable",
        World.catalogue_source,
        {"isenabled": False},
    ),
    "catalogue_create_comic": new_comic,
    "catalogue_create_mapping": new_comic_mapping,
    "catalogue_change_mapping": on(
        "PATCH", f"{CATALOGUE}/comics/{{}}", "target.update", World.comic_mapping, {"isactive": False}
    ),
    "catalogue_delete_mapping": on("DELETE", f"{CATALOGUE}/comics/{{}}", "target.delete", World.comic_mapping),
    "catalogue_trigger_job": triggered,
    "catalogue_cancel_job": on("PATCH", f"{CATALOGUE}/crawler/jobs/{{}}/cancel", "run.cancel", World.catalogue_job, {}),
    "catalogue_reset_stuck_jobs": on(
        "POST", f"{CATALOGUE}/crawler/jobs/reset-stuck?{{}}", "run.reset", World.stuck_catalogue_job, {}
    ),
    "catalogue_pause_jobs": lambda _: at_once(Change("POST", f"{CATALOGUE}/crawler/pause", "run kind.pause", {})),
    "catalogue_resume_jobs": lambda _: at_once(Change("POST", f"{CATALOGUE}/crawler/resume", "run kind.resume", {})),
    "catalogue_run_batch_job": lambda _: at_once(
        Change("POST", f"{CATALOGUE}/batch/jobs/crawler.archive/run", "maintenance run.create", {})
    ),
    "catalogue_cancel_batch_job": lambda _: at_once(
        Change("POST", f"{CATALOGUE}/batch/jobs/crawler.archive/cancel", "maintenance run.cancel", {})
    ),
    "catalogue_create_partitions": lambda _: at_once(
        Change("POST", f"{CATALOGUE}/batch/crawler/partitions", "maintenance run.create", {})
    ),
    "catalogue_change_batch_schedule": lambda _: at_once(
        Change(
            "PATCH",
            f"{CATALOGUE}/batch/schedule",
            "maintenance schedule.update",
            {"jobkey": "crawler.archive", "cron": "1 2 3 4 5"},
        )
    ),
    "catalogue_put_setting": new_door_setting,
    "catalogue_delete_setting": on("DELETE", f"{CATALOGUE}/settings/{{}}", "door setting.delete", World.door_setting),
    "products_create_domain": new_domain,
    "products_change_domain": on(
        "PATCH", f"{ADMIN}/domains/{{}}", "source.change", World.domain, {"crawl_delay_seconds": 9}
    ),
    "products_enable_domain": on("POST", f"{ADMIN}/domains/{{}}/enable", "source.enable", World.domain),
    "products_disable_domain": on("POST", f"{ADMIN}/domains/{{}}/disable", "source.disable", World.domain),
    "products_refresh_robots": refreshed_robots,
    "products_create_proxy": new_proxy,
    "products_change_proxy": on("PATCH", f"{ADMIN}/proxies/{{}}", "proxy.change", World.proxy, {"city": "Bonn"}),
    "products_enable_proxy": on("POST", f"{ADMIN}/proxies/{{}}/enable", "proxy.enable", World.proxy),
    "products_disable_proxy": on("POST", f"{ADMIN}/proxies/{{}}/disable", "proxy.disable", World.proxy),
    "products_delete_proxy": on("DELETE", f"{ADMIN}/proxies/{{}}", "proxy.delete", World.proxy),
    "products_assign_proxies": assigned,
    "products_unassign_proxy": on("DELETE", f"{ADMIN}/{{}}", "proxy.unassign", World.mapping),
    "products_enable_mapping": on("POST", f"{ADMIN}/{{}}/enable", "proxy.enable_mapping", World.mapping),
    "products_disable_mapping": on("POST", f"{ADMIN}/{{}}/disable", "proxy.disable_mapping", World.mapping),
    "intervals_retry_url": on("POST", "/api/v1/frontier/{}/retry", "task.retry", World.dead_url),
    "intervals_delete_url": on("DELETE", "/api/v1/frontier/{}", "task.remove", World.url),
    "intervals_change_job": on("PUT", f"{JOB}/{{}}", "schedule.change", World.job, {"source_name": "other"}),
    "intervals_delete_job": on("DELETE", f"{JOB}/{{}}", "schedule.delete", World.job),
    "intervals_pause_job": paused_by,
    "intervals_cancel_job": on("POST", f"{JOB}/{{}}/cancel", "schedule.cancel", World.job),
    "intervals_retry_job": on("POST", f"{JOB}/{{}}/retry", "schedule.retry", World.failed),
    "intervals_force_job": on("POST", "/api/v2/jobs/{}/force-run", "schedule.force", World.job),
    "intervals_delete_link": on("DELETE", "/api/v1/discovered-links/{}", "link.delete", World.link),
}


@pytest.fixture
def settings(migrated_url: str, tmp_path: Path) -> Settings:
    own = ("127.0.0.0/8",)
    return Settings(data=tmp_path / "data", database=migrated_url, port=0, internal_secret=CANARY, egress_allow=own)


@pytest.fixture
async def world(settings: Settings) -> AsyncIterator[World]:
    async with open_door(settings) as door, door.client() as client:
        yield World(door, client)


NEED_A_WORKER = {"products_restart_parsing", "products_restart_failed_tasks"}
"""Operations on tasks that a worker has ended; tests with a worker make them."""


_SENDING = ("submit_manifest", "begin_upload", "put_part", "complete_upload", "abort_upload")
SENDERS = {f"manifests_{name}" for name in _SENDING}
"""Operations of senders of manifests: the manifests themselves are the record."""


async def test_every_changing_operation_is_known_here(world: World):
    document = await world.ask("GET", "/openapi.json")
    fast = {f"bots_{operation.name}" for operation in BOT_OPERATIONS}
    changing = {
        told["operationId"]
        for path in document["paths"].values()
        for method, told in path.items()
        if method != "get" and not told["operationId"].endswith("_2")
    }
    harmless = {f"intervals_{name}" for name in HARMLESS} | SENDERS | NEED_A_WORKER
    assert changing - fast - harmless == set(CHANGES), "a new operation needs an action, and a change in this table"


async def test_each_change_leaves_one_row_and_a_refused_one_none(world: World, settings: Settings):
    tokens = Tokens(jwt_secret(settings), world.door.platform.clock.now)
    member = {"Authorization": f"Bearer {tokens.issue('member', 'eve', 3600)}"}
    for name, prepare in CHANGES.items():
        change = await prepare(world)
        before = await world.rows()
        refused = await world.client.request(change.method, change.path, json=change.body, headers=member)
        assert refused.status_code == 403, name
        assert await world.rows() == before, name
        answer = await world.client.request(change.method, change.path, json=change.body)
        assert answer.status_code < 300, (name, answer.text)
        rows = (await world.rows())[: -len(before) or None]
        assert [row.action for row in rows] == [change.action], (name, rows, answer.text)
        [row] = rows
        assert (row.subject, row.role, row.kind, row.address) == ("me", "admin", "user", "127.0.0.1"), name
        assert (row.door, row.noun) == (name.split("_")[0], change.action.split(".")[0])
        assert row.before != row.after, name


ON_ONE_TASK = ("submit_task", "restart_task", "pause_task", "resume_task", "change_task_priority", "cancel_task")


@pytest.mark.parametrize("name", ON_ONE_TASK)
async def test_a_change_of_one_product_task_names_it(world: World, name: str):
    change = await CHANGES[f"products_{name}"](world)
    answer = (await world.client.request(change.method, change.path, json=change.body)).json()
    row = (await world.rows())[0]
    before, after = json.loads(row.before or "null"), json.loads(row.after or "")
    assert (row.action, after["id"]) == (change.action, answer["data"]["task_id"])
    assert row.thing == task_uuid(after["id"], after["created_at"])
    assert (before is None) == (name == "submit_task")
    assert before is None or before["id"] == after["id"]


async def test_a_change_of_many_product_tasks_names_no_thing(world: World):
    change = await CHANGES["products_submit_tasks"](world)
    await world.client.request(change.method, change.path, json=change.body)
    row = (await world.rows())[0]
    assert (row.action, row.thing, row.before) == ("task.submit", "", None)
    assert len(json.loads(row.after or "")["tasks"]) == 2


REFUSALS = (
    Change("POST", f"{JOB}/{NOBODY}/pause", ""),
    Change("DELETE", f"{JOB}/{NOBODY}", ""),
    Change("POST", JOB, "", {"url": "https://a:b@c.example/", "source_id": "x"}),
    Change("POST", "/api/v1/sources", "", {"name": "", "url": "x"}),
    Change("PATCH", f"/api/v1/sources/{NOBODY}/enable", ""),
    Change("DELETE", f"/api/v1/frontier/{NOBODY}", ""),
    Change("DELETE", f"/api/v1/discovered-links/{NOBODY}", ""),
    Change("POST", f"{BOTS}/jobs", "", {"url": "ftp://x"}),
    Change("POST", f"{BOTS}/jobs/mark-pending", "", {"ids": [NOBODY]}),
    Change("DELETE", f"{BOTS}/policies/{NOBODY}", ""),
    Change("PATCH", f"{BOTS}/bots/none", "", {"enabled": False}),
)


async def test_refused_requests_and_requests_without_a_change_leave_no_row(world: World):
    job, bot = await world.job(), await world.bot()
    again = (
        Change("POST", f"{JOB}/{job}/resume", ""),
        Change("PUT", f"{JOB}/{job}", "", {}),
        Change("POST", f"{BOTS}/bots", "", {"bot_id": bot, "name": bot}),
        Change("POST", f"{BOTS}/expire-locks", "", {"dry_run": True}),
    )
    before = await world.rows()
    for change in (*REFUSALS, *again):
        await world.client.request(change.method, change.path, json=change.body)
        assert await world.rows() == before, change


async def test_jobs_of_several_callers_in_one_commit_have_their_own_rows(world: World, settings: Settings):
    tokens = Tokens(jwt_secret(settings), world.door.platform.clock.now)

    async def create(number: int) -> None:
        headers = {"Authorization": f"Bearer {tokens.issue('admin', f'user{number}', 3600)}"}
        body = {"url": f"https://x{number}.example/", "source_id": f"x{number}"}
        answer = await world.client.post(JOB, json=body, headers=headers)
        assert answer.status_code == 201

    await asyncio.gather(*(create(number) for number in range(30)))
    rows = await world.rows()
    assert sorted(row.subject for row in rows) == sorted(f"user{number}" for number in range(30))
    for row in rows:
        assert json.loads(row.after or "")["url"] == f"https://x{row.subject.removeprefix('user')}.example/"


async def test_fields_and_status_in_one_request_are_one_change_with_one_row(world: World):
    job = await world.job()
    before = await world.rows()
    changed = await world.ask("PUT", f"{JOB}/{job}", {"source_name": "other", "status": "cancelled"})
    assert (changed["source_name"], changed["status"]) == ("other", "cancelled")
    [row] = [row for row in await world.rows() if row not in before]
    was, became = json.loads(row.before or ""), json.loads(row.after or "")
    assert (row.action, became["source_name"], became["state"]) == ("schedule.change", "other", "cancelled")
    assert (was["source_name"], was["state"]) != (became["source_name"], became["state"])
    refused = await world.client.put(f"{JOB}/{job}", json={"source_name": "third", "status": "running"})
    assert refused.status_code == 400
    assert (await world.ask("GET", f"{JOB}/{job}"))["source_name"] == "other"


async def test_a_running_job_that_is_changed_and_cancelled_leaves_one_row(world: World):
    job, run_id = await world.running()
    before = len(await world.rows())
    changed = await world.ask("PUT", f"{JOB}/{job}", {"source_name": "other", "status": "cancelled"})
    assert (changed["source_name"], changed["status"]) == ("other", "cancelled")
    [row] = (await world.rows())[:-before]
    assert (row.action, json.loads(row.after or "")["state"]) == ("schedule.change", "cancelled")
    run = await world.door.platform.records.runs.get(run_id)
    assert run is not None
    assert run.state == "cancelled"


async def test_a_running_job_that_is_deleted_leaves_one_row(world: World):
    job, _ = await world.running()
    before = len(await world.rows())
    await world.ask("DELETE", f"{JOB}/{job}")
    rows = (await world.rows())[:-before]
    assert [one.action for one in rows] == ["schedule.delete"]


async def test_a_secret_is_in_no_audit_row_log_metric_or_error(world: World, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    # As the program sets them up; the client of this test logs its own URLs.
    caplog.set_level(logging.WARNING, "uvicorn")
    caplog.set_level(logging.WARNING, "httpx")
    caplog.set_level(logging.WARNING, "httpcore")
    secret_url = f"https://me:{CANARY}@x.example/"
    attempts = (
        Change("POST", "/api/v1/sources", "", {"name": "leak", "url": secret_url}),
        Change("POST", "/api/v1/sources", "", {"name": "leak2", "url": "https://l.example/", "feed_url": secret_url}),
        Change("POST", JOB, "", {"url": secret_url, "source_id": "x"}),
        Change("POST", "/api/v1/frontier", "", {"url": secret_url, "source_id": "x"}),
        Change("POST", f"{BOTS}/jobs", "", {"url": secret_url}),
        Change("POST", f"{BOTS}/policies", "", {"url": "https://p.example/", "crawl_config": {"password": CANARY}}),
        Change(
            "POST",
            f"{BOTS}/policies",
            "",
            {
                "url": "https://q.example/",
                "crawl_config": {"headers": {"Cookie": CANARY}, "proxy": f"http://a:{CANARY}@p"},
            },
        ),
        Change("POST", f"{BOTS}/urls", "", {"urls": [secret_url]}),
    )
    told = []
    for change in attempts:
        answer = await world.client.request(change.method, change.path, json=change.body)
        told += [answer.text] if answer.is_error else []
    source = await world.source()
    await world.ask("PATCH", f"/api/v1/sources/{source}/disable", {"reason": f"see {secret_url}"})
    for credentials in ({"Authorization": f"Bearer {CANARY}"}, {"X-API-Key": f"llk_ab_{CANARY}"}):
        told.append((await httpx_get(world, "/api/v1/jobs", credentials)).text)
    told.append((await httpx_get(world, f"/api/v1/jobs?token={CANARY}", {})).text)
    bot = await world.bot()
    token = (await world.ask("POST", f"{BOTS}/bots/{bot}/rotate-token"))["data"]["api_token"]
    rows = await world.rows()
    assert {"schedule.create", "source.disable", "bot.rotate_token"} <= {row.action for row in rows}
    metrics = (await world.client.get("/metrics")).text
    records = [repr(vars(record)) for record in caplog.records]
    everything = "\n".join([*map(repr, rows), *told, metrics, *records, repr(world.door.platform.settings)])
    assert CANARY not in everything
    assert token not in everything
    dump = await world.dump()
    assert len(dump["audit"]) == len(rows), "the dump has rows"
    # A policy is handed to bots as it was given, secrets included.
    leaking = {table for table, found in dump.items() for row in found if CANARY in repr(row) or token in repr(row)}
    assert leaking <= {"bot_schedules"}, leaking


async def httpx_get(world: World, path: str, headers: dict[str, str]) -> httpx.Response:
    async with httpx.AsyncClient(base_url=world.door.address, verify=False, timeout=60) as stranger:
        return await stranger.get(path, headers=headers)
