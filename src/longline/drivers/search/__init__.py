"""The index on OpenSearch or Elasticsearch."""

from collections.abc import Sequence

from longline.drivers.search.nodes import NodeOptions, Nodes
from longline.drivers.search.opensearch import OpenSearch

__all__ = ["NodeOptions", "open_search"]

DEFAULT_OPTIONS = NodeOptions()


def open_search(nodes: Sequence[str], api_key: str = "", manners: NodeOptions = DEFAULT_OPTIONS) -> OpenSearch:
    """Return the index on these nodes; no request is sent yet."""
    return OpenSearch(Nodes(nodes, api_key, manners))
