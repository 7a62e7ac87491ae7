"""The index on OpenSearch or Elasticsearch."""

from collections.abc import Sequence

from longline.drivers.search.nodes import Manners, Nodes
from longline.drivers.search.opensearch import OpenSearch

__all__ = ["Manners", "open_search"]

USUAL = Manners()


def open_search(nodes: Sequence[str], api_key: str = "", manners: Manners = USUAL) -> OpenSearch:
    """The index on these nodes; touches nothing yet."""
    return OpenSearch(Nodes(nodes, api_key, manners))
