"""Provider of OCA's currency_rate_update that reads a cambista server.

Each company has a provider of its own, and so its own side: compra or venta. A day without a publication has no row, and
Odoo takes the row before it. A range with days that the server has not fetched is an error, and no row is written: OCA
posts the reason in the chatter of the provider and tries again at the next run.
"""

import json
import logging
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import defaultdict
from datetime import timedelta
from decimal import Decimal
from http.client import HTTPException

from odoo import _, fields, models
from odoo.exceptions import UserError

_logger = logging.getLogger(__name__)

TIMEOUT = 10  # seconds
ATTEMPTS = 3
LONGEST_WAIT = 60  # seconds that a busy server may ask for between two attempts
DAYS_OF_A_REQUEST = 366
# Days before a scheduled update that it reads again, since the bank may have corrected a value. For an older
# correction, run the wizard over its days.
DAYS_READ_AGAIN = 31
CURRENCIES = (
    "AED ARS AUD BDT BHD BOB BRL CAD CHF CLP CNY COP CRC DKK DOP EGP EUR GBP GTQ HKD HNL IDR ILS INR JOD JPY KRW LKR "
    "MAD MXN MYR NIO NOK NZD PEN PLN RUB SEK SGD THB TWD USD UYU VES VND XDR ZAR"
).split()


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Rejects redirects: another server must not get the key."""

    def redirect_request(self, *_words):
        return None


class ResCurrencyRateProviderCambista(models.Model):
    _inherit = "res.currency.rate.provider"

    service = fields.Selection(
        selection_add=[("cambista", "Central Bank of Costa Rica (cambista)")],
        ondelete={"cambista": "set default"},
    )
    cambista_url = fields.Char("Server address", help="Such as https://rates.example.com")
    cambista_key = fields.Char(
        "API key", groups="base.group_system", help="Printed by: cambista key create odoo"
    )
    cambista_side = fields.Selection(
        [("venta", "Sell (venta)"), ("compra", "Buy (compra)")],
        "Rate of the dollar",
        default="venta",
        help="The side of the bank's reference rate with which this company books",
    )

    def _get_supported_currencies(self):
        self.ensure_one()
        if self.service != "cambista":
            return super()._get_supported_currencies()
        return CURRENCIES

    def _obtain_rates(self, base_currency, currencies, date_from, date_to):
        """Returns, by day, `direct` (units of a currency for one of the company's) and `inverted` (as published)."""
        self.ensure_one()
        if self.service != "cambista":
            return super()._obtain_rates(base_currency, currencies, date_from, date_to)
        start = date_from
        if self.env.context.get("scheduled"):
            start = min(date_from, date_to) - timedelta(days=DAYS_READ_AGAIN)
        # The bank publishes colones for a dollar. The other direction would have only 15 digits of it.
        names = ("direct", "inverted") if base_currency == "USD" else ("inverted", "direct")
        rates = defaultdict(dict)
        for currency in currencies:
            if currency == base_currency:
                continue
            pair = (base_currency, currency) if names[0] == "direct" else (currency, base_currency)
            for window_start, window_end in self._cambista_windows(start, date_to):
                history = self._cambista_history(*pair, window_start, window_end)
                self._cambista_check_holes(history, currency, date_from)
                for point in history["points"]:
                    value = Decimal(point["value"])
                    rates[point["date"]][currency] = dict(zip(names, (float(value), float(1 / value))))
        return dict(rates)

    def _cambista_windows(self, start, end):
        """Splits a range into windows that fit into a request."""
        while start <= end:
            window_end = min(end, start + timedelta(days=DAYS_OF_A_REQUEST - 1))
            yield start, window_end
            start = window_end + timedelta(days=1)

    def _cambista_check_holes(self, history, currency, date_from):
        """Rejects days of the range that the server has not fetched. Older ones are only read again."""
        for hole in history.get("holes", ()):
            if hole["to"] >= str(date_from):
                raise UserError(
                    _("%(currency)s: the server has not fetched the days from %(first)s to %(last)s")
                    % {"currency": currency, "first": hole["from"], "last": hole["to"]}
                )

    def _cambista_history(self, base, quote, date_from, date_to):
        provider = self.sudo()
        query = {
            "base": base,
            "quote": quote,
            "type": provider.cambista_side or "venta",
            "from": date_from,
            "to": date_to,
        }
        request = urllib.request.Request(
            (provider.cambista_url or "").rstrip("/") + "/api/v1/history?" + urllib.parse.urlencode(query),
            headers={"X-API-Key": provider.cambista_key or ""},
        )
        opener = urllib.request.build_opener(NoRedirects)
        for attempt in range(1, ATTEMPTS + 1):
            wait = 2 ** (attempt - 1)
            try:
                with opener.open(request, timeout=TIMEOUT) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                reason = f"{error.code}: {error.read(2000).decode(errors='replace')}"
                if error.code not in (429, 502, 503, 504):
                    raise UserError(_("The server rejects the request: %s") % reason) from None
                seconds = error.headers.get("Retry-After", "")
                wait = int(seconds) if seconds.isdigit() else wait
            except (OSError, HTTPException, ValueError) as error:  # no connection, time-out, cut answer
                reason = str(error) or type(error).__name__
            if attempt == ATTEMPTS or wait > LONGEST_WAIT:
                raise UserError(_("The server does not answer: %s") % reason)
            _logger.info("%s: attempt %s failed: %s", provider.cambista_url, attempt, reason)
            time.sleep(wait)
