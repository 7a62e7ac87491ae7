"""The official client of the Model Context Protocol, over standard input and output."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.servers import program
from tests.web import running_site

READING = {"search", "page", "urls", "items"}


@asynccontextmanager
async def connected(data: Path, *flags: str) -> AsyncIterator[Client]:
    words = ["-m", "longline.cli", "mcp", "--data", str(data), *flags]
    async with Client(StdioServerParameters(command=sys.executable, args=words)) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the structured answer of a tool."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """Return the text of an answer that is an error."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.content
    return str(getattr(result.content[0], "text", ""))


async def test_a_client_crawls_searches_and_reads(tmp_path: Path):
    seen: list[float] = []

    async def follow(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    with running_site(pages=12) as site:
        async with connected(
            tmp_path / "d", "--allow-crawl", "--egress-allow", "127.0.0.0/8", "--delay", "0"
        ) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == READING | {"crawl"}
            assert all(tool.description and tool.input_schema["properties"] for tool in tools.values())
            crawled = await client.call_tool("crawl", {"url": site.url, "pages": 8}, progress_callback=follow)
            done = crawled.structured_content or {}
            assert done["state"] == "completed", done
            assert 1 < done["pages"] <= 8, done
            assert seen
            hits = await call(client, "search", words="page")
            assert [hit["rank"] for hit in hits["hits"]] == list(range(1, min(10, hits["total"]) + 1)) != []
            page = await call(client, "page", url=hits["hits"][0]["url"])
            assert page["markdown"].startswith("# ")
            assert (page["status"], page["next_offset"]) == (200, None)
            urls = await call(client, "urls", limit=3)
            assert (len(urls["urls"]), urls["more"], urls["run"]) == (3, True, done["run"])
            items = await call(client, "items", limit=2)
            rest = await call(client, "items", after=items["next_position"], limit=100)
            assert len(items["items"]) + len(rest["items"]) >= done["pages"]
            assert rest["next_position"] is None


async def test_a_crawl_has_the_bounds_of_its_own_order_alone(tmp_path: Path):
    """The bounds and headers of an earlier crawl from the same URL do not apply."""
    data, canary = tmp_path / "d", "canary-of-the-operator"
    with running_site(pages=12) as site:
        words = ("crawl", site.url, "--out", str(data), "--offsite", "--header", f"X-Mine: {canary}", "--limit", "6")
        assert program.run(*words).returncode == 0
        asked = len(site.site.requests)
        assert any(canary in str(one) for one in site.site.requests)
        async with connected(data, "--allow-crawl", "--egress-allow", "127.0.0.0/8", "--delay", "0") as client:
            done = await call(client, "crawl", url=site.url, depth=0)
        assert (done["state"], done["pages"]) == ("completed", 1), done
        assert site.site.requests[asked:]
        assert not [one for one in site.site.requests[asked:] if canary in str(one)]


@pytest.mark.parametrize("url", ["http://169.254.169.254/latest/", "http://10.0.0.1/", "http://localhost:1/"])
async def test_an_inside_address_is_refused(tmp_path: Path, url: str):
    async with connected(tmp_path / "d", "--allow-crawl", "--egress-allow", "127.0.0.2/32", "--delay", "0") as client:
        done = await call(client, "crawl", url=url, pages=1)
        assert done["pages"] == 0
        assert any("leads to no public address" in error for error in done["errors"]), done


async def test_a_server_that_only_reads_offers_no_crawl_and_creates_nothing(tmp_path: Path):
    async with connected(tmp_path / "d") as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING
        assert "there is no crawl in" in await refusal(client, "search", words="page")
        assert "Unknown tool" in await refusal(client, "crawl", url="https://a.example/")
    assert not (tmp_path / "d").exists()
