"""Every page of the subjects: for each role, with hostile texts, and audited for each change."""

import httpx
import pytest

from longline.model.callers.audit import AuditFilter
from tests.console.hostile import SCRIPT, make_things, paths
from tests.console.visiting import csrf, log_in, text_of
from tests.surfaces.intervals.platform import Door

ADMIN_PAGES = ("/console/audit", "/console/keys", "/console/settings")


async def test_texts_of_strangers_are_texts_on_every_page(door: Door, visitor: httpx.AsyncClient):
    things = await make_things(door.platform)
    for path in paths(things):
        answer = await visitor.get(path)
        assert answer.status_code == 200, (path, text_of(answer.text)[:500])
        assert SCRIPT not in answer.text, path
        assert "<img src=x" not in answer.text, path
        assert "secret-of-proxy" not in answer.text, path
        assert "unsafe-inline" not in answer.headers["content-security-policy"]


async def test_members_see_pages_without_actions(door: Door):
    things = await make_things(door.platform)
    async with log_in(door, "member") as member:
        for path in paths(things):
            answer = await member.get(path)
            is_admins = path.startswith(ADMIN_PAGES)
            assert answer.status_code == (403 if is_admins else 200), path
            if not is_admins:
                forms = answer.text.count('method="post"') - answer.text.count('action="/console/logout"')
                assert forms - answer.text.count('id="bulk"') - answer.text.count('class="form') == 0, path


async def test_a_proxy_is_registered_and_switched(door: Door, visitor: httpx.AsyncClient):
    token = csrf((await visitor.get("/console/proxies")).text)
    wrong = await visitor.post("/console/proxies", data={"csrf": token, "uri": "nonsense"})
    assert wrong.status_code == 400
    made = await visitor.post("/console/proxies", data={"csrf": token, "uri": "http://u:pr0xy-pass@p.example:3128"})
    path = made.headers["location"]
    page = (await visitor.get(path)).text
    assert "pr0xy-pass" not in page
    for name, active in (("disable", False), ("enable", True)):
        assert (await visitor.post(f"{path}/{name}", data={"csrf": token})).status_code == 303
        row = await door.platform.records.proxies.get(int(path.rsplit("/", 1)[1]))
        assert row is not None
        assert row.active == active
    actions = [row.action for row in await door.platform.records.audit.find(AuditFilter(noun="proxy"), limit=9)]
    assert actions == ["proxy.enable", "proxy.disable", "proxy.create"]


async def test_the_token_of_a_bot_is_shown_once(door: Door, visitor: httpx.AsyncClient):
    token = csrf((await visitor.get("/console/bots")).text)
    shown = await visitor.post("/console/bots", data={"csrf": token, "name": "kelp-bot"})
    first = text_of(shown.text).split("never shown again. ")[1].split()[0]
    assert first.startswith("bot_kelp-bot_")
    assert first not in (await visitor.get("/console/bots")).text
    again = await visitor.post("/console/bots/kelp-bot/token", data={"csrf": token})
    second = text_of(again.text).split("never shown again. ")[1].split()[0]
    assert second != first
    taken = await visitor.post("/console/bots", data={"csrf": token, "name": "kelp-bot"})
    assert taken.status_code == 400
    assert (await visitor.post("/console/bots/kelp-bot/disable", data={"csrf": token})).status_code == 303
    bots = await door.platform.records.bots.get(["kelp-bot"])
    assert not bots["kelp-bot"].enabled


async def test_a_key_is_shown_once_and_revoked(door: Door, visitor: httpx.AsyncClient):
    token = csrf((await visitor.get("/console/keys")).text)
    wrong = await visitor.post("/console/keys", data={"csrf": token, "name": "", "door": "intervals"})
    assert wrong.status_code == 400
    made = await visitor.post("/console/keys", data={"csrf": token, "name": "CI", "door": "intervals"})
    text = text_of(made.text).split("never shown again. ")[1].split()[0]
    page = (await visitor.get("/console/keys")).text
    assert text not in page
    [row] = await door.platform.records.api_keys.find()
    assert (await visitor.post(f"/console/keys/{row.uid}/revoke", data={"csrf": token})).status_code == 303
    assert "revoked" in (await visitor.get("/console/keys")).text
    async with log_in(door, "moderator") as moderator:
        assert (await moderator.post("/console/keys", data={"csrf": token, "name": "x"})).status_code == 403


async def test_the_audit_tells_before_and_after(door: Door, visitor: httpx.AsyncClient):
    things = await make_things(door.platform)
    token = csrf((await visitor.get("/console/sources")).text)
    path = f"/console/sources/{things.source}"
    await visitor.post(f"{path}/disable", data={"csrf": token, "reason": "too many failures"})
    listed = (await visitor.get("/console/audit?noun=source")).text
    assert "source.disable" in listed
    assert "too many failures" in listed
    [row] = await door.platform.records.audit.find(AuditFilter(action="source.disable"), limit=2)
    told = text_of((await visitor.get(f"/console/audit/{row.uid}")).text)
    assert "enabled true false" in told or "enabled 1 0" in told
    assert (await visitor.get("/console/audit/none")).status_code == 404


@pytest.mark.parametrize("path", ["sources/1", "tasks/1", "schedules/x", "proxies/1", "items/1", "catalogue/x"])
async def test_unknown_things_are_not_found(visitor: httpx.AsyncClient, path: str):
    assert (await visitor.get(f"/console/{path}")).status_code == 404


async def test_secrets_of_settings_are_masked(door: Door, visitor: httpx.AsyncClient):
    page = (await visitor.get("/console/settings")).text
    assert "jwt_secret" in page
    assert door.platform.settings.database.split("@")[-1] in page or "sqlite" in page
