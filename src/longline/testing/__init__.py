"""Helpers for tests of plugins and of the platform itself."""

from longline.testing.clock import FakeClock
from longline.testing.pages import page, parsed

__all__ = ["FakeClock", "page", "parsed"]
