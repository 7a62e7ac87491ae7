"""Errors of the product-tasks contract: codes and literal texts."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from longline.model.errors import NotFound
from longline.surfaces.operation import NO_HEADERS, ApiError
from longline.surfaces.products.field_types import TaskStatus

ErrorCode = Literal[
    "TASK_NOT_FOUND", "DOMAIN_NOT_FOUND", "PROXY_NOT_FOUND", "MAPPING_NOT_FOUND", "PRODUCT_NOT_FOUND",
    "BATCH_NOT_FOUND", "NOT_FOUND", "METHOD_NOT_ALLOWED",
    "DUPLICATE_URL", "DUPLICATE_DOMAIN", "DUPLICATE_PROXY", "CONFLICT",
    "INVALID_URL", "INVALID_PRIORITY", "INVALID_STATUS", "INVALID_SORT_FIELD", "VALIDATION_ERROR", "PAYLOAD_TOO_LARGE",
    "DOMAIN_INACTIVE", "HTML_NOT_AVAILABLE", "NO_PROXIES_AVAILABLE",
    "ROBOTS_NOT_FETCHED", "UNAUTHORIZED", "FORBIDDEN", "RATE_LIMIT_EXCEEDED",
    "DATABASE_ERROR", "RABBITMQ_ERROR", "ELASTICSEARCH_ERROR", "INTERNAL_SERVER_ERROR",
]  # fmt: skip

CHALLENGE: Mapping[str, str] = {"WWW-Authenticate": "Bearer"}
PRIORITY_TEXT = "Priority must be 1-10"

_MISSING: Mapping[str, tuple[ErrorCode, str]] = {
    "task": ("TASK_NOT_FOUND", "Task"),
    "source": ("DOMAIN_NOT_FOUND", "Domain"),
    "proxy": ("PROXY_NOT_FOUND", "Proxy"),
    "item": ("PRODUCT_NOT_FOUND", "Product"),
    "batch": ("BATCH_NOT_FOUND", "Batch"),
}


def product_error(
    status: int,
    code: ErrorCode,
    message: str,
    details: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> ApiError:
    """Return an error in the contract's envelope."""
    error = {"code": code, "message": message, "details": dict(details or {})}
    return ApiError(status, {"success": False, "error": error}, headers or NO_HEADERS)


def missing_error(error: NotFound) -> ApiError:
    """Return the error for a missing object."""
    if error.noun not in _MISSING:
        return product_error(404, "NOT_FOUND", str(error))
    code, noun = _MISSING[error.noun]
    return product_error(404, code, f"{noun} with ID {error.subject} not found")


def no_mapping(domain_id: int, proxy_id: int) -> ApiError:
    """Return the error for a proxy that a domain does not have."""
    return product_error(404, "MAPPING_NOT_FOUND", f"Proxy {proxy_id} is not assigned to domain {domain_id}")


def missing_proxies(proxies: Sequence[int]) -> ApiError:
    """Return the error for proxies that do not exist."""
    names = ", ".join(map(str, proxies))
    return product_error(404, "PROXY_NOT_FOUND", f"Proxy with ID {names} not found", {"proxy_ids": list(proxies)})


def duplicate_url(task_id: int, status: TaskStatus) -> ApiError:
    """Return the error for a URL that has a task."""
    details = {"existing_task_id": task_id, "existing_status": status}
    return product_error(409, "DUPLICATE_URL", "A task with this URL already exists", details)


def duplicate_domain(name: str, domain_id: int) -> ApiError:
    """Return the error for a name that another domain has."""
    text = f"Domain {name} already exists"
    return product_error(409, "DUPLICATE_DOMAIN", text, {"existing_domain_id": domain_id})


def duplicate_proxy(host: str, port: int, proxy_id: int) -> ApiError:
    """Return the error for a host and port that another proxy has."""
    text = f"Proxy {host}:{port} already exists"
    return product_error(409, "DUPLICATE_PROXY", text, {"existing_proxy_id": proxy_id})


def invalid_status(text: str, status: TaskStatus) -> ApiError:
    """Return the error for an action that the status of a task does not allow."""
    return product_error(400, "INVALID_STATUS", text, {"current_status": status})


NO_TASK = missing_error(NotFound("task", 12345))
NO_DOMAIN = missing_error(NotFound("source", 100001))
NO_PROXY = missing_error(NotFound("proxy", 7))
NO_PRODUCT = missing_error(NotFound("item", 99))
NO_BATCH = missing_error(NotFound("batch", 3))
NO_MAPPING = no_mapping(100001, 7)
DUPLICATE_URL = duplicate_url(12345, "completed")
DUPLICATE_DOMAIN = duplicate_domain("shop.example", 100001)
DUPLICATE_PROXY = duplicate_proxy("10.0.0.1", 8080, 7)


def foreign_url(text: str) -> ApiError:
    """Return the error for a URL that is not of its domain."""
    return product_error(400, "INVALID_URL", text, {"field": "url"})


def domain_inactive(name: str, domain_id: int) -> ApiError:
    """Return the error for a task of a domain that is switched off."""
    return product_error(400, "DOMAIN_INACTIVE", f"Domain {name} is inactive", {"domain_id": domain_id})


def html_not_available(task_id: int) -> ApiError:
    """Return the error for a task without a stored page."""
    return product_error(400, "HTML_NOT_AVAILABLE", f"The HTML of task {task_id} is not available")


INVALID_URL = product_error(400, "INVALID_URL", "Enter an absolute http or https URL", {"field": "url"})
INVALID_PRIORITY = product_error(400, "INVALID_PRIORITY", PRIORITY_TEXT, {"field": "priority"})
INVALID_SORT_FIELD = product_error(400, "INVALID_SORT_FIELD", "Cannot sort by size", {"field": "sort_by"})
INVALID_FIELD = product_error(400, "VALIDATION_ERROR", "per_page must be at most 100", {"field": "per_page"})
DOMAIN_INACTIVE = domain_inactive("shop.example", 100001)
HTML_NOT_AVAILABLE = html_not_available(12345)
NO_PROXIES_AVAILABLE = product_error(400, "NO_PROXIES_AVAILABLE", "No usable proxy is available")
CONFLICT = product_error(409, "CONFLICT", "source 100001 kept changing")
ROBOTS_NOT_FETCHED = product_error(
    502, "ROBOTS_NOT_FETCHED", "robots.txt of shop.example was not fetched: connection refused"
)
NOT_JSON = product_error(400, "VALIDATION_ERROR", "Invalid request body: not JSON")
TOO_LARGE = product_error(413, "PAYLOAD_TOO_LARGE", "Request Entity Too Large")
UNAUTHORIZED = tuple(
    product_error(401, "UNAUTHORIZED", text, headers=CHALLENGE)
    for text in ("missing authorization", "invalid token", "invalid API key")
)
FORBIDDEN = product_error(403, "FORBIDDEN", "the role member may not do this; it takes the role admin or moderator")
RATE_LIMITED = product_error(
    429, "RATE_LIMIT_EXCEEDED", "Rate limit exceeded, try again in 2 seconds", headers={"Retry-After": "2"}
)
DATABASE_ERROR = product_error(500, "DATABASE_ERROR", "The database is not available")
QUEUE_ERROR = product_error(500, "RABBITMQ_ERROR", "The queue is not available")
SEARCH_ERROR = product_error(500, "ELASTICSEARCH_ERROR", "The search is not available")
INTERNAL_ERROR = product_error(500, "INTERNAL_SERVER_ERROR", "An unexpected error occurred")
