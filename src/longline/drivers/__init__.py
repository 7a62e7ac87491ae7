"""Drivers behind the ports: embedded engines and servers side by side. Only `wiring` imports from here."""
