"""What the engine asks of the world, as Protocols of at most twelve methods each."""
