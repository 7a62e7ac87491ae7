"""The examples of the document are valid, and every declared error is answered as declared."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from longline.services.callers.callers import Callers
from longline.services.callers.tokens import Tokens
from longline.surfaces.bots import errors, examples, job_statuses
from longline.surfaces.bots.door import bots_door
from longline.surfaces.bots.error_format import BotFormat
from longline.surfaces.bots.requests import SubmitRequest
from longline.surfaces.bots.services import BotServices
from longline.surfaces.operation import ApiError, Operation
from tests.surfaces.bots.running import Door

NONE: Any = None
FORMAT = BotFormat()
CALLERS = Callers(Tokens("s" * 64, lambda: 0))
DOOR = bots_door(BotServices(NONE, NONE, NONE, NONE, NONE, lambda: 0), CALLERS, CollectorRegistry())
OPERATIONS = [operation for group in DOOR.groups for operation in group.operations]


def named(operation: Operation) -> str:
    return operation.name


def answers(operation: Operation) -> Mapping[int, Any]:
    example = operation.response_example
    return example if set(example) & set(operation.answers) else {operation.status: example}


def test_there_are_27_operations_each_with_a_name_of_its_own():
    assert len({operation.name for operation in OPERATIONS}) == len(OPERATIONS) == 27


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.body], ids=named)
def test_the_example_of_a_request_is_read(operation: Operation):
    assert operation.body is not None
    assert FORMAT.reader(operation.body).body(msgspec.json.encode(operation.request_example))


def test_the_example_of_a_failed_submit_is_read():
    read = FORMAT.reader(SubmitRequest).body(msgspec.json.encode(examples.SUBMIT_FAILURE))
    assert read.submission(None).error == "Timeout: page did not load"


@pytest.mark.parametrize("operation", OPERATIONS, ids=named)
def test_the_example_of_a_response_has_the_declared_type_and_every_field(operation: Operation):
    for status, kind in operation.answers.items():
        example = answers(operation)[status]
        sent = FORMAT.encode(FORMAT.wrap(example))
        assert msgspec.json.decode(sent, type=FORMAT.wrapped_type(kind)).success is True
        needed = {field.encode_name for field in msgspec.structs.fields(kind) if field.required}
        assert needed <= set(example) <= set(kind.__struct_fields__)


@pytest.mark.parametrize("operation", OPERATIONS, ids=named)
def test_every_error_has_the_type_of_errors(operation: Operation):
    for error in (*operation.errors, *FORMAT.general_errors(operation)):
        assert msgspec.convert(error.body, FORMAT.error_type).error  # type: ignore[attr-defined]


# -- errors that are answered -----------------------------------------------------------------------------------

JOB = "550e8400-e29b-41d4-a716-446655440000"
RESULT: dict[str, Any] = {"bot_id": "bot-002", "job_id": JOB, "success": True, "price": 1, "currency": "USD"}

REFUSED: list[tuple[ApiError, str, str, Any]] = [
    (errors.INVALID_BOT_ID, "POST", "pull/", {}),
    (errors.INVALID_BOT_ID, "POST", "admin/bots", {}),
    (errors.RESULT_INCOMPLETE, "POST", "submit/", {"bot_id": "b", "job_id": JOB, "success": True}),
    (errors.NO_JOB, "POST", "submit/", RESULT),
    (errors.NO_JOB, "POST", "heartbeat/", RESULT),
    (errors.NO_JOB, "GET", f"admin/jobs/{JOB}", None),
    (errors.NO_JOB, "DELETE", f"admin/jobs/{JOB}", None),
    (errors.NO_POLICY, "GET", f"admin/policies/{JOB}", None),
    (errors.NO_POLICY, "PATCH", f"admin/policies/{JOB}", {}),
    (errors.NO_POLICY, "DELETE", f"admin/policies/{JOB}", None),
    (errors.NO_RESULT, "GET", f"admin/results/{JOB}", None),
    (errors.NO_BOT, "GET", "admin/bots/bot-001", None),
    (errors.NO_BOT, "PATCH", "admin/bots/bot-001", {}),
    (errors.NO_BOT, "POST", "admin/bots/bot-001/rotate-token", None),
    (errors.NO_BOT, "POST", "admin/bots/bot-001/reset-statistics", None),
    (errors.INVALID_LIMIT, "GET", "admin/policies?limit=0", None),
    (errors.INVALID_LIMIT, "GET", "admin/jobs?limit=0", None),
    (errors.INVALID_LIMIT, "GET", "admin/results?limit=0", None),
    (errors.INVALID_LIMIT, "GET", "admin/bots?limit=0", None),
    (errors.INVALID_LIMIT, "POST", "admin/create-jobs", {"limit": 0}),
    (errors.INVALID_LIMIT, "POST", "admin/expire-locks", {"limit": 0}),
    (errors.INVALID_STATUS, "GET", "admin/jobs?status=lost", None),
    (errors.INVALID_PRIORITY, "POST", "admin/policies", {"url": "https://example.com/", "priority": 21}),
    (errors.INVALID_PULL_LIMIT, "PATCH", "admin/bots/known", {"max_jobs_per_pull": 101}),
    (errors.INVALID_URL, "POST", "admin/jobs", {"url": "example.com"}),
    (errors.INVALID_URLS, "POST", "admin/urls", {"urls": ["example.com"]}),
    *((errors.INVALID_IDS, "POST", f"admin/jobs/{name}", {"ids": [7]}) for name in job_statuses.REPAIRS),
    (errors.NO_SUBJECT, "POST", "admin/policies", {}),
    (errors.TAKEN_URL, "POST", "admin/policies", {"url": "https://example.com/taken"}),
    (errors.TAKEN_NAME, "POST", "admin/policies", {"domain": "example.com", "name": "taken"}),
    (errors.TAKEN_BOT, "POST", "admin/bots", {"bot_id": "known"}),
    (errors.UNKNOWN_QUERY, "GET", "admin/jobs?stauts=done", None),
    (errors.NOT_AN_OBJECT, "POST", "pull/", []),
]


async def test_declared_errors_are_answered_to_the_letter(door: Door):
    await door.post("bots", bot_id="known")
    await door.policy("https://example.com/taken")
    await door.post("policies", domain="example.com", name="taken")
    for error, method, path, body in REFUSED:
        answer = await door.client.request(method, f"/api/crawl/{path}", json=body, headers=door.admin)
        assert (answer.status_code, answer.json()) == (error.status, error.body), (method, path, body)
    answer = await door.client.post("/api/crawl/pull/")
    assert (answer.status_code, answer.json()) == (400, errors.NOT_JSON.body)


async def test_declared_errors_of_locks_are_answered_to_the_letter(door: Door):
    job = await door.job()

    def refused(error: ApiError) -> tuple[int, Any]:
        body = {**error.body, "detail": error.body["detail"].replace(JOB, job)}
        return error.status, body

    missing, not_held, not_yours, lapsed = errors.LOCK_REFUSALS
    assert missing == errors.NO_JOB
    sent = {**RESULT, "job_id": job}
    for path in ("submit", "heartbeat"):
        answer = await door.ask(path, **sent)
        assert (answer.status_code, answer.json()) == refused(not_held)
    await door.pull("bot-001")
    for path in ("submit", "heartbeat"):
        answer = await door.ask(path, **sent)
        assert (answer.status_code, answer.json()) == refused(not_yours)
    answer = await door.manage("DELETE", f"jobs/{job}")
    assert (answer.status_code, answer.json()) == refused(errors.LOCKED_JOB)
    door.clock.advance(601)
    for path in ("submit", "heartbeat"):
        answer = await door.ask(path, **{**sent, "bot_id": "bot-001"})
        assert (answer.status_code, answer.json()) == refused(lapsed)


def test_no_declared_error_is_left_out():
    answered = [error for error, *_ in REFUSED] + [*errors.LOCK_REFUSALS, errors.LOCKED_JOB, errors.WRONG_FORM]
    assert not [error for operation in OPERATIONS for error in operation.errors if error not in answered]


async def test_problems_of_a_body_and_of_the_stored_policy_are_reported_together(door: Door):
    made = await door.policy()
    answer = await door.manage("PATCH", f"policies/{made['id']}", json={"domain": "a.com", "priority": 21})
    detail = errors.WRONG_FORM.body["detail"] | errors.INVALID_PRIORITY.body["detail"]
    assert (answer.status_code, answer.json()["detail"]) == (400, detail)
    answer = await door.manage("PATCH", f"policies/{JOB}", json={"priority": 21})
    assert answer.json() == errors.NO_POLICY.body, "a missing policy is reported first"


async def test_problems_of_a_header_and_of_the_body_are_reported_together(door: Door):
    body = {"bot_id": 7, "job_id": "x", "success": False, "price": "ignored"}
    answer = await door.client.post("/api/crawl/submit/", json=body, headers={"Idempotency-Key": "k" * 256})
    assert answer.json()["detail"] == {
        "bot_id": ["Not a valid string."],
        "job_id": ["Must be a valid UUID."],
        "Idempotency-Key": ["Ensure this header has 1 to 255 characters."],
    }


async def test_the_policy_of_a_url_has_no_name(door: Door):
    answer = await door.manage("POST", "policies", json={"url": "https://example.com/", "name": "n"})
    assert answer.json()["detail"] == {"name": [errors.OTHER_FORM]}
