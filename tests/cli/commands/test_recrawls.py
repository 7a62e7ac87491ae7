"""Recrawls on the command line, without a server."""

import json
from pathlib import Path

from tests.cli.conftest import Command, assert_one_line

SHOP = "https://shop.example"


def add_source(longline: Command) -> str:
    longline("migrate")
    return longline("sources", "add", "shop.example", f"{SHOP}/").stdout.split()[0]


def test_recrawls_are_submitted_listed_and_moved(longline: Command, tmp_path: Path):
    source = add_source(longline)
    (tmp_path / "urls.txt").write_text(f"{SHOP}/1\n\n{SHOP}/2\nnonsense\n")
    done = longline("recrawls", "submit", f"{SHOP}/1", "--source-id", source, "--file", "urls.txt", "--priority", "2")
    assert done.stdout == "2 submitted, 1 known or repeated, 1 invalid\n", done.stderr
    listed = sorted((line.split("\t") for line in longline("recrawls", "list").stdout.splitlines()), key=lambda r: r[6])
    assert [(row[1:5], row[6]) for row in listed] == [
        (["shop.example", "ready", "2", "0"], f"{SHOP}/1"),
        (["shop.example", "ready", "2", "0"], f"{SHOP}/2"),
    ]
    first, second = (row[0] for row in listed)
    assert longline("recrawls", "pause", first, second).stdout == (
        f"{first}: paused, priority 2\n{second}: paused, priority 2\n"
    )
    assert longline("recrawls", "list", "--phase", "ready").stdout == ""
    assert longline("recrawls", "resume", first).stdout == f"{first}: ready, priority 2\n"
    assert longline("recrawls", "priority", first, "--priority", "9").stdout == f"{first}: ready, priority 9\n"
    assert longline("recrawls", "cancel", second).stdout == f"{second}: cancelled, priority 2\n"
    assert longline("recrawls", "restart", second, "--keep-retries").stdout == f"{second}: ready, priority 2\n"
    assert longline("recrawls", "restart-failed").stdout == "0 recrawls restarted\n"
    assert longline("recrawls", "stats").stdout == "ready\t2\n"
    row = json.loads(longline("recrawls", "show", first).stdout)
    assert (row["url"], row["phase"], row["created_by"]) == (f"{SHOP}/1", "ready", "admin")


def test_wrong_orders_are_told_in_one_line(longline: Command):
    source = add_source(longline)
    assert_one_line(longline("recrawls", "show", "7"), 1, "no such task: 7")
    assert_one_line(longline("recrawls", "list", "--phase", "asleep"), 2, 'no phase "asleep"')
    assert_one_line(longline("recrawls", "submit", "--source-id", source), 2, "give 1 to 10000 URLs")
    assert_one_line(longline("recrawls", "submit", f"{SHOP}/1", "--source-id", "1"), 1, "no such source: 1")
    assert_one_line(longline("recrawls", "submit", "--source-id", source, "--file", "none"), 2, "cannot read none")
    longline("recrawls", "submit", f"{SHOP}/1", "--source-id", source)
    assert_one_line(longline("recrawls", "resume", "1"), 1, "cannot")
    assert_one_line(longline("recrawls", "reparse", "1"), 2, "is not in the archive")
