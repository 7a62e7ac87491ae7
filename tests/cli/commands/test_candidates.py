import re
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.conftest import Command, assert_one_line

ADD = """
INSERT INTO candidates (identity, home, url, parent_url, run_id, source, verdict, risk, robots, created_at, updated_at)
VALUES ('{name}', 'https://{name}/', 'https://{name}/x', 'https://a.example/', 1, '', 'pending', {risk}, TRUE, 1, 1)
"""


def test_candidates_are_shown_approved_and_turned_down(longline: Command, tmp_path: Path):
    assert longline("migrate").returncode == 0
    assert "no candidates" in longline("candidates", "list").stderr
    with closing(sqlite3.connect(next(tmp_path.rglob("longline.db")))) as records:
        for name, risk in (("b.example", 60), ("c.example", 5)):
            records.execute(ADD.format(name=name, risk=risk))
        records.commit()
    assert re.search(r"1\W+b\.example\W+60\W+allows\W+1\W", longline("candidates", "list").stdout)
    approved = longline("candidates", "approve", "1")
    assert approved.stdout == "candidate 1 is source 100000: b.example, disabled\n", approved.stderr
    assert longline("candidates", "reject", "2", "--reason", "dull").stdout == "candidate 2 is rejected: c.example\n"
    assert "no candidates" in longline("candidates", "list").stderr
    everything = longline("candidates", "list", "--all").stdout
    assert "approved" in everything
    assert "rejected" in everything
    assert "dull" in longline("candidates", "log", "2").stdout
    assert re.search(r"100000\W+b\.example\W", longline("sources", "list").stdout)
    assert_one_line(longline("candidates", "approve", "2"), 1, "is rejected, not pending")
    assert_one_line(longline("candidates", "reject", "9"), 1, "no such candidate: 9")
