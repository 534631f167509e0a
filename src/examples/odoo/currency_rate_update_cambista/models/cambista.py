"""Requests to a cambista server. Nothing in here knows Odoo."""

import json
import logging
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import date, timedelta
from decimal import Decimal
from http.client import HTTPException

_logger = logging.getLogger(__name__)

TIMEOUT = 10  # seconds
ATTEMPTS = 3
# Odoo kills a worker after 120 s by default, and writing takes up to half of it.
SECONDS_OF_REQUESTS = 30
DAYS_OF_A_REQUEST = 366
BUSY = (429, 502, 503, 504)
# Errors of a request, and of an answer that another program gave.
FAILURES = (OSError, HTTPException, ValueError, ArithmeticError, LookupError, TypeError)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Rejects redirects: another server must not get the key."""

    def redirect_request(self, *_words):
        return None


class Server:
    """A server for the requests of one run, with the side of the dollar that the company books with."""

    def __init__(self, url, key, side):
        self.url = url.rstrip("/")
        self.key = key
        self.side = side
        self.opener = urllib.request.build_opener(NoRedirects)
        self.deadline = time.monotonic() + SECONDS_OF_REQUESTS

    def history(self, base, quote, start, end):
        """Returns values by day, the newest day that the bank published, and holes: days that the server lacks.

        A value is of one `base` in `quote`. @throws one of FAILURES without a whole answer
        """
        values, published, holes = {}, None, []
        while start <= end:
            last = min(end, start + timedelta(days=DAYS_OF_A_REQUEST - 1))
            answer = self._request(base=base, quote=quote, type=self.side, **{"from": start, "to": last})
            for point in answer["points"]:
                values[date.fromisoformat(point["date"])] = Decimal(point["value"])
                published = date.fromisoformat(point["rate_date"])
            for hole in answer.get("holes") or ():
                holes.append((date.fromisoformat(hole["from"]), date.fromisoformat(hole["to"])))
            start = last + timedelta(days=1)
        return values, published, holes

    def is_late(self):
        """Tells whether the run has no time for another request."""
        return time.monotonic() > self.deadline

    def _request(self, **query):
        address = f"{self.url}/api/v1/history?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(address, headers={"X-API-Key": self.key})
        for attempt in range(1, ATTEMPTS + 1):
            if self.is_late():
                raise TimeoutError
            wait = 2 ** (attempt - 1)
            try:
                with self.opener.open(request, timeout=TIMEOUT) as response:
                    answer = json.load(response)
                    if not isinstance(answer, dict) or "points" not in answer:
                        raise ValueError
                    return answer
            except urllib.error.HTTPError as error:
                seconds = error.headers.get("Retry-After", "")
                wait = int(seconds) if seconds.isdigit() else wait
                if error.code not in BUSY or not self._may_wait(attempt, wait):
                    raise
                _logger.info("%s: attempt %s failed: %s", self.url, attempt, error.code)
            except (OSError, HTTPException) as error:
                if not self._may_wait(attempt, wait):
                    raise
                _logger.info("%s: attempt %s failed: %s", self.url, attempt, error)
            time.sleep(wait)

    def _may_wait(self, attempt, seconds):
        return attempt < ATTEMPTS and time.monotonic() + seconds < self.deadline


def read_detail(error):
    """Returns the sentence of the server for an error, without tags, or nothing for the page of a proxy."""
    try:
        detail = json.loads(error.read(20_000))["detail"]
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return ""
    return detail.translate(str.maketrans("", "", "<>")) if isinstance(detail, str) else ""
