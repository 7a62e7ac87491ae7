"""Engines behind the ports: the embedded one and the large one side by side. Only `wiring` imports from here."""
