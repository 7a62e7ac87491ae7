"""The driver of each address."""

import msgspec
import pytest

from longline.drivers.sinks.postgres import PostgresSink
from longline.drivers.sinks.webhook import WebhookSink
from longline.model.errors import BadInput
from longline.settings import Settings
from longline.wiring.platform import open_platform
from longline.wiring.subjects.sinks import addressed_sinks, sink_names

HOOK = "https://a.example/in#whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


async def test_each_address_has_its_driver(settings: Settings):
    async with open_platform(settings) as platform:
        found = addressed_sinks(platform, ["postgresql://a.example/d/t", f"hook={HOOK}"])
        assert [type(one.sink) for one in found] == [PostgresSink, WebhookSink]
        with pytest.raises(BadInput, match="there is no sink for kafka://; known are postgresql://, https://"):
            addressed_sinks(platform, ["kafka://a.example/x"])
        assert sink_names(msgspec.structs.replace(settings, sinks=("x://a", f"hook={HOOK}"))) == {"hook"}
        for one in found:
            await one.sink.close()
