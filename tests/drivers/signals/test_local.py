from longline.drivers.signals.local import LocalSignals
from tests.drivers.signals.hearing import next_of


async def test_signals_of_two_processes_are_separate():
    first, second = LocalSignals(), LocalSignals()
    async with second.listen("work") as heard:
        await first.send("work", "first")
        await second.send("work", "second")
        assert (await next_of(heard)).text == "second"
