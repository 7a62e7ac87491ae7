import pytest

from longline.cli.commands.export import parse_formats
from longline.model.errors import BadInput
from tests.cli.conftest import Command, assert_one_line


def test_formats_are_words_between_commas():
    assert parse_formats("jsonl, WARC,,jsonl") == ["jsonl", "warc"]
    with pytest.raises(BadInput, match="no such format: xml; there are warc,jsonl,parquet,csv"):
        parse_formats("jsonl,xml")


def test_where_nothing_was_crawled_there_is_nothing_to_export(longline: Command):
    assert_one_line(longline("export"), 1, "there is no crawl in ")
    longline("migrate")
    assert_one_line(longline("export"), 1, "nothing was crawled here yet")
    assert_one_line(longline("export", "--formats", "xml"), 2, "no such format: xml")
