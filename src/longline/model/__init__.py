"""The nouns and rules of the platform: pure, no await, no I/O."""
