"""Series, on either engine."""

from collections.abc import Collection

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Transaction, TryAgain
from longline.drivers.records.like_patterns import contains, literal
from longline.drivers.records.row_structs import Table, struct
from longline.model.ids import new_id
from longline.model.series.series import NewSeries, SeriesRow
from longline.model.sources.slug import free_slug, numbered_stem, slug_of
from longline.model.sources.source import Taken


class SeriesRecords(Table):
    """Series."""

    async def add(self, series: NewSeries) -> SeriesRow:
        async def work(tx: Transaction) -> SeriesRow:
            slug = series.slug or await _free_slug(tx, series.title)
            row = await tx.one(
                "add_series",
                id=new_id(),
                title=series.title,
                slug=slug,
                cover_url=series.cover_url,
                status=series.status,
                facts=series.facts,
            )
            if row is None:
                # A slug that was made of the title may have been taken in between.
                raise Taken("slug", f"there is a series with the slug {slug}") if series.slug else TryAgain
            return struct(row, SeriesRow)

        return await audited(self._database, "series", lambda made: made.id, work)

    async def get(self, ids: Collection[str]) -> dict[str, SeriesRow]:
        async def work(tx: Transaction) -> dict[str, SeriesRow]:
            rows = await tx.batch("series_by_ids", [(each,) for each in sorted(set(ids))])
            return {row["id"]: struct(row, SeriesRow) for row in rows}

        return await self._database.read(work)

    async def find(self, title: str | None, *, limit: int, offset: int) -> list[SeriesRow]:
        return await self._all("find_series", SeriesRow, title=contains(title), limit=limit, offset=offset)

    async def after(self, title: str | None, place: tuple[str, str], limit: int) -> list[SeriesRow]:
        asked = {"after_title": place[0], "after_id": place[1], "limit": limit}
        return await self._all("series_after", SeriesRow, title=contains(title), **asked)

    async def count(self, title: str | None) -> int:
        async def work(tx: Transaction) -> int:
            row = await tx.one("count_series", title=contains(title))
            return int(row["count"]) if row else 0

        return await self._database.read(work)


async def _free_slug(tx: Transaction, title: str) -> str:
    slug = slug_of(title)
    rows = await tx.all("series_slugs_like", slug=slug, pattern=f"{literal(numbered_stem(slug))}%")
    return free_slug(slug, (row["slug"] for row in rows))
