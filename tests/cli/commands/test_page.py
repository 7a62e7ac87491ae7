from typing import Any

from longline.cli.commands.page import facts
from longline.model.archive.page import PageRow
from longline.model.archive.warc import Capture, read_record, response_record
from longline.services.archive.pages import ArchivedPage
from tests.cli.conftest import Command, assert_one_line


def test_facts_are_told_before_headers():
    record = response_record(Capture("https://a.example/", 1_700_000_000_123, 200, (("Server", "x"),), b"body"))
    none: dict[str, Any] = dict.fromkeys(PageRow.__struct_fields__, "")
    known = {"task_id": 3, "segment": "warc/1", "start": 5, "length": 9, "status": 200, "fetched_at": 1_700_000_000_123}
    row = PageRow(**none | known)
    told = dict(facts(ArchivedPage(row, read_record(record.member), b"body")))
    assert told["fetched"] == "2023-11-14T22:13:20.123+00:00"
    assert (told["place"], told["task"], told["Server"]) == ("warc/1 5 9", "3", "x")


def test_a_page_that_is_not_there_is_one_line(longline: Command):
    longline("migrate")
    assert_one_line(longline("page", "https://a.example/"), 1, "there is no page of https://a.example/")
    assert_one_line(longline("page", "7"), 1, "task 7 has no page")
    assert_one_line(longline("page", "not a url"), 2, "not a url")
