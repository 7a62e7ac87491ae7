"""The client behind `ports/http`, and what it needs: a guard, names, ways out, the library's failures in our words."""

from longline.drivers.http.client import WreqHttp
from longline.drivers.http.dns import NameResolver
from longline.drivers.http.guard import GuardedResolver

__all__ = ["GuardedResolver", "NameResolver", "WreqHttp"]
