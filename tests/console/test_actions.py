"""Actions of visitors: a token in every form, the reason in the audit, and a toast that tells the outcome once."""

from base64 import urlsafe_b64encode

import httpx
import pytest

from longline.console.actions import TOAST_COOKIE, Toast, acted, read_toast
from longline.model.callers.audit import AuditFilter
from tests.console.hostile import Things, make_things
from tests.console.visiting import csrf
from tests.surfaces.intervals.platform import Door


@pytest.fixture
async def things(door: Door) -> Things:
    return await make_things(door.platform)


async def test_the_next_page_tells_the_outcome_once(visitor: httpx.AsyncClient, things: Things):
    token = csrf((await visitor.get("/console/proxies")).text)
    path = f"/console/proxies/{things.proxy}"
    answer = await visitor.post(f"{path}/disable", data={"csrf": token})
    assert answer.headers["location"] == path
    assert "HttpOnly; SameSite=Strict" in answer.headers["set-cookie"]
    assert "The proxy is disabled" in (await visitor.get(path)).text
    assert "The proxy is disabled" not in (await visitor.get(path)).text


async def test_a_form_without_fields_brings_its_reason_into_the_audit(
    door: Door, visitor: httpx.AsyncClient, things: Things
):
    token = csrf((await visitor.get("/console/proxies")).text)
    form = {"csrf": token, "reason": " slow since noon "}
    await visitor.post(f"/console/proxies/{things.proxy}/disable", data=form)
    [row] = await door.platform.records.audit.find(AuditFilter(action="proxy.disable"), limit=2)
    assert row.reason == "slow since noon"
    refused = await visitor.post(f"/console/proxies/{things.proxy}/enable", data={"csrf": token, "reason": "x" * 501})
    assert refused.status_code == 400


@pytest.mark.parametrize("form", [None, {"reason": "no token"}, {"csrf": "f" * 64}])
async def test_a_form_without_the_token_of_its_session_is_refused(
    door: Door, visitor: httpx.AsyncClient, things: Things, form: dict[str, str] | None
):
    answer = await visitor.post(f"/console/proxies/{things.proxy}/disable", data=form)
    assert answer.status_code == 403
    row = await door.platform.records.proxies.get(things.proxy)
    assert row is not None
    assert row.active


def test_a_toast_is_read_as_it_was_sent_and_leads_to_the_console_alone():
    sent = acted("/console/tasks", "12 tasks paused.", link="Show them", target="/console/tasks?state=paused")
    value = sent.headers["Set-Cookie"].partition(";")[0].partition("=")[2]
    assert read_toast({TOAST_COOKIE: value}) == Toast("12 tasks paused.", "Show them", "/console/tasks?state=paused")
    forged = urlsafe_b64encode(b'["Look","here","https://elsewhere.example/"]').decode()
    assert [read_toast({TOAST_COOKIE: text}) for text in ("", "!", "bm9uZQ==", "a", forged)] == [None] * 5
