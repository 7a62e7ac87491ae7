"""Records of discovery."""
