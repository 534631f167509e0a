"""Runs of a provider: which days are read, and which rows are written.

Each currency is judged alone. One with days that the server has not fetched is a failure, and the others are written.
"""

import logging
import time
from collections import defaultdict
from datetime import date, timedelta
from urllib.error import HTTPError

from odoo import _, fields, models
from odoo.exceptions import UserError

from .cambista import FAILURES, Server

_logger = logging.getLogger(__name__)

# Days that are read again once a day, since the bank may have corrected a value. For an older correction, run the
# wizard over its days.
DAYS_READ_AGAIN = 31
# Odoo 17 writes 60 new rows a second, and kills a worker after 120 s.
ROWS_OF_A_PORTION = 1000
ROWS_OF_A_WIZARD = 4000
# A job has one worker for all companies. A run takes up to 80 s, so none begins later, and older days have to wait.
SECONDS_OF_A_JOB = 40
SECONDS_BEFORE_OLDER_DAYS = 10
FIRST_RATE = date(1983, 1, 1)  # of the bank: a document may have a mistyped year
ONE_DAY = timedelta(days=1)


class CambistaRun(models.Model):
    _inherit = "res.currency.rate.provider"

    def _cambista_run(self, until, newest_from=None):
        """Writes the days that the company lacks until a day. A failure is told, and stops no other provider.

        `newest_from`: writes the newest day from that day on alone, for an interval of more than a day.
        """
        self.ensure_one()
        if self._cambista_seconds() > SECONDS_OF_A_JOB:
            return
        self = self.sudo().with_context(lang=self.company_id.partner_id.lang)
        unread = ()
        try:
            with self.env.cr.savepoint():
                if newest_from:
                    failures = self._cambista_update(newest_from, until, newest_only=True)[1]
                else:
                    failures, unread = self._cambista_catch_up(until)
        except UserError as error:
            failures = dict.fromkeys(self._cambista_names(), str(error))
        except Exception:
            _logger.exception("%s: the rates of cambista were not written", self.company_id.name)
            failures = dict.fromkeys(self._cambista_names(), _("Odoo could not write the rates: see its log"))
        if failures is not None:
            self._cambista_tell(failures, unread)

    def _cambista_update(self, date_from, date_to, newest_only=False):
        """Writes a range. Returns the rates by currency and day, and a sentence for each currency that fails."""
        self.ensure_one()
        names = self._cambista_names()
        fault = self._cambista_prepare()
        most = ROWS_OF_A_WIZARD // max(1, len(names))
        if not fault and not newest_only and (date_to - date_from).days >= most:
            fault = _("Choose at most %s days at a time for these currencies") % most
        if fault:
            return {}, dict.fromkeys(names, fault)
        spans = {name: (date_from, date_to, date_from) for name in names}
        rates, failures, _wholes, _published = self._cambista_read(self._cambista_server(), spans)
        rates = {name: days for name, days in rates.items() if days and name not in failures}
        if newest_only:
            rates = {name: {max(days): days[max(days)]} for name, days in rates.items()}
        self._cambista_tell_changes(self._cambista_write(rates))
        if rates and self.env.context.get("scheduled"):
            self._cambista_move_dates(rates)
        return rates, failures

    def _cambista_catch_up(self, until):
        """Returns a sentence for each failing currency, and those whose older days had to wait.

        Instead of sentences it returns None if there was nothing to ask.
        """
        names = self._cambista_names()
        fault = self._cambista_prepare()
        if fault:
            return dict.fromkeys(names, fault), ()
        marks = {name: day for name, day in self._cambista_marks().items() if name in names}
        old_marks = dict(marks)
        goal = self._cambista_goal()
        newest = {name: self._cambista_newest_day(name, until) for name in names}
        failing = (self.cambista_failing or "").split()
        is_daily = not self.cambista_read_on or self.cambista_read_on < until
        asked = [name for name in names if is_daily or newest[name] != until or name in failing]
        if not asked and all(name in marks and marks[name] <= goal for name in names):
            return None, ()

        first = until - timedelta(days=DAYS_READ_AGAIN)
        server = self._cambista_server()
        spans = {}
        for name in asked:
            last = max(first - ONE_DAY, newest[name] or first - ONE_DAY)
            spans[name] = (first if is_daily else max(first, last), until, last + ONE_DAY)
        rates, failures, wholes, published = self._cambista_read(server, spans)
        # The first rates of a currency begin after a hole; later ones would bridge it.
        rates = {
            name: days for name, days in rates.items() if days and (name not in failures or not newest[name])
        }
        changes = self._cambista_write(rates)
        if rates:
            self._cambista_move_dates(rates)
            self.cambista_read_on = until
        for name in rates:
            if name not in marks or not newest[name] or newest[name] < first - ONE_DAY:
                marks[name] = wholes[name]
        more_failures, unread = self._cambista_extend(server, marks, failures, goal, changes)
        failures.update(more_failures)
        for name in asked:
            if name not in failures:
                failures.update(self._cambista_stale(name, published.get(name)))
        if marks != old_marks:
            self.cambista_since = ", ".join(f"{name} {day}" for name, day in marks.items())
            self._cambista_note_marks(any(day > goal for day in marks.values()))
        self._cambista_tell_changes(changes)
        return failures, unread

    def _cambista_extend(self, server, marks, failures, goal, changes):
        """Writes a portion of the days before the marks and moves these.

        Returns further failures, and the currencies for which it has no time.
        """
        names = [name for name, day in marks.items() if day > goal and name not in failures]
        if self._cambista_seconds() > SECONDS_BEFORE_OLDER_DAYS:
            return {}, names
        days = timedelta(days=max(1, ROWS_OF_A_PORTION // max(1, len(names))))
        spans = {}
        for name in names:
            start = max(goal, marks[name] - days)
            spans[name] = (start, marks[name] - ONE_DAY, start)
        rates, more_failures, wholes, _published = self._cambista_read(server, spans, can_wait=True)
        for name, changed in self._cambista_write(rates).items():
            changes[name] += changed
        marks.update(wholes)
        return more_failures, [name for name in names if name not in {**wholes, **more_failures}]

    def _cambista_prepare(self):
        """Deletes what was written for another currency of the company. Returns a sentence as _cambista_fault."""
        provider = self.sudo()
        currency = provider.company_id.currency_id
        if provider.cambista_currency_id != currency:
            if provider.cambista_currency_id:
                own = [("provider_id", "=", provider.id), ("company_id", "=", provider.company_id.id)]
                self.env["res.currency.rate"].sudo().search(own).unlink()
            provider.write(
                {"cambista_currency_id": currency.id, "cambista_since": False, "cambista_read_on": False}
            )
        return self._cambista_fault()

    def _cambista_names(self):
        return [name for name in self.currency_ids.mapped("name") if name != self.company_id.currency_id.name]

    def _cambista_marks(self):
        """First day of the whole rates of each currency. Rows by others, such as OCA's job, have none."""
        pairs = [item.split(" ") for item in (self.cambista_since or "").split(", ") if item]
        return {name: date.fromisoformat(day) for name, day in pairs}

    def _cambista_today(self):
        """Day of the bank. The user of a job has UTC, in which it is tomorrow from 18:00 on."""
        here = self.with_context(tz="America/Costa_Rica")
        return fields.Datetime.context_timestamp(here, fields.Datetime.now()).date()

    def _cambista_seconds(self):
        """Returns how long the job has worked for all companies."""
        now = time.monotonic()
        return now - self.env.context.get("cambista_start", now)

    def _cambista_goal(self):
        """First day whose rate is needed: 1 January of last year, or the oldest document in a foreign currency."""
        company = self.company_id
        domain = [("company_id", "child_of", company.id), ("currency_id", "!=", company.currency_id.id)]
        days = [date(self._cambista_today().year - 1, 1, 1)]
        for field in ("date", "invoice_date"):
            move = self.env["account.move"].search([*domain, (field, "!=", False)], order=field, limit=1)
            days += move.mapped(field)
        return max(min(days), FIRST_RATE)

    def _cambista_newest_day(self, name, until):
        domain = [("company_id", "=", self.company_id.id), ("currency_id.name", "=", name), ("name", "<=", until)]
        return self.env["res.currency.rate"].search(domain, order="name desc", limit=1).name

    def _cambista_server(self):
        provider = self.sudo()
        return Server(provider.cambista_url, provider.cambista_key, provider.cambista_side)

    def _cambista_read(self, server, spans, can_wait=False):
        """Reads currencies. `spans` has the first and the last day of each, and the day from which a hole counts.

        `can_wait`: those for which the run has no time are left to the next one, and are no failures.
        Returns by currency: its rates after the last hole, by day; the sentence of its failure; the first of these
        days; the newest day that the bank published.
        """
        base = self.company_id.currency_id.name
        # The bank publishes colones for a dollar. The other direction would have only 15 digits of it.
        directions = ("direct", "inverted") if base == "USD" else ("inverted", "direct")
        today = self._cambista_today()
        rates, failures, wholes, published = {}, {}, {}, {}
        for name, (start, end, checked_from) in spans.items():
            if can_wait and server.is_late():
                break
            pair = (base, name) if base == "USD" else (name, base)
            try:
                values, published[name], holes = server.history(*pair, start, end)
            except FAILURES as error:
                sentence = self._cambista_sentence(error)
                if isinstance(error, HTTPError) and error.code in (404, 422):  # of this currency alone
                    failures[name] = sentence
                    continue
                failures.update({other: sentence for other in spans if other not in {**wholes, **failures}})
                break
            holes = [hole for hole in holes if hole[1] >= checked_from and hole[0] <= today]
            if holes:
                failures[name] = self._cambista_hole_sentence(*holes[-1])
            wholes[name] = holes[-1][1] + ONE_DAY if holes else start
            rates[name] = {
                day: dict(zip(directions, (float(value), float(1 / value))))
                for day, value in values.items()
                if day >= wholes[name]
            }
        return rates, failures, wholes, published

    def _cambista_write(self, rates):
        """Writes the rates that differ from the rows of the company. Returns the days of changed rows by currency."""
        new_rows, changes = [], defaultdict(list)
        for currency in self.currency_ids:
            days = rates.get(currency.name)
            if not days:
                continue
            key = [("company_id", "=", self.company_id.id), ("currency_id", "=", currency.id)]
            span = [("name", ">=", min(days)), ("name", "<=", max(days))]
            rows = {row.name: row for row in self.env["res.currency.rate"].search(key + span)}
            for day, both in sorted(days.items()):
                rate = self._process_rate(currency, both)
                values = {"rate": rate, "provider_id": self.id}
                if day not in rows:
                    new_rows.append(
                        {"company_id": self.company_id.id, "currency_id": currency.id, "name": day, **values}
                    )
                elif abs(rows[day].rate - rate) > 1e-12 * rate:
                    rows[day].write(values)
                    changes[currency.name].append(day)
        self.env["res.currency.rate"].create(new_rows)
        return changes

    def _cambista_move_dates(self, rates):
        newest = max(day for days in rates.values() for day in days)
        self._schedule_last_successful_run(newest)
        self._schedule_next_run(newest)
