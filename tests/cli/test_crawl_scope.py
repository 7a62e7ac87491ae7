import io
from pathlib import Path

import pytest

from longline.cli import crawl_scope
from longline.cli.crawl_scope import MAX_SEEDS, ScopeArguments, hints, read_scope, read_seeds, refused_links
from longline.model.errors import BadInput
from longline.model.runs.plan import UNBOUNDED_DEPTH, CrawlPlan
from longline.model.runs.run import Fate
from tests.cli.commands.test_crawl import a_run
from tests.plans import crawl_plan

HOME = "https://a.example/"


def scope(**options: object) -> crawl_scope.Scope:
    return read_scope(ScopeArguments(**{"urls": (HOME,)} | options))  # type: ignore[arg-type]


def test_without_options_a_site_is_crawled_to_its_end():
    found = scope()
    bounds = found.bounds
    assert (bounds.max_depth, found.limit, found.given) == (UNBOUNDED_DEPTH, None, frozenset())
    assert (bounds.hosts, bounds.keep_refused) == (("a.example", "www.a.example"), True)
    assert (bounds.include, bounds.exclude, bounds.sitemap_only) == ((), (), False)


def test_given_options_are_named():
    given = scope(
        depth=3,
        limit=UNBOUNDED_DEPTH,
        include=("/x",),
        exclude=("none",),
        offsite=False,
        cookies=("a=1",),
        sitemap=True,
    ).given
    assert given == {"depth", "limit", "include", "exclude", "offsite", "cookies", "sitemap"}
    assert scope(headers=("A: b",)).given == {"headers"}


def test_none_takes_a_bound_away():
    found = scope(limit=UNBOUNDED_DEPTH, include=("none",), depth=UNBOUNDED_DEPTH)
    assert (found.limit, found.bounds.include) == (None, ())
    with pytest.raises(BadInput, match="--include: 'none' is neither a path nor a URL"):
        scope(include=("none", "/x"))


def test_seeds_come_from_arguments_and_files_each_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "seeds.txt"
    file.write_text(f"\ufeff# seeds\nhttps://b.example/\n\n  {HOME}  \n", encoding="utf-8")
    assert [url.href for url in scope(seeds=str(file)).seeds] == [HOME, "https://b.example/"]
    monkeypatch.setattr("sys.stdin", io.StringIO("https://c.example/x\n"))
    assert [url.href for url in scope(urls=(), seeds="-").seeds] == ["https://c.example/x"]
    with pytest.raises(BadInput, match="needs a URL to start from, or a file of them with --seeds"):
        scope(urls=())
    with pytest.raises(BadInput, match=f"at most {MAX_SEEDS:,} start URLs"):
        scope(urls=tuple(f"{HOME}{n}" for n in range(MAX_SEEDS + 1)))
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="is no text in UTF-8"):
        scope(seeds=str(file))


def test_bad_lines_are_named_by_their_numbers():
    text = "\n".join(["https://a.example/", *(f"bad{n}" for n in range(8))])
    with pytest.raises(BadInput, match=r"^list: line 2: bad URL 'bad0': .*; line 6: .*; and 3 more$"):
        read_seeds(text, "list")


@pytest.mark.parametrize(
    ("url", "seed"),
    [
        ("https://a.example/", "https://a.example/sitemap.xml"),
        ("https://a.example/deep/page", "https://a.example/sitemap.xml"),
        ("https://a.example/maps/news-sitemap", "https://a.example/maps/news-sitemap"),
        ("https://a.example/urls.xml.gz", "https://a.example/urls.xml.gz"),
        ("https://a.example/urls.txt", "https://a.example/urls.txt"),
    ],
)
def test_a_crawl_of_sitemaps_begins_at_one(url: str, seed: str):
    found = scope(urls=(url,), sitemap=True)
    assert [one.href for one in found.seeds] == [seed]
    assert (found.bounds.sitemaps, found.bounds.sitemap_only, found.bounds.max_depth) == (True, True, 3)


def test_cookies_of_a_file_are_kept_for_the_sites_of_the_crawl(tmp_path: Path):
    file = tmp_path / "cookies.txt"
    lines = [f"{domain}\tFALSE\t/\tFALSE\t0\tn\tv" for domain in ("a.example", "www.a.example", "b.example")]
    file.write_text("\n".join([*lines, ".example\tTRUE\t/\tFALSE\t0\tall\tv"]))
    kept = [cookie.domain for cookie in scope(cookie_file=file).credentials.cookies]
    assert kept == ["a.example", "www.a.example", "example"]
    assert len(scope(cookie_file=file, offsite=True).credentials.cookies) == 4


def test_arguments_do_not_show_secrets():
    assert "secret" not in repr(ScopeArguments((HOME,), headers=("A: secret",), cookies=("a=secret",)))


def test_each_bound_that_left_links_out_has_its_hint():
    run = a_run(plan=crawl_plan((), max_depth=4).text(), budget=7)
    found = hints(run, {"depth": 1, "offsite": 2, "not_included": 3, "excluded": 4, "budget": 5})
    assert [hint.partition(";")[0] for hint in found] == [
        "1 link was beyond --depth 4",
        "2 links were to other hosts",
        "3 links were in no --include",
        "4 links were in an --exclude",
        "5 links were beyond --limit 7",
    ]
    assert hints(run, {}) == []


def test_stored_links_count_as_often_as_they_are_still_left_out():
    fates = [Fate("completed", "ok", 9), Fate("refused", "depth", 81), Fate("refused", "known", 7)]
    keeping = a_run(plan=crawl_plan((), keep_refused=True).text())
    assert refused_links(keeping, fates, {"depth": 3}) == {"depth": 3, "known": 7}
    assert refused_links(keeping, fates, {}) == {"known": 7}
    assert refused_links(a_run(plan=CrawlPlan(()).text()), fates, {}) == {"depth": 81, "known": 7}
