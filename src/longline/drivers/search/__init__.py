"""The index on OpenSearch or Elasticsearch."""

from collections.abc import Sequence
from pathlib import Path

from longline.drivers.search.nodes import Nodes
from longline.drivers.search.opensearch import OpenSearch


def open_search(nodes: Sequence[str], api_key: str = "", roots: Path | None = None) -> OpenSearch:
    """The index on these nodes; touches nothing yet."""
    return OpenSearch(Nodes(nodes, api_key, roots))
