"""Batches of recrawls on the command line, without a server."""

from tests.cli.commands.test_recrawls import SHOP, add_source
from tests.cli.conftest import Command, assert_one_line


def test_a_batch_is_moved_as_a_whole_and_a_source_switched(longline: Command):
    source = add_source(longline)
    assert longline("batches", "make", "autumn").stdout == "1 autumn\n"
    longline(
        "recrawls", "submit", f"{SHOP}/1", f"{SHOP}/2", "--source-id", source, "--batch-id", "1", "--every", "never"
    )
    assert longline("batches", "list").stdout.split("\t")[:2] == ["1", "autumn"]
    assert longline("batches", "pause", "1").stdout == "2 recrawls paused\n"
    assert longline("batches", "show", "1").stdout == "paused\t2\n"
    assert longline("batches", "resume", "1").stdout == "2 recrawls resumed\n"
    assert longline("batches", "cancel", "1").stdout == "2 recrawls cancelled\n"
    assert longline("batches", "restart", "1", "--only-failed").stdout == "0 recrawls restarted\n"
    assert longline("batches", "restart", "1").stdout == "2 recrawls restarted\n"
    assert longline("sources", "disable", "--id", source).stdout == f"{source} shop.example: disabled\n"
    assert longline("recrawls", "list", "--phase", "waiting").stdout.count("\n") == 2
    assert longline("sources", "enable", "--id", source).stdout == f"{source} shop.example: enabled\n"
    assert longline("recrawls", "list", "--batch-id", "1", "--phase", "ready").stdout.count("\n") == 2
    assert_one_line(longline("batches", "show", "7"), 1, "no such batch: 7")
