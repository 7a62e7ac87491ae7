"""The HTTP APIs, one package per contract, and their shared code. An API calls services only, and no other API."""
