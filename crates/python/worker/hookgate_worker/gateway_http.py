"""`mcpgateway.utils.retry_manager` where the gateway is not installed: an HTTP client that tries again.

It is made of `httpx`, or of `httpx2` where only that is there, and imports it when a client is made.
"""

import asyncio
import random
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import import_module

from hookgate_worker.gateway_settings import settings
from hookgate_worker.log_output import log

RETRYABLE_STATUS_CODES = {408, 429, 502, 503, 504}
NON_RETRYABLE_STATUS_CODES = {400, 401, 403, 404, 405, 406}
TOO_MANY_REQUESTS = 429


class ResilientHttpClient:
    """A client with the gateway's rules for trying again; `client_args` go to `AsyncClient` as they are."""

    def __init__(self, max_retries=None, base_backoff=None, max_delay=None, jitter_max=None, client_args=None):
        self.max_retries = settings.retry_max_attempts if max_retries is None else max_retries
        self.base_backoff = settings.retry_base_delay if base_backoff is None else base_backoff
        self.max_delay = settings.retry_max_delay if max_delay is None else max_delay
        self.jitter_max = settings.retry_jitter_max if jitter_max is None else jitter_max
        self.client_args = client_args or {}
        self._httpx = _httpx()
        if "limits" not in self.client_args:
            self.client_args["limits"] = self._httpx.Limits(
                max_connections=settings.httpx_max_connections,
                max_keepalive_connections=settings.httpx_max_keepalive_connections,
                keepalive_expiry=settings.httpx_keepalive_expiry,
            )
        self.client = self._httpx.AsyncClient(**self.client_args)

    async def request(self, method, url, **given):
        """Sends a request; gives the first response that is not worth another try, or the last one."""
        response = None
        for attempt in range(self.max_retries):
            try:
                response, failed = await self.client.request(method, url, **given), None
            except Exception as error:
                if not self._should_retry(error, None):
                    raise
                failed = error
            if failed is None and (response.is_success or not self._should_retry(None, response)):
                return response
            log.debug("%s: try %d of %d failed", method, attempt + 1, self.max_retries)
            if attempt + 1 < self.max_retries:
                await asyncio.sleep(self._delay(attempt, None if failed else response))
            elif failed is not None:
                raise failed
        if response is None:
            raise RuntimeError(f"max_retries is {self.max_retries}, 1 or more is possible")
        return response

    async def get(self, url, **given):
        """A GET request."""
        return await self.request("GET", url, **given)

    async def post(self, url, **given):
        """A POST request."""
        return await self.request("POST", url, **given)

    async def put(self, url, **given):
        """A PUT request."""
        return await self.request("PUT", url, **given)

    async def delete(self, url, **given):
        """A DELETE request."""
        return await self.request("DELETE", url, **given)

    @asynccontextmanager
    async def stream(self, method, url, **given):
        """A response whose body is read in pieces. Only opening it is tried again, never what is done with it."""
        for attempt in range(self.max_retries):
            opened = self.client.stream(method, url, **given)
            response = None
            try:
                response = await opened.__aenter__()
            except Exception as error:
                if not self._should_retry(error, None) or attempt + 1 == self.max_retries:
                    raise
            last = attempt + 1 == self.max_retries
            if response is not None and (response.is_success or last or not self._should_retry(None, response)):
                try:
                    yield response
                finally:
                    await opened.__aexit__(None, None, None)
                return
            if response is not None:
                await opened.__aexit__(None, None, None)
            await asyncio.sleep(self._delay(attempt, response))
        raise RuntimeError(f"max_retries is {self.max_retries}, 1 or more is possible")

    async def aclose(self):
        """Closes the connections."""
        await self.client.aclose()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.aclose()

    def _should_retry(self, error, response):
        httpx = self._httpx
        if isinstance(error, (httpx.ConnectTimeout, httpx.ReadTimeout, httpx.NetworkError)):
            return True
        return response is not None and response.status_code in RETRYABLE_STATUS_CODES

    def _delay(self, attempt, response):
        """Seconds before the next try: what the server asks for, or twice as long each time; never past the limit."""
        asked = response.headers.get("Retry-After") if response is not None else None
        if asked is not None and response.status_code == TOO_MANY_REQUESTS and (seconds := _seconds(asked)) is not None:
            return min(seconds, self.max_delay)
        delay = self.base_backoff * 2**attempt
        return min(delay + random.uniform(0, delay * self.jitter_max), self.max_delay)


def _seconds(asked):
    """A Retry-After header, which is seconds or a date; None where it is neither."""
    try:
        return max(0.0, float(asked))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def _httpx():
    try:
        return import_module("httpx")
    except ModuleNotFoundError as error:
        if error.name != "httpx":
            raise
        return import_module("httpx2")


__all__ = ["NON_RETRYABLE_STATUS_CODES", "RETRYABLE_STATUS_CODES", "ResilientHttpClient"]
