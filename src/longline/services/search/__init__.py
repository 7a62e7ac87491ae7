"""Search: of items by their text, and of everything that people look for."""
