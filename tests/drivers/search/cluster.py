"""A small cluster: the part of its protocol that the driver uses, over real HTTP, strict where mistakes are likely.

It checks content types, the form of bulk bodies and strict mappings, and answers queries by a scan of all documents.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Cluster:
    """A cluster's documents and the requests to it; `trouble` has statuses to return instead, one for each request."""

    url: str = ""
    indexes: dict[str, dict[str, Any]] = field(default_factory=dict)
    texts: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    trouble: list[int] = field(default_factory=list)
    full: bool = False

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        self.asked.append((method, path))
        self.headers = headers
        if self.trouble:
            return self.trouble.pop(0), {"error": {"type": "planted"}}
        parts = path.strip("/").split("/")
        match method, parts:
            case "GET", [""]:
                return 200, {"version": {"distribution": "opensearch", "number": "9.9.9"}}
            case "PUT", [name]:
                return self._create(name, json.loads(body))
            case "POST", ["_bulk"]:
                assert headers["content-type"] == "application/x-ndjson"
                return self._bulk(body)
            case "POST", [name, "_search"]:
                if name not in self.indexes:
                    return 404, {"error": {"type": "index_not_found_exception"}}
                return 200, self._look(name, json.loads(body))
        return 400, {"error": {"type": "illegal_argument_exception"}}

    def _create(self, name: str, body: dict[str, Any]) -> tuple[int, Any]:
        if name in self.indexes:
            return 400, {"error": {"type": "resource_already_exists_exception"}}
        assert name == name.lower()
        self.indexes[name], self.texts[name] = body["mappings"], {}
        return 200, {"acknowledged": True}

    def _bulk(self, body: bytes) -> tuple[int, Any]:
        assert body.endswith(b"\n"), "a bulk body ends with a newline"
        lines = [json.loads(line) for line in body.splitlines()]
        items = []
        while lines:
            ((verb, where),) = lines.pop(0).items()
            assert verb == "index"
            items.append({verb: {"_id": where["_id"], **self._write(where["_index"], where["_id"], lines.pop(0))}})
        return 200, {"errors": any(i["status"] >= 400 for item in items for i in item.values()), "items": items}

    def _write(self, name: str, key: str, source: Any) -> dict[str, Any]:
        if self.full:
            return {"status": 429, "error": {"type": "es_rejected_execution_exception"}}
        assert name in self.indexes, "an index is made before the first write"
        if unknown(source, self.indexes[name]):
            return {"status": 400, "error": {"type": "strict_dynamic_mapping_exception"}}
        self.texts[name][key] = source
        return {"status": 201}

    def _look(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        if "suggest" in body:
            return {"suggest": {"near": [{"options": self._near(name, body["suggest"]["near"]["text"])}]}}
        found = [(key, text) for key, text in self.texts[name].items() if fits(text, body["query"]["bool"])]
        for sort in reversed(body["sort"]):
            found = ordered(found, sort)
        page = found[body["from"] : body["from"] + body["size"]]
        hits = [{"_id": key, "_score": 1.0} for key, _ in page]
        return {"hits": {"total": {"value": len(found), "relation": "eq"}, "hits": hits}}

    def _near(self, name: str, word: str) -> list[dict[str, str]]:
        words = {w for text in self.texts[name].values() for w in text["body"].split()}
        return [{"text": w} for w in sorted(words) if w != word and sorted(w) == sorted(word)]


def unknown(source: dict[str, Any], mapping: dict[str, Any]) -> list[str]:
    """Return the fields that a strict mapping does not have."""
    assert mapping["dynamic"] == "strict"
    found = []
    for name, value in source.items():
        known = mapping["properties"].get(name)
        if known is None:
            found.append(name)
        elif "properties" in known:
            found += unknown(value, known)
    return found


def fits(text: dict[str, Any], query: dict[str, Any]) -> bool:
    """Return True if a document matches a bool query."""
    return (
        all(says(text, clause["multi_match"]) for clause in query["must"])
        and not any(says(text, clause["multi_match"]) for clause in query["must_not"])
        and all(chosen(text, clause) for clause in query["filter"])
    )


def says(text: dict[str, Any], asked: dict[str, Any]) -> bool:
    """Return True if one field has the words in a row; with phrase_prefix the last may be a prefix."""
    wanted = asked["query"].split(" ")
    for name in (weighed.partition("^")[0] for weighed in asked["fields"]):
        words = text[name].split()
        for start in range(len(words) - len(wanted) + 1):
            *first, last = words[start : start + len(wanted)]
            right = last.startswith(wanted[-1]) if asked["type"] == "phrase_prefix" else last == wanted[-1]
            if first == wanted[:-1] and right:
                return True
    return False


def chosen(text: dict[str, Any], clause: dict[str, Any]) -> bool:
    """Return True if a document passes a filter."""
    if "term" in clause:
        ((name, value),) = clause["term"].items()
        return bool(text[name] == value)
    ((name, bounds),) = clause["range"].items()
    value = text[name]
    return value is not None and bounds.get("gte", value) <= value <= bounds.get("lte", value)


def ordered(found: list[tuple[str, Any]], sort: Any) -> list[tuple[str, Any]]:
    """Sort the documents by one criterion, those without it last."""
    if sort == "_score":
        return found
    ((name, how),) = sort.items()
    descending = (how if isinstance(how, str) else how["order"]) == "desc"
    have = [pair for pair in found if pair[1][name] is not None]
    have.sort(key=lambda pair: pair[1][name], reverse=descending)
    return have + [pair for pair in found if pair[1][name] is None]


@asynccontextmanager
async def running(cluster: Cluster, tls: ssl.SSLContext | None = None) -> AsyncIterator[Cluster]:
    """Run the cluster at a port of its own."""
    attending: set[asyncio.Task[None]] = set()

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (task := asyncio.current_task()) is not None:
            attending.add(task)
        with suppress(asyncio.CancelledError):
            await _talk(cluster, reader, writer)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(attend, "127.0.0.1", 0, ssl=tls)
    cluster.url = f"http{'s' if tls else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield cluster
    finally:
        server.close()
        for task in attending:
            task.cancel()
        await asyncio.gather(*attending, return_exceptions=True)


async def _talk(cluster: Cluster, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while head := await _head(reader):
        lines = head.decode().split("\r\n")
        method, path, _ = lines[0].split(" ")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:]) if k}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        status, said = cluster.answer(method, path, headers, body)
        data = json.dumps(said).encode()
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data)
        await writer.drain()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""
