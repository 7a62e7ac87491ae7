"""The API that takes manifests, and the API of its operators."""
