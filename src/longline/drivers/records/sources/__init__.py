"""Records of sources."""
