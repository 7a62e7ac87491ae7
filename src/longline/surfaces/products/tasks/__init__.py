"""Task and batch operations of the product-tasks API."""
