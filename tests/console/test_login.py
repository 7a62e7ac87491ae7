"""Logins, sessions and forms: the doors accept no cookies, and the console accepts only cookies."""

import asyncio
from urllib.parse import quote

import httpx
import pytest

from longline.model.callers.api_key import NewApiKey
from longline.model.callers.audit import AuditFilter
from longline.model.callers.roles import Role
from longline.services.callers.console_sessions import OneTimeLogin
from longline.settings import Settings
from longline.wiring import open_platform
from longline.wiring.platform import migrate_tables
from longline.wiring.serve import _serving
from longline.wiring.subjects.callers import api_keys
from tests.console.scene import start_run
from tests.console.visiting import csrf, log_in, stranger, text_of, token
from tests.surfaces.intervals.platform import Door


async def test_a_page_without_a_login_leads_to_the_login_and_back(door: Door):
    async with stranger(door) as client:
        sent = await client.get("/console/runs?state=failed")
        assert (sent.status_code, sent.headers["location"]) == (
            303,
            "/console/login?next=%2Fconsole%2Fruns%3Fstate%3Dfailed",
        )
        form = await client.get(sent.headers["location"])
        assert 'value="/console/runs?state=failed"' in form.text
        logged = await client.post(
            "/console/login", data={"credentials": token(door), "next": "/console/runs?state=failed"}
        )
        assert (logged.status_code, logged.headers["location"]) == (303, "/console/runs?state=failed")
        cookie = logged.headers["set-cookie"]
        assert all(part in cookie for part in ("Path=/console;", "HttpOnly", "SameSite=Strict"))
        assert (await client.get("/console/runs")).status_code == 200


@pytest.mark.parametrize("target", ["//evil.example/", "https://evil.example/", "/consolex", "/console\\x", "/docs"])
async def test_a_login_leads_nowhere_else(door: Door, target: str):
    async with stranger(door) as client:
        logged = await client.post("/console/login", data={"credentials": token(door), "next": target})
        assert logged.headers["location"] == "/console"


async def test_wrong_credentials_and_banned_callers_are_refused(door: Door):
    async with stranger(door) as client:
        for given, status in (("nonsense", 401), ("", 401), (token(door, "banned"), 403)):
            answer = await client.post("/console/login", data={"credentials": given})
            assert answer.status_code == status
            assert 'role="alert"' in answer.text
            assert "set-cookie" not in answer.headers
        late = token(door, seconds=1)
        door.platform.clock.wall()
        assert (await client.post("/console/login", data={"credentials": f"{late}x"})).status_code == 401


async def test_an_api_key_of_the_console_logs_in_until_it_is_revoked(door: Door):
    keys = api_keys(door.platform)
    row, text = await keys.create(NewApiKey("ops", "console", Role.MODERATOR))
    _, other = await keys.create(NewApiKey("ops", "bots", Role.ADMIN))
    async with stranger(door) as client:
        assert (await client.post("/console/login", data={"credentials": other})).status_code == 403
        assert (await client.post("/console/login", data={"credentials": text})).status_code == 303
        assert (await client.get("/console/runs")).status_code == 200
        await keys.revoke(row.uid)
        assert (await client.get("/console/runs")).status_code == 303


async def test_the_doors_take_no_cookie_and_the_console_takes_no_token(door: Door, visitor: httpx.AsyncClient):
    assert (await visitor.get("/api/v1/jobs", headers={"Cookie": str(visitor.cookies)})).status_code == 401
    async with stranger(door) as client:
        bearer = {"Authorization": f"Bearer {door.token}"}
        assert (await client.get("/console/runs", headers=bearer)).status_code == 303


async def test_a_form_needs_the_token_of_its_session(door: Door, visitor: httpx.AsyncClient):
    page = (await visitor.get("/console/runs")).text
    assert (await visitor.post("/console/logout", data={"csrf": "wrong"})).status_code == 403
    assert (await visitor.post("/console/logout", data={"x": "y"})).status_code == 403
    async with log_in(door) as other:
        foreign = csrf((await other.get("/console/runs")).text)
    assert (await visitor.post("/console/logout", data={"csrf": foreign})).status_code == 403
    evil = {"Origin": "https://evil.example"}
    assert (await visitor.post("/console/logout", data={"csrf": csrf(page)}, headers=evil)).status_code == 403
    assert (await visitor.post("/console/login", data={"credentials": "x"}, headers=evil)).status_code == 403
    assert (await visitor.post("/console/logout", data={"csrf": csrf(page)})).status_code == 303
    assert (await visitor.get("/console/runs")).status_code == 303


async def test_sessions_are_listed_ended_and_audited(door: Door, visitor: httpx.AsyncClient):
    async with log_in(door, "member") as member:
        assert (await member.get("/console/sessions")).status_code == 403
        everyone = await visitor.get("/console/sessions")
        assert "a-member" in text_of(everyone.text)
        mine = await member.get("/console/sessions/mine")
        assert "a-admin" not in text_of(mine.text)
        [row] = await door.platform.records.console_sessions.of_subject("a-member", "user")
        [own] = await door.platform.records.console_sessions.of_subject("a-admin", "user")
        refused = await member.post(f"/console/sessions/{own.uid}/end", data={"csrf": csrf(mine.text)})
        assert refused.status_code == 404
        ended = await visitor.post(f"/console/sessions/{row.uid}/end", data={"csrf": csrf(everyone.text)})
        assert (ended.status_code, ended.headers["location"]) == (303, "/console/sessions")
        assert (await member.get("/console/runs")).status_code == 303
    rows = await door.platform.records.audit.find(AuditFilter(noun="session"))
    assert [(row.name, row.action, row.door) for row in rows] == [
        ("a-admin", "session.close", "console"),
        ("a-member", "session.open", "console"),
        ("a-admin", "session.open", "console"),
    ]
    assert row.secret not in str(rows)


@pytest.mark.parametrize("path", ["/console/stream", "/console/runs/stream", "/console/alerts/stream", "run"])
async def test_streams_end_with_their_session(door: Door, visitor: httpx.AsyncClient, path: str):
    run = await start_run(door.platform.records, "https://a.example/")
    path = f"/console/runs/{run.id}/stream" if path == "run" else path
    async with log_in(door, "member") as member, asyncio.timeout(30), member.stream("GET", path) as stream:
        lines = stream.aiter_lines()
        assert await anext(lines) == "retry: 1000"
        [session] = await door.platform.records.console_sessions.of_subject("a-member", "user")
        form = {"csrf": csrf((await visitor.get("/console/runs")).text)}
        assert (await visitor.post(f"/console/sessions/{session.uid}/end", data=form)).status_code == 303
        assert [line async for line in lines][-1] == "", "the stream has an end"
    async with visitor.stream("GET", "/console/stream") as other:
        assert await anext(other.aiter_lines()) == "retry: 1000"


async def test_the_link_of_the_command_logs_in_once(settings: Settings):
    link, found = OneTimeLogin(), list[str]()
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        async with _serving(platform, found.append, link), httpx.AsyncClient(base_url=found[0]) as client:
            assert (await client.get("/console/enter?secret=wrong")).status_code == 401
            first = await client.get(f"/console/enter?secret={link.secret}")
            assert (first.status_code, first.headers["location"]) == (303, "/console")
            assert "operator" in text_of((await client.get("/console/runs")).text)
            client.cookies.clear()
            assert (await client.get(f"/console/enter?secret={link.secret}")).status_code == 401
            assert (await client.get("/console/runs")).status_code == 303


async def test_old_paths_and_browsers_at_the_root_are_led_to_the_console(door: Door):
    async with stranger(door) as client:
        for path in ("/admin/crawler", "/admin/secure-admin-2025/"):
            assert (await client.get(path)).headers["location"] == "/console"
        browser = await client.get("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        assert (browser.status_code, browser.headers["location"]) == (303, "/console")
        assert (await client.get("/")).status_code == 200


async def test_errors_are_pages_and_static_files_are_kept(door: Door, visitor: httpx.AsyncClient):
    missing = await visitor.get("/console/nowhere")
    assert (missing.status_code, missing.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert missing.headers["x-request-id"] in missing.text
    page = await visitor.get("/console/runs")
    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"
    sheet = next(part for part in page.text.split('"') if part.endswith("console.css"))
    kept = await visitor.get(sheet)
    assert kept.headers["content-type"] == "text/css; charset=utf-8"
    assert "immutable" in kept.headers["cache-control"]
    assert (await visitor.get(sheet.replace("console.css", "door.py"))).status_code == 404
    assert (await visitor.get(sheet.replace("console.css", "..%2fdoor.py"))).status_code == 404


async def test_the_console_is_not_in_the_openapi_document(door: Door):
    async with stranger(door) as client:
        assert not [path for path in (await client.get("/openapi.json")).json()["paths"] if "console" in path]


@pytest.mark.parametrize(
    ("referer", "page"),
    [
        ("/console/tasks?run=3", "/console/tasks?run=3"),
        ("/console/tasks/3", "/console/tasks/3"),
        ("/console/bots", "/console/bots"),
        ("/console", "/console"),
        ("", "/console"),
        ("/other", "/console"),
        # Answers to forms, at paths that show no page.
        ("/console/tasks/move", "/console"),
        ("/console/tasks/move/?run=3", "/console"),
        ("/console/tasks/priority", "/console"),
        ("/console/bots/gull/token", "/console"),
        ("/console/nowhere", "/console"),
    ],
)
async def test_a_form_of_a_session_that_has_ended_leads_back_to_its_page(door: Door, referer: str, page: str):
    async with stranger(door) as client:
        headers = {"Referer": f"{door.address}{referer}"} if referer else {}
        answer = await client.post("/console/tasks/move", data={"csrf": "x", "move": "pause"}, headers=headers)
        assert answer.status_code == 303
        assert answer.headers["location"] == f"/console/login?next={quote(page, safe='')}&unsaved=true"
        assert "nothing was saved" in (await client.get(answer.headers["location"])).text
    async with stranger(door) as client:
        assert "nothing was saved" not in (await client.get("/console/login")).text
