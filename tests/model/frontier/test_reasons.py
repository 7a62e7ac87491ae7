"""Every reason has one meaning, and every HTTP status one reason."""

import pytest

from longline.model.frontier import reasons


def test_no_reason_is_of_two_kinds():
    kinds = [{reasons.OK}, reasons.RETRYABLE, reasons.FINAL, reasons.SKIPPED]
    assert sum(len(k) for k in kinds) == len(set().union(*kinds))


@pytest.mark.parametrize("kind", [reasons.RETRYABLE, reasons.FINAL, reasons.SKIPPED, reasons.REFUSED])
def test_every_reason_has_an_explanation_of_its_own(kind: dict[str, str]):
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
def test_each_status_has_its_reason(status: int, reason: str | None):
    assert reasons.for_status(status) == reason
