"""The shared error format."""

import logging

import msgspec
import pytest
from litestar.exceptions import HTTPException

from longline.services.callers.tokens import TokenRefused
from longline.surfaces.error_format import ErrorFormat
from tests.surfaces.small_door import FAULTS, OPERATIONS

INTERNAL = {
    "error": "Internal server error",
    "code": "INTERNAL_ERROR",
    "message": "An unexpected error occurred",
}


@pytest.mark.parametrize(
    ("fault", "status", "body"),
    [
        (FAULTS["conflict"], 409, {"error": "there already"}),
        (FAULTS["move"], 409, {"error": "cannot read a book that is burnt; legal now: nothing"}),
        (FAULTS["away"], 503, {"error": "Service temporarily unavailable"}),
        (FAULTS["bug"], 500, INTERNAL),
        (HTTPException(status_code=405, detail="Method Not Allowed"), 405, {"error": "Method Not Allowed"}),
        (HTTPException(status_code=500, detail="secret"), 500, INTERNAL),
        (TokenRefused("missing"), 401, {"error": "missing authorization"}),
        (TokenRefused("expired"), 401, {"error": "invalid token"}),
        (TokenRefused("key"), 401, {"error": "invalid API key"}),
    ],
)
def test_errors_have_a_status_and_a_text(fault: Exception, status: int, body: dict[str, str]):
    response = ErrorFormat().failure(fault)
    assert isinstance(response.body, bytes)
    assert (response.status, msgspec.json.decode(response.body)) == (status, body)


def test_a_refused_token_is_challenged():
    assert ErrorFormat().failure(TokenRefused("missing")).headers == {"WWW-Authenticate": "Bearer"}


def test_an_unexpected_error_is_logged_with_its_cause(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.ERROR):
        ErrorFormat().failure(FAULTS["bug"])
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[1] is FAULTS["bug"]


def test_general_errors_depend_on_access_and_body():
    by_name = {operation.name: operation for operation in OPERATIONS}
    general = ErrorFormat().general_errors
    assert {error.status for error in general(by_name["show_text"])} == {500, 503}
    assert {error.status for error in general(by_name["add_book"])} == {400, 401, 403, 413, 429, 500, 503}
