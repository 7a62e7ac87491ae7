from longline.ports.records import Records
from longline.testing.clock import FakeClock


async def test_messages_are_remembered_for_a_while(records: Records, clock: FakeClock):
    assert not await records.handled_messages.has("a")
    await records.handled_messages.note("a")
    await records.handled_messages.note("a")
    clock.advance(1.0)
    await records.handled_messages.note("b")
    await records.handled_messages.prune(1000)
    assert [await records.handled_messages.has(name) for name in "ab"] == [False, True]
