"""Concurrent pulls on both engines: each gets tasks of its own."""

from longline.model.bots.bot_task import NewBotTask, Pull
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import HostSetting


async def fill(records: Records, host: str, count: int) -> list[int]:
    tasks = [NewBotTask(f"https://{host}/{n}", host, 500, 3, 600_000) for n in range(count)]
    return await records.bot_tasks.add(tasks, [HostSetting(host, 0, 1)])


async def test_each_pull_gets_the_requested_number_and_the_first_the_best_tasks(records: Records):
    ids = await fill(records, "a.example", 6)
    got = await records.bot_tasks.pull([Pull(name, None, most) for name, most in (("x", 2), ("y", 3), ("z", 4))])
    assert [[task.id for task in each.tasks] for each in got] == [ids[:2], ids[2:5], ids[5:]]
    assert [each.skipped for each in got] == [4, 3, 5], "tasks that others hold now"
    again = await records.bot_tasks.pull([Pull("x", None, 10), Pull("w", None, 10)])
    assert [(each.tasks, each.skipped) for each in again] == [([], 4), ([], 6)]


async def test_a_pull_gets_tasks_of_its_own_hosts_alone(records: Records):
    here, there = await fill(records, "a.example", 3), await fill(records, "b.example", 3)
    anywhere, narrow = Pull("x", None, 4), Pull("y", None, 4, "b.ex")
    got = await records.bot_tasks.pull([anywhere, narrow, Pull("z", None, 4, domains='["a.example"]')])
    assert [[task.id for task in each.tasks] for each in got] == [[*here, there[0]], there[1:], []]
    assert [each.skipped for each in got] == [0, 1, 3], "counted in the hosts of each pull, at the time of the pull"


async def test_two_pulls_of_one_bot_get_distinct_tasks(records: Records):
    await fill(records, "a.example", 3)
    got = await records.bot_tasks.pull([Pull("x", None, 2), Pull("x", None, 2)])
    assert [(len(each.tasks), each.skipped) for each in got] == [(2, 0), (1, 0)]
    assert (await records.bots.get(["x"]))["x"].pulled == 3
    [busy] = await records.bots.activity(0)
    assert (busy.pulls_now, busy.pulled_now) == (2, 3)


async def test_each_pull_has_a_lease_of_its_own_length(records: Records):
    await fill(records, "a.example", 2)
    got = await records.bot_tasks.pull([Pull("x", None, 1, lease_ms=5000), Pull("y", None, 1)])
    assert [task.held_ms for each in got for task in each.tasks] == [5000, 600_000]
