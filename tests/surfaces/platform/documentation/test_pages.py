"""The pages about this server, over real HTTP."""

import re

import httpx
import pytest

from longline.surfaces.platform.documentation.pages import Documentation


@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_pages_load_nothing_from_other_hosts_and_run_no_script(client: httpx.AsyncClient, path: str):
    answer = await client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "<script" not in answer.text
    loaded = re.findall(r'(?:src|<link[^>]* href)="([^"]*)"', answer.text)
    assert set(loaded) == {"data:,", "/docs/style.css"}
    assert (await client.get("/docs/style.css")).headers["content-type"] == "text/css; charset=utf-8"


async def test_the_reference_has_every_operation_of_the_document(client: httpx.AsyncClient):
    document = (await client.get("/openapi.json")).json()
    page = (await client.get("/docs")).text
    names = [one["operationId"] for item in document["paths"].values() for one in item.values()]
    assert names
    assert [name for name in names if f'id="{name}"' not in page] == []


async def test_the_start_page_names_the_version_and_leads_on(client: httpx.AsyncClient):
    page = (await client.get("/")).text
    assert "1.2.3" in page
    for path in re.findall(r'href="(/[^"#]*)', page):
        assert (await client.get(path)).status_code == 200, path


def test_texts_of_the_document_are_escaped():
    document = {
        "info": {"version": "<b>"},
        "tags": [{"name": "<script>", "description": "x"}],
        "x-tagGroups": [{"name": "<u>", "tags": ["<script>"]}],
        "paths": {},
        "components": {"schemas": {"<i>": {}}},
    }
    found = Documentation(lambda: document)
    assert b"<script>" not in found.reference_page + found.home_page
    assert b"<i>" not in found.reference_page
