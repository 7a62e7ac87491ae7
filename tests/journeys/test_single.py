"""Runs of single tasks: redirects to other hosts make and end no task, and every host is treated politely."""

import asyncio
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import orjson
import pytest

from longline.engine.frontier.admission import seed
from longline.engine.lifecycle.creation import ensure_run
from longline.engine.lifecycle.moves import MoveRequest
from longline.model.frontier.standing_frontier import SCOPE, url_hash
from longline.model.frontier.task import NewTask, TaskRow
from longline.model.ids import new_id
from longline.model.runs.crawl_plan import CrawlPlan, FetchOptions, Politeness
from longline.model.runs.run import NewRun, RunKind
from longline.model.urls.url import parse
from longline.ports.records.frontier.frontier import HostSetting
from longline.settings import Settings
from longline.wiring.platform import Platform, migrate_tables, open_platform, registered_worker
from longline.wiring.worker import fetch_worker
from tests.chaos.politeness import running_origin
from tests.drivers.records.audit import faults
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import get_run
from tests.plans import crawl_plan
from tests.web import running_site

URLS = 200
DELAY_MS = 10
MAX_REDIRECTS = 4
ONE, TWO, THREE = "127.0.1.1", "127.0.1.2", "127.0.1.3"


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings for each engine."""
    url = f"sqlite:///{tmp_path}/longline.db" if request.param == "sqlite" else request.getfixturevalue("wiped_home")
    return Settings(data=tmp_path, database=url, egress_allow=("127.0.0.0/8",))


@contextmanager
def origin() -> Iterator[int]:
    """Serve a website on every loopback address, and yield its port."""
    with running_origin(0.0) as port:
        yield port


async def crawl(platform: Platform, plan: CrawlPlan) -> list[TaskRow]:
    """Fetch the seeds of a plan with one worker; the tasks after the end of the run."""
    new = NewRun(new_id(), RunKind.CRAWL, plan.text(), plan.seeds[0])
    run_id = await platform.lifecycle.runs.begin(new, [seed(url, 0, plan) for url in plan.seeds], "test")
    before = await platform.records.tasks.find(run_id=run_id, limit=1000)
    assert (len(before), {task.state for task in before}) == (len(plan.seeds), {"pending"})

    async def ended() -> bool:
        return (await get_run(platform.records, run_id)).ended

    await work_until(platform, ended)
    row = await get_run(platform.records, run_id)
    after = await platform.records.tasks.find(run_id=run_id, limit=1000)
    assert [(task.id, task.url, task.host) for task in after] == [(t.id, t.url, t.host) for t in before]
    assert (row.admitted, row.open) == (len(plan.seeds), 0)
    return after


async def work_until(platform: Platform, done: Callable[[], Awaitable[bool]]) -> None:
    """Let a worker work, without plans of before, until something is so."""
    stop = asyncio.Event()
    async with registered_worker(platform, frozenset({"fetch", "parse"})) as owner, asyncio.timeout(240):
        working = asyncio.create_task(fetch_worker(platform, owner).run(stop))
        while not await done():  # noqa: ASYNC110 - rows, not an event
            await asyncio.sleep(0.1)
        stop.set()
        await working


def visits(port: int) -> dict[str, list[tuple[str, float]]]:
    """Return path and time of every request for a page, by host, in the words of the origin."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/__visits") as answer:
        seen = orjson.loads(answer.read())
    hosts: dict[str, list[tuple[str, float]]] = {}
    for host, path, start, _, _ in sorted(seen, key=lambda visit: visit[2]):
        hosts.setdefault(host, []).append((path, start))
    return hosts


def assert_polite(seen: dict[str, list[tuple[str, float]]]) -> None:
    for host, requests in seen.items():
        gaps = [(later - earlier) * 1000 for (_, earlier), (_, later) in pairwise(requests)]
        print(f"{host}: {len(requests)} requests, smallest gap {min(gaps):.2f} ms of {DELAY_MS}")
        assert min(gaps) >= DELAY_MS, host


def plan_of(urls: list[str]) -> CrawlPlan:
    return CrawlPlan(
        tuple(urls),
        politeness=Politeness(robots=False, delay_ms=DELAY_MS, concurrency=1),
        fetch=FetchOptions(max_redirects=MAX_REDIRECTS),
        single=True,
    )


@pytest.mark.slow(reason="two hundred pages with a pause after each")
async def test_urls_that_redirect_to_one_address_of_another_host_stay_their_own_tasks(settings: Settings):
    with origin() as port:
        async with open_platform(settings) as platform:
            await migrate_tables(platform, may_migrate=True)
            plan = plan_of([f"http://{ONE}:{port}/to/{TWO}/p{n}" for n in range(URLS)])
            tasks = await crawl(platform, plan)
            pages = [await platform.records.pages.get(task.id) for task in tasks]
            peek = Peek(settings.database)
            assert await faults(peek, platform.clock.now()) == []
            redirects = await peek.value("SELECT COUNT(*) FROM redirects")
            await peek.close()
        seen = visits(port)
    print(Counter((task.state, task.reason) for task in tasks))
    assert {(task.state, task.reason, task.attempt, task.status) for task in tasks} == {("completed", "ok", 1, 200)}
    assert {page.url for page in pages if page} == {f"http://{TWO}:{port}/p0"}
    assert (len([page for page in pages if page]), redirects) == (URLS, URLS)
    assert (len(seen[ONE]), len(seen[TWO])) == (URLS, URLS)
    assert_polite(seen)


@pytest.mark.slow(reason="two hundred rings with a pause after each page")
async def test_urls_in_a_ring_of_hosts_end_each_with_its_own_fate(settings: Settings):
    with origin() as port:
        async with open_platform(settings) as platform:
            await migrate_tables(platform, may_migrate=True)
            hosts = (ONE, TWO, THREE)
            plan = plan_of([f"http://{hosts[n % 3]}:{port}/ring/p{n}" for n in range(URLS)])
            tasks = await crawl(platform, plan)
            peek = Peek(settings.database)
            assert await faults(peek, platform.clock.now()) == []
            assert await peek.value("SELECT COUNT(*) FROM tasks WHERE home_id IS NOT NULL") == 0
            await peek.close()
        seen = visits(port)
    print(Counter((task.state, task.reason) for task in tasks))
    assert {(task.state, task.reason, task.attempt) for task in tasks} == {("failed", "too_many_redirects", 1)}
    asked = Counter(path for requests in seen.values() for path, _ in requests)
    assert asked == {f"/ring/p{n}": MAX_REDIRECTS + 1 for n in range(URLS)}
    assert_polite(seen)


async def kinds_of(platform: Platform, run_id: int) -> list[str]:
    """Return the kinds of the items of a run, in their order."""
    return [found.kind for found in await platform.records.items.of_run(run_id)]


def parsed_by(kind: str) -> CrawlPlan:
    """Return a plan whose parser makes items of a kind."""
    return crawl_plan(
        (),
        robots=False,
        delay_ms=0,
        max_depth=0,
        config=f'{{"parser": "selectors", "selectors": {{"{kind}": {{"title": "title"}}}}}}',
    )


async def test_a_task_that_is_restarted_yields_items_of_another_parser_though_its_page_has_not_changed(
    settings: Settings,
):
    with running_site(pages=2) as site:
        site.site.etags = True
        async with open_platform(settings) as platform:
            await migrate_tables(platform, may_migrate=True)
            records = platform.records
            new = NewRun(new_id(), RunKind.STANDING_MANUAL, parsed_by("first").text(), "s")
            run = await ensure_run(records.runs, new, "scheduler")
            url = parse(site.page_urls[0])
            task = NewTask(url.href, url.host, url_hash(url.href), SCOPE, run.id)
            await platform.lifecycle.admit([task], [HostSetting(url.host, 0, 1)])

            async def completed() -> bool:
                return (await records.tasks.find(run_id=run.id))[0].state == "completed"

            await work_until(platform, completed)
            [row] = await records.tasks.find(run_id=run.id)
            assert await kinds_of(platform, run.id) == ["first"]
            await records.runs.replan(run.id, parsed_by("second").text(), None)
            await platform.lifecycle.move(MoveRequest("task", row.id, "restart", "person"))
            await work_until(platform, completed)
            [row] = await records.tasks.find(run_id=run.id)
            kinds = await kinds_of(platform, run.id)
    print(f"the second request was answered {row.status}, items: {kinds}")
    assert (row.status, "second" in kinds) == (304, True)
