"""Conditions of the platform that raise alerts, at their thresholds."""

from longline.model.duration import MINUTE_MS
from longline.model.metrics.platform_alerts import (
    MIN_REQUESTS,
    PlatformLimits,
    engine_alerts,
    queue_alerts,
    request_alerts,
    stalled_alerts,
)
from longline.model.proxies.source_alerts import StalledRun

LIMITS = PlatformLimits(stalled_ms=30 * MINUTE_MS, max_failure_percent=10, max_wait_ms=10 * MINUTE_MS)


def test_each_engine_that_does_not_answer_is_named_with_its_machine():
    [disk, loop] = engine_alerts({"disk": "disk full", "event_loop": "timeout"}, "one")
    assert (disk.kind, disk.subject, disk.text) == ("engine_down", "disk", "the check of disk fails on one: disk full")
    assert loop.text == "the check of event loop fails on one: timeout"


def test_an_alert_of_a_stalled_run_has_its_open_tasks_and_its_duration():
    [alert] = stalled_alerts([StalledRun(7, "x" * 500, 3, 12, 0)], 45 * MINUTE_MS, LIMITS)
    assert (alert.run_id, alert.source_id, alert.value, alert.threshold) == (7, 3, 45, 30)
    assert "for 45 minutes, and 12 are open" in alert.text
    assert len(alert.text) < 300


def test_failed_requests_are_judged_from_a_number_of_them_on():
    assert not list(request_alerts(MIN_REQUESTS - 1, MIN_REQUESTS - 1, LIMITS))
    assert not list(request_alerts(100, 10, LIMITS))
    [alert] = request_alerts(100, 11, LIMITS)
    assert (alert.value, alert.threshold) == (11, 10)


def test_a_queue_is_late_when_a_ready_host_has_waited_for_too_long():
    assert not list(queue_alerts(10 * MINUTE_MS, 5, LIMITS))
    [alert] = queue_alerts(10 * MINUTE_MS + 1, 5, LIMITS)
    assert alert.text == "a ready host has waited for a worker for 10 minutes, and 5 are ready"
