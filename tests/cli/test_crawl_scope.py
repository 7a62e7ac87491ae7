import io
from pathlib import Path

import pytest
import typer

from longline.cli import crawl_scope
from longline.cli.crawl_scope import MAX_SEEDS, ScopeArguments, read_scope, read_seeds
from longline.model.errors import BadInput
from longline.model.runs.crawl_bounds import UNBOUNDED_DEPTH

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


@pytest.mark.parametrize("text", ["9" * 5_000, "9" * 19, "-1", "x", ""])
def test_a_bound_that_is_no_number_is_refused_in_our_words(text: str):
    with pytest.raises(typer.BadParameter, match="--depth is a number from 0 on, or none"):
        crawl_scope._number("--depth", 0)(text)


def test_the_word_none_removes_a_bound():
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
