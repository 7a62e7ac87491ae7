"""The style sheet and the script of the console, from the package."""

from hashlib import sha256
from importlib.resources import files
from typing import Any

from longline.console.content_security import HEADERS
from longline.model.errors import NotFound
from longline.surfaces.operation import ApiResponse, Content, operation

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
FOREVER = "public, max-age=31536000, immutable"


class StaticFiles:
    """The files. Their paths contain a digest of all of them, so that browsers may keep them for good."""

    def __init__(self) -> None:
        folder = files("longline.console").joinpath("static")
        self._files = {file.name: file.read_bytes() for file in folder.iterdir() if _ending(file.name) in MEDIA_TYPES}
        self.digest = sha256(b"".join(data for _, data in sorted(self._files.items()))).hexdigest()[:16]

    def path(self, name: str) -> str:
        """Return the path of a file."""
        if name not in self._files:
            raise KeyError(name)
        return f"/console/static/{self.digest}/{name}"

    def get(self, name: str) -> Content:
        """Return a file; raise `NotFound` for an unknown name."""
        if name not in self._files:
            raise NotFound("file", name)
        return Content(MEDIA_TYPES[_ending(name)], self._files[name])


def _ending(name: str) -> str:
    return name[name.rfind(".") :]


@operation(
    "GET",
    "/console/static/{digest}/{name}",
    "Return a file of the console",
    access="public",
    answers={200: Content("text/css")},
)
async def show_file(services: StaticFiles, digest: str, name: str) -> ApiResponse[Any]:
    cached = FOREVER if digest == services.digest else "no-cache"
    return ApiResponse(services.get(name), 200, {**HEADERS, "Cache-Control": cached})


STATIC = (show_file,)
