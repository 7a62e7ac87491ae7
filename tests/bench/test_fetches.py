import json
from collections import Counter
from pathlib import Path

from bench.fetches import FetchLog, faults

PAGES = {"127.0.0.1": ["/a.html", "/b.html"], "127.0.0.2": ["/a.html"]}
ALL = [("127.0.0.1", 200, "/a.html"), ("127.0.0.1", 200, "/b.html"), ("127.0.0.2", 200, "/a.html")]


def test_a_log_counts_the_requests_after_its_opening(tmp_path: Path):
    file = tmp_path / "access.log"
    file.write_text("127.0.0.1 200 /before.html\n")
    log = FetchLog(file)
    assert log.count() == 0
    with file.open("a") as more:
        more.write("127.0.0.1 200 /a.html\n127.0.0.2 404 /with blank.html\n")
    assert log.count() == 2
    with file.open("a") as more:
        more.write("127.0.0.1 200 /a.html\n")
    assert log.count() == 3
    assert log.fetches() == {("127.0.0.1", 200, "/a.html"): 2, ("127.0.0.2", 404, "/with blank.html"): 1}


def test_lines_of_caddy_are_read(tmp_path: Path):
    file = tmp_path / "access.log"
    file.touch()
    log = FetchLog(file)
    file.write_text(json.dumps({"status": 200, "request": {"host": "127.0.0.3:8080", "uri": "/x.html"}}) + "\n")
    assert log.fetches() == {("127.0.0.3", 200, "/x.html"): 1}


def test_each_page_once_is_no_fault():
    robots = ("127.0.0.1", 200, "/robots.txt")
    assert not faults(Counter([*ALL, robots, robots]), PAGES)


def test_every_difference_is_told():
    seen = [*ALL[:1], *ALL[:2], ("127.0.0.1", 404, "/c.html"), ("127.0.0.2", 404, "/a.html")]
    assert faults(Counter(seen), PAGES) == [
        "1 pages not fetched",
        "1 pages fetched more than once",
        "2 requests for something else",
    ]
