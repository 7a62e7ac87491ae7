"""Records of the frontier."""
