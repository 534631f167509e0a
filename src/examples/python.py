#!/usr/bin/env python3
"""Converts amounts with the rates of a cambista server. Numbers are exact decimals. Needs Python 3.8 and nothing else.

As a program:  CAMBISTA_KEY=KEY python3 cambista.py AMOUNT FROM TO DAY [SIDE [DECIMALS]]
As a module:   convert("1500.50", "USD", "CRC", "2026-03-20", decimals=2).result

On a weekend or holiday the last published value answers, and `day` is its day. An error is raised, and no value is
guessed, for a day that the server has not fetched, for a day after tomorrow, and for a value that is too old.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple, Optional

URL = os.environ.get("CAMBISTA_URL", "http://127.0.0.1:8080")  # address of the server
KEY = os.environ.get("CAMBISTA_KEY", "")  # printed by: cambista key create NAME
TIMEOUT = float(os.environ.get("CAMBISTA_TIMEOUT", "10"))  # seconds to wait for the network
ATTEMPTS = 3
LONGEST_WAIT = 60  # seconds that a busy server may ask for between two attempts
OLDEST_VALUE = 7  # days between the day asked for and its value: holidays are shorter


class CambistaError(Exception):
    """There is no certain answer. Do not book with a value of your own."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Rejects redirects: another server must not get the key."""

    def redirect_request(self, *_):
        return None


class Conversion(NamedTuple):
    result: Decimal  # the amount in the other currency; exact without `decimals`
    rate: Decimal
    day: date  # on which the rate was published
    rounded_to: Optional[int]  # decimals, if the source of the server had rounded the rate


def convert(amount, base, quote, day, side="venta", decimals=None):
    """Converts an amount (a text, an int or a Decimal; a float has no exact digits) on a day, a date or YYYY-MM-DD."""
    if isinstance(amount, float):
        raise TypeError("a float is not exact: give a text or a Decimal")
    query = {"amount": amount, "from": base, "to": quote, "on": day, "type": side}
    if decimals is not None:
        query["decimals"] = decimals
    answer = _request("/api/v1/convert?" + urllib.parse.urlencode(query))
    published = date.fromisoformat(answer["rate_date"])
    if answer.get("future"):
        raise CambistaError(f"{day} is in the future")
    if date.fromisoformat(str(day)) - published > timedelta(days=OLDEST_VALUE):
        raise CambistaError(f"the newest value for {day} is of {published}: the server is behind")
    return Conversion(Decimal(answer["result"]), Decimal(answer["rate"]), published, answer.get("rounded_to"))


def _request(path):
    request = urllib.request.Request(URL.rstrip("/") + path, headers={"X-API-Key": KEY})
    opener = urllib.request.build_opener(_NoRedirects)
    for attempt in range(1, ATTEMPTS + 1):
        wait = 2 ** (attempt - 1)
        try:
            with opener.open(request, timeout=TIMEOUT) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            reason = f"{error.code}: {_detail(error)}"
            if error.code not in (429, 502, 503, 504):
                raise CambistaError(reason) from None
            seconds = error.headers.get("Retry-After", "")
            wait = int(seconds) if seconds.isdigit() else wait
        except (OSError, http.client.HTTPException, ValueError) as error:  # no connection, time-out, cut answer
            reason = str(error) or type(error).__name__
        if attempt == ATTEMPTS or wait > LONGEST_WAIT:
            raise CambistaError(f"{URL} does not answer: {reason}")
        time.sleep(wait)


def _detail(error):
    """Returns the reason that the server gives."""
    try:
        return json.load(error)["detail"]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return error.reason


if __name__ == "__main__":
    if len(sys.argv) not in range(5, 8):
        print("usage: cambista.py AMOUNT FROM TO DAY [SIDE [DECIMALS]]", file=sys.stderr)
        sys.exit(2)
    try:
        conversion = convert(*sys.argv[1:])
    except (CambistaError, ValueError) as error:
        sys.exit(f"cambista: {error}")
    print(f"{conversion.result:f} {conversion.rate:f} {conversion.day}")
