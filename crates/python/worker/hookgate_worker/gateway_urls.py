"""`mcpgateway.utils.url_auth` where the gateway is not installed: addresses with and without their secrets."""

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

REDACTED = "REDACTED"
STATIC_SENSITIVE_PARAMS = frozenset(
    """
api_key apikey api-key key token access_token auth auth_token secret password pwd credential credentials
tavilyapikey tavilyApiKey
""".split()
)

_URL = re.compile(r"https?://[^\s<>\"']+")


def apply_query_param_auth(url, auth_query_params):
    """The address with parameters added, or set where it has them."""
    if not auth_query_params:
        return url
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    query.update(auth_query_params)
    return urlunsplit(parts._replace(query=urlencode(query)))


def sanitize_url_for_logging(url, auth_query_params=None):
    """The address without user, password and the values of parameters that are secrets by their name or are given."""
    try:
        parts = urlsplit(url)
        has_user = bool(parts.username or parts.password)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        # What is no address may hold a secret anywhere.
        return REDACTED
    if has_user:
        parts = parts._replace(netloc=f"{REDACTED}:{REDACTED}@{host}")
    if not parts.query:
        return urlunsplit(parts) if has_user else url
    secret = {name.lower() for name in (*STATIC_SENSITIVE_PARAMS, *(auth_query_params or ()))}
    query = [
        (name, REDACTED if name.lower() in secret else value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    return urlunsplit(parts._replace(query=urlencode(query)))


def sanitize_exception_message(message, auth_query_params=None):
    """A message whose addresses are without their secrets."""
    if not message:
        return message
    return _URL.sub(lambda found: sanitize_url_for_logging(found[0], auth_query_params), message)


__all__ = [
    "STATIC_SENSITIVE_PARAMS",
    "apply_query_param_auth",
    "sanitize_exception_message",
    "sanitize_url_for_logging",
]
