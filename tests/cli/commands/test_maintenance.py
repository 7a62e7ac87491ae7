"""Commands about maintenance tasks, without a server."""

import json

from tests.cli.conftest import Command, assert_one_line


def test_tasks_are_listed_run_and_rescheduled(longline: Command):
    longline("migrate")
    rows = [line.split("\t") for line in longline("maintenance", "list").stdout.splitlines()]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("log archive", "35 1 1 * *", "–"),
        ("log months", "35 0 1 * *", "–"),
    ]
    told = json.loads(longline("maintenance", "run", "log months").stdout)
    assert (told["task"], told["state"], told["error"]) == ("log months", "completed", None)
    assert all(name.startswith("log_") for name in told["months"])
    changed = longline("maintenance", "schedule", "log archive", "--cron", "5 4 * * *", "--off").stdout
    assert changed == "log archive: 5 4 * * *, off\n"
    rows = [line.split("\t") for line in longline("maintenance", "list").stdout.splitlines()]
    assert (rows[0][1], rows[0][2], rows[1][3].split()[0]) == ("5 4 * * *", "off", "completed")


def test_mistakes_are_told_in_one_line(longline: Command):
    longline("migrate")
    assert_one_line(longline("maintenance", "run", "odd"), 1, "no such maintenance task: odd")
    assert_one_line(longline("maintenance", "schedule", "log months", "--cron", "x"), 2, "Invalid cron expression")
