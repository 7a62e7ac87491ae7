"""Records of the archive."""
