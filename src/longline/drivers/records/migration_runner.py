"""The schema and its migrations, applied by one process at a time."""

from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable

from longline.drivers.records.advisory_locks import MIGRATION_LOCK_ID
from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.engine_clock import FAR_MS
from longline.drivers.records.named_queries import Engine, switch
from longline.drivers.records.search.index_write import follow_tokenizer
from longline.model.errors import CorruptDatabase, Unavailable

CREATE_MIGRATIONS = "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at BIGINT NOT NULL);"
FIRST_MIGRATION = "0001_pre_schema"
"""The schema of the first release; it has no file, because a new database gets the present schema."""


def schema_text(engine: Engine) -> str:
    """Return the whole present schema for one engine."""
    return switch((_folder() / "schema.sql").read_text(encoding="utf-8"), engine)


def migration_names() -> list[str]:
    """Return the names of all migrations, oldest first."""
    files = (_folder() / "migrations").iterdir()
    return [FIRST_MIGRATION, *sorted(f.name.removesuffix(".sql") for f in files if f.name.endswith(".sql"))]


def migration_text(name: str, engine: Engine) -> str:
    """Return one migration after the first, for one engine."""
    return switch((_folder() / "migrations" / f"{name}.sql").read_text(encoding="utf-8"), engine)


def _folder() -> Traversable:
    return resources.files("longline.drivers.records") / "sql"


class SchemaRecords:
    """The schema of one engine: its version, checks and migrations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def version(self) -> str:
        return await self._database.version()

    async def problems(self, *, deep: bool = False) -> list[str]:
        # PostgreSQL checks its pages by itself.
        if self._database.engine == "pg":
            return []

        async def work(tx: Transaction) -> list[str]:
            rows = await tx.all("integrity_check" if deep else "quick_check")
            # Before version 3.42 SQLite gives all faults in one row, after a line that names the database.
            lines = [line for row in rows for line in str(row["problem"]).splitlines()]
            return [line for line in lines if line != "ok" and not line.startswith("***")]

        try:
            return await self._database.read(work)
        except CorruptDatabase as error:
            return [str(error)]

    async def now(self) -> int:
        async def work(tx: Transaction) -> int:
            await tx.one("ping")  # fails when the engine does not answer
            return tx.now

        return await self._database.read(work)

    async def distant_times(self) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            row = await tx.one("distant_times", most=FAR_MS)
            return {name: row[name] for name in ("schedules", "hosts", "tasks") if row and row[name]}

        return await self._database.read(work)

    async def pending(self) -> list[str]:
        async def work(tx: Transaction) -> list[str]:
            applied = await self._applied(tx)
            return [name for name in migration_names() if name not in applied]

        return await self._database.read(work)

    async def migrate(self) -> list[str]:
        done: list[str] = []
        for name in await self.pending():
            done += await self._database.transact(partial(self._apply, name))
        await follow_tokenizer(self._database)
        return done

    async def _apply(self, name: str, tx: Transaction) -> list[str]:
        # SQLite has one writer at a time; PostgreSQL waits here for other processes that migrate.
        if tx.engine == "pg":
            await tx.all("lock_migrations", lock=MIGRATION_LOCK_ID)
        await tx.script(CREATE_MIGRATIONS)
        applied = await self._applied(tx)
        if name in applied:
            return []
        if applied and name == FIRST_MIGRATION:
            raise Unavailable("the database was made by a version before the first release; use a new one")
        # A new database gets the present schema; tests check that the migrations lead to the same.
        text, names = (
            (migration_text(name, tx.engine), [name]) if applied else (schema_text(tx.engine), migration_names())
        )
        await tx.script(text)
        await tx.batch("record_migrations", [(name,) for name in names])
        return names

    async def _applied(self, tx: Transaction) -> set[str]:
        row = await tx.one("has_migrations")
        if row is None or not row["there"]:
            return set()
        return {row["name"] for row in await tx.all("applied_migrations")}

    async def close(self) -> None:
        await self._database.close()
