"""The archive and the crawler for language models, by the Model Context Protocol."""
