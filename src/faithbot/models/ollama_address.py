"""How ``OLLAMA_HOST`` is spelt."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from faithbot.errors import UsageError


def server_url(host: str) -> str:
    """The URL that a value of ``OLLAMA_HOST`` means, by the rules of Ollama's own client.

    ``host``, ``host:port``, ``:port`` or a URL, with a path if need be; 127.0.0.1 and 11434 by default, but 80 and 443
    after ``http://`` and ``https://``. An address to listen on (0.0.0.0, ::) is reached on the loopback interface. A
    user and a password stay.
    """
    scheme, separator, rest = host.strip().strip("\"'").rpartition("://")
    scheme = scheme or "http"
    default_port = {"http": 80, "https": 443}.get(scheme, 11434) if separator else 11434
    place, _, path = rest.partition("/")
    userinfo, at, authority = place.rpartition("@")
    if authority.count(":") > 1 and not authority.startswith("["):
        authority = f"[{authority}]"
    try:
        split = urlsplit(f"//{authority}")
        name, port = split.hostname or "127.0.0.1", split.port or default_port
    except ValueError as error:
        raise UsageError(f"OLLAMA_HOST is not an address: {authority!r} ({error}).") from None
    if _is_unspecified(name):
        name = "::1" if ":" in name else "127.0.0.1"
    return f"{scheme}://{userinfo}{at}{f'[{name}]' if ':' in name else name}:{port}/{path}".rstrip("/")


def _is_unspecified(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
