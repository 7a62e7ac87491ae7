"""URLs of files and downloads, which are no pages."""

FILES = r"(?i)^https?://[^/]+[^?#]*\.(?:pdf|xml|json|css|js|png|jpe?g|gif|svg|ico|woff|zip|mp3|mp4)(?:[?#]|$)"
"""Pattern of the addresses of files that are not pages."""

DOWNLOADS = r"(?i)^https?://[^?#]*(?:downloadmp3|download\.php|downloadfile)"
"""Pattern of addresses that serve files under other names."""
