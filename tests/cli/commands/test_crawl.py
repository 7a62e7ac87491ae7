from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from longline.cli.commands import crawl
from longline.cli.crawl_scope import ScopeArguments, read_scope
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import Fate, RunRow
from longline.model.urls.url import parse
from longline.services.sinks.crawl_sinks import Undelivered
from longline.settings import Settings, load
from longline.wiring import CrawlResult, WorkerProgress
from tests.cli.conftest import Command, assert_one_line


def a_run(**facts: Any) -> RunRow:
    none: dict[str, Any] = dict.fromkeys(RunRow.__struct_fields__, 0)
    usual = {
        "plan": CrawlPlan(()).text(),
        "seed": "https://a.example/",
        "state": "completed",
        "admitted": 10,
        "completed": 10,
    }
    return RunRow(**none | usual | facts)


def planned(url: str = "https://a.example/", *, offsite: bool = False, environ: dict[str, str] | None = None) -> Any:
    return crawl._plan(load(environ=environ or {}), read_scope(ScopeArguments((url,), depth=3, offsite=offsite)))


def test_a_site_is_crawled_with_the_patience_of_the_settings():
    plan = planned()
    assert (plan.seeds, plan.bounds.hosts, plan.bounds.max_depth) == (
        ("https://a.example/",),
        ("a.example", "www.a.example"),
        3,
    )
    assert (
        plan.politeness.delay_ms,
        plan.politeness.concurrency,
        plan.retries.max_attempts,
        plan.politeness.robots,
    ) == (1000, 1, 4, True)
    given = {"LONGLINE_DELAY": "250ms", "LONGLINE_HOST_CONCURRENCY": "3", "LONGLINE_RESPECT_ROBOTS": "false"}
    plan = planned(environ=given | {"LONGLINE_MAX_RETRIES": "0"})
    assert (
        plan.politeness.delay_ms,
        plan.politeness.concurrency,
        plan.retries.max_attempts,
        plan.politeness.robots,
    ) == (250, 3, 1, False)


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "site.localhost", "[::1]:8080", "127.8.8.8"])
def test_the_users_own_machine_gets_no_delay_unless_a_setting_has_one(host: str):
    plan = planned(f"http://{host}/")
    assert (plan.politeness.delay_ms, plan.politeness.concurrency) == (0, 8)
    plan = planned(f"http://{host}/", environ={"LONGLINE_DELAY": "1s", "LONGLINE_HOST_CONCURRENCY": "2"})
    assert (plan.politeness.delay_ms, plan.politeness.concurrency) == (1000, 2)


@pytest.mark.parametrize("host", ["localhost.example", "10.0.0.1", "notlocalhost"])
def test_other_machines_are_not_ones_own(host: str):
    assert planned(f"http://{host}/").politeness.delay_ms == 1000


def test_off_the_site_any_host_will_do():
    assert planned(offsite=True).bounds.hosts == ()


def test_everything_is_in_one_folder_unless_an_engine_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    settings = crawl._settings(load(environ={}), Path("out"))
    assert settings.data == tmp_path / "out"
    assert (settings.database, settings.objects) == (f"sqlite:///{tmp_path}/out/longline.db", f"file://{tmp_path}/out")
    named = load(environ={"LONGLINE_DATABASE": "postgresql://a@b/c", "LONGLINE_OBJECTS": "memory://"})
    settings = crawl._settings(named, Path("out"))
    assert (settings.database, settings.objects) == ("postgresql://a@b/c", "memory://")


def summary(
    run: RunRow,
    *fates: Fate,
    untouched: bool = False,
    refused: dict[str, int] | None = None,
    taken_up: int = 0,
) -> str:
    out = StringIO()
    result = CrawlResult(run, list(fates), False, untouched, refused=refused or {}, taken_up=taken_up)
    crawl._summary(Console(width=100, file=out), result, Settings(data=Path("out")))
    return out.getvalue()


def rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines() if "\t" in line]


def test_the_table_adds_up():
    fates = [
        Fate("completed", "ok", 1200),
        Fate("skipped", "robots", 5),
        Fate("refused", "offsite", 77),
        Fate("without_item", "page_type", 9),
    ]
    told = summary(a_run(admitted=1212, completed=1200, skipped=5, open=7, state="running"), *fates)
    assert rows(told) == [
        ["completed", "ok", "1,200"],
        ["skipped", "robots", "5"],
        ["open", "not fetched yet", "7"],
        ["admitted", "the sum of these", "1,212"],
        ["not admitted", "offsite", "77"],
        ["without item", "page_type", "9"],
    ]
    assert "the same command resumes the crawl" in told


@pytest.mark.parametrize(("reason", "said"), [("parser_error", "no page was parsed"), ("dns", "no page was fetched")])
def test_a_crawl_without_a_page_says_whether_one_was_fetched(reason: str, said: str):
    assert said in summary(a_run(admitted=1, failed=1, completed=0), Fate("failed", reason, 1))


def test_the_summary_of_an_ended_crawl_says_that_it_had_ended():
    told = summary(a_run(), Fate("completed", "ok", 10), untouched=True)
    assert "has already ended; add --again" in told
    assert "resumes the crawl" not in told


def test_the_bar_shows_the_ended_urls_among_the_admitted_ones():
    with crawl._ProgressBar(Console(quiet=True), parse("https://a.example/")) as bar:
        bar.opened(a_run(state="running", open=4), resumed=True)
        bar.moved(a_run(state="running", admitted=20, open=5), WorkerProgress(failed=3))
        [task] = bar._progress.tasks
        assert (task.description, task.completed, task.total, task.fields["failed"]) == ("a.example", 15, 20, 3)


def test_a_folder_that_cannot_be_written_is_named_with_the_flag_of_crawls(longline: Command, tmp_path: Path):
    (tmp_path / "file").write_text("")
    told = longline("crawl", "http://127.0.0.1:9/", "--out", "file/out")
    assert_one_line(told, 1, "cannot be written: Not a directory; name another with --out")


def test_a_config_without_a_parser_names_the_flag(longline: Command):
    outcome = longline("crawl", "https://shop.example/", "--parser-config", '{"currency": "EUR"}')
    assert_one_line(outcome, 2, "--parser-config is the config of one parser; name the parser with --parser")


def test_a_missing_folder_of_recorded_responses_is_told(longline: Command, tmp_path: Path):
    outcome = longline("crawl", "https://shop.example/", "--fixtures", "answers")
    assert_one_line(outcome, 2, "--fixtures: there is no folder answers; --fixtures-mode record makes one")
    assert list(tmp_path.iterdir()) == []


def test_bounds_that_left_links_out_are_named_with_the_option_that_takes_them_up():
    told = summary(a_run(budget=10), refused={"depth": 81, "offsite": 1, "budget": 1200, "excluded": 2}, taken_up=7)
    assert "7 links that the earlier bounds left out taken up" in told
    assert "81 links were beyond --depth 2; a larger --depth goes on with them" in told
    assert "1 link was to other hosts; --offsite goes on with it" in told
    assert "1,200 links were beyond --limit 10; a larger --limit goes on with them" in told
    assert "2 links were in an --exclude" in told
    assert "--include" not in told


@pytest.mark.parametrize(
    ("items", "told"),
    [
        (1, "1 item still waits for books (away); the same command sends it"),
        (1200, "1,200 items still wait for books (away); the same command sends them"),
    ],
)
def test_items_that_a_sink_lacks_are_counted(items: int, told: str):
    out = StringIO()
    crawl._print_undelivered(Console(file=out), [Undelivered("books", items, "away")], Path("books"))
    assert out.getvalue().splitlines()[0] == told
