"""No user and no password of an address is shown, whoever wrote it."""

from __future__ import annotations

import string
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.userinfo import without_userinfo

WORDS = st.text(string.ascii_letters, min_size=1, max_size=12)
SCHEMES = st.sampled_from(["http", "https", "HTTP", "socks5", "tcp"])
HOSTS = st.sampled_from(["proxy", "proxy.acme.example:3128", "10.0.0.7:80/path?q=1#top", "[::1]:3128"])
SECRETS = st.text(min_size=1).map(lambda text: f"s3cret{quote(text, safe='')}")
ANYTHING = st.text()


@given(ANYTHING, SCHEMES, WORDS, SECRETS, HOSTS, ANYTHING)
def test_no_user_and_no_password_survives(
    before: str, scheme: str, user: str, password: str, host: str, after: str
) -> None:
    shown = without_userinfo(f"{before} {scheme}://{user}:{password}@{host} {after}")
    assert f" {scheme}://{host} " in shown
    assert password not in shown.removeprefix(before)


@given(st.text(st.characters(exclude_characters="@")))
def test_a_text_without_any_stays_as_it_is(text: str) -> None:
    assert without_userinfo(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "ollama/ollama:0.32.15@sha256:57d60e68",
        'Get "https://registry.example:5000/v2/ollama@sha256:57d6": EOF',
        "https://[::1]:5000/v2/a:b@sha256:57d6",
        "https://example.com/?mail=mona@example.com and https://example.com#@",
        "write to mona@example.com: see http://ollama:11434",
        "HTTPS_PROXY:proxy.acme.example:3128 NO_PROXY:localhost",
    ],
)
def test_an_at_that_follows_no_user_stays(text: str) -> None:
    assert without_userinfo(text) == text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("HTTPS_PROXY:http://mona:s3@proxy:3128 HTTP_PROXY:", "HTTPS_PROXY:http://proxy:3128 HTTP_PROXY:"),
        ("map[HTTPS_PROXY:mona:s3@proxy:3128 NO_PROXY:]", "map[HTTPS_PROXY:proxy:3128 NO_PROXY:]"),
        ("https_proxy=mona@proxy", "https_proxy=proxy"),
        (r'"url": \"http://mona@a\", \"http://:s3@b\"', r'"url": \"http://a\", \"http://b\"'),
        ("http://mona:s3@s3@proxy", "http://proxy"),
        ('parse "http://mona:s3/s3#s3?s3@proxy:3128": invalid port', 'parse "http://proxy:3128": invalid port'),
        ("http://a,http://mona:s3@b", "http://a,http://b"),
    ],
)
def test_however_it_is_written(written: str, shown: str) -> None:
    assert without_userinfo(written) == shown
