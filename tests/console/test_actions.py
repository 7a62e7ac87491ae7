"""Actions of visitors: a token in every form, the reason in the audit, and a toast that shows the outcome once."""

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


@pytest.mark.parametrize(
    ("sent_from", "answered"),
    [
        ("/console/tasks/{task}?tab=1", 303),
        ("", 409),
        ("/login", 409),
        ("//elsewhere.example/console", 409),
    ],
)
async def test_a_refused_action_is_told_on_the_page_of_its_form(
    visitor: httpx.AsyncClient, things: Things, sent_from: str, answered: int
):
    token = csrf((await visitor.get("/console/proxies")).text)
    path = f"/console/tasks/{things.task}"
    page = sent_from.format(task=things.task)
    headers = {"referer": f"{visitor.base_url}".rstrip("/") + page} if page else {}
    answer = await visitor.post(f"{path}/pause", data={"csrf": token}, headers=headers)
    assert answer.status_code == answered
    if answered == 303:
        assert answer.headers["location"] == page
        told = (await visitor.get(path)).text
        assert 'class="toast fail"' in told
        assert "pause" in told.partition('class="toast fail"')[2]
    else:
        assert "This is not possible now" in answer.text
    missing = await visitor.get("/console/runs/123456", headers=headers)
    assert missing.status_code == 404, "a page that is missing is an error page"


@pytest.mark.parametrize("path", ["tasks/move", "tasks/priority", "sources/{0}/proxies", "sources/{0}/proxies/take"])
@pytest.mark.parametrize("chosen", ["9" * 5_000, "9" * 19, "1 " + "9" * 4_400, ""], ids=["5000", "19", "two", "none"])
async def test_a_choice_by_numbers_is_refused_if_one_is_too_long(
    visitor: httpx.AsyncClient, things: Things, path: str, chosen: str
):
    token = csrf((await visitor.get("/console/proxies")).text)
    form = {"csrf": token, "move": "pending", "priority": "5", "tasks": chosen, "proxies": chosen}
    answer = await visitor.post(f"/console/{path.format(things.source)}", data=form)
    assert answer.status_code == 400
    assert "choose from 1 to" in answer.text


async def test_a_forged_form_is_an_error_page_wherever_it_comes_from(visitor: httpx.AsyncClient, things: Things):
    headers = {"referer": f"{visitor.base_url}console/proxies"}
    path = f"/console/proxies/{things.proxy}/disable"
    assert (await visitor.post(path, data={"csrf": "f" * 64}, headers=headers)).status_code == 403


def test_a_toast_is_read_as_it_was_sent_and_leads_to_the_console_alone():
    sent = acted("/console/tasks", "12 tasks paused.", link="Show them", target="/console/tasks?state=paused")
    value = sent.headers["Set-Cookie"].partition(";")[0].partition("=")[2]
    assert read_toast({TOAST_COOKIE: value}) == Toast("12 tasks paused.", "Show them", "/console/tasks?state=paused")
    forged = urlsafe_b64encode(b'["Look","here","https://elsewhere.example/"]').decode()
    assert [read_toast({TOAST_COOKIE: text}) for text in ("", "!", "bm9uZQ==", "a", forged)] == [None] * 5
