"""Messages of a provider to the account managers of its company, and the sentences of failures."""

import socket
import ssl
from collections import defaultdict
from datetime import timedelta
from http.client import HTTPException
from urllib.error import HTTPError

from markupsafe import Markup

from odoo import _, models

from .cambista import read_detail

DAYS_BETWEEN_MESSAGES = 7
MANAGERS = "account.group_account_manager"


class CambistaMessages(models.Model):
    _inherit = "res.currency.rate.provider"

    def _cambista_tell(self, failures, unread=()):
        """Tells a failure when it begins, then weekly, and once when it is over. One of `unread` goes on."""
        today = self._cambista_today()
        before = {name for name in (self.cambista_failing or "").split() if name in self._cambista_names()}
        is_due = not self.cambista_told_on or (today - self.cambista_told_on).days >= DAYS_BETWEEN_MESSAGES
        lines = []
        if failures.keys() - before or (failures and is_due):
            lines += self._cambista_sentences(failures)
            self.cambista_told_on = today
        failing = failures.keys() | before & set(unread)
        mended = sorted(before - failing)
        if mended:
            lines.append(_("%s: the rates arrive again") % ", ".join(mended))
        if before != failing:
            self.cambista_failing = " ".join(sorted(failing))
        self._cambista_post(_("Exchange rates of cambista"), lines, self._cambista_managers())

    def _cambista_tell_changes(self, changes):
        """Names the days whose rates are other ones now, by currency."""
        self = self.sudo().with_context(lang=self.company_id.partner_id.lang)
        lines = []
        for name, days in changes.items():
            text = ", ".join(map(str, sorted(days)))
            if len(days) > 31:
                text = _("%(count)s days from %(first)s to %(last)s") % {
                    "count": len(days),
                    "first": min(days),
                    "last": max(days),
                }
            lines.append(f"{name}: {text}")
        if lines:
            lines.append(_("Look at the bills of these days: Odoo computes neither posted bills nor drafts again."))
        self._cambista_post(_("Rates that were corrected"), lines, self._cambista_managers())

    def _cambista_note_marks(self, is_unfinished):
        lines = [_("All rates are there since: %s") % self.cambista_since]
        if is_unfinished:
            lines.append(_("Older ones follow at the next runs."))
        self._cambista_post(_("Exchange rates of cambista"), lines)

    def _cambista_post(self, subject, lines, partner_ids=()):
        """Posts a paragraph for each line. Odoo 16 takes a plain text for HTML."""
        if lines:
            body = Markup("").join(Markup("<p>%s</p>") % line for line in lines)
            self.sudo().message_post(subject=subject, body=body, partner_ids=list(partner_ids))

    def _cambista_managers(self):
        users = self.env["res.users"].sudo().search([("company_ids", "in", self.company_id.ids)])
        return users.filtered(lambda user: user.has_group(MANAGERS)).mapped("partner_id").ids

    def _cambista_sentences(self, failures):
        """Returns a line for each different sentence, with its currencies."""
        names = defaultdict(list)
        for name, sentence in failures.items():
            names[sentence].append(name)
        return [f"{', '.join(currencies)}: {sentence}" for sentence, currencies in names.items()]

    def _cambista_stale(self, name, published):
        """Returns the sentence of a currency that stands still, by currency: at most one."""
        today = self._cambista_today()
        days = [day for day in (self._cambista_newest_day(name, today), published) if day]
        most = 3 if {name, self.company_id.currency_id.name} == {"USD", "CRC"} else 7
        if not days:
            return {name: _("the server has no rates of it")}
        if (today - min(days)).days > most:
            return {name: _("its newest rate is of %s") % min(days)}
        return {}

    def _cambista_hole_sentence(self, first, last):
        return _(
            "the server has not fetched the days from %(first)s to %(last)s. "
            "On its machine, run: cambista sync --from %(first)s --to %(last)s"
        ) % {"first": first, "last": last}

    def _cambista_sentence(self, error):
        """Returns the sentence for a request without an answer. It has no page of a proxy and no words of Python."""
        url = self.sudo().cambista_url
        reason = getattr(error, "reason", error)
        if isinstance(error, HTTPError):
            detail = read_detail(error)
            if error.code == 401:
                return _("the server rejects the API key. %s") % detail
            if detail:
                return _("the server rejects the request: %s") % detail
            if 300 <= error.code < 400:
                return _("%s leads to another address: enter that one, with https if it has it") % url
            return _("%(url)s answers %(code)s, and not as cambista does") % {"url": url, "code": error.code}
        if isinstance(reason, socket.gaierror):
            return _("the name in %s has no address") % url
        if isinstance(reason, ConnectionRefusedError):
            return _("%s refuses connections: the server does not run, or its port is another") % url
        if isinstance(reason, (TimeoutError, socket.timeout)):  # two classes before Python 3.10
            return _("%s does not answer in time") % url
        if isinstance(reason, ssl.SSLCertVerificationError):
            return _("this machine does not trust the certificate of %s") % url
        if isinstance(reason, ssl.SSLError):
            return _("%s does not speak https: enter http, or the port of https") % url
        if isinstance(reason, (ConnectionError, HTTPException)):
            return _("%s breaks off its answer. Does it speak https?") % url
        if isinstance(reason, OSError):
            return _("%s cannot be reached") % url
        return _("%s does not answer as cambista does: is the address right?") % url
