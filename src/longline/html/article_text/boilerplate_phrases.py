"""Phrases of boilerplate between the lines of an article, such as "read more" and invitations to a newsletter."""

import re

MAX_PHRASE_CHARS = 160

_PHRASE = re.compile(
    r"(?:advert(?:isement|s|ising)?|ad|comments?|share|tweet|e-?mail|print|read more|more|loading\W*|follow us.{0,30}|"
    r"sponsored|related(?: articles?| stories| posts?| topics?| content)?\W*|skip to .{0,20}|tags?:?|share this.{0,30}|"
    r"continue reading.{0,40}|(?:story|article) continues below.{0,30}|click to .{0,30}|facebook|twitter|linkedin|"
    r"pinterest|whatsapp|reddit|instagram|copy link|see also:?|photos?|video|\d+ (?:comments?|shares?)|"
    r"(?:read|see) (?:more|also|next)\b.{0,120}|(?:posted|published|updated|by) (?:on|at|by)?.{0,40}\d{4}.{0,20}|"
    r"image (?:credit|source).{0,60}|photo(?: credit)?:.{0,60}|sign up .{0,80}newsletter.{0,40}|"
    r"subscribe to .{0,80}|\W*)$",
    re.IGNORECASE,
)
"""Lines of boilerplate that stand alone, in English."""


def is_boilerplate(line: str) -> bool:
    """Return whether a line is a phrase of boilerplate as a whole."""
    # A line without text is an image, and only read for Markdown.
    return 0 < len(line) < MAX_PHRASE_CHARS and _PHRASE.match(line) is not None
