"""What tests of plugins and of the platform itself are written with."""

from longline.testing.clock import FakeClock
from longline.testing.pages import page, parsed

__all__ = ["FakeClock", "page", "parsed"]
