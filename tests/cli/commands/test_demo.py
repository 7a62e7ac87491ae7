"""The demo runs from start to end."""

import re
from pathlib import Path

from tests.journeys.archive import ask, records
from tests.servers import program


def test_the_demo_crawls_its_site(tmp_path: Path):
    done = program.run("demo", "--out", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stderr
    assert re.search(r"completed\W+ok\W+121", done.stdout)
    kept = records(tmp_path / "demo")
    assert (len(kept), kept.total()) == (121, 121), "a page that a redirect leads to as well is kept once"
    fates = ask(
        tmp_path / "demo",
        "SELECT fate, reason, count FROM fates WHERE fate NOT IN ('refused', 'without_item') ORDER BY fate, reason",
    )
    assert fates == [
        ("completed", "ok", 121),
        ("failed", "http_4xx", 1),
        ("skipped", "redirected", 1),
        ("skipped", "robots", 1),
    ]
