"""Requests and responses of sources, in source-manager's format."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from longline.model.errors import BadInput
from longline.model.sources.source import NewSource, SourceRow
from longline.surfaces.intervals.field_types import (
    MAX_NUMBER,
    Key,
    Offset,
    Text,
    WebUrl,
    absolute_url,
)
from longline.surfaces.intervals.sources.source_settings import (
    Json,
    SentSource,
    merge_settings,
)

DEFAULT_LIMIT, MAX_LIMIT = 100, 500
MAX_PAGE = 10**9

Url = Annotated[WebUrl, Meta(min_length=1, description="The start URL, absolute.")]
ChangedUrl = Annotated[WebUrl, Meta(description="The start URL, absolute; empty keeps the present one.")]
IsEnabled = Annotated[bool, Meta(description="Whether the source is crawled and its feed polled.")]
IdentityKey = Annotated[Key, Meta(description="A unique key of the site, such as its host.")]
Name = Annotated[Key, Meta(min_length=1, description="The unique name of the source.")]
Budget = Annotated[int, Meta(ge=1, le=MAX_NUMBER, description="URLs that all runs together may admit.")]
ChangedName = Annotated[Key, Meta(description="The unique name of the source; empty keeps the present one.")]


class SourceRequest(SentSource, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source to register."""

    name: Name
    url: Url
    identity_key: IdentityKey | None = None
    enabled: IsEnabled | None = None
    budget: Budget | None = None

    def source(self) -> NewSource:
        """Return the source to register."""
        return NewSource(
            name=self.name,
            base_url=absolute_url(self.url),
            crawl=merge_settings("{}", self),
            enabled=self.enabled is not False,
            budget=self.budget,
            identity_key=self.identity_key or None,
            **self.feed(),
            **self.parsing(),
        )


class SourceChanges(SentSource, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes of a source: absent fields keep their values."""

    name: ChangedName | None = None
    url: ChangedUrl | None = None
    identity_key: IdentityKey | UnsetType | None = UNSET
    enabled: IsEnabled | None = None
    budget: Budget | UnsetType | None = UNSET

    def amend(self, row: SourceRow) -> SourceRow:
        """Return a source with these changes; raise `BadInput` for another budget, which has its own operation."""
        if self.budget not in (UNSET, row.budget):
            raise BadInput("budget is changed with PUT /api/v1/sources/{id}/budget")
        changes: Json = {"name": self.name or row.name, "base_url": absolute_url(self.url or row.base_url)}
        if self.identity_key is not UNSET:
            changes["identity_key"] = self.identity_key or None
        if self.enabled is not None and self.enabled != row.enabled:
            changes |= {"enabled": self.enabled, "disabled_at": None, "disable_reason": None}
        changes |= {"crawl": merge_settings(row.crawl, self), **self.feed(), **self.parsing()}
        return msgspec.structs.replace(row, **changes)


class SourceListQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The filter, the order and the page of a list of sources; `page` goes before `offset`."""

    search: Annotated[str, Meta(description="Text in the name or the URL, in any case.")] | None = None
    enabled: IsEnabled | None = None
    feed_active: Annotated[bool, Meta(description="Whether the feed is polled now.")] | None = None
    sort_by: Annotated[Literal["name", "created_at", "updated_at"], Meta(description="Field of the order.")] = "name"
    sort_order: Annotated[Literal["asc", "desc"], Meta(description="Rising or falling.")] = "asc"
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="Entries of the page.")] = DEFAULT_LIMIT
    offset: Offset = 0
    page: Annotated[int, Meta(ge=1, le=MAX_PAGE, description="Number of the page, counted from 1.")] | None = None


class IdentityQuery(msgspec.Struct, frozen=True):
    """The identity of a source."""

    identity_key: Annotated[str, Meta(description="The unique key of the site.")] = ""


class SwitchReason(msgspec.Struct, frozen=True):
    """The reason for switching off a source or its feed."""

    reason: Annotated[Text, Meta(description="Shown with the source.")] | None = None


class SourceBudget(msgspec.Struct, frozen=True):
    """The largest number of URLs that all runs of a source together may admit; null for no limit."""

    budget: Annotated[Budget, Meta(extra={"texts": {"missing": "budget is required; null lifts it"}})] | None
