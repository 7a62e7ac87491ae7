from longline.cli.commands.reparse import advice, summary
from longline.services.archive.reparse import Reparsed
from tests.cli.conftest import Command, assert_one_line


def test_failures_are_told_with_the_first_of_them():
    assert summary(Reparsed(1200, 1300, 5)) == "pages parsed: 1,200, items: 1,300, new or changed: 5"
    assert summary(Reparsed(2, 1, 1, 1, "https://a.example/: no")).endswith(
        "\nfailed: 1, first: https://a.example/: no"
    )


def test_failures_are_told_with_their_remedies():
    damaged = advice(Reparsed(12, 9, 9, 3, "no", damaged=3))
    assert damaged.startswith(
        "3 of 12 pages failed and keep the items that they had; to fetch the 3 damaged pages again:"
    )
    assert "longline doctor --deep --repair" in damaged
    assert "parser" not in damaged
    both = advice(Reparsed(12, 9, 9, 3, "no", damaged=1))
    assert "the 1 damaged" in both
    assert both.endswith("where the parser failed, mend it and run longline reparse again")
    assert "doctor" not in advice(Reparsed(12, 9, 9, 3, "no"))


def test_pages_without_an_item_are_told_with_their_reasons():
    reasons = {"quality_gate": 2, "page_type": 1000}
    _, told, hint = summary(Reparsed(1200, 198, without_item=reasons)).splitlines()
    assert told == "pages without an item: page_type 1,000, quality_gate 2"
    assert hint == """to make articles of pages of every type: --parser-config '{"page_types": false}'"""
    assert len(summary(Reparsed(2, without_item={"quality_gate": 2})).splitlines()) == 2


def test_pages_that_were_fetched_again_meanwhile_are_told():
    _, told = summary(Reparsed(1200, 198, replaced=1000)).splitlines()
    assert told == "fetched again meanwhile, with the items of the new page: 1,000"


def test_where_nothing_was_crawled_there_is_nothing_to_parse(longline: Command):
    assert_one_line(longline("reparse"), 1, "there is no crawl in")
