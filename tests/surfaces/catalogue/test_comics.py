"""Comics and their mappings: M1 to M4 of the contract."""

import pytest

from tests.surfaces.catalogue.running import Admin, Json, data, error, fields

UNKNOWN = "01963a7e-5b2c-7def-8123-456789abcdef"
FIELDS = {
    *("id", "comicid", "sourceid", "sourceid_ext", "sourceurl", "isactive", "lastcrawlat", "createdat", "updatedat"),
    "source",
}


async def test_a_comic(admin: Admin):
    made = await admin.comic("Über den Wolken", coverurl="https://example.com/c.jpg", external={"year": 1999})
    assert made["id"][14] == "7"  # a UUIDv7
    assert (made["title"], made["slug"]) == ("Über den Wolken", "uber-den-wolken")
    assert made["external"] == {"year": 1999}
    again = await admin.comic("Über den Wolken")
    assert again["slug"] == "uber-den-wolken-2"
    taken = await admin.ask("POST", "comics", {"title": "x", "slug": "uber-den-wolken"})
    assert error(taken) == (409, "CONFLICT", "A comic with this slug already exists")


async def test_a_mapping(admin: Admin):
    source, comic = await admin.source(), await admin.comic()
    made = await admin.mapping(comic, source)
    assert set(made) == FIELDS
    assert made["source"] == {name: source[name] for name in ("id", "name", "slug", "baseurl")}
    assert (made["isactive"], made["lastcrawlat"]) == (True, None)
    second = await admin.mapping(comic, source, "x2")
    assert await admin.get(f"comics/{comic['id']}/sources") == [made, second]


async def test_unknown_comics_and_sources(admin: Admin):
    source, comic = await admin.source(), await admin.comic()
    body = {"sourceid": source["id"], "sourceid_ext": "x", "sourceurl": "https://example.com/x"}
    assert error(await admin.ask("GET", f"comics/{UNKNOWN}/sources")) == (404, "NOT_FOUND", "Comic not found")
    assert error(await admin.ask("POST", f"comics/{UNKNOWN}/sources", body)) == (404, "NOT_FOUND", "Comic not found")
    answer = await admin.ask("POST", f"comics/{comic['id']}/sources", body | {"sourceid": 999999})
    assert error(answer) == (404, "NOT_FOUND", "Source not found")
    assert error(await admin.ask("GET", "comics/abc/sources"))[:2] == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"sourceid": "x"}, "sourceid"),
        ({"sourceid_ext": " "}, "sourceid_ext"),
        ({"sourceid_ext": None}, "sourceid_ext"),
        ({"isactive": 1}, "isactive"),
        ({"more": 1}, "more"),
    ],
)
async def test_fields_of_mappings(admin: Admin, change: Json, field: str):
    comic = await admin.comic()
    body = {"sourceid": 100000, "sourceid_ext": "x", "sourceurl": "https://example.com/x"} | change
    answer = await admin.ask("POST", f"comics/{comic['id']}/sources", body)
    assert error(answer)[:2] == (400, "VALIDATION_ERROR")
    assert fields(answer) == [field]


async def test_urls_of_mappings_are_https(admin: Admin):
    comic = await admin.comic()
    body = {"sourceid": 100000, "sourceid_ext": "x", "sourceurl": "http://example.com/x"}
    answer = await admin.ask("POST", f"comics/{comic['id']}/sources", body)
    assert error(answer) == (400, "VALIDATION_ERROR", "SourceURL must be a valid HTTPS URL")


async def test_acceptance_06_an_external_id_belongs_to_one_comic(admin: Admin):
    source, comic, other = await admin.source(), await admin.comic(), await admin.comic("Other")
    await admin.mapping(comic, source)
    body = {"sourceid": source["id"], "sourceid_ext": "x1", "sourceurl": "https://example.com/other"}
    answer = await admin.ask("POST", f"comics/{other['id']}/sources", body)
    text = "This comic is already linked to the specified source with this external ID"
    assert error(answer) == (409, "CONFLICT", text)
    second = await admin.mapping(other, source, "x2")
    answer = await admin.ask("PATCH", f"comics/{other['id']}/sources/{second['id']}", {"sourceid_ext": "x1"})
    assert error(answer) == (409, "CONFLICT", text)


async def test_acceptance_05_paths_have_the_id_of_the_mapping(admin: Admin):
    source, comic, other = await admin.source(), await admin.comic(), await admin.comic("Other")
    made = await admin.mapping(comic, source)
    own, foreign = (f"comics/{each['id']}/sources/{made['id']}" for each in (comic, other))
    for method in ("PATCH", "DELETE"):
        assert error(await admin.ask(method, foreign, {}))[:2] == (404, "NOT_FOUND")
        assert error(await admin.ask(method, f"comics/{comic['id']}/sources/{source['id']}", {}))[0] == 404
    changed = data(await admin.ask("PATCH", own, {"sourceurl": "https://example.com/n", "isactive": False}))
    assert (changed["sourceurl"], changed["isactive"], changed["sourceid_ext"]) == (
        "https://example.com/n",
        False,
        "x1",
    )
    refused = await admin.ask("PATCH", own, {"sourceid": source["id"]})
    assert fields(refused) == ["sourceid"]
    gone = await admin.ask("DELETE", own)
    assert (gone.status_code, gone.content) == (204, b"")
    assert error(await admin.ask("DELETE", own))[0] == 404
    actions = [(entry["action"], entry["entitytype"]) for entry in await admin.audit()][-3:]
    names = ("create", "update", "delete")
    assert actions == [(f"comicsource.{name}", "comicsource") for name in names]


async def test_a_disabled_source_may_be_linked(admin: Admin):
    source = await admin.source(isenabled=False)
    assert (await admin.mapping(await admin.comic(), source))["sourceid"] == source["id"]
