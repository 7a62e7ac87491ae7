import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.conftest import Command, assert_one_line


def test_a_budget_is_set_shown_and_lifted(longline: Command, tmp_path: Path):
    longline("migrate")
    with closing(sqlite3.connect(next(tmp_path.rglob("longline.db")))) as records:
        records.execute(
            "INSERT INTO sources (name, base_url, config, enabled, created_at, updated_at)"
            " VALUES ('news', 'https://news.example/', '{}', TRUE, 1, 1)"
        )
        records.commit()
    set_ = longline("sources", "budget", "--id", "100000", "--most", "50")
    assert set_.stdout == "100000 news: 0 of 50 admitted\n", set_.stderr
    assert all(word in longline("sources", "list").stdout for word in ("news", "50"))
    assert longline("sources", "budget", "--id", "100000", "--none").stdout == "100000 news: no budget\n"
    assert_one_line(longline("sources", "budget", "--id", "7", "--most", "1"), 1, "no such source: 7")
    assert_one_line(longline("sources", "budget", "--id", "100000"), 2, "either --most or --none")
