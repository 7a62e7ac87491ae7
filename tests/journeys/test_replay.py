"""A crawl is recorded, and runs the same way again without its website."""

from pathlib import Path

from tests.journeys.archive import ask
from tests.servers import program
from tests.web import running_site

FATES = "SELECT url, state, reason FROM tasks ORDER BY url"


def crawl(url: str, out: Path, *more: str) -> None:
    done = program.run("crawl", url, "--depth", "10", "--out", str(out), *more)
    assert done.returncode == 0, done.stderr


def test_a_recorded_crawl_has_the_same_fates_without_its_website(tmp_path: Path):
    answers = ("--fixtures", str(tmp_path / "answers"))
    with running_site(pages=40) as site:
        crawl(site.url, tmp_path / "live", *answers, "--fixtures-mode", "record")
        visits = len(site.requests)
    crawl(site.url, tmp_path / "again", *answers)
    assert ask(tmp_path / "again", FATES) == ask(tmp_path / "live", FATES)
    assert ask(tmp_path / "again", "SELECT COUNT(*) FROM pages") == [(40,)]
    assert len(list((tmp_path / "answers").rglob("*.json"))) == visits
