"""A kill after the report of a page: the links of the page are stored."""

import signal
import subprocess
from pathlib import Path

import pytest

from longline.drivers.records import open_records
from longline.model.discovery.link import LinkQuery
from longline.model.frontier.standing_frontier import UrlQuery
from longline.testing.clock import FakeClock
from tests.servers.program import Program
from tests.web import running_site
from tests.web.wire import Answer

MODULE = "tests.chaos.report_kill"


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_links_of_a_page_are_written_with_its_report(engine: str, tmp_path: Path, request: pytest.FixtureRequest):
    url = f"sqlite:///{tmp_path}/longline.db" if engine == "sqlite" else request.getfixturevalue("wiped_home")
    with running_site(pages=1) as site:
        body = b'<title>T</title><p>text</p><a href="/news/a-story">on</a><a href="https://away.example/x">away</a>'
        site.site.extra["/"] = Answer(body=body)
        words = (str(tmp_path / "data"), url, site.url)
        with Program(words, module=MODULE, stderr=subprocess.PIPE, text=True) as crawl:
            _, error = crawl.communicate(timeout=120)
        assert crawl.returncode == -signal.SIGKILL, error
        records = await open_records(url, FakeClock())
        try:
            assert (await records.tasks.counts())["completed"] == 1
            frontier, _ = await records.standing.find(UrlQuery(kind="frontier.spider"))
            assert [row.url for row in frontier] == [f"{site.url}news/a-story"]
            links, _ = await records.links.find(LinkQuery())
            assert [link.url for link in links] == ["https://away.example/x"]
            assert [found.identity for found in await records.candidates.find(None, 10)] == ["away.example"]
        finally:
            await records.schema.close()
