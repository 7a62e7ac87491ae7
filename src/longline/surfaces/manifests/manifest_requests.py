"""Shapes of a submitted manifest, for the documentation."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta


class ResourceBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file of a manifest."""

    id: Annotated[str, Meta(min_length=1, max_length=128, description="Unique inside the manifest.")]
    url: Annotated[str, Meta(min_length=1, description="An http or https URL.")]
    headers: Annotated[dict[str, str], Meta(max_length=10, description="Headers of the request.")] | None = None
    tags: Annotated[dict[str, str] | None, Meta(description="Tags for the handler and the storage.")] = None


class ManifestBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A manifest: metadata, which is stored verbatim, and files to download."""

    manifest_version: Annotated[Literal["v1"], Meta(description="The version of the format.")]
    metadata: Annotated[dict[str, Any], Meta(description="Data of the sender, stored verbatim.")]
    resources: Annotated[list[ResourceBody], Meta(min_length=1, max_length=1000, description="Files to download.")]
    attributes: Annotated[dict[str, Any] | None, Meta(description="Data for the handler of the job type.")] = None
