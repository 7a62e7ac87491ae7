import pytest

from longline.drivers.signals import open_signals
from longline.drivers.signals.redis import RedisTransport
from longline.model.errors import BadInput, Unavailable
from tests.drivers.signals.hearing import next_of


async def test_databases_do_not_share_signals(redis_url):
    zero, one = open_signals("", redis_url), open_signals("", redis_url.removesuffix("0") + "1")
    async with one.listen("work") as heard:
        await zero.send("work", "zero")
        await one.send("work", "one")
        assert (await next_of(heard)).text == "one"
    await zero.close()
    await one.close()


async def test_an_error_of_the_server_is_reported(redis_url):
    signals = open_signals("", redis_url.replace("://", "://nobody:hidden@"))
    with pytest.raises(Unavailable, match="invalid username-password pair") as caught:
        await signals.check()
    assert "hidden" not in str(caught.value)
    await signals.close()


@pytest.mark.parametrize("url", ["http://127.0.0.1", "127.0.0.1:6379", "redis://127.0.0.1:port"])
def test_an_invalid_address_is_bad_input(url):
    with pytest.raises(BadInput, match="the address of Redis is not right"):
        RedisTransport(url)
