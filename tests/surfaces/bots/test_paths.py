"""Ids in paths: a bot's id may be any text, and finds the bot in a path too."""

from urllib.parse import quote

import pytest

from tests.surfaces.bots.running import Door, data, error

NAMES = [
    *("shop/1", "a/b/c", "/", "//", "shop/", "/shop", "a//b", "jobs/rotate-token"),
    *("50%", "%2F", "%252F", "%zz", "a b", " ", "a+b", "a?b", "a#b", "a;b=c", "a&b", "a\\b", '"', "'"),
    *("bücher", "ботик", "🕷", "..", ".", "../../policies", "x" * 100, "ü" * 100),
]


@pytest.mark.parametrize("name", [name for name in NAMES if name.strip()])
async def test_a_bot_of_any_name_is_found_by_it(door: Door, name: str):
    token = (await door.post("bots", bot_id=name))["api_token"]
    # Clients remove dots from paths on their own.
    where = f"bots/{quote(name, safe='').replace('.', '%2E')}"
    assert (await door.get(where))["bot_id"] == name
    changed = data(await door.manage("PATCH", where, json={"name": "N"}), 200)
    assert (changed["bot_id"], changed["name"]) == (name, "N")
    assert (await door.post(f"{where}/rotate-token", 200))["api_token"] != token
    assert (await door.post(f"{where}/reset-statistics/", 200))["bot_id"] == name


async def test_unknown_ids_of_odd_characters_are_not_found(door: Door):
    for odd in ("a%2Fb", "%25", "%", "%ED%A0%80", "%00", "x" * 4000, "%C3%BC"):
        for noun in ("policies", "jobs", "results", "bots"):
            code, kind, _ = error(await door.manage("GET", f"{noun}/{odd}"))
            assert (code, kind.endswith("_not_found")) == (404, True), (noun, odd, kind)
    assert error(await door.manage("GET", "bots/a%2Fb"))[2] == "Bot a/b not found"


async def test_a_slash_that_is_one_still_parts(door: Door):
    await door.post("bots", bot_id="a/b")
    assert error(await door.manage("GET", "bots/a/b"))[:2] == (404, "not_found")
    answer = await door.client.get("/api/crawl/admin/%62ots", headers=door.admin)
    assert [row["bot_id"] for row in data(answer, 200)["bots"]] == ["a/b"], "letters may be written in any way"
