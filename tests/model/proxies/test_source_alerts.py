"""Alerts: every threshold is tested on both sides."""

from typing import Any

import pytest

from longline.model.proxies.source_alerts import (
    MAX_UNSEEN_MS,
    Alert,
    AlertKind,
    AlertRow,
    AlertThresholds,
    SlowProxy,
    SourcePool,
    alerts_of,
    settled,
)

LIMITS = AlertThresholds(max_queue_depth=10)


def pool(**facts: Any) -> SourcePool:
    full = {"proxies": 3, "active": 3, "usable": 3, "failing": 0, "successes": 0, "failures": 0, "avg_ms": None}
    return SourcePool(source_id=1, name="shop", **{"enabled": True} | full | facts)


def kinds(*pools: SourcePool, slow: tuple[SlowProxy, ...] = (), depth: int = 0) -> list[str]:
    return [alert.kind for alert in alerts_of(pools, slow, depth, LIMITS)]


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        ({}, []),
        ({"active": 2}, ["low_pool"]),
        ({"active": 0, "proxies": 0, "usable": 0}, ["low_pool"]),
        ({"active": 0, "enabled": False, "usable": 0}, []),
        ({"successes": 90, "failures": 10}, []),
        ({"successes": 89, "failures": 10}, ["failure_rate"]),
        ({"successes": 0, "failures": 1, "enabled": False}, ["failure_rate"]),
        ({"usable": 0}, ["pool_exhausted"]),
        ({"usable": 1}, []),
    ],
)
def test_a_pool_raises_alerts_at_its_thresholds(facts: dict[str, Any], wanted: list[str]):
    assert kinds(pool(**facts)) == wanted


def test_slow_proxies_and_a_deep_queue_raise_alerts():
    assert kinds(slow=(SlowProxy(1, "shop", 2, 5000), SlowProxy(1, "shop", 3, 5001))) == ["slow_proxy"]
    assert kinds(depth=10) == []
    assert kinds(depth=11) == ["queue_depth"]


def row(scope: str, kind: AlertKind, subject: str, seen_at: int = 10 * MAX_UNSEEN_MS) -> AlertRow:
    return AlertRow(1, scope, kind, subject, "raised", "", None, None, None, 5, seen_at, None)


def test_only_alerts_of_the_scope_are_raised_and_cleared():
    first, second = Alert("low_pool", "1", "", 0, 3), Alert("low_pool", "2", "", 0, 3)
    others = [row("b", "low_pool", "2"), row("b", "engine_down", "disk", 10 * MAX_UNSEEN_MS - MAX_UNSEEN_MS - 1)]
    known = [row("a", "low_pool", "1"), row("a", "queue_depth", "queue"), *others]
    change = settled([first, second], known, "a", 10 * MAX_UNSEEN_MS)
    assert (change.raised, change.cleared) == ((second,), (known[1], known[3])), "an unseen alert is cleared"
