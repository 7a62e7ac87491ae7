"""Every operation of every door, requested with every kind of credentials: one table, no cell empty."""

import base64
import hmac
import json
import pkgutil
from collections.abc import AsyncIterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, cast

import jwt
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from prometheus_client import CollectorRegistry

from longline import surfaces
from longline.drivers.records import open_records
from longline.engine.lifecycle.bot_tasks import BotLifecycle
from longline.model.bots.bot import NewBot
from longline.model.callers.api_key import NewApiKey
from longline.model.callers.roles import Role
from longline.ports.records import Records
from longline.services.bots.access import BotAccess
from longline.services.bots.bots import BotRegistry
from longline.services.bots.pulls import BotPulls, PullSettings
from longline.services.bots.submits import BotSubmits
from longline.services.callers.api_keys import ApiKeys
from longline.services.callers.callers import Callers
from longline.services.callers.tokens import Tokens
from longline.services.manifests.tenants import Tenants
from longline.surfaces.bots.door import bots_door
from longline.surfaces.bots.services import BotServices
from longline.surfaces.catalogue.door import CatalogueServices, catalogue_door
from longline.surfaces.door import Door, Endpoint, HttpRequest
from longline.surfaces.intervals.door import IntervalServices, intervals_door
from longline.surfaces.manifests.door import manifests_door
from longline.surfaces.manifests.services import ManifestServices
from longline.surfaces.operation import Operation
from longline.surfaces.platform.door import PlatformServices, platform_door
from longline.surfaces.products.door import ProductServices, products_door
from longline.surfaces.sse import EventStream
from longline.testing.clock import FakeClock

SECRET, INTERNAL = "s" * 64, "open sesame"
NOTHING: Any = None
Header = tuple[bytes, bytes]

IN, OUT, NO = "in", "401", "403"
WRONG = ("no token", "expired", "bad signature", "alg none", "public key as HMAC")
ROLES = ("admin", "moderator", "member", "banned", "service", "no role", "viewer")
OTHERS = ("token of a tenant", "key", "member's key", "key of another door", "key of a tenant", "revoked key")
COLUMNS = (*WRONG, *ROLES, *OTHERS, "token in the URL", "bot token", "internal secret")

OPERATORS = {"admin", "moderator", "service", "no role", "key"}
REFUSED = dict.fromkeys((*WRONG, "revoked key", "token in the URL", "bot token", "internal secret"), OUT)
FORBIDDEN = dict.fromkeys((*ROLES, *OTHERS), NO)
EXPECTED: dict[tuple[str, str], dict[str, str]] = {
    ("intervals", "public"): dict.fromkeys(COLUMNS, IN),
    ("intervals", "token"): FORBIDDEN | dict.fromkeys(OPERATORS, IN) | REFUSED,
    ("intervals", "stream"): FORBIDDEN | dict.fromkeys(OPERATORS, IN) | REFUSED | {"token in the URL": IN},
    ("intervals", "internal"): dict.fromkeys(COLUMNS, OUT) | {"internal secret": IN},
    ("bots", "admin"): FORBIDDEN | {"admin": IN, "key": IN} | REFUSED,
    ("bots", "bot"): dict.fromkeys(COLUMNS, OUT) | {"bot token": IN},
    ("products", "admin"): FORBIDDEN | dict.fromkeys(OPERATORS, IN) | REFUSED,
    ("products", "reader"): FORBIDDEN | dict.fromkeys({*ROLES, "key", "member's key"} - {"banned"}, IN) | REFUSED,
    ("products", "public"): dict.fromkeys(COLUMNS, IN),
    ("manifests", "public"): dict.fromkeys(COLUMNS, IN),
    ("manifests", "operator"): FORBIDDEN | dict.fromkeys(OPERATORS, IN) | REFUSED,
    ("manifests", "sender"): dict.fromkeys((*ROLES, *OTHERS), IN) | {"banned": NO, "key of another door": NO} | REFUSED,
    ("catalogue", "admin"): FORBIDDEN | {"admin": IN, "key": IN} | REFUSED,
    ("platform", "public"): dict.fromkeys(COLUMNS, IN),
    ("platform", "metrics"): FORBIDDEN | dict.fromkeys({*ROLES, "key", "member's key"} - {"banned"}, IN) | REFUSED,
}
"""The callers that each access lets in, written down independently."""


class Anything:
    """Services that are never called, but for the maintenance mode of the catalogue API."""

    def __getattr__(self, name: str) -> Any:
        return Anything()

    async def is_under_maintenance(self) -> bool:
        """Return false; the catalogue API checks the maintenance mode of a caller that it refuses."""
        return False


@pytest.fixture
async def records(migrated_file: str) -> AsyncIterator[Records]:
    opened = await open_records(migrated_file, FakeClock())
    yield opened
    await opened.schema.close()


def public_key() -> str:
    key = generate_private_key(65537, 2048).public_key()
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def forged(algorithm: str, secret: str = "") -> str:
    """Return an admin's token whose head claims this algorithm, signed with HMAC or not at all."""
    parts = [{"alg": algorithm, "typ": "JWT"}, {"sub": "me", "role": "admin", "exp": 9_999_999_999}]
    text = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
    sign = base64.urlsafe_b64encode(hmac.digest(secret.encode(), text.encode(), "sha256")) if secret else b""
    return f"{text}.{sign.rstrip(b'=').decode()}"


def _manifest_services(nothing: Any) -> ManifestServices:
    return replace(ManifestServices(*[nothing] * 10), tenants=Tenants({}))


class Platform:
    """The doors over real keys, tokens and bots, with no services behind them."""

    def __init__(self, records: Records, clock: FakeClock) -> None:
        self.pem, self.clock, self.records = public_key(), clock, records
        self.tokens = Tokens(SECRET, clock.now, public_key=self.pem)
        self.keys = ApiKeys(records.api_keys, clock)
        callers = Callers(self.tokens, self.keys)
        access = BotAccess(records.bots, clock, "required")
        nothing = cast(Any, Anything())
        lifecycle = BotLifecycle(records)
        pulls = BotPulls(lifecycle, access, PullSettings())
        bots = BotServices(pulls, BotSubmits(lifecycle, access, NOTHING), NOTHING, NOTHING, NOTHING, clock.now)
        every = dict.fromkeys(IntervalServices.__slots__, nothing) | {"internal_secret": INTERNAL}
        self.doors: list[Door] = [
            intervals_door(IntervalServices(**every), callers, CollectorRegistry()),
            bots_door(bots, callers, CollectorRegistry()),
            products_door(
                ProductServices(**dict.fromkeys(ProductServices.__slots__, nothing) | {"per_hour": (0, 0)}),
                callers,
                CollectorRegistry(),
            ),
            catalogue_door(
                CatalogueServices(**dict.fromkeys(CatalogueServices.__slots__, nothing)),
                callers,
                CollectorRegistry(),
            ),
            manifests_door(_manifest_services(nothing), callers, CollectorRegistry()),
            platform_door(PlatformServices(nothing, nothing, nothing), callers, metrics_open=False),
        ]

    async def columns(self, door: str) -> dict[str, tuple[list[Header], bytes]]:
        """Return the headers and the query of each column."""
        admin, now = self.tokens.issue("admin", "me", 60), self.clock.now() // 1000
        late = jwt.encode({"sub": "me", "role": "admin", "exp": now - 1}, SECRET, "HS256")
        other = next(name for name in ("intervals", "bots") if name != door)
        _, bot = await BotRegistry(self.records.bots).register(NewBot(name=f"b-{door}")) or ("", "")
        bearers = {
            "expired": late,
            "bad signature": Tokens("t" * 64, self.clock.now).issue("admin", "me", 60),
            "alg none": forged("none"),
            "public key as HMAC": forged("HS256", self.pem),
            **{role: self.tokens.issue("" if role == "no role" else role, "me", 60) for role in ROLES},
            "token of a tenant": self.tokens.issue("admin", "me", 60, "acme"),
            "key": await self.key(NewApiKey("k", door, Role.ADMIN)),
            "member's key": await self.key(NewApiKey("k", door, Role.MEMBER)),
            "key of another door": await self.key(NewApiKey("k", other, Role.ADMIN)),
            "key of a tenant": await self.key(NewApiKey("k", door, Role.ADMIN, "acme")),
            "revoked key": await self.key(NewApiKey("k", door, Role.ADMIN), revoked=True),
            "bot token": bot,
        }
        headers = {name: ([(b"authorization", f"Bearer {text}".encode())], b"") for name, text in bearers.items()}
        secret = [(b"x-internal-secret", INTERNAL.encode())]
        return headers | {
            "no token": ([], b""),
            "token in the URL": ([], f"token={admin}".encode()),
            "internal secret": (secret, b""),
        }

    async def key(self, new: NewApiKey, *, revoked: bool = False) -> str:
        row, text = await self.keys.create(new)
        if revoked:
            await self.keys.revoke(row.uid)
        return text


async def served(**_: Any) -> None:
    """Replace every handler but those of bots, which authenticate their callers themselves."""


def endpoint(door: Door, operation: Operation, services: Any) -> Endpoint:
    shown = operation if operation.access == "bot" else replace(operation, handler=served)
    return Endpoint(shown, services, door.format, door.access[operation.access], door=door.name)


async def cell(door: Door, operation: Operation, services: Any, given: tuple[list[Header], bytes]) -> str:
    """Return the access of one caller to one operation: in, or the status of the refusal."""
    body = b""
    if operation.access == "bot":
        example = msgspec.to_builtins(operation.request_example) | {"bot_id": f"b-{door.name}"}
        body = msgspec.json.encode({name: value for name, value in example.items() if name != "api_token"})
    values = dict.fromkeys(operation.path_parameters, "00000000-0000-7000-8000-000000000000")
    answer = await endpoint(door, operation, services).answer(HttpRequest(values, given[1], given[0], body))
    return str(answer.status) if answer.status in (401, 403) else IN


def door_names() -> set[str]:
    """Return the names of all doors: each has a package with a module `door`."""
    packages = [one.name for one in pkgutil.iter_modules(surfaces.__path__) if one.ispkg]
    return {name for name in packages if find_spec(f"{surfaces.__name__}.{name}.door")}


async def test_every_operation_by_every_credential(records: Records, capsys: pytest.CaptureFixture[str]):
    platform = Platform(records, FakeClock())
    table: dict[tuple[str, str, str], dict[str, str]] = {}
    for door in platform.doors:
        columns = await platform.columns(door.name)
        assert set(columns) == set(COLUMNS)
        for group in door.groups:
            for operation in group.operations:
                row = {name: await cell(door, operation, group.services, columns[name]) for name in COLUMNS}
                table[door.name, operation.access, f"{operation.method} {operation.path}"] = row
    with capsys.disabled():
        print(shown(table))
    assert {door.name for door in platform.doors} == door_names()
    assert len(table) == sum(len(group.operations) for door in platform.doors for group in door.groups)
    assert all(row[name] for row in table.values() for name in COLUMNS), "a cell is empty"
    wrong = {key: row for key, row in table.items() if row != EXPECTED[key[:2]]}
    assert not wrong, wrong
    assert {key[:2] for key in table} == set(EXPECTED), "an access without an operation, or without an expectation"


def shown(table: dict[tuple[str, str, str], dict[str, str]]) -> str:
    """Return the table as text: equal rows are counted, and each operation is named."""
    lines = ["", "columns: " + ", ".join(f"{number}={name}" for number, name in enumerate(COLUMNS, 1))]
    for (door, access, operation), row in table.items():
        cells = " ".join(f"{row[name]:>3}" for name in COLUMNS)
        lines.append(f"{door:<10}{access:<9}{operation:<55}{cells}")
    return "\n".join(lines)


def test_a_token_in_the_url_is_for_streams_and_streams_take_it():
    nothing = cast(Any, Anything())
    every = dict.fromkeys(IntervalServices.__slots__, nothing) | {"internal_secret": INTERNAL}
    callers = Callers(Tokens(SECRET, lambda: 0))
    door = intervals_door(IntervalServices(**every), callers, CollectorRegistry())
    for group in door.groups:
        for operation in group.operations:
            is_stream = EventStream.__name__ in str(operation.handler.__annotations__["return"])
            assert (operation.access == "stream") == is_stream, operation.name
            assert ("token_in_query" in door.access[operation.access].schemes) == is_stream
