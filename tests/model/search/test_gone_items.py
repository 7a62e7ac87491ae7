"""The rule for items that are gone."""

import pytest

from longline.model.search.gone_items import MissingItem, RunReading, UnreadPages, is_gone, reading

ALL = RunReading(is_complete=True)
SOME = RunReading(is_complete=False, has_failures=True)


def missing(state: str | None = "completed", status: int | None = 200, **facts: object) -> MissingItem:
    return MissingItem(
        **{  # type: ignore[arg-type]
            "item_id": 1,
            "kind": "book",
            "is_of_page": True,
            "state": state,
            "reason": "ok",
            "status": status,
            "is_moved": False,
        }
        | facts
    )


@pytest.mark.parametrize(
    ("page", "read", "gone"),
    [
        (missing(), ALL, True),
        (missing(), SOME, True),
        (missing("failed", 404), SOME, True),
        (missing("failed", 410), SOME, True),
        (missing("failed", 500), ALL, False),
        (missing("failed", None), ALL, False),
        (missing("failed", 403), ALL, False),
        (missing("skipped", 301), ALL, False),
        (missing("pending", None), ALL, False),
        (missing("cancelled", None), ALL, False),
        (missing(None, None), ALL, True),
        (missing(None, None), SOME, False),
        (missing(None, None, is_moved=True), ALL, False),
        (missing(is_of_page=False), ALL, True),
        (missing(is_of_page=False), SOME, False),
        (missing(is_of_page=False), RunReading(is_complete=True, unread_kinds=frozenset({"book"})), False),
        (missing(is_of_page=False), RunReading(is_complete=True, unread_kinds=frozenset({"note"})), True),
    ],
)
def test_an_item_is_gone_if_no_page_can_have_it(page: MissingItem, read: RunReading, gone: bool):
    assert is_gone([page], read) is gone
    assert is_gone([page, missing("failed", 500)], read) is False, "another page that had the item was not read"


@pytest.mark.parametrize("refused", ["budget", "source_budget", "depth", "too_many_links"])
def test_a_bounded_run_has_not_read_everything(refused: str):
    assert reading("completed", (), ["offsite", "known"], same_bounds=True).is_complete
    assert not reading("completed", (), [refused], same_bounds=True).is_complete


def test_a_run_with_other_bounds_or_failures_has_not_read_everything():
    assert not reading("completed", (), (), same_bounds=False).is_complete
    assert not reading("failed", (), (), same_bounds=True).is_complete
    assert not reading("running", (), (), same_bounds=True).is_complete
    failed = reading("completed", [UnreadPages(None, is_forbidden=False)], (), same_bounds=True)
    assert (failed.is_complete, failed.may_have("book")) == (False, True)
    forbidden = reading("completed", [UnreadPages("book", is_forbidden=True)], (), same_bounds=True)
    assert (forbidden.is_complete, forbidden.may_have("book"), forbidden.may_have("note")) == (True, True, False)
