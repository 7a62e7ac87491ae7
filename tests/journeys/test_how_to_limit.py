"""The commands of the manual about limits, sitemaps and logins work as printed, typed into a shell."""

import os
import re
from pathlib import Path

import pytest

from tests.journeys.archive import records
from tests.journeys.test_scope import listing, page
from tests.servers.shell import type_command
from tests.web import SiteHandle, running_site
from tests.web.login import PASSWORD, Login

MANUAL = Path(__file__).parents[2] / "docs/how-to"
EXAMPLE = "https://example.com"


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (MANUAL / name).read_text(encoding="utf-8"), re.DOTALL)


def commands(name: str) -> list[str]:
    return [line for block in blocks(name, "sh") for line in block.splitlines()]


def type_in(line: str, site: SiteHandle, folder: Path, **variables: str) -> str:
    done = type_command(line.replace(EXAMPLE, site.url.rstrip("/")), {**os.environ, **variables}, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def paths(folder: Path, site: SiteHandle) -> set[str]:
    return {url.removeprefix(site.url.rstrip("/")) for url in records(folder)}


def test_limits(tmp_path: Path) -> None:
    with running_site(pages=0) as site:
        here = site.url.rstrip("/")
        deep = {f"/deep/{n}": page(f"/deep/{n + 1}") for n in range(1, 9)}
        site.site.extra |= {
            "/": page("/blog", "/blogger", "/item-1", "/deep/1"),
            "/blog": page("/blog/draft-1", "/blog/2"),
            **{path: page() for path in ("/blogger", "/item-1", "/blog/2", "/blog/draft-1", "/deep/9")},
            **deep,
        }
        (tmp_path / "urls.txt").write_text(f"# two\n{here}/item-1\n{here}/blog/2\n")
        told = [type_in(line, site, tmp_path) for line in commands("limit-a-crawl.md")]
        assert paths(tmp_path / "blog", site) == {"/", "/blog", "/blog/2", "/item-1"}
        assert "1 link was in an --exclude" in told[0]
        assert "1 link was beyond --depth 2; a larger --depth goes on with it" in told[1]
        assert "1 link that the earlier bounds left out taken up" in told[2]
        assert "/deep/5" in paths(tmp_path / "example", site)
        assert "/deep/6" not in paths(tmp_path / "example", site)
        assert paths(tmp_path / "list", site) == {"/item-1", "/blog/2"}
        assert paths(tmp_path / "piped", site) == {"/blog", "/item-1", "/blog/2"}


def test_sitemaps(tmp_path: Path) -> None:
    with running_site(pages=0, robots="User-agent: *\nSitemap: /maps/index.xml\n") as site:
        here = site.url.rstrip("/")
        site.site.extra |= {
            "/maps/index.xml": listing("sitemapindex", "sitemap", f"{here}/maps/1.xml"),
            "/maps/1.xml": listing("urlset", "url", f"{here}/blog/1", f"{here}/shop"),
            "/blog/1": page("/other"),
            "/shop": page(),
            "/other": page(),
        }
        for line in commands("only-a-sitemap.md"):
            type_in(line, site, tmp_path)
        maps = {"/maps/index.xml", "/maps/1.xml"}
        assert paths(tmp_path / "listed", site) == maps | {"/blog/1", "/shop"}
        assert paths(tmp_path / "some", site) == maps | {"/blog/1"}


@pytest.mark.parametrize("kind", ["form", "token"])
def test_logins(tmp_path: Path, kind: str) -> None:
    code = blocks("log-in.md", "python")[0 if kind == "form" else 1]
    assert len(code[code.index("@session") :].strip().splitlines()) <= 10, "a login takes ten lines"
    with running_site(pages=0) as site:
        login = Login({"/": page("/m"), "/m": page()})
        (login.add_form if kind == "form" else login.add_token)(site)
        (tmp_path / "members.py").write_text(code.replace(EXAMPLE, site.url.rstrip("/")))
        [line] = [line for line in commands("log-in.md") if "--parsers" in line]
        type_in(line, site, tmp_path, SITE_PASSWORD=PASSWORD)
        assert paths(tmp_path / "members", site) == {"/", "/m"}


def test_cookies_and_headers(tmp_path: Path) -> None:
    with running_site(pages=1) as site:
        (tmp_path / "cookies.txt").write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tid\t7\n")
        first, second = (line for line in commands("log-in.md") if "--parsers" not in line)
        type_in(first, site, tmp_path)
        assert site.requests[-1].headers["cookie"] == "session=abc"
        type_in(second, site, tmp_path)
        assert site.requests[-1].headers["cookie"] == "id=7"
        assert {visit.headers["accept-language"] for visit in site.requests} == {"de"}
