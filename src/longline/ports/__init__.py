"""Ports: the interfaces that the engine needs, as Protocols of at most twelve methods each."""
