"""The client behind `ports/http`, and what it needs: names to addresses, the library's failures to our words."""

from longline.drivers.http.client import WreqHttp
from longline.drivers.http.names import Names

__all__ = ["Names", "WreqHttp"]
