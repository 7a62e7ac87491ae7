"""Hosts of the frontier, and the tasks that workers hold."""

import pytest

from longline.model.errors import NotFound
from longline.model.frontier.worker import ALIVE_MS
from longline.ports.records import Records
from longline.services.frontier.host_lists import HostLists
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.world import admit, claim, running_run, urls


@pytest.fixture
def hosts(records: Records) -> HostLists:
    return HostLists(records.host_lists, records.workers)


async def test_workers_are_listed_with_the_tasks_they_hold(records: Records, hosts: HostLists, clock: FakeClock):
    busy, idle = await records.workers.join("busy", "fetch", ""), await records.workers.join("idle", "parse", "")
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 3), *urls(run, "b.example", 1))
    await claim(records, owner=busy.id, tasks=2)
    told = {hand.worker.id: (hand.alive, hand.hosts, hand.tasks) for hand in await hosts.workers()}
    assert told == {busy.id: (True, 2, 3), idle.id: (True, 0, 0)}
    held, tasks, taken = await hosts.hand(busy.id)
    assert ({host.host for host in held}, len(tasks), taken) == ({"a.example", "b.example"}, 3, [])
    clock.advance(ALIVE_MS / 1000 + 1)
    await records.workers.beat(idle)
    assert {hand.worker.name: hand.alive for hand in await hosts.workers()} == {"busy": False, "idle": True}


async def test_a_host_is_found_by_its_name(records: Records, hosts: HostLists):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 3))
    host = await hosts.get("a.example")
    assert [task.url for task in await hosts.queue(host, None, 2)] == ["https://a.example/0", "https://a.example/1"]
    assert [one.host for one in await hosts.named(" A.EX", "", 5)] == ["a.example"]
    with pytest.raises(NotFound):
        await hosts.get("nowhere.example")
