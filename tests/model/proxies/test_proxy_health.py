"""The effect of outcomes and changes on proxies."""

import msgspec
import pytest

from longline.model.duration import HOUR_MS
from longline.model.proxies.proxy import (
    SKIP_AFTER_FAILURES,
    MappingRow,
    ProxyChange,
    ProxyRow,
    ProxyUse,
)
from longline.model.proxies.proxy_health import (
    DISABLE_AFTER_FAILURES,
    PROBE_INTERVAL_MS,
    ProxyCandidate,
    after,
    average,
    blames_proxy,
    changed,
    health_score,
    mapping_after,
    success_rate,
)
from longline.model.proxies.proxy_selection import SLOT_MS

NOW = 1_700_000_000_000


def proxy(**facts: object) -> ProxyRow:
    none = dict.fromkeys(ProxyRow.__struct_fields__)
    known = {"id": 1, "scheme": "http", "host": "p.example", "port": 80, "username": "", "secret": "", "active": True}
    figures = {"failure_count": 0, "success_count": 0, "total_failures": 0, "max_per_hour": 1000, "priority": 5}
    times = {"turn": 0, "created_at": 0, "updated_at": 0}
    return ProxyRow(**none | known | figures | times | facts)  # type: ignore[arg-type]


def mapping(**facts: object) -> MappingRow:
    none = dict.fromkeys(MappingRow.__struct_fields__)
    known = {"id": 1, "source_id": 7, "proxy_id": 1, "active": True, "priority": 5, "turn": 0}
    figures = {"success_count": 0, "failure_count": 0, "total_failures": 0, "created_at": 0, "updated_at": 0}
    return MappingRow(**none | known | figures | facts)  # type: ignore[arg-type]


def used(ok: bool, ms: int = 100, at: int = NOW) -> ProxyUse:
    return ProxyUse(1, 7, ok, ms, at)


def test_the_thresholds_are_those_of_the_contract():
    assert (SKIP_AFTER_FAILURES, DISABLE_AFTER_FAILURES, PROBE_INTERVAL_MS, HOUR_MS % SLOT_MS) == (
        5,
        10,
        15 * 60 * 1000,
        0,
    )


@pytest.mark.parametrize(
    ("reason", "status", "blamed"),
    [
        ("proxy_refused", None, True),
        ("proxy_auth", None, True),
        ("proxy_failed", None, True),
        ("proxy_exhausted", None, False),
        ("http_4xx", 407, True),
        ("http_4xx", 403, True),
        ("http_429", 429, True),
        ("http_4xx", 404, False),
        ("http_5xx", 500, False),
        ("http_5xx", 503, False),
        ("ok", 200, False),
        ("tls", None, False),
        ("too_large", None, False),
        (None, None, False),
    ],
)
def test_reason_and_status_decide_if_the_proxy_is_blamed(reason: str | None, status: int | None, blamed: bool):
    assert blames_proxy(reason, status) is blamed


def test_the_first_sample_is_the_average():
    assert average(None, 301) == 301
    assert average(301, 100) == 200
    assert average(0, 100) == 50


def test_success_counts_and_forgets_failures_in_a_row():
    row = after(proxy(failure_count=9, total_failures=9, success_count=2, avg_ms=200, probe_at=5), used(True, ms=100))
    assert (row.failure_count, row.total_failures, row.success_count, row.avg_ms) == (0, 9, 3, 150)
    assert (row.last_success_at, row.last_failure_at, row.probe_at, row.active) == (NOW, None, None, True)


def test_ten_failures_in_a_row_switch_a_proxy_off():
    row = proxy()
    for count in range(1, DISABLE_AFTER_FAILURES + 2):
        row = after(row, used(False, at=NOW + count))
        assert (row.failure_count, row.total_failures, row.last_failure_at) == (count, count, NOW + count)
        assert row.active is (count < DISABLE_AFTER_FAILURES)
        assert row.disabled_reason == (None if count < DISABLE_AFTER_FAILURES else "auto")
        assert row.probe_at == (None if count < SKIP_AFTER_FAILURES else NOW + SKIP_AFTER_FAILURES + PROBE_INTERVAL_MS)
    assert row.avg_ms is None, "only answers have a speed"


def test_a_success_enables_a_proxy_only_if_failures_had_disabled_it():
    auto = after(proxy(active=False, disabled_reason="auto", failure_count=10), used(True))
    assert (auto.active, auto.disabled_reason, auto.failure_count) == (True, None, 0)
    manual = after(proxy(active=False, disabled_reason="manual", failure_count=3), used(True))
    assert (manual.active, manual.disabled_reason, manual.success_count) == (False, "manual", 1)


def test_failures_do_not_change_the_reason_of_a_proxy_that_a_person_disabled():
    row = proxy(active=False, disabled_reason="manual", failure_count=9)
    row = after(row, used(False))
    assert (row.active, row.disabled_reason, row.failure_count) == (False, "manual", 10)


def test_a_late_report_does_not_set_times_back():
    row = after(after(proxy(), used(True, at=NOW)), used(True, at=NOW - 5))
    assert row.last_success_at == NOW
    row = after(after(proxy(), used(False, at=NOW)), used(False, at=NOW - 5))
    assert row.last_failure_at == NOW


def test_five_failures_in_a_row_switch_a_mapping_off_for_good():
    row = mapping()
    for count in range(1, SKIP_AFTER_FAILURES + 1):
        row = mapping_after(row, used(False))
        assert (row.failure_count, row.total_failures, row.active) == (count, count, count < SKIP_AFTER_FAILURES)
    row = mapping_after(row, used(True, ms=70))
    assert (row.failure_count, row.total_failures, row.success_count, row.avg_ms) == (0, SKIP_AFTER_FAILURES, 1, 70)
    assert not row.active


def test_a_person_enables_a_proxy_without_its_failures_and_disables_it_for_good():
    failed = proxy(active=False, disabled_reason="auto", failure_count=12, total_failures=12, probe_at=9)
    on = changed(failed, ProxyChange(active=True))
    assert on.active is True
    assert on.disabled_reason is None
    assert on.failure_count == 0
    assert on.total_failures == 12
    assert on.probe_at is None
    off = changed(on, ProxyChange(active=False))
    assert (off.active, off.disabled_reason) == (False, "manual")
    assert changed(failed, ProxyChange(active=False)).disabled_reason == "manual"


def test_only_the_named_fields_are_changed():
    row = proxy(country="DE", city="Bonn", failure_count=3)
    assert changed(row, ProxyChange()) == row
    assert changed(row, ProxyChange(country=None)) == msgspec.structs.replace(row, country=None)


def test_rates_have_two_places():
    assert success_rate(0, 0) == 0
    assert success_rate(2, 1) == 66.67
    assert success_rate(5, 0) == 100


def candidate(id: int, **facts: object) -> ProxyCandidate:
    known = {"active": True, "failure_count": 0, "turn": 0, "priority": 5, "room": 1000, "mapped": True} | facts
    return ProxyCandidate(id=id, **known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "points"),
    [
        ({}, 25 + 15 + 20),
        ({"success_count": 3, "total_failures": 1}, 37.5 + 15 + 20),
        ({"total_failures": 1}, 0 + 15 + 20),
        ({"avg_ms": 500}, 25 + 30 + 20),
        ({"avg_ms": 501}, 25 + 25 + 20),
        ({"avg_ms": 1000}, 25 + 25 + 20),
        ({"avg_ms": 2000}, 25 + 20 + 20),
        ({"avg_ms": 5000}, 25 + 10 + 20),
        ({"avg_ms": 5001}, 25 + 5 + 20),
        ({"last_used_at": NOW}, 25 + 15 + 5),
        ({"last_used_at": NOW - HOUR_MS}, 25 + 15 + 5),
        ({"last_used_at": NOW - HOUR_MS - 1}, 25 + 15 + 10),
        ({"last_used_at": NOW - 3 * HOUR_MS - 1}, 25 + 15 + 15),
        ({"last_used_at": NOW - 6 * HOUR_MS - 1}, 25 + 15 + 20),
    ],
)
def test_health_is_success_speed_and_rest(facts: dict[str, object], points: float):
    assert health_score(candidate(1, **facts), NOW) == points
