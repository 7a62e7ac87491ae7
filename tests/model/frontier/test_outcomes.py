"""Every reason leads to one rest, and waiting grows to a bound."""

import pytest

from longline.model.frontier import outcomes as fate
from longline.model.states import TaskState


def test_no_reason_means_two_things():
    kinds = [{fate.OK}, fate.RETRYABLE, fate.FINAL, fate.SKIPPED]
    assert sum(len(k) for k in kinds) == len(set().union(*kinds))


@pytest.mark.parametrize("kind", [fate.RETRYABLE, fate.FINAL, fate.SKIPPED, fate.REFUSED])
def test_every_reason_says_what_it_means_and_no_other_says_the_same(kind: dict[str, str]):
    assert all(kind.values())
    assert len(set(kind.values())) == len(kind)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        *((status, "odd_status") for status in (100, 101, 103, 206, 226)),
        *((status, None) for status in (200, 203, 204, 304)),
        *((status, "http_4xx") for status in (400, 404, 407, 416, 499)),
        *((status, f"http_{status}") for status in (408, 425, 429)),
        *((status, "http_5xx") for status in (500, 503, 599)),
    ],
)
def test_statuses(status: int, reason: str | None):
    assert fate.for_status(status) == reason


@pytest.mark.parametrize("reason", sorted(fate.RETRYABLE))
def test_what_may_pass_is_tried_again_until_the_attempts_are_used_up(reason: str):
    assert fate.state_after(reason, 1, 3) == TaskState.PENDING
    assert fate.state_after(reason, 2, 3) == TaskState.PENDING
    assert fate.state_after(reason, 3, 3) == TaskState.FAILED


@pytest.mark.parametrize("reason", sorted(fate.FINAL))
def test_what_stays_fails_at_once(reason: str):
    assert fate.state_after(reason, 1, 3) == TaskState.FAILED


@pytest.mark.parametrize("reason", sorted(fate.SKIPPED))
def test_what_is_not_wanted_is_skipped(reason: str):
    assert fate.state_after(reason, 1, 3) == TaskState.SKIPPED


def test_waiting_doubles_up_to_the_cap():
    assert [fate.retry_seconds(n) for n in range(1, 6)] == [1, 2, 4, 8, 16]
    assert fate.retry_seconds(13) == 3600
    assert fate.retry_seconds(10_000) == 3600
    assert fate.retry_seconds(0) == 1


@pytest.mark.parametrize(
    ("reason", "status", "attempt", "became"),
    [
        ("ok", 200, 1, TaskState.COMPLETED),
        ("http_4xx", 403, 1, TaskState.PENDING),
        ("http_4xx", 403, 3, TaskState.FAILED),
        ("http_4xx", 404, 1, TaskState.FAILED),
        ("http_4xx", 410, 1, TaskState.FAILED),
        ("too_many_redirects", 302, 2, TaskState.PENDING),
        ("tls", None, 1, TaskState.PENDING),
        ("dns", None, 3, TaskState.FAILED),
        ("parser_error", 200, 1, TaskState.FAILED),
        ("egress", None, 1, TaskState.FAILED),
        ("robots", None, 1, TaskState.SKIPPED),
        ("binary_url", None, 1, TaskState.SKIPPED),
        ("challenge", 403, 1, TaskState.PENDING),
        ("challenge", 403, 3, TaskState.SKIPPED),
    ],
)
def test_who_insists_gives_up_only_what_is_hopeless(
    reason: str, status: int | None, attempt: int, became: TaskState
) -> None:
    assert fate.state_after_retryable(reason, status, attempt, 3) == became
