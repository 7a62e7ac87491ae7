"""Parsers and sinks of sources over HTTP: stored, shown and checked, and in force with the next run."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ReportBatch
from longline.testing.clock import FakeClock
from tests.surfaces.intervals.stage import Json, Stage, opened

PATH = "/api/v1/sources"
SINKS = ("books=https://me:hunter2@a.example/in#whsec_hunter2", "x://all/")
BOOKS = """
import msgspec
from longline.plugins import Item, parser

class Shop(msgspec.Struct):
    currency: str = "GBP"
    pages: int = 5

@parser("books", match="https://books.example/*", config=Shop, types=("text/html", "application/json"))
def books(page, config):
    yield Item("book", url=page.url, currency=config.currency)
"""


@pytest.fixture
async def shop(records: Records, clock: FakeClock, tmp_path: Path) -> AsyncIterator[Stage]:
    """A server with a parser of its operator."""
    (tmp_path / "books.py").write_text(BOOKS)
    async with opened(records, clock, tmp_path, parsers=(str(tmp_path / "books.py"),), sinks=SINKS) as stage:
        yield stage


async def test_a_parser_and_its_config_are_kept_and_shown(shop: Stage):
    sent = {"parser": "books", "config": {"currency": "EUR"}}
    made = await shop.ask("POST", PATH, {"name": "books", "url": "https://books.example/"} | sent, 201)
    where = f"{PATH}/{made['id']}"
    assert {name: made[name] for name in sent} == sent
    assert await shop.ask("GET", where) == made == (await shop.ask("GET", PATH))["sources"][0]

    async def after(body: Json) -> tuple[Any, Any]:
        found = await shop.ask("PUT", where, body)
        assert found == await shop.ask("GET", where)
        return found.get("parser"), found.get("config")

    assert await after({"rate_limit": "1s"}) == ("books", {"currency": "EUR"}), (
        "a field that is not sent keeps its value"
    )
    assert await after({"config": {"pages": 2}}) == ("books", {"pages": 2}), "a config is replaced as a whole"
    assert await after({"config": None}) == ("books", None)
    assert await after({"parser": "article", "config": {"page_types": False}}) == ("article", {"page_types": False})
    assert await after({"parser": None}) == (None, None), "a config is removed with its parser"
    assert await after({"parser": "books"}) == ("books", None)
    assert await after({"parser": ""}) == (None, None)


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ({"parser": "bocks"}, "there is no parser 'bocks'; loaded are article, books, feed"),
        ({"parser": 7}, "parser must be a string"),
        ({"config": {"pages": 2}}, "config is the config of a parser: name the parser with the field parser"),
        ({"parser": "books", "config": []}, "config must be an object"),
        ({"parser": "books", "config": {"page": 2}}, "the config of the parser 'books' has no key 'page'"),
        ({"parser": "books", "config": {"pages": "2"}}, "is not valid: pages: expected int, got str"),
        ({"parser": "page", "config": {"pages": 2}}, "the parser 'page' takes no config"),
        ({"parser": "article", "config": {"never_follow": ["("]}}, "never_follow: bad pattern '('"),
        ({"parsr": "books"}, "parsr is not a known field"),
        ({"sinks": ["bucks"]}, "there is no sink 'bucks'; known are books. The setting sinks gives names"),
        ({"sinks": ["https://elsewhere.example/"]}, "there is no sink 'https://elsewhere.example/'"),
        ({"sinks": "books"}, "sinks must be a list"),
    ],
)
async def test_invalid_parsers_and_sinks_are_refused(shop: Stage, sent: Json, error: str):
    made = await shop.source("a")
    for method, where, body in (
        ("POST", PATH, {"name": "b", "url": "https://b.example/"} | sent),
        ("PUT", f"{PATH}/{made}", sent),
    ):
        told = await shop.ask(method, where, body, 400)
        assert list(told) == ["error"]
        assert error in told["error"]
    assert [one["name"] for one in (await shop.ask("GET", PATH))["sources"]] == ["a"]
    assert "parser" not in await shop.ask("GET", f"{PATH}/{made}")


async def test_a_source_may_be_sent_back_as_it_was_shown_but_not_with_another_budget(shop: Stage):
    made = await shop.source("a", parser="books", config={"pages": 2}, budget=9)
    where = f"{PATH}/{made}"
    await shop.ask("PATCH", f"{where}/disable", {"reason": "tired"})
    before = await shop.ask("GET", where)
    assert before["budget"] == 9
    after = await shop.ask("PUT", where, before)
    assert before | {"updated_at": after["updated_at"]} == after
    told = await shop.ask("PUT", where, before | {"budget": 10}, 400)
    assert told == {"error": "budget is changed with PUT /api/v1/sources/{id}/budget"}
    told = await shop.ask("POST", f"{PATH}/test-crawl", {"url": "https://a.example/", "parsr": "x"}, 400)
    assert told == {"error": "parsr is not a known field"}


async def test_the_sinks_of_a_source_are_names_and_show_no_address(shop: Stage):
    where = f"{PATH}/{await shop.source('a', sinks=['books'])}"
    shown = await shop.ask("GET", where)
    assert shown["sinks"] == ["books"]
    assert (await shop.ask("PUT", where, {"rate_limit": "1s"}))["sinks"] == ["books"], (
        "a field that is not sent keeps its value"
    )
    nothing: tuple[Any, ...] = ([], None)
    for none in nothing:
        assert (await shop.ask("PUT", where, {"sinks": ["books"]}))["sinks"] == ["books"]
        assert "sinks" not in await shop.ask("PUT", where, {"sinks": none})
    assert "hunter2" not in str(shown)


async def test_a_run_goes_by_the_parser_that_its_source_has_by_then(shop: Stage):
    source = await shop.source("books", rules={"disallow": ["/private/"]})
    job = await shop.recurring(source_id=source, adaptive_scheduling=False)
    plans = []
    for change in (
        {},
        {"parser": "books", "config": {"pages": 1}},
        {"parser": "article", "config": {}},
        {"parser": None},
    ):
        if change:
            await shop.ask("PUT", f"{PATH}/{source}", change)
        shop.advance(3600)
        await shop.run()
        [run] = await shop.platform.records.runs.find(limit=1)
        plans.append(CrawlPlan.read(run.plan))
    assert [(plan.config.get("parser"), plan.config.get("config")) for plan in plans] == [
        (None, None),
        ("books", {"pages": 1}),
        ("article", {}),
        (None, None),
    ]
    assert {plan.config["last_resort"] for plan in plans} == {"article"}
    assert {plan.bounds.exclude for plan in plans} == {("/private/",)}, "no list but the source's own"
    html = ("text/html", "application/xhtml+xml")
    assert plans[1].fetch.content_types == ("text/html", "application/json")
    assert (plans[0].fetch.content_types, plans[2].fetch.content_types) == ((*html, "application/json"), html)
    assert [run["status"] for run in await shop.runs(job)] == ["completed"] * 4


@pytest.mark.parametrize(
    ("parser", "config", "error"),
    [
        (
            "magazines",
            "{}",
            "the source 'old' cannot be parsed: there is no parser 'magazines'; loaded are article, books",
        ),
        (
            "books",
            '{"shelf":1}',
            "the source 'old' cannot be parsed: the config of the parser 'books' has no key 'shelf'",
        ),
    ],
)
async def test_a_run_fails_with_a_message_after_its_parser_was_removed(
    shop: Stage, parser: str, config: str, error: str
):
    row = await shop.platform.records.sources.make(
        NewSource("old", "https://old.example/", parser=parser, config=config)
    )
    job = await shop.job(row.public_id, url="https://old.example/", max_retries=0)
    await shop.run()
    [run] = await shop.runs(job)
    assert (run["status"], run["items_crawled"]) == ("failed", 0)
    assert error in run["error_message"]
    assert (await shop.get(job))["error_message"] == run["error_message"]


async def test_refusals_of_parsers_are_in_the_figures_of_the_run(shop: Stage):
    job = await shop.job()
    await shop.poll()
    [run] = await shop.platform.records.runs.find(limit=1)
    counted = ReportBatch(
        refused={(run.id, "never_follow"): 3, (run.id, "sold_out"): 2, (run.id, "offsite"): 5},
        without_item={
            (run.id, "page_type"): 4,
            (run.id, "quality_gate"): 1,
            (run.id, "noindex"): 6,
            (run.id, "empty"): 7,
        },
    )
    await shop.platform.lifecycle.report(counted)
    await shop.work()
    [shown] = await shop.runs(job)
    figures = shown["metadata"]["crawl_metrics"]
    assert {name: count for name, count in figures["skipped"].items() if count} == {
        "url_filter": 3,
        "page_type": 4,
        "quality_gate": 1,
        "noindex": 6,
    }
    assert figures["skipped_by_parser"] == {"sold_out": 2, "empty": 7}
    assert (shown["status"], shown["items_crawled"]) == ("completed", 1), "the sum of its URLs is unchanged"
