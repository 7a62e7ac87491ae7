"""The web console: pages over the services, for people with a browser."""
