"""The HTTP server: its connections, and the checks of request heads."""
