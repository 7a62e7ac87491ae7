"""Contestants for tests."""

import sys

from bench.contestants import Contestant
from bench.crawlers.order import Order


class Scripted(Contestant):
    """A contestant of a few lines of Python."""

    def command(self, order: Order) -> list[str]:
        return [sys.executable, "-c", f"from bench.crawlers.order import lap\n{self.program}", order.text()]
