"""Records of feeds and sitemaps."""
