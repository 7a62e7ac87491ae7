"""Reading of HTML: encodings, structure, links, main text and structured data."""
