"""Errors in the contract's words."""

import msgspec
import pytest

from longline.model.errors import BadInput, Conflict, IllegalMove, NotFound, Unavailable
from longline.services.page_preview import NoPreview
from longline.surfaces.field_problems import InvalidRequest
from longline.surfaces.intervals.error_format import IntervalFormat
from longline.surfaces.intervals.errors import INVALID_SECRET
from longline.surfaces.intervals.jobs.job_requests import JobChanges, JobRequest
from longline.surfaces.intervals.jobs.jobs import list_jobs
from longline.surfaces.intervals.previews import fetch_page
from longline.surfaces.request_reader import RequestReader

FORMAT = IntervalFormat()
URL = "https://a.example/"


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (NotFound("schedule", "7"), 404, "Job not found"),
        (NotFound("run", "7"), 404, "Execution not found"),
        (NotFound("source", "7"), 404, "Source not found"),
        (NotFound("proxy", "7"), 404, "no such proxy: 7"),
        (IllegalMove("schedule", "pause", "running", ()), 400, "invalid state transition from running to paused"),
        (
            IllegalMove("task", "restart", "crawling", ()),
            409,
            "cannot restart a task that is crawling; legal now: nothing",
        ),
        (NoPreview("fetch failed: dns"), 502, "fetch failed: dns"),
        (BadInput("no"), 400, "no"),
        (Conflict("twice"), 409, "twice"),
        (Unavailable("10.0.0.1 is down"), 503, "Service temporarily unavailable"),
    ],
)
def test_errors_have_their_status_and_text(error: Exception, status: int, text: str):
    response = FORMAT.failure(error)
    assert isinstance(response.body, bytes)
    assert (response.status, msgspec.json.decode(response.body)) == (status, {"error": text})


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"url": 7}, "url must be a string"),
        ({"url": None}, "url is required"),
        ({"url": URL, "type": 7}, "type must be a string"),
        ({"url": URL, "type": "x{}"}, "Invalid job type: x{}"),
        ({"url": URL, "interval_type": ""}, "interval_type must be one of minutes, hours, days"),
        ({"url": URL, "source_name": "a\0"}, "source_name has a NUL character"),
        ({"url": URL, "metadata": []}, "metadata must be an object"),
    ],
)
def test_problems_have_the_texts_of_the_contract(sent: object, text: str):
    with pytest.raises(InvalidRequest) as caught:
        RequestReader(JobRequest).body(msgspec.json.encode(sent))
    assert FORMAT.invalid_text(caught.value) == text


def test_a_status_is_one_of_the_seven():
    with pytest.raises(InvalidRequest) as caught:
        RequestReader(JobChanges).body(b'{"status": "sleeping"}')
    assert FORMAT.invalid_text(caught.value) == "Invalid job status: sleeping"


def test_internal_operations_need_a_secret_instead_of_a_token():
    assert [error for error in FORMAT.general_errors(fetch_page) if error.status == 401] == [INVALID_SECRET]
    assert INVALID_SECRET not in FORMAT.general_errors(list_jobs)
