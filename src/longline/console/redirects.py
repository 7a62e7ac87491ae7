"""Paths of other contracts at which people look for a console, and the paths that lead to the pages of now."""

from typing import Any, NamedTuple

from longline.console.actions import HOME, redirect
from longline.surfaces.operation import ApiResponse, Operation, operation


class OldPaths(NamedTuple):
    """The paths, and their operations."""

    paths: tuple[str, ...]
    operations: tuple[Operation, ...]


@operation("GET", "/admin/crawler", "Lead to the console", access="public")
async def lead_from_crawler() -> ApiResponse[Any]:
    return redirect(HOME)


@operation("GET", "/admin/secure-admin-2025", "Lead to the console", access="public")
async def lead_from_secure_admin() -> ApiResponse[Any]:
    return redirect(HOME)


OLD_PATHS = OldPaths(("/admin/crawler", "/admin/secure-admin-2025"), (lead_from_crawler, lead_from_secure_admin))
