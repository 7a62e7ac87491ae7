"""One site, one command, on PostgreSQL and S3: whole, and killed on the way."""

import re
import signal

from tests.cli.conftest import running, surroundings
from tests.journeys.place import Place, wait_until
from tests.servers import program
from tests.web import SiteHandle, running_site

PAGES = 200


def words(place: Place, site: SiteHandle) -> list[str]:
    engines = [word for name in ("database", "objects") for word in (f"--{name}", place.engines[name])]
    return ["crawl", site.url, "--depth", "10", "--out", str(place.data), *engines]


def test_killed_on_the_way_it_goes_on_and_keeps_everything_once(large_without_tables: Place):
    large = large_without_tables
    with running_site(pages=PAGES) as site:
        site.hold(after=70)
        with running(large.data.parent, *words(large, site)) as process:
            wait_until(lambda: len(site.requests) > 70, "seventy visits")
            process.send_signal(signal.SIGKILL)
            process.wait()
        site.let_go()
        assert large.value("SELECT open FROM runs_now") > 0
        assert large.held(), "a killed process cannot release its leases"
        done = program.run(*words(large, site), env=surroundings({}))
        assert done.returncode == 0, done.stderr
        assert "resuming" in done.stdout
        assert re.search(rf"completed\W+ok\W+{PAGES}\b", done.stdout)
        large.assert_whole(site)
        assert not list(large.data.rglob("*.warc.gz")), "pages are in the bucket and nowhere else"
    assert large.held() == {}
