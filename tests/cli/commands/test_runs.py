"""`longline runs`."""

from io import StringIO

from rich.console import Console

from longline.cli.commands.runs import columns, print_runs
from longline.cli.listing import Listing
from longline.model.runs.run import RunKind
from longline.services.runs.run_list import ListedRun
from tests.cli.commands.test_crawl import a_run
from tests.cli.conftest import Command, assert_one_line
from tests.web import running_site

AT = 1_700_000_000_000
BY_HAND = ListedRun(
    a_run(
        id=12,
        kind=RunKind.CRAWL,
        seed="https://me:secret@a.example/",
        completed=1200,
        items=7,
        number=None,
        started_at=AT,
    )
)
SCHEDULED = ListedRun(a_run(id=13, kind=RunKind.CRAWL, number=3, failed=2), "Harbour Times", "7f3c0a51-job")


def shown(*found: ListedRun, terminal: bool) -> str:
    out = StringIO()
    console = Console(file=out, width=80, force_terminal=terminal, color_system=None)
    print_runs(list(found), Listing(*columns(list(found)), console=console))
    return out.getvalue()


def test_in_a_pipe_a_run_is_a_line_with_its_number_and_counts():
    first, second = shown(BY_HAND, SCHEDULED, terminal=False).splitlines()
    assert first.split("\t")[:2] == ["12", "2023-11-14 22:13:20"]
    assert first.split("\t")[3:] == ["crawl", "completed", "1200", "7", "0", "https://a.example/", "", ""]
    assert second.split("\t")[7:] == ["2", "Harbour Times", "7f3c0a51-job", "3"]
    assert len(shown(BY_HAND, terminal=False).split("\t")) == 11, "a line always has the same columns"


def test_on_a_terminal_schedules_have_columns_where_there_are_some():
    assert "schedule" not in shown(BY_HAND, terminal=True)
    assert "1,200" in shown(BY_HAND, terminal=True)
    assert "7f3c0a51-job" in shown(BY_HAND, SCHEDULED, terminal=True)


def test_without_a_run_the_list_is_empty(longline: Command):
    assert_one_line(longline("runs"), 1, "there is no crawl in")
    longline("migrate")
    listed = longline("runs", "--all")
    assert (listed.returncode, listed.stdout) == (0, "")
    assert "no runs yet" in listed.stderr


def test_an_ended_run_is_deleted_after_a_question_and_audited(longline: Command):
    with running_site(pages=3) as site:
        assert longline("crawl", site.url, "--out", "site", "--delay", "0").returncode == 0
    run = longline("runs", "--data", "site").stdout.split("\t")[0]
    asked = longline("runs", "delete", run, "--data", "site")
    assert_one_line(asked, 2, "there is no terminal to ask at; give --yes")
    assert_one_line(longline("runs", "delete", "77", "--data", "site", "--yes"), 1, "no such run: 77")
    gone = longline("runs", "delete", run, "--data", "site", "--yes")
    assert gone.stdout == f"run {run} is deleted\n", gone.stderr
    assert longline("runs", "--data", "site", "--all").stdout == ""
    [row] = longline("audit", "--data", "site").stdout.splitlines()
    assert "run.delete" in row
    assert_one_line(longline("runs", "delete", run, "--data", "site", "--yes"), 1, f"no such run: {run}")
