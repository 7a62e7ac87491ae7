"""The HTTP client behind `ports/http`: egress guard, DNS, routes, and the library's errors as `FetchFailed`."""

from longline.drivers.http.client import WreqHttp
from longline.drivers.http.dns import NameResolver
from longline.drivers.http.egress_guard import GuardedResolver

__all__ = ["GuardedResolver", "NameResolver", "WreqHttp"]
