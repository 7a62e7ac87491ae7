from longline.cli.commands.reparse import summary
from longline.services.archive.reparse import Reparsed
from tests.cli.conftest import Command, assert_one_line


def test_failures_are_told_with_the_first_of_them():
    assert summary(Reparsed(1200, 1300, 5)) == "pages parsed: 1,200, items: 1,300, new or changed: 5"
    assert summary(Reparsed(2, 1, 1, 1, "https://a.example/: no")).endswith(
        "\nfailed: 1, first: https://a.example/: no"
    )


def test_where_nothing_was_crawled_there_is_nothing_to_parse(longline: Command):
    assert_one_line(longline("reparse"), 1, "nothing was crawled here yet")
