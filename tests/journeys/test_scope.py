"""`longline crawl` within bounds: by path, depth, number, seeds and sitemaps; and a larger bound that resumes."""

import gzip
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.journeys.archive import ask, records
from tests.journeys.place import wait_until
from tests.servers import program
from tests.web import SiteHandle, running_site
from tests.web.wire import Answer


def page(*links: str) -> bytes:
    return f"<title>Page</title>{''.join(f'<a href={link}>link</a>' for link in links)}".encode()


def crawl(*words: str, out: Path) -> subprocess.CompletedProcess[str]:
    return program.run("crawl", *words, "--out", str(out))


def fetched(site: SiteHandle) -> set[str]:
    """Return the requested paths, each of them requested once."""
    visits = site.visits()
    visits.pop("/robots.txt", None)
    assert set(visits.values()) == {1}, visits
    return set(visits)


def test_a_crawl_is_bounded_by_path_and_a_wider_bound_takes_up_the_links_left_out(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running_site(pages=0) as site:
        site.site.extra |= {
            "/": page("/blog", "/blogger", "/shop/1", "/old"),
            "/blog": page("/blog/1", "/blog/draft-2", "/shop/2", "/blog/moved"),
            "/blog/1": page("/blog/3"),
            "/blog/3": page(),
            "/blog/moved": Answer(302, headers=(("Location", "/blog/draft-9"),)),
            **{path: page() for path in ("/blogger", "/shop/1", "/shop/2", "/blog/draft-2", "/blog/draft-9")},
        }
        done = crawl(site.url, "--include", "/blog", "--exclude", "*draft*", out=out)
        assert done.returncode == 0, done.stderr
        assert fetched(site) == {"/", "/blog", "/blog/1", "/blog/3", "/blog/moved"}
        assert "4 links were in no --include; a wider --include goes on with them" in done.stdout
        assert "2 links were in an --exclude; a narrower --exclude goes on with them" in done.stdout

        done = crawl(site.url, out=out)
        assert "this crawl has already ended" in done.stdout
        assert "4 links were in no --include" in done.stdout

        done = crawl(site.url, "--include", "/blog", "--include", "/shop/*", out=out)
        assert done.returncode == 0, done.stderr
        assert "2 links that the earlier bounds left out taken up" in done.stdout
        assert "2 links were in no --include" in done.stdout
        assert fetched(site) >= {"/shop/1", "/shop/2"}

        done = crawl(site.url, "--include", "none", "--exclude", "none", out=out)
        assert "4 links that the earlier bounds left out taken up" in done.stdout
        assert fetched(site) >= {"/blogger", "/old", "/blog/draft-2", "/blog/draft-9"}
        assert "--include" not in done.stdout
    assert ask(out, "SELECT COUNT(*) FROM runs") == [(1,)]
    assert ask(out, "SELECT COUNT(*) FROM refused_urls") == [(0,)]


def test_there_is_no_depth_limit_and_a_larger_one_survives_a_kill(tmp_path: Path) -> None:
    with running_site(pages=0) as site:
        chain = {f"/{n}": page(f"/{n + 1}", f"/side/{n}") for n in range(1, 30)}
        site.site.extra |= {"/": page("/1"), **chain, **{f"/side/{n}": page() for n in range(1, 30)}, "/30": page()}
        whole = crawl(site.url, out=tmp_path / "whole")
        assert set(records(tmp_path / "whole")) == {site.url.rstrip("/") + path for path in site.site.extra}
        assert "--depth" not in whole.stdout
        site.requests.clear()

        out = tmp_path / "out"
        done = crawl(site.url, "--depth", "2", out=out)
        assert fetched(site) == {"/", "/1", "/2", "/side/1"}
        assert "2 links were beyond --depth 2; a larger --depth goes on with them" in done.stdout
        done = crawl(site.url, "--limit", "7", "--depth", "none", out=out)
        assert "2 links that the earlier bounds left out taken up" in done.stdout
        assert re.search(r"\d links? w\w+ beyond --limit 7; a larger --limit", done.stdout), done.stdout
        assert not re.search(r"not admitted\W+depth", done.stdout)
        assert len(fetched(site)) == 7

        site.hold(after=20)
        words = ["crawl", site.url, "--limit", "none", "--out", str(out)]
        process = program.Program(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: len(site.requests) > 20 or process.poll() is not None, "20 visits")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        site.let_go()
        done = crawl(site.url, out=out)
        assert done.returncode == 0, done.stderr
        assert "resuming" in done.stdout
        assert set(records(out)) == {site.url.rstrip("/") + path for path in site.site.extra}
    assert ask(out, "SELECT COUNT(*), COUNT(DISTINCT url) FROM pages") == [(60, 60)]
    assert ask(out, "SELECT state, budget, open FROM runs_now") == [("completed", None, 0)]


def test_other_hosts_are_named_and_taken_up(tmp_path: Path) -> None:
    out, inside = tmp_path / "out", ("--egress-allow", "127.0.0.0/8")
    with running_site(pages=0) as site, running_site(pages=0) as other:
        site.site.extra |= {"/": page(f"{other.url}a", "/b"), "/b": Answer(302, headers=(("Location", other.url),))}
        other.site.extra |= {"/": page("/c"), "/a": page(), "/c": page()}
        done = crawl(site.url, *inside, out=out)
        assert "2 links were to other hosts; --offsite goes on with them" in done.stdout
        assert not other.requests
        done = crawl(site.url, *inside, "--offsite", out=out)
        assert "2 links that the earlier bounds left out taken up" in done.stdout
        assert fetched(other) == {"/", "/a", "/c"}
        assert fetched(site) == {"/", "/b"}


def test_seeds_from_a_file_from_a_pipe_and_as_arguments(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running_site(pages=0) as site:
        site.site.extra |= {f"/{name}": page() for name in "abcd"}
        here = site.url.rstrip("/")
        file = tmp_path / "seeds.txt"
        file.write_text(f"# start here\n\n{here}/a\n  {here}/b\n{here}/a\n")
        done = crawl(f"{here}/d", "--seeds", str(file), out=out)
        assert done.returncode == 0, done.stderr
        assert fetched(site) == {"/a", "/b", "/d"}
        words = ["crawl", f"{here}/d", "--seeds", "-", "--out", str(out)]
        piped = program.Program(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        told, error = piped.communicate(f"{here}/c\n{here}/a\n", timeout=60)
        assert piped.returncode == 0, error
        assert fetched(site) == {"/a", "/b", "/c", "/d"}
        assert "taken up" not in told
        file.write_text(f"{here}/a\nexample.com\n\nftp://x/\n")
        bad = crawl("--seeds", str(file), out=tmp_path / "bad")
    assert bad.returncode == 2
    assert "seeds.txt: line 2: bad URL 'example.com': it has no scheme" in bad.stderr
    assert "line 4: bad URL 'ftp://x/': the scheme is ftp" in bad.stderr
    assert not (tmp_path / "bad").exists()
    assert "needs a URL to start from" in crawl(out=tmp_path / "bad").stderr


def listing(tag: str, item: str, *urls: str) -> Answer:
    body = f"<{tag}>{''.join(f'<{item}><loc>{url}</loc></{item}>' for url in urls)}</{tag}>".encode()
    return Answer(body=body, content_type="text/xml")


@pytest.mark.parametrize("given", ["site", "sitemap"])
def test_only_pages_that_a_sitemap_lists(tmp_path: Path, given: str) -> None:
    robots = "User-agent: *\nSitemap: /maps/index.xml\n"
    with running_site(pages=0, robots=robots) as site:
        here = site.url.rstrip("/")
        packed = gzip.compress(listing("urlset", "url", f"{here}/blog/1", f"{here}/blog/2", f"{here}/x").body)
        site.site.extra |= {
            "/": page("/unlisted"),
            "/maps/index.xml": listing("sitemapindex", "sitemap", f"{here}/maps/1.xml.gz"),
            "/maps/1.xml.gz": Answer(body=packed, content_type="application/gzip"),
            **{path: page("/unlisted", "/blog/9") for path in ("/blog/1", "/blog/2", "/x")},
        }
        start = site.url if given == "site" else f"{here}/maps/index.xml"
        done = crawl(start, "--sitemap", "--include", "/blog", "--parser", "page", out=tmp_path / "out")
        assert done.returncode == 0, done.stderr
        first = {"/sitemap.xml"} if given == "site" else set()
        assert fetched(site) == {"/maps/index.xml", "/maps/1.xml.gz", "/blog/1", "/blog/2"} | first
    assert "1 link was in no --include" in done.stdout
    assert re.search(r"not admitted\W+unlisted\W+4", done.stdout)
    items = ask(tmp_path / "out", "SELECT kind, COUNT(*) FROM items GROUP BY kind ORDER BY kind")
    assert ("page", 2) in items, items


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--include", "blog"), "--include: 'blog' is neither a path nor a URL: it has to begin with /"),
        (("--depth", "-1"), "--depth is a number from 0 on, or none"),
        (("--limit", "many"), "--limit is a number from 1 on, or none"),
        (("--header", "secret"), "a header is written 'Name: value'"),
        (("--header", "User-Agent: me"), "use --user-agent"),
        (("--cookie", "secret"), "a cookie is written name=value"),
        (("--cookies", "nowhere.txt"), "--cookies: nowhere.txt cannot be read: No such file"),
        (("--seeds", "nowhere.txt"), "--seeds: nowhere.txt cannot be read: No such file"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused_in_one_line(
    tmp_path: Path, words: tuple[str, ...], error: str
) -> None:
    done = crawl("https://a.example/", *words, out=tmp_path / "out")
    assert done.returncode == 2
    assert error in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "secret" not in done.stderr
    assert not (tmp_path / "out").exists()
