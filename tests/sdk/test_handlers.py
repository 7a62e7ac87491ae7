"""Handlers of jobs by host; jobs of other hosts are left to other bots."""

import functools
from typing import Any

import pytest

from longline.sdk import Bot, Found, Job
from tests.sdk.jobs import GOOD, easy, some
from tests.surfaces.bots.running import Door as Server


async def test_each_domain_has_its_handler_and_other_jobs_are_left_alone(server: Server, where: str):
    for host in ("shop.example.com", "deep.shop.example.com", "example.com", "else.org"):
        await some(server, 1, host)
    bot, seen = Bot(where, "b"), []

    def note(name: str):
        async def work(job: Job) -> Found:
            seen.append((name, job.host))
            return GOOD

        return work

    bot.on("Shop.example.com", "*.shop.example.com")(note("shop"))
    bot.on("example.com")(note("one"))
    await bot.run(once=True)
    assert sorted(seen) == [
        ("one", "example.com"),
        ("shop", "deep.shop.example.com"),
        ("shop", "shop.example.com"),
    ]
    assert (await server.get("dashboard"))["jobs"]["pending"] == 1


OTHERS = ("notshop.example", "shop.example.evil.test", "www.shop.example", "shop.example.", "xshop.example", "example")


async def test_jobs_of_other_hosts_are_not_pulled(server: Server, where: str):
    others = [await server.job(f"https://{host}/shop.example", max_retries=0) for host in OTHERS]
    ours = await some(server, 1, "shop.example:8443")
    bot = Bot(where, "b")

    @bot.on("shop.example")
    async def work(job: Job) -> Found:
        assert job.job_id in ours
        return GOOD

    stats = await bot.run(once=True)
    assert (stats.pulled, stats.done, stats.failed) == (1, 1, 0)
    for job in others:
        row = await server.get(f"jobs/{job}")
        assert (row["status"], row["retry_count"], row["expiry_count"], row["last_error"]) == ("pending", 0, 0, None)


async def test_a_host_name_in_any_script_is_the_same_host(server: Server, where: str):
    await some(server, 1, "bücher.example")
    await some(server, 1, "xn--bcher-kva.example")
    bot = Bot(where, "b")
    bot.on("BÜCHER.example")(easy)
    assert (await bot.run(once=True)).done == 2


async def test_a_host_name_is_decoded_by_the_present_standard_for_international_names(server: Server, where: str):
    """The sharp s is a letter of its own, and names that cannot be decoded are compared as they are."""
    taken = await some(server, 1, "xn--fa-hia.de") + await some(server, 1, "xn--a.com")
    [other] = await some(server, 1, "fass.de")
    bot = Bot(where, "b")
    bot.on("faẞ.de", "xn--a.com")(easy)
    assert (await bot.run(once=True)).done == len(taken)
    assert (await server.get(f"jobs/{other}"))["status"] == "pending"


# -- invalid handlers -------------------------------------------------------------------------------------------


def plain(job: Job) -> Found:
    return GOOD


async def generator(job: Job):
    yield GOOD


class Plain:
    def __call__(self, job: Job) -> Found:
        return plain(job)


class Async:
    async def __call__(self, job: Job) -> Found:
        return await easy(job)


async def without() -> Found:
    return GOOD


async def configured(depth: int, job: Job) -> Found:
    return GOOD


@pytest.mark.parametrize("handler", [plain, generator, Plain(), lambda job: easy(job), functools.partial(plain), 7])
def test_a_handler_that_is_not_async_is_refused_at_once(handler: Any):
    with pytest.raises(TypeError, match=r"is not async: write `async def"):
        Bot("http://127.0.0.1:9", "b").on()(handler)


def test_a_handler_must_take_the_job():
    with pytest.raises(TypeError, match="the handler without does not take one argument, the job"):
        Bot("http://127.0.0.1:9", "b").on()(without)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("handler", [Async(), Async().__call__, functools.partial(configured, 3)])
async def test_any_async_callable_is_a_handler(server: Server, where: str, handler: Any):
    await some(server, 1)
    bot = Bot(where, "b")
    bot.on("example.com")(handler)
    assert (await bot.run(once=True)).done == 1


@pytest.mark.parametrize("host", ["https://shop.example/", "shop.example/x", "*", "*.*.x", "a b", "", "a*b", "u@x"])
def test_an_invalid_host_is_refused_at_once(host: str):
    with pytest.raises(ValueError, match="is not a host name"):
        Bot("http://127.0.0.1:9", "b").on(host)


def test_two_handlers_for_one_host_are_refused():
    bot = Bot("http://127.0.0.1:9", "b")
    bot.on("shop.example")(easy)
    with pytest.raises(ValueError, match=r"a handler for shop\.example already"):
        bot.on("other.example", "SHOP.example")(easy)
    with pytest.raises(TypeError, match=r"write @bot.on\(\)"):
        bot.on(easy)  # type: ignore[arg-type]  # the brackets were forgotten
