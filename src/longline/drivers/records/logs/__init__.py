"""Records of logs and events."""
