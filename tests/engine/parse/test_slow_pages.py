"""Hosts of slow pages, remembered for a while."""

import pytest

from longline.engine.parse.slow_pages import MAX_HOSTS, MEMORY_SECONDS, SlowHosts


def test_a_host_is_remembered_until_it_is_removed():
    hosts = SlowHosts()
    hosts.add("a.example")
    hosts.add("")
    assert "a.example" in hosts
    assert "" not in hosts
    hosts.discard("a.example")
    hosts.discard("b.example")
    assert "a.example" not in hosts


def test_a_host_is_forgotten_after_a_while(monkeypatch: pytest.MonkeyPatch):
    now = 1000.0
    monkeypatch.setattr("longline.engine.parse.slow_pages.time.monotonic", lambda: now)
    hosts = SlowHosts()
    hosts.add("a.example")
    now += MEMORY_SECONDS - 1
    assert "a.example" in hosts
    now += 2
    assert "a.example" not in hosts


def test_the_oldest_hosts_are_forgotten_first():
    hosts = SlowHosts()
    for number in range(MAX_HOSTS + 2):
        hosts.add(f"{number}.example")
        hosts.add("0.example")
    assert "0.example" in hosts
    assert "1.example" not in hosts
    assert f"{MAX_HOSTS + 1}.example" in hosts
