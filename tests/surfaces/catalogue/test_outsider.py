"""Checks by an outsider, from the text of the contract alone, against a running `longline up` on each engine."""

import asyncio
import json
from collections import Counter
from typing import Any

import httpx
import pytest

from tests.surfaces.catalogue.outside import FAR, UNKNOWN, Json, World, refused, token, unique, world

__all__ = ["world"]  # a fixture

INVALID = (400, "VALIDATION_ERROR")
HTTPS = "BaseURL must be a valid HTTPS URL"
KEY = "Key must follow dot-notation format (e.g. site.name)"
CRON = "Invalid cron expression"

pytestmark = pytest.mark.slow(reason="a whole platform for each engine")

OPERATIONS = [
    ("GET", "crawler/sources"),
    ("POST", "crawler/sources"),
    ("GET", "crawler/sources/{source}"),
    ("PATCH", "crawler/sources/{source}"),
    ("DELETE", "crawler/sources/{source}"),
    ("PATCH", "crawler/sources/{source}/enable"),
    ("GET", "crawler/sources/{source}/health"),
    ("GET", "comics/{comic}/sources"),
    ("POST", "comics/{comic}/sources"),
    ("PATCH", "comics/{comic}/sources/{mapping}"),
    ("DELETE", "comics/{comic}/sources/{mapping}"),
    ("GET", "crawler/jobs"),
    ("GET", "crawler/jobs/{job}"),
    ("POST", "crawler/jobs"),
    ("PATCH", "crawler/jobs/{job}/cancel"),
    ("GET", "crawler/jobs/{job}/logs"),
    ("GET", "auditlog"),
    ("GET", "auditlog/" + UNKNOWN),
    ("GET", "settings"),
    ("PUT", "settings/a.b"),
    ("DELETE", "settings/a.b"),
    ("GET", "batch/jobs"),
    ("POST", "batch/crawler/partitions"),
    ("POST", "crawler/jobs/reset-stuck"),
    ("POST", "crawler/pause"),
    ("GET", "notifications"),
]


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_the_role_is_checked_before_everything_else(world: World, method: str, path: str):
    headers = {"Authorization": f"Bearer {token('moderator')}"}
    answer = world.ask(method, path, raw=b"{", headers=headers)
    refused(answer, 403, "FORBIDDEN", "Insufficient permissions")


@pytest.mark.parametrize(("method", "path"), OPERATIONS[::5])
def test_the_token_is_checked_before_the_body(world: World, method: str, path: str):
    answer = world.ask(method, path, raw=b"{", headers={"Authorization": None})
    refused(answer, 401, "UNAUTHORIZED", "Authentication required")


@pytest.mark.parametrize("header", ["Basic abc", "Bearer", "abc", "Token x.y.z", "bearerabc"])
def test_headers_of_another_form(world: World, header: str):
    answer = world.ask("GET", "crawler/sources", headers={"Authorization": header})
    refused(answer, 401, "UNAUTHORIZED", "Invalid authorization format")


def test_tokens_that_are_refused(world: World):
    good = token()
    broken = {
        "TOKEN_EXPIRED": [token(seconds=-3600), token("member", seconds=-3600)],
        "TOKEN_INVALID": [token(key="k" * 40), token(key="", algorithm="none"), good[:-3], "a.b.c", "abc~"],
    }
    for code, tokens in broken.items():
        for each in tokens:
            refused(world.ask("GET", "crawler/sources", headers={"Authorization": f"Bearer {each}"}), 401, code)


@pytest.mark.parametrize("raw", [b"[]", b'"x"', b"5", b"null", b"true", b"{", b"\xff\xfe", b'{"a":"\xff"}'])
@pytest.mark.parametrize(("method", "path"), [each for each in OPERATIONS[:20] if each[0] in ("POST", "PATCH", "PUT")])
def test_bodies_that_are_no_objects(world: World, method: str, path: str, raw: bytes):
    refused(world.ask(method, path, raw=raw), *INVALID)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "crawler/sources"),
        ("PATCH", "crawler/sources"),
        ("POST", "crawler/sources/{source}"),
        ("POST", "crawler/sources/{source}/enable"),
        ("DELETE", "crawler/jobs/{job}"),
        ("GET", "crawler/jobs/{job}/cancel"),
        ("POST", "crawler/jobs/{job}/logs"),
        ("DELETE", "auditlog/" + UNKNOWN),
    ],
)
def test_wrong_methods(world: World, method: str, path: str):
    refused(world.ask(method, path), 405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("path", ["odd", "crawler", "crawler/sources/1/odd", "settings/a.b/c"])
def test_unknown_paths(world: World, path: str):
    refused(world.ask("GET", path), 404, "NOT_FOUND")


@pytest.mark.parametrize("sent", ["abc", "1.5", "1e5", "0x10", "%20", "１２", "true", "+"])
def test_ids_that_are_no_integers(world: World, sent: str):
    refused(world.ask("GET", f"crawler/sources/{sent}"), *INVALID, field="id")


@pytest.mark.parametrize("sent", ["0", "-1", "999999999", "9007199254740993", "9" * 30, "-" + "9" * 30])
def test_integers_that_are_no_ids_are_unknown(world: World, sent: str):
    path, missing = f"crawler/sources/{sent}", (404, "NOT_FOUND", "Source not found")
    for method, way, body in (
        ("GET", path, None),
        ("GET", f"{path}/health", None),
        ("PATCH", path, {}),
        ("PATCH", f"{path}/enable", {"isenabled": True}),
        ("DELETE", path, None),
        ("POST", "crawler/jobs", {"sourceid": int(sent)}),
        ("POST", "comics/{comic}/sources", world.mapping(sourceid=int(sent))),
    ):
        refused(world.ask(method, way, body), *missing)
    for method in ("PATCH", "DELETE"):
        refused(
            world.ask(method, f"comics/{{comic}}/sources/{sent}", {} if method == "PATCH" else None), 404, "NOT_FOUND"
        )
    answer = world.ask("GET", "crawler/jobs", params={"sourceid": sent})
    assert (answer.status_code, answer.json()["data"]) == (200, [])


@pytest.mark.parametrize(
    ("query", "page", "limit"),
    [
        ("page=0", 1, 50),
        ("page=-1", 1, 50),
        ("page=abc", 1, 50),
        ("page=1.5", 1, 50),
        ("page=", 1, 50),
        ("page=7", 7, 50),
        ("limit=0", 1, 50),
        ("limit=-5", 1, 50),
        ("limit=abc", 1, 50),
        ("limit=１", 1, 50),
        ("limit=201", 1, 200),
        ("limit=99999999999999999999", 1, 200),
        ("limit=1", 1, 1),
    ],
)
@pytest.mark.parametrize("path", ["crawler/sources", "crawler/jobs"])
def test_pages(world: World, path: str, query: str, page: int, limit: int):
    answer = world.ask("GET", f"{path}?{query}")
    assert answer.status_code == 200
    meta = answer.json()["meta"]
    assert (meta["page"], meta["limit"]) == (page, limit)
    assert meta["pages"] == -(-meta["total"] // limit)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("crawler/sources?isenabled=TRUE", "isenabled"),
        ("crawler/sources?isenabled=true&isenabled=false", "isenabled"),
        ("crawler/jobs?status=odd", "status"),
        ("crawler/jobs?status=QUEUED", "status"),
        ("crawler/jobs?status=queued,odd", "status"),
        ("crawler/jobs?triggeredby=me", "triggeredby"),
        ("crawler/jobs?sort=id", "sort"),
        ("crawler/jobs?since=2026-01-01", "since"),
        ("crawler/jobs?since=2026-01-01T00:00:00", "since"),
        ("crawler/jobs?since=2026-01-01 00:00:00Z", "since"),
        ("crawler/jobs?since=2026-02-30T00:00:00Z", "since"),
        ("crawler/jobs?sourceid=abc", "sourceid"),
        ("crawler/jobs?comicid=abc", "comicid"),
        ("crawler/jobs/{job}/logs?level=fatal", "level"),
        ("crawler/jobs/{job}/logs?level=WARN", "level"),
        ("crawler/jobs/{job}/logs?since=x", "since"),
        ("auditlog?from=x", "from"),
        ("auditlog?to=2026-01-01", "to"),
    ],
)
def test_queries_that_break_a_rule(world: World, path: str, field: str):
    refused(world.ask("GET", path), *INVALID, field=field)


BAD_SOURCES: list[tuple[str, Any, str | None]] = [
    *[("name", value, None) for value in ("", " \t\n", "\u2003", None, ["a"], "x" * 101, "a\x00b")],
    *[("slug", value, None) for value in ("a b", "é", "a\n", "a_b", "A", "-" * 121, None, 5, "a\x00")],
    *[
        ("baseurl", value, HTTPS)
        for value in ("http://a.example", "https://", "https:///x", "https://a b.example", "//a.example")
    ],
    *[("baseurl", value, HTTPS) for value in ("ftp://a.example", "https://a.example:99999", "https:a.example", "")],
    *[("baseurl", value, None) for value in (5, None)],
    *[("extensionid", value, None) for value in ("", "nodots", "com.example.", ".com", "com..a", "com.a\n")],
    ("extensionid", 5, None),
    ("extensionid", "a." + "b" * 199, None),
    ("config", [], None),
    *[("config", value, None) for value in ("{}", 5, None, True)],
    *[("isenabled", value, None) for value in (None, "false", 0)],
    *[(name, 1, None) for name in ("baseUrl", "isEnabled", "base_url", "Name", "consecutivefails", "id", "")],
]


@pytest.mark.parametrize(("field", "value", "text"), BAD_SOURCES)
def test_fields_of_sources_that_break_a_rule(world: World, field: str, value: Any, text: str | None):
    name = unique()
    body = {"name": name, "slug": name, "baseurl": "https://a.example"} | {field: value}
    refused(world.ask("POST", "crawler/sources", body), *INVALID, text, field)
    refused(world.ask("PATCH", "crawler/sources/{source}", {field: value}), *INVALID, text, field)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", f"  {'y' * 100}  "),
        ("name", "😀" * 100),
        ("slug", "0-" * 60),
        ("baseurl", "HTTPS://UP.EXAMPLE/a?b=c#d"),
        ("baseurl", "https://münchen.example:8443"),
        ("baseurl", "https://[::1]/"),
        ("extensionid", "a.b"),
        ("extensionid", None),
        ("config", {"a": {"b": [1, {"c": None}]}}),
        ("config", {"large": 2**63, "small": -(2**63), "far": 1e300}),
        ("config", {"ключ": "значение", "\x00": "\x00"}),
        ("isenabled", False),
    ],
)
def test_fields_of_sources_that_are_kept(world: World, field: str, value: Any):
    made = world.source(**{field: value})
    assert made[field] == (value.strip() if field == "name" else value)
    assert world.ask("GET", f"crawler/sources/{made['id']}").json()["data"] == made


@pytest.mark.parametrize(
    "config", [b'{"n":1180591620717411303424}', b'{"n":1e400}', b'{"a":' * 2000 + b"1" + b"}" * 2000]
)
def test_configs_at_the_edge_are_kept_or_refused(world: World, config: bytes):
    name = unique()
    body = json.dumps({"name": name, "slug": name, "baseurl": "https://a.example"}).encode()
    answer = world.ask("POST", "crawler/sources", raw=body[:-1] + b',"config":' + config + b"}")
    assert answer.status_code in (201, 400), answer.text
    assert world.ask("GET", "crawler/sources", params={"q": name}).status_code == 200


@pytest.mark.parametrize(
    ("name", "query"), [("100% {0}", "100% {0}"), ("a_b {0}", "A_B {0}"), ("c\\d {0}", "c\\d {0}")]
)
def test_the_search_takes_signs_as_they_are(world: World, name: str, query: str):
    mark = unique()
    made, _ = world.source(name=name.format(mark)), world.source(name=f"other {mark}")
    answer = world.ask("GET", "crawler/sources", params={"q": query.format(mark)})
    assert [each["id"] for each in answer.json()["data"]] == [made["id"]]


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        *[("sourceid", value, None) for value in ("100000", None, 1.5, True)],
        *[("sourceid_ext", value, None) for value in ("", " ", 5, "a\x00")],
        ("sourceurl", "http://a.example", "SourceURL must be a valid HTTPS URL"),
        *[("sourceurl", value, None) for value in ("", 5)],
        *[("isactive", value, None) for value in (None, "true")],
        *[(name, 1, None) for name in ("sourceId", "comicid")],
    ],
)
def test_fields_of_mappings_that_break_a_rule(world: World, field: str, value: Any, text: str | None):
    refused(world.ask("POST", "comics/{comic}/sources", world.mapping(**{field: value})), *INVALID, text, field)
    changed = world.ask("PATCH", "comics/{comic}/sources/{mapping}", {field: value})
    refused(changed, *INVALID, text if field != "sourceid" else None, field)


def test_mappings(world: World):
    other = world.make("comics", {"title": unique()})
    linked = (409, "CONFLICT", "This comic is already linked to the specified source with this external ID")
    taken = world.mapping(sourceid_ext=world.names["taken"])
    for comic in (world.names["comic"], other["id"]):
        refused(world.ask("POST", f"comics/{comic}/sources", taken), *linked)
    second = world.make("comics/{comic}/sources", world.mapping())
    path = f"comics/{{comic}}/sources/{second['id']}"
    refused(world.ask("PATCH", path, {"sourceid_ext": world.names["taken"]}), *linked)
    assert world.ask("PATCH", path, {"sourceid_ext": second["sourceid_ext"]}).status_code == 200
    for method in ("PATCH", "DELETE"):
        refused(world.ask(method, f"comics/{other['id']}/sources/{second['id']}", {}), 404, "NOT_FOUND")
    refused(world.ask("POST", f"comics/{UNKNOWN}/sources", world.mapping()), 404, "NOT_FOUND", "Comic not found")
    refused(world.ask("POST", f"comics/{UNKNOWN}/sources", {}), *INVALID)
    shown = world.ask("GET", f"comics/{world.names['comic'].upper()}/sources").json()
    assert set(shown) == {"data"}
    assert second["id"] in [each["id"] for each in shown["data"]]
    assert world.ask("DELETE", path).content == b""
    refused(world.ask("DELETE", path), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        *[({"sourceid": value}, "sourceid") for value in ("x", None, True, 1.5)],
        *[({"comicid": value}, "comicid") for value in ("abc", "", 5)],
        *[({"scheduledat": value}, "scheduledat") for value in ("soon", "", 5, "99999-01-01T00:00:00Z")],
        *[({"scheduledat": value}, "scheduledat") for value in ("2099-01-01T00:00:00", "2099-01-01 00:00:00Z")],
        ({"scheduledat": "2099-01-01T00:00:00+99:00"}, "scheduledat"),
        *[({name: 1}, name) for name in ("sourceId", "triggeredby")],
    ],
)
def test_fields_of_jobs_that_break_a_rule(world: World, change: Json, field: str):
    body = {"sourceid": world.names["source"]} | change
    refused(world.ask("POST", "crawler/jobs", body), *INVALID, field=field)


def test_a_job_never_starts_before_its_microsecond(world: World):
    source = world.source()
    job = world.make("crawler/jobs", {"sourceid": source["id"], "scheduledat": "2099-01-01T02:00:00.0005+02:00"})
    assert job["scheduledat"] == "2099-01-01T00:00:00.001Z"


@pytest.mark.parametrize("since", ["2098-01-01T00:00:00Z", "2098-01-01T00:00:00.5Z", "2098-01-01T02:00:00+02:00"])
def test_the_cursor_of_nothing_is_the_one_that_was_sent(world: World, since: str):
    answer = world.ask("GET", "crawler/jobs/{job}/logs", params={"since": since}).json()
    assert (answer["data"], answer["meta"]["nextcursor"]) == ([], since)


@pytest.mark.parametrize(
    "key", ["site", "Site.name", "a..b", "a.b.", "1a.b", ".a.b", "a b.c", "a.b%0A", "é.b", "a-b.c"]
)
def test_keys_of_settings(world: World, key: str):
    refused(world.ask("PUT", f"settings/{key}", {"value": "x"}), *INVALID, KEY)


@pytest.mark.parametrize(
    "body", [{}, {"value": 5}, {"value": "x" * 10_001}, {"value": "x", "y": 1}, {"value": "a\x00"}]
)
def test_values_of_settings(world: World, body: Json):
    refused(world.ask("PUT", f"settings/{unique().replace('-', '.x')}", body), *INVALID)


def test_settings_that_are_there_from_the_beginning(world: World):
    values = {"crawler.max_retries": "3", "crawler.disable_threshold": "5", "site.maintenance_mode": "false"}
    for number, (key, value) in enumerate(values.items()):
        found = world.ask("GET", f"settings/{key}").json()["data"]
        assert (found["id"], found["value"]) == (100_000 + number, value)


@pytest.mark.parametrize(
    "cron", ["", "x", "* * * *", "* * * * * *", "60 * * * *", "* * 0 * *", "*/0 * * * *", "１ * * * *"]
)
def test_cron_expressions(world: World, cron: str):
    body = {"jobkey": "crawler.partition", "cron": cron}
    refused(world.ask("PATCH", "batch/schedule", body), *INVALID, CRON)


async def _at_once(world: World, *requests: tuple[str, str, Json | None]) -> list[httpx.Response]:
    limits = httpx.Limits(max_connections=50)
    async with httpx.AsyncClient(base_url=world.client.base_url, timeout=60, limits=limits) as client:
        return await asyncio.gather(
            *(
                client.request(
                    method, f"/api/v1/admin/{path}", json=body, headers={"Authorization": f"Bearer {token()}"}
                )
                for method, path, body in requests
            )
        )


@pytest.mark.parametrize("same", ["name", "slug"])
async def test_a_race_for_a_name_has_one_winner(world: World, same: str):
    word = unique()
    bodies = [{"name": unique(), "slug": unique(), "baseurl": "https://a.example"} | {same: word} for _ in range(12)]
    answers = await _at_once(world, *(("POST", "crawler/sources", body) for body in bodies))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 11}
    texts = {answer.json()["error"] for answer in answers if answer.status_code == 409}
    assert texts == {f"A source with this {same} already exists"}


async def test_a_race_of_cancellations_has_one_winner_one_line_and_one_audit_entry(world: World):
    job = world.make("crawler/jobs", {"sourceid": world.source()["id"], "scheduledat": FAR})
    path = f"crawler/jobs/{job['id']}"
    answers = await _at_once(world, *[("PATCH", f"{path}/cancel", {"reason": "— why"})] * 12)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 400: 11}
    texts = {answer.json()["error"] for answer in answers if answer.status_code == 400}
    assert texts == {"Job cannot be cancelled — it has already finished"}
    [line] = world.ask("GET", f"{path}/logs?level=warn").json()["data"]
    assert "— why" in line["message"]
    [entry] = world.ask("GET", "auditlog", params={"entityid": job["id"], "action": "job.cancel"}).json()["data"]
    assert entry["reason"] == "— why"


async def test_a_race_of_deletion_and_everything_else_has_no_server_error(world: World):
    comic = world.names["comic"]
    for _ in range(5):
        number = world.source()["id"]
        job = {"sourceid": number, "scheduledat": FAR}
        requests: list[tuple[str, str, Json | None]] = [
            *[("POST", "crawler/jobs", job)] * 4,
            *[("DELETE", f"crawler/sources/{number}", None)] * 4,
            *[("PATCH", f"crawler/sources/{number}", {"config": {"n": n}}) for n in range(4)],
            *[("POST", f"comics/{comic}/sources", world.mapping(sourceid=number)) for _ in range(4)],
            *[("GET", path, None) for path in ("crawler/jobs", "crawler/sources", f"crawler/sources/{number}/health")],
        ]
        answers = await _at_once(world, *requests)
        assert max(answer.status_code for answer in answers) < 500, [answer.text for answer in answers]
        assert Counter(answer.status_code for answer in answers[4:8]) == {204: 1, 404: 3}
        texts = {answer.json()["error"] for answer in answers if answer.status_code == 404}
        assert texts <= {"Source not found"}
        assert world.ask("GET", "crawler/jobs", params={"sourceid": number}).json()["data"] == []
