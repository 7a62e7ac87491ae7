"""Every URL of a crawl is accounted for: lists agree with the summary, and name each failure with its reason."""

import csv
import json
import re
from collections import Counter
from io import StringIO
from pathlib import Path

from arro3.io import read_parquet

from tests.cli.conftest import surroundings
from tests.journeys.test_fates import printed
from tests.servers import program
from tests.web import running_site
from tests.web.wire import Answer

PAGES = 2000
FAILURES = {
    "http_4xx": [f"/status/{code}?n={n}" for n, code in enumerate((404, 403, 410, 404, 401))],
    "http_5xx": [f"/status/{code}?n={n}" for n, code in enumerate((500, 502, 500, 501, 500))],
    "bad_encoding": [f"/garbled?n={n}" for n in range(5)],
    "redirect_loop": [f"/loop?n={n}" for n in range(5)],
}
"""URLs that fail, by reason."""

OTHERS = ["/private/1", "/private/2", "/moved", "/moved/again", "/page/7", "/page/8", "http://other.example/"]
"""Links to disallowed pages, to pages that moved, to pages that are known, and to another site."""


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def test_two_thousand_pages_of_which_twenty_fail_in_four_ways(tmp_path: Path):
    with running_site(pages=PAGES) as site:
        paths = [*(path for several in FAILURES.values() for path in several), *OTHERS]
        links = "".join(f'<a href="{path}">x</a>' for path in paths)
        site.site.extra["/"] = links.encode() + b"".join(b'<a href="/page/%d">x</a>' % n for n in (1, 2, 3))
        site.site.extra["/moved"] = Answer(status=301, headers=(("Location", "/moved/here"),))
        site.site.extra["/moved/again"] = Answer(status=302, headers=(("Location", "/page/9"),))
        site.site.extra["/moved/here"] = b"<title>Here</title>"
        patience = surroundings({"LONGLINE_MAX_RETRIES": "1"})
        done = program.run("crawl", site.url, "--depth", "9999", "--out", "data", cwd=tmp_path, env=patience)
        origin = site.url.rstrip("/")
    assert done.returncode == 0, done.stderr
    summary = printed(done.stdout)
    told = next(line for line in done.stdout.splitlines() if "longline urls" in line)
    command = told[told.index("longline urls") :].split()
    failed = [json.loads(line) for line in program.run(*command[1:], cwd=tmp_path).stdout.splitlines()]
    expected = {(f"{origin}{path}", reason) for reason, several in FAILURES.items() for path in several}
    assert {(row["url"], row["reason"]) for row in failed} == expected
    assert len(failed) == 20
    assert {row["found_on"] for row in failed} == {site.url}

    whole = table(program.run("urls", "--data", "data", "--format", "csv", cwd=tmp_path).stdout)
    sums = Counter((row["fate"], row["reason"]) for row in whole)
    admitted = summary.pop(("admitted", "the sum of these"))
    assert sums == {key: n for key, n in summary.items() if key[0] not in ("not admitted", "without item")}
    assert sums.total() == admitted == len({row["task_id"] for row in whole})
    moved = {row["url"]: row for row in whole if "/moved" in row["url"]}
    assert moved[f"{origin}/moved"]["final_url"] == f"{origin}/moved/here"
    assert moved[f"{origin}/moved/again"]["final_url"] == f"{origin}/page/9"

    one = program.run(
        "urls",
        "--data",
        "data",
        "--fate",
        "failed",
        "--reason",
        "http_5xx",
        "--host",
        "127.0.0.1",
        "-o",
        "bad.csv",
        cwd=tmp_path,
    )
    assert "5 URLs are in bad.csv" in one.stdout
    rows = table((tmp_path / "bad.csv").read_text())
    assert {row["status"] for row in rows} == {"500", "501", "502"}
    assert {row["attempts"] for row in rows} == {"2"}
    exported = read_parquet(tmp_path / "data/urls.parquet").read_all()
    assert exported.num_rows == admitted, "beside the pages"
    assert re.search(r"urls\.jsonl", done.stdout)


def test_headers_of_responses_are_exported_when_asked_for(tmp_path: Path):
    with running_site(pages=3) as site:
        site.site.etags = True
        cookies = (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-Own", "own"))
        site.site.extra["/page/1"] = Answer(body=b"<title>x</title>", headers=cookies)
        words = ["crawl", site.url, "--out", "data"]
        assert program.run(*words, cwd=tmp_path).returncode == 0
        assert program.run(*words, "--again", cwd=tmp_path).returncode == 0
    for run in ("1", "2"):
        flags = ["--data", "data", "--run", run, "--out", f"files{run}", "--formats", "jsonl,csv"]
        assert program.run("export", *flags, "--headers", cwd=tmp_path).returncode == 0
        lines = (tmp_path / f"files{run}/pages.jsonl").read_text().splitlines()
        headers = {row["url"].rpartition("/")[2]: row["headers"] for row in map(json.loads, lines)}
        assert (headers["1"]["set-cookie"], headers["1"]["x-own"]) == (["a=1", "b=2"], "own")
        assert headers["2"]["content-type"].startswith("text/html")
        (first, *_) = table((tmp_path / f"files{run}/pages.csv").read_text())
        assert "content-type" in json.loads(first["headers"])
    program.run("export", "--data", "data", "--out", "plain", "--formats", "csv", cwd=tmp_path)
    assert "headers" not in table((tmp_path / "plain/pages.csv").read_text())[0]
