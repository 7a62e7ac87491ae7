"""The format of the console: forms as requests, HTML pages as responses, and errors as pages."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec
from litestar.exceptions import HTTPException

from longline.console.access import SENT_FROM, ForgedForm, LoginNeeded
from longline.console.actions import FormReader, refused
from longline.console.template_rendering import Pages
from longline.model.callers.caller import NotAllowed
from longline.model.errors import BadInput, LonglineError, NotFound, Unavailable
from longline.model.proxies.proxy import NoProxies
from longline.services.callers.rate_limits import TooOften
from longline.services.sources.source_robots import RobotsNotFetched
from longline.surfaces.door import HttpResponse
from longline.surfaces.error_format import STATUS, ErrorFormat, problem_text
from longline.surfaces.field_problems import InvalidRequest
from longline.surfaces.operation import ApiResponse, Content
from longline.surfaces.request_reader import RequestReader

_log = logging.getLogger(__name__)

TITLES: Mapping[int, str] = {
    400: "This cannot be done",
    403: "You may not do this",
    404: "There is nothing here",
    405: "This page takes no such request",
    409: "This is not possible now",
    413: "This is too much at once",
    429: "Too many requests",
    500: "Something broke",
    503: "An engine does not answer",
}


TOLD_ON_THE_PAGE = (400, 404, 409)
"""Statuses of actions that were not possible: the visitor stays on the page of the form."""


class PageFormat(ErrorFormat):
    """The format of pages. Errors are pages of their own, but for those of actions, which the page of the form tells.

    A page without a login leads to the login.
    """

    def __init__(self, pages: Pages) -> None:
        super().__init__()
        self._pages = pages

    def reader(self, shape: type[msgspec.Struct]) -> RequestReader[Any]:
        """Return the reader of a form."""
        return FormReader(shape)

    def failure(self, found: Exception) -> HttpResponse:
        """Return the page of an error."""
        if isinstance(found, LoginNeeded):
            unsaved = "&unsaved=true" if found.is_unsaved else ""
            target = f"/console/login?next={quote(found.path, safe='')}{unsaved}"
            return HttpResponse(303, b"", {"Location": target, "Cache-Control": "no-store"}, "text/html")
        status, text = self._told(found)
        page = SENT_FROM.get()
        if page and status in TOLD_ON_THE_PAGE:
            return _response(refused(page, text))
        return _response(self._pages.error(status, TITLES.get(status, TITLES[500]), text))

    def _told(self, found: Exception) -> tuple[int, str]:
        match found:
            case NotAllowed() | ForgedForm():
                return 403, str(found)
            case TooOften():
                return 429, str(found)
            case InvalidRequest():
                return 400, ". ".join(problem_text(problem) for problem in found.problems)
            case NotFound():
                return 404, str(found)
            case RobotsNotFetched() | NoProxies():
                return 409, str(found)
            case Unavailable():
                _log.warning("answered 503", extra={"reason": str(found)})
                return 503, "An engine of the platform does not answer. Old figures may be shown; try again."
            case LonglineError() if any(kind in STATUS for kind in type(found).__mro__):
                return next(STATUS[kind] for kind in type(found).__mro__ if kind in STATUS), str(found)
            case HTTPException() if found.status_code < 500:
                return found.status_code, found.detail
        _log.error("unhandled error", exc_info=found)
        return 500, "An unexpected error occurred. The log of the server names it by the number below."


def _response(answer: ApiResponse[Any]) -> HttpResponse:
    assert isinstance(answer.value, Content)
    return HttpResponse(answer.status, answer.value.data, answer.headers, answer.value.media_type)


def wrong_fields(error: BadInput) -> Sequence[tuple[str, str]]:
    """Return the fields of a form that were refused, each with the text of its problem."""
    if not isinstance(error, InvalidRequest):
        return [("", str(error))]
    return [(problem.field, problem_text(problem)) for problem in error.problems]
