"""The envelope, and the texts of problems, without a server."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from longline.model.errors import Unavailable
from longline.surfaces.bots.error_format import BotFormat
from longline.surfaces.bots.errors import problem_texts
from longline.surfaces.bots.field_types import amount, time_text
from longline.surfaces.bots.queries import BotJobQuery
from longline.surfaces.bots.requests import NewPolicy, PullRequest, SubmitRequest
from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.request_reader import NotJson, RequestReader

FORMAT = BotFormat()


def told(shape: Any, sent: bytes) -> dict[str, list[str]]:
    with pytest.raises(InvalidRequest) as caught:
        FORMAT.reader(shape).body(sent)
    return problem_texts(caught.value.problems)


def test_every_problem_of_a_body_is_reported_once():
    assert told(PullRequest, b'{"max_jobs": "x", "domain": 7, "hosts": [1, 2], "api_token": "a\\u0000"}') == {
        "bot_id": ["This field is required."],
        "api_token": ["Null characters are not allowed."],
        "max_jobs": ["A valid integer is required."],
        "domain": ["Not a valid string."],
        "hosts": ["Expected a list of strings."],
    }
    assert told(NewPolicy, b'{"priority": 0, "crawl_config": []}') == {
        "priority": ["Ensure this value is greater than or equal to 1."],
        "crawl_config": ['Expected a dictionary of items but got type "list".'],
        "non_field_errors": ["Exactly one of url and domain must be set."],
    }


def test_fields_of_the_other_outcome_are_ignored():
    job = b'"bot_id": "b", "job_id": "550e8400-e29b-41d4-a716-446655440000"'
    failed = FORMAT.reader(SubmitRequest).body(b"{" + job + b', "success": false, "price": "x", "title": 7}')
    assert failed.submission("key").error == "Unknown error"
    won = FORMAT.reader(SubmitRequest).body(
        b"{" + job + b', "success": true, "price": 0.10, "currency": "usd", "error_msg": 7, "parsed_data": {"a": 1.10}}'
    )
    found = won.submission(None).found
    assert found is not None
    assert (found.price, found.currency, found.data) == (10, "USD", '{"a":1.10}')


def test_a_number_beyond_any_range_is_no_number():
    with pytest.raises(NotJson, match="number out of range"):
        FORMAT.reader(SubmitRequest).body(b'{"price": 1e99999999999999999999}')


def test_queries_are_strict():
    reader = RequestReader(BotJobQuery)
    found = FORMAT.read_query(reader, [("limit", "5"), ("status", "")])
    assert found == BotJobQuery(limit=5)
    with pytest.raises(InvalidRequest) as caught:
        FORMAT.read_query(reader, [("limit", "1"), ("limit", "x"), ("stauts", "done")])
    assert problem_texts(caught.value.problems) == {
        "limit": ["This query parameter may be sent once."],
        "stauts": ["Unknown query parameter."],
    }
    for name, value, text in (
        ("limit", "+5", "A valid integer is required."),
        ("limit", "9" * 12, "A valid integer is required."),
        ("limit", "201", "Ensure this value is less than or equal to 200."),
        ("status", "lost", '"lost" is not a valid choice.'),
        ("status", "a\0", "Null characters are not allowed."),
    ):
        with pytest.raises(InvalidRequest) as caught:
            FORMAT.read_query(reader, [(name, value)])
        assert problem_texts(caught.value.problems) == {name: [text]}


def test_a_problems_own_text_takes_precedence():
    assert problem_texts([Problem("ids", "null", text="Own.")]) == {"ids": ["Own."]}


def test_errors_without_details(caplog: pytest.LogCaptureFixture):
    for error, status, detail in (
        (Unavailable("10.1.2.3 is down"), 503, "Service temporarily unavailable"),
        (RuntimeError("hunter2"), 500, "An unexpected error occurred"),
    ):
        response = FORMAT.failure(error)
        assert response.status == status
        assert msgspec.json.decode(response.body) == {  # type: ignore[arg-type]
            "success": False,
            "error": "internal_error",
            "detail": detail,
        }
    assert len(caplog.records) == 2


def test_money_is_a_number_with_two_places():
    assert FORMAT.encode(FORMAT.wrap({"price": amount(5)})) == b'{"success":true,"data":{"price":0.05}}'
    assert amount(120) == Decimal("1.20")


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
        (10**17, "9999-12-31T23:59:59Z"),
    ],
)
def test_times(at: int, text: str):
    assert time_text(at) == text


def test_ids_in_paths_are_decoded():
    assert FORMAT.read_path_value("a%2Fb%00") == "a/b\ufffd"
