import pytest

from longline.model.discovery.link import DomainRow, clusters, domain_of
from longline.model.duration import DAY_MS

NOW = 100 * DAY_MS


def row(**facts: float) -> DomainRow:
    plain = {"ok": 0.0, "html": 0.0, "source_count": 0, "last_seen": 0}
    return DomainRow(domain="x", status="active", links=1, depth=1.0, first_seen=0, notes=None, **plain | facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "score"),
    [
        ({}, 0),
        ({"ok": 1.0, "html": 1.0, "source_count": 5, "last_seen": NOW}, 100),
        ({"ok": 0.5, "html": 0.5}, 30),
        ({"source_count": 2}, 8),
        ({"source_count": 50}, 20),
        ({"last_seen": NOW - 15 * DAY_MS}, 10),
        ({"last_seen": NOW - 31 * DAY_MS}, 0),
    ],
)
def test_the_quality_of_a_domain_follows_from_its_figures(facts: dict[str, float], score: int):
    assert row(**facts).quality(NOW) == score


def test_the_domain_of_a_url_is_its_host_without_www_and_port():
    assert [domain_of(url) for url in ("https://WWW.A.example:8080/x", "http://b.example", "x")] == [
        "a.example",
        "b.example",
        "",
    ]


def test_links_are_clustered_by_the_first_segment_of_their_path():
    urls = ["https://a/news/1", "https://a/news/2?x", "https://a/about", "https://a/", "https://a/blog/2020/x"]
    assert clusters(urls) == [("/news/*", 2), ("/", 1), ("/about", 1), ("/blog/*", 1)]
