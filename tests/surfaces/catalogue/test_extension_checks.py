"""Configs of sources that their extension checks, at registration and each change: S3, S4 and 8.6 of the contract."""

import msgspec
import pytest

from tests.surfaces.catalogue.crawling import GENERIC, SELECTORS
from tests.surfaces.catalogue.running import Admin, Json, data, error, fields

REFUSED = "extension longline.extension.selectors:"
WITHOUT_SELECTORS = f"{REFUSED} config needs selectors with the group series"
GOOD: Json = {"name": "Site", "slug": "site", "baseurl": "https://site.example", "extensionid": GENERIC}
CANARY = "canary-4711"

WRONG = [
    ({}, WITHOUT_SELECTORS),
    ({"selectors": {}}, WITHOUT_SELECTORS),
    ({"selectors": {"series": {"id": "a"}}}, f"{REFUSED} the selectors of series lack"),
    (
        {"selectors": SELECTORS["selectors"] | {"chapter": {"number": "p["}}},
        f"{REFUSED} selectors.chapter.number: bad CSS",
    ),
    (
        {"selectors": SELECTORS["selectors"] | {"pages": {"image": ":not(" * 9999}}},
        f"{REFUSED} selectors.pages.image: the CSS",
    ),
    (SELECTORS | {"ratelimit": "fast"}, "ratelimit of the config must be a number"),
    (SELECTORS | {"ratelimit": 0}, "ratelimit of the config must be a number"),
    (SELECTORS | {"ratelimit": -(10**30)}, "ratelimit of the config must be a number"),
    (SELECTORS | {"ratelimit": True}, "ratelimit of the config must be a number"),
    (SELECTORS | {"proxy": 7}, "proxy of the config must be a URI"),
    (SELECTORS | {"proxy": f"me:{CANARY}@x"}, ""),
    (SELECTORS | {"headers": [1]}, "headers of the config must be an object"),
    (SELECTORS | {"headers": {"Host": CANARY}}, "the header Host cannot be given"),
    (SELECTORS | {"hosts": "a.example"}, "hosts of the config must be a list"),
]


@pytest.mark.parametrize(("config", "text"), WRONG)
async def test_a_config_that_the_extension_refuses_is_not_registered(admin: Admin, config: Json, text: str):
    answer = await admin.ask("POST", "crawler/sources", GOOD | {"config": config})
    assert error(answer)[:2] == (400, "VALIDATION_ERROR")
    assert answer.json()["error"].startswith(text)
    assert fields(answer) == ["config"]
    assert CANARY not in answer.text
    assert await admin.page("crawler/sources") == ([], {"total": 0, "page": 1, "limit": 50, "pages": 0})
    assert await admin.audit() == []


@pytest.mark.parametrize("rate", [0.001, 1e-300, 5, 10**15])
async def test_any_positive_rate_is_registered(admin: Admin, rate: float):
    made = await admin.source(extensionid=GENERIC, config=SELECTORS | {"ratelimit": rate})
    assert made["config"]["ratelimit"] == rate


async def test_a_config_that_no_extension_knows_is_registered(admin: Admin):
    for number, extension in enumerate((None, "com.example.missing")):
        made = await admin.source(f"S{number}", extensionid=extension, config={"ratelimit": "fast"})
        assert made["config"] == {"ratelimit": "fast"}


async def test_a_refused_config_is_told_before_a_taken_name(admin: Admin):
    await admin.source("Site")
    assert error(await admin.ask("POST", "crawler/sources", GOOD))[2] == WITHOUT_SELECTORS
    answer = await admin.ask("POST", "crawler/sources", GOOD | {"config": SELECTORS})
    assert error(answer) == (409, "CONFLICT", "A source with this name already exists")


async def test_a_change_is_checked_with_the_extension_as_it_becomes(admin: Admin):
    made = await admin.source(config={"ratelimit": 2})
    path = f"crawler/sources/{made['id']}"
    refused = await admin.ask("PATCH", path, {"extensionid": GENERIC})
    assert (error(refused)[2], fields(refused)) == (WITHOUT_SELECTORS, ["config"])
    data(await admin.ask("PATCH", path, {"extensionid": GENERIC, "config": SELECTORS}))
    assert error(await admin.ask("PATCH", path, {"config": {"ratelimit": 3}}))[2] == WITHOUT_SELECTORS
    merged = data(await admin.ask("PATCH", path, {"config": {"ratelimit": 3}}, configmode="merge"))
    assert merged["config"] == SELECTORS | {"ratelimit": 3}
    data(await admin.ask("PATCH", path, {"extensionid": None, "config": {"ratelimit": "fast"}}))
    assert [entry["action"] for entry in await admin.audit()] == ["source.create", *["source.update"] * 3]


async def test_a_stored_config_that_is_wrong_hinders_no_other_change(admin: Admin):
    made = await admin.source(extensionid=GENERIC, config=SELECTORS)
    records = admin.stage.platform.records

    async def spoil() -> None:
        row = await records.sources.get(made["id"])
        assert row is not None
        await records.sources.change(msgspec.structs.replace(row, extension_config="{}"))

    admin.stage.call(spoil())
    path = f"crawler/sources/{made['id']}"
    assert data(await admin.ask("PATCH", path, {"name": "Other"}))["name"] == "Other"
    assert data(await admin.ask("PATCH", f"{path}/enable", {"isenabled": False}))["isenabled"] is False
