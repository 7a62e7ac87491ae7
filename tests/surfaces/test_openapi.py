"""The OpenAPI document is valid, complete and true: a generated client and a property-based tester use it."""

import asyncio
import os
import re
import sys
import textwrap
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from openapi_spec_validator import OpenAPIV31SpecValidator
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from longline.model.discovery.link import NewLink
from longline.model.runs.run import NewRun, RunKind
from longline.settings import Settings
from tests.house.tree import ROOT
from tests.surfaces.intervals.platform import Door, open_door

SECRET = "open sesame"
EXAMPLES = 20
TOOLS = ROOT / ".venv-client" / "bin"
Json = dict[str, Any]


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    """Every API of the platform, on SQLite."""
    wanted = Settings(
        data=tmp_path / "data",
        port=0,
        internal_secret=SECRET,
        products_admin_per_hour=0,
        products_read_per_hour=0,
    )
    async with open_door(wanted) as door:
        yield door


async def document_of(door: Door) -> Json:
    async with door.client() as client:
        found: Json = (await client.get("/openapi.json")).json()
    return found


class Described(NamedTuple):
    """One operation of the document."""

    name: str
    path: str
    method: str
    parts: Json


def operations(document: Json) -> Iterator[Described]:
    for path, methods in document["paths"].items():
        for method, parts in methods.items():
            yield Described(parts["operationId"], path, method, parts)


async def test_the_document_is_valid(door: Door):
    document = await document_of(door)
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []
    names = [each.name for each in operations(document)]
    assert len(names) == len(set(names))
    assert [name for name in document["components"]["schemas"] if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name)] == []


# -- completeness -----------------------------------------------------------------------------------------------


def has_typed_parameters(each: Described, _: Json) -> bool:
    given = each.parts["parameters"]
    in_path = {one["name"] for one in given if one["in"] == "path"}
    return in_path == set(re.findall(r"\{(\w+)\}", each.path)) and all(is_typed(one["schema"]) for one in given)


BYTES = "application/octet-stream"


def has_typed_body(each: Described, document: Json) -> bool:
    """Return true if the body, if any, is an object with named fields and has an example."""
    body = each.parts.get("requestBody")
    if body is None:
        return True
    if BYTES in body["content"]:
        return bool(body["content"][BYTES] == {"schema": {"type": "string", "format": "binary"}})
    media = body["content"]["application/json"]
    return has_fields(media["schema"], document) and "example" in media


def has_typed_answers(each: Described, document: Json) -> bool:
    answers = {status: answer for status, answer in each.parts["responses"].items() if status.startswith("2")}
    return bool(answers) and all(is_answer(status, answer, document) for status, answer in answers.items())


def has_typed_errors(each: Described, document: Json) -> bool:
    """Return true if all errors have types and examples, and 500, and 401 for all but open operations, are declared."""
    errors = {status: answer for status, answer in each.parts["responses"].items() if status[0] in "45"}
    media = [answer["content"]["application/json"] for answer in errors.values()]
    is_open = not each.parts["security"] or {} in each.parts["security"]
    typed = all(has_fields(one["schema"], document) and (one.get("examples") or "example" in one) for one in media)
    return typed and "500" in errors and (is_open or "401" in errors)


def is_described(each: Described, document: Json) -> bool:
    """Return true if the operation has a summary, and every parameter and field of the body has a description."""
    body = each.parts.get("requestBody", {"content": {}})["content"].get("application/json")
    fields = (
        {}
        if body is None
        else document["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]["properties"]
    )
    options = [[field, *field.get("anyOf", ())] for field in (*each.parts["parameters"], *fields.values())]
    has_texts = all(any("description" in option or "$ref" in option for option in among) for among in options)
    return has_texts and each.parts["summary"][:1].isupper() and bool(each.parts["tags"])


def is_typed(schema: Json) -> bool:
    return bool(schema.keys() & {"type", "$ref", "anyOf", "enum", "const"})


def has_fields(schema: Json, document: Json) -> bool:
    """Return true for an object with named fields, each of a type, and for one of several such objects."""
    if "anyOf" in schema:
        return all(has_fields(option, document) for option in schema["anyOf"])
    found = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    fields = found.get("properties", {})
    return found.get("type") == "object" and bool(fields) and all(map(is_typed, fields.values()))


def is_answer(status: str, answer: Json, document: Json) -> bool:
    if status == "204":
        return "content" not in answer
    [(media_type, media)] = answer["content"].items()
    if media_type != "application/json":
        return is_typed(media["schema"])
    # The document itself has a schema of its own.
    return has_fields(media["schema"], document) or media["schema"].get("type") == "object"


MEASURES: Mapping[str, Callable[[Described, Json], bool]] = {
    "parameters": has_typed_parameters,
    "bodies": has_typed_body,
    "answers": has_typed_answers,
    "errors": has_typed_errors,
    "descriptions": is_described,
}


async def test_every_operation_is_typed_and_described(door: Door, figures: list[str]):
    document = await document_of(door)
    found = list(operations(document))
    lacking = {name: [each.name for each in found if not is_good(each, document)] for name, is_good in MEASURES.items()}
    shares = ", ".join(f"{name} {100 * (1 - len(bad) / len(found)):.0f} %" for name, bad in lacking.items())
    figures.append(f"OpenAPI: {len(found)} operations; share with typed {shares}")
    assert not any(lacking.values()), lacking


# -- a generated client -----------------------------------------------------------------------------------------

JOURNEY = """
import sys

from longline_client import AuthenticatedClient
from longline_client.api.bot_jobs import bots_add_job, bots_show_job
from longline_client.api.bots import bots_pull_jobs, bots_submit_result
from longline_client.api.jobs import intervals_create_job, intervals_show_job
from longline_client.api.registry import bots_register_bot
from longline_client.api.sources import intervals_make_source
from longline_client.models import (
    BotSuccessAcceptedResult,
    BotSuccessBotJob,
    BotSuccessBotJobDetail,
    BotSuccessBotWithToken,
    BotSuccessPulledJobs,
    ErrorBody,
    JobBody,
    JobRequest,
    NewBotRequest,
    NewJob,
    PullRequest,
    SourceBody,
    SourceRequest,
    SubmitRequest,
)

address, token = sys.argv[1:]
client = AuthenticatedClient(base_url=address, token=token, raise_on_unexpected_status=True)

source = intervals_make_source.sync(client=client, body=SourceRequest(name="news", url="https://news.example/"))
assert isinstance(source, SourceBody), source
wanted = JobRequest(url=source.url, source_id=source.id, interval_minutes=30, schedule_enabled=True)
job = intervals_create_job.sync(client=client, body=wanted)
assert isinstance(job, JobBody), job
assert intervals_show_job.sync(job.id, client=client) == job
missing = intervals_show_job.sync("nothing", client=client)
assert isinstance(missing, ErrorBody), missing
assert missing.error == "Job not found"

issued = bots_register_bot.sync(client=client, body=NewBotRequest(bot_id="bot-001", name="First"))
assert isinstance(issued, BotSuccessBotWithToken), issued
bot = AuthenticatedClient(base_url=address, token=issued.data.api_token, raise_on_unexpected_status=True)
made = bots_add_job.sync(client=client, body=NewJob(url="https://shop.example/1"))
assert isinstance(made, BotSuccessBotJob), made
pulled = bots_pull_jobs.sync(client=bot, body=PullRequest(bot_id="bot-001", max_jobs=5))
assert isinstance(pulled, BotSuccessPulledJobs), pulled
assert [each.job_id for each in pulled.data.jobs] == [made.data.id]
result = SubmitRequest(bot_id="bot-001", job_id=pulled.data.jobs[0].job_id, success=True, price=9.5, currency="USD")
accepted = bots_submit_result.sync(client=bot, body=result)
assert isinstance(accepted, BotSuccessAcceptedResult), accepted
shown = bots_show_job.sync(made.data.id, client=client)
assert isinstance(shown, BotSuccessBotJobDetail), shown
assert (shown.data.status, shown.data.result and shown.data.result.price) == ("done", 9.5)
print("done")
"""


async def run(*command: str | Path, cwd: Path) -> str:
    """Run a program, which must succeed, and return its output."""
    environment = {**os.environ, "PYTHONPATH": str(cwd)}
    process = await asyncio.create_subprocess_exec(
        *map(str, command), cwd=cwd, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    return output


@pytest.mark.slow(reason="generates a client and checks its types")
async def test_a_client_is_generated_that_has_types_and_works(door: Door, tmp_path: Path):
    assert TOOLS.exists(), "the generator is missing: `make test` installs it, or `make .venv-client/.installed`"
    async with door.client() as client:
        (tmp_path / "openapi.json").write_bytes((await client.get("/openapi.json")).content)
    (tmp_path / "config.yml").write_text(
        textwrap.dedent("""
            post_hooks: []
            content_type_overrides: {application/gzip: application/octet-stream}
        """)
    )
    options = ("--path", "openapi.json", "--config", "config.yml", "--meta", "none", "--output-path", "longline_client")
    printed = await run(TOOLS / "openapi-python-client", "generate", *options, "--fail-on-warning", cwd=tmp_path)
    assert "WARNING" not in printed
    (tmp_path / "journey.py").write_text(JOURNEY)
    # The generator casts values that have their type already.
    strict = ("--strict", "--no-warn-redundant-casts", "--config-file=", "--cache-dir", str(tmp_path / "cache"))
    await run(sys.executable, "-m", "mypy", *strict, "-p", "longline_client", "-m", "journey", cwd=tmp_path)
    assert await run(sys.executable, "journey.py", door.address, door.token, cwd=tmp_path) == "done\n"


# -- property-based requests ------------------------------------------------------------------------------------

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
"""Queries are lenient by contract, so that wrong values need not be refused."""

FETCHES = frozenset({"intervals_test_crawl", "intervals_fetch_metadata", "intervals_fetch_page"})
"""Operations that fetch the URL of their body."""


@dataclass
class DocumentedRequests:
    """Requests that the document allows, sent to a server; each response must be one that the document has.

    `known` has ids of objects that exist, by the place of the id in a path; half of the requests have them.
    """

    address: str
    token: str
    known: Mapping[str, list[str]]
    statuses: Counter[int] = field(default_factory=Counter)
    operations: int = 0
    session: requests.Session = field(default_factory=requests.Session)

    def send_all(self, document: Json) -> list[str]:
        """Test every operation, deletions last, and return the faults."""
        schema = schemathesis.openapi.from_dict(document)
        found: list[Any] = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
        self.operations = len(found)
        wrong = [self.send(each) for each in sorted(found, key=lambda each: each.method == "delete")]
        return [text for text in wrong if text is not None]

    def summary(self) -> str:
        """Return the number of cases and of the responses of each status."""
        by_status = ", ".join(f"{status}: {amount}" for status, amount in sorted(self.statuses.items()))
        return f"schemathesis: {self.statuses.total()} cases of {self.operations} operations; by status {by_status}"

    def send(self, operation: Any) -> str | None:
        sent = 0

        def once(case: Any) -> None:
            nonlocal sent
            sent += 1
            self.fill(case, sent)
            self.check(case)

        options = settings(
            max_examples=EXAMPLES,
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        try:
            seed(1)(options(given(case=operation.as_strategy())(once)))()
        except FailureGroup as failed:
            return f"{operation.label}: {failed.exceptions}"
        return None

    def fill(self, case: Any, number: int) -> None:
        """Put ids of existing objects into every other request, and no URL that would be fetched outside."""
        for name in case.path_parameters if number % 2 else ():
            ids = self.known.get(f"{case.path.partition('{')[0]}{name}", [])
            if ids:
                case.path_parameters[name] = ids[number % len(ids)]
        if case.operation.definition.raw["operationId"] in FETCHES and isinstance(case.body, dict):
            case.body["url"] = "http://127.0.0.1:1/"

    def check(self, case: Any) -> None:
        headers = {"Authorization": f"Bearer {self.token}", "X-Internal-Secret": SECRET}
        request = case.as_transport_kwargs(base_url=self.address, headers=headers)
        response = self.session.request(**request, timeout=60, stream=True)
        self.statuses[response.status_code] += 1
        with response:
            if response.headers.get("content-type") == "text/event-stream":
                # A stream has no end; its events are tested elsewhere.
                assert response.status_code == HTTPStatus.OK
                return
            checks = list(CHECKS)
            if response.status_code == HTTPStatus.BAD_GATEWAY:
                checks.remove(not_a_server_error)
            case.validate_response(response, checks=checks)


async def known_ids(door: Door) -> dict[str, list[str]]:
    """Make objects of every kind, and return their ids by the place of the id in a path."""
    job = await door.job()
    finished, live = await door.run(job), await door.run(await door.job("https://b.example/"))
    await door.say(finished, "a line")
    await door.end(finished)
    async with door.client() as client:

        async def make(path: str, **body: Any) -> Any:
            answer = await client.post(path, json=body)
            assert answer.status_code in (200, 201), answer.text
            return answer.json()

        sources = [await make("/api/v1/sources", name=f"s{n}", url=f"https://s{n}.example/") for n in range(3)]
        jobs = [await make("/api/v1/jobs", url="https://a.example/", source_id=each["id"]) for each in sources]
        urls = [await make("/api/v1/frontier", url=f"https://a.example/{n}", source_id="s") for n in range(3)]
        policy = await make("/api/crawl/admin/policies", url="https://shop.example/")
        bot_jobs = [await make("/api/crawl/admin/jobs", url=f"https://shop.example/{n}") for n in range(3)]
        await make("/api/crawl/admin/bots", bot_id="bot-001", name="First")
        shop = {"domain_name": "shop.example", "base_url": "https://shop.example", "parser_name": "product"}
        domain = (await make("/api/admin/domains", **shop))["data"]["id"]
        proxies = [
            (await make("/api/admin/proxies", proxy_url="10.0.0.1", proxy_port=port))["data"]["id"] for port in (1, 2)
        ]
        await make(f"/api/admin/domains/{domain}/proxies", proxy_ids=proxies[:1])
        row = (await door.platform.records.sources.get_by_ref(sources[0]["id"])) or pytest.fail("the source is gone")
        run = await door.platform.records.runs.add(NewRun("crawl", RunKind.CRAWL, "{}", source_id=row.id))
        links = [NewLink(run.id, f"https://x.example/{n}", "https://s0.example/", 1) for n in range(3)]
        await door.platform.records.links.save(links)
        listed = (await client.get("/api/v1/discovered-links")).json()["links"]
    all_jobs = [job.uid, *(each["id"] for each in jobs)]
    return {
        "/api/v1/jobs/job_id": all_jobs,
        "/api/v2/jobs/job_id": all_jobs,
        "/api/v1/executions/execution_id": [finished.uid, live.uid],
        "/api/v1/sources/source_id": [each["id"] for each in sources],
        "/api/v1/frontier/url_id": [each["id"] for each in urls],
        "/api/v1/discovered-links/link_id": [each["id"] for each in listed],
        "/api/v1/discovered-domains/domain": ["x.example"],
        "/api/crawl/admin/policies/id": [policy["data"]["id"]],
        "/api/crawl/admin/jobs/id": [each["data"]["id"] for each in bot_jobs],
        "/api/crawl/admin/bots/id": ["bot-001"],
        "/api/admin/domains/domain_id": [str(domain)],
        "/api/admin/domains/proxy_id": [str(each) for each in proxies],
        "/api/admin/proxies/proxy_id": [str(each) for each in proxies],
    }


@pytest.mark.filterwarnings("ignore")  # those of the tester's own parts
@pytest.mark.slow(reason="twenty requests for every operation")
async def test_every_response_is_one_that_the_document_has(door: Door, figures: list[str]):
    document = await document_of(door)
    tester = DocumentedRequests(door.address, door.token, await known_ids(door))
    wrong = await asyncio.to_thread(tester.send_all, document)
    figures.append(tester.summary())
    assert not wrong, "\n".join(wrong)
    assert set(tester.statuses) >= {200, 201, 204, 400, 404, 409}
    assert all(status < 500 or status == HTTPStatus.BAD_GATEWAY for status in tester.statuses)
