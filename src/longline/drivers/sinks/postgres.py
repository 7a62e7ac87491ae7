"""Sinks that are tables of a PostgreSQL database."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import asyncpg
import orjson

from longline.model.errors import BadInput
from longline.model.sinks.sink import SinkAddress, SinkItem
from longline.ports.sinks import SinkFailed

BATCH_SIZE = 500
CONNECT_TIMEOUT_SECONDS = 10.0
STATEMENT_TIMEOUT_SECONDS = 60.0

FAILURES = (
    OSError,
    TimeoutError,
    ValueError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)

REFUSALS = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.ProgramLimitExceededError,
    ValueError,
)
"""Failures by the data of an item; after any other failure the database may accept the same items later."""

_NAME = re.compile(r"[^\W\d]\w{0,62}")

_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")

_CREATE = """CREATE TABLE IF NOT EXISTS {table} (
    id        text PRIMARY KEY,
    run       bigint NOT NULL,
    position  bigint NOT NULL,
    item      bigint NOT NULL,
    version   bigint NOT NULL,
    kind      text NOT NULL,
    url       text NOT NULL,
    found_at  timestamptz NOT NULL,
    fields    jsonb NOT NULL
)"""

_INSERT = """INSERT INTO {table} (id, run, position, item, version, kind, url, found_at, fields)
SELECT id, run, position, item, version, kind, url, to_timestamp(found_at / 1000.0), fields::jsonb
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::bigint[],
            $9::text[]) AS r(id, run, position, item, version, kind, url, found_at, fields)
ORDER BY run, position
ON CONFLICT (id) DO NOTHING"""


def split_table(url: str) -> tuple[str, str]:
    """Return the URL of the database and the quoted name of the table of `postgresql://host/database/table`."""
    parts = urlsplit(url)
    database, _, table = unquote(parts.path).strip("/").partition("/")
    names = table.split(".")
    if not database or len(names) > 2 or not all(_NAME.fullmatch(name) for name in names):
        raise BadInput(
            "a sink in PostgreSQL needs database and table: postgresql://user@host/database/table; "
            "the table may be schema.table, of letters, digits and underscores"
        )
    return urlunsplit(parts._replace(path=f"/{database}", fragment="")), ".".join(f'"{name}"' for name in names)


class PostgresSink:
    """A sink that is a table: one row for each item, and an item that is sent again changes nothing.

    The table is created if there is none. A batch is one transaction.
    """

    batch_size = BATCH_SIZE

    def __init__(self, address: SinkAddress) -> None:
        self._url, self._table = split_table(address.url)
        self._connection: Any = None

    async def deliver(self, items: Sequence[SinkItem]) -> None:
        try:
            await self._insert(items)
        except SinkFailed as error:
            if not error.refused or len(items) == 1:
                raise
            await self._deliver_halves(items)

    async def _deliver_halves(self, items: Sequence[SinkItem]) -> None:
        """Deliver the items before the one that is refused, which is found by halving."""
        half = len(items) // 2
        await self.deliver(items[:half])
        try:
            await self.deliver(items[half:])
        except SinkFailed as error:
            raise SinkFailed(str(error), half + error.delivered, refused=error.refused) from error

    async def _insert(self, items: Sequence[SinkItem]) -> None:
        columns = [list(column) for column in zip(*map(_row, items), strict=True)]
        connection = await self._connected()
        try:
            await connection.execute(_INSERT.format(table=self._table), *columns, timeout=STATEMENT_TIMEOUT_SECONDS)
        except FAILURES as error:
            self._drop()
            raise SinkFailed(_first_line(error), refused=isinstance(error, REFUSALS)) from error
        except asyncio.CancelledError:
            self._drop()
            raise

    async def close(self) -> None:
        self._drop()

    async def _connected(self) -> Any:
        if self._connection is None or self._connection.is_closed():
            try:
                self._connection = await asyncpg.connect(self._url, timeout=CONNECT_TIMEOUT_SECONDS)
                await self._create_table()
            except FAILURES as error:
                self._drop()
                raise SinkFailed(_first_line(error)) from error
        return self._connection

    async def _create_table(self) -> None:
        # Looked for first: a role that may only insert cannot run CREATE TABLE IF NOT EXISTS.
        if await self._connection.fetchval("SELECT to_regclass($1)", self._table) is not None:
            return
        # Another process may create it at the same moment.
        with suppress(asyncpg.DuplicateTableError, asyncpg.UniqueViolationError):
            await self._connection.execute(_CREATE.format(table=self._table))

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()


def _first_line(error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else None
    return (reason or str(error) or type(error).__name__).splitlines()[0]


def _row(item: SinkItem) -> tuple[Any, ...]:
    # PostgreSQL keeps no NUL in texts.
    fields = _NUL.sub(r"\1\\ufffd", orjson.dumps(item.fields).decode())
    return item.id, item.run, item.position, item.item, item.version, item.kind, item.url, item.found_at, fields
