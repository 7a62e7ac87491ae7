from longline.drivers.signals.local import LocalSignals
from tests.drivers.signals.hearing import next_of


async def test_two_processes_worth_of_signals_are_apart():
    first, second = LocalSignals(), LocalSignals()
    async with second.listen("work") as heard:
        await first.send("work", "first")
        await second.send("work", "second")
        assert (await next_of(heard)).text == "second"
