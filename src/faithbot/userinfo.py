"""User and password in addresses: whatever others wrote ends in a comment that anybody reads."""

from __future__ import annotations

import re

_USERINFO = re.compile(
    r"""
    (?P<before> :// | _proxy[:=] )      # Go takes a proxy without http:// too, and Ollama's log prints its environment
    (?:
        [^\s/?\#]* @                    # what RFC 3986, section 3.2.1 allows, and further @ in the password
      | [^\s/?\#@:\[]* : (?! \d* [/?\#] ) [^\s@]* @     # no port follows the colon: a password with a bare / ? or #
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)


def without_userinfo(text: str) -> str:
    """The text with ``http://host`` for every ``http://user:password@host``; all else as it is.

    To be called before a text is shortened: half a password would not be found.
    """
    return _USERINFO.sub(r"\g<before>", text)
