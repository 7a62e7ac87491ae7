"""Lists of which nothing fits the filter: they do not say that there is nothing at all."""

import httpx
import pytest

from longline.services.proxies.proxies import Proxies
from tests.console.visiting import text_of
from tests.surfaces.intervals.platform import Door


@pytest.mark.parametrize(
    ("path", "told", "untrue"),
    [
        ("/console/proxies?active=true", "No proxy is enabled", "go directly"),
        ("/console/dead-letters?reason=tls", "No letter fits", "Every file was stored"),
        ("/console/dead-letters?waiting=true", "No letter fits", "Every file was stored"),
        ("/console/audit?noun=kelp", "No change fits", "are written here"),
        ("/console/catalogue?text=kelp", "No series fits", "come from runs"),
        ("/console/items?kind=kelp", "No item is of this kind", "come with the pages"),
        ("/console/schedules?text=kelp", "No schedule fits", "crawls a source"),
    ],
)
async def test_a_filter_is_not_taken_for_an_empty_platform(
    door: Door, visitor: httpx.AsyncClient, path: str, told: str, untrue: str
):
    proxies = Proxies(door.platform.records.proxies, door.platform.vault)
    await proxies.disable((await proxies.add("http://spare.example:80")).id)
    shown = text_of((await visitor.get(path)).text)
    assert told in shown
    assert untrue not in shown


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/console/proxies", "Requests go directly until a proxy is registered."),
        ("/console/dead-letters", "Every file was stored, or is still tried."),
        ("/console/schedules", "Choose a source"),
    ],
)
async def test_an_empty_list_says_how_it_is_filled(visitor: httpx.AsyncClient, path: str, told: str):
    assert told in text_of((await visitor.get(path)).text)
