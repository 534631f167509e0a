"""Provider of OCA's currency_rate_update that reads a cambista server: its settings and its job.

Each company has a provider of its own, and so its own side: compra or venta. A day without a publication has no row,
and Odoo takes the row before it. `cambista_run.py` has the runs, `cambista_messages.py` what they tell.
"""

import re
import time

from odoo import _, api, fields, models
from odoo.exceptions import UserError, ValidationError

ADDRESS = re.compile(r"https?://([\w.\-]+|\[[\da-fA-F:.]+\])(:\d{1,5})?(/[\w.\-~/]*)?", re.ASCII)
JOB = "currency_rate_update_cambista.job"
CURRENCIES = (
    "AED ARS AUD BDT BHD BOB BRL CAD CHF CLP CNY COP CRC DKK DOP EGP EUR GBP GTQ HKD HNL IDR ILS INR JOD JPY KRW LKR "
    "MAD MXN MYR NIO NOK NZD PEN PLN RUB SEK SGD THB TWD USD UYU VES VND XDR ZAR"
).split()


class ResCurrencyRateProviderCambista(models.Model):
    _inherit = "res.currency.rate.provider"

    service = fields.Selection(
        selection_add=[("cambista", "Central Bank of Costa Rica (cambista)")],
        # Another service would collide with a provider of it in the same company.
        ondelete={"cambista": lambda providers: providers._cambista_delete()},
    )
    cambista_url = fields.Char(
        "Server address",
        help="Such as https://rates.example.com. With http to another machine, the network can read the key",
    )
    cambista_key = fields.Char(
        "API key", groups="base.group_system", help="Printed by: cambista key create odoo"
    )
    cambista_side = fields.Selection(
        [("venta", "Sell (venta)"), ("compra", "Buy (compra)")],
        "Rate of the dollar",
        default="venta",
        help="The side of the bank's reference rate with which this company books",
    )
    # Marks of the runs, as "USD 2025-01-01, EUR 2025-01-01".
    cambista_since = fields.Char(
        "Rates since", readonly=True, copy=False, help="First day from which a currency has all its rates"
    )
    cambista_read_on = fields.Date(readonly=True, copy=False)  # last day on which DAYS_READ_AGAIN were read
    cambista_currency_id = fields.Many2one("res.currency", readonly=True, copy=False)  # the rates are in it
    cambista_failing = fields.Char(readonly=True, copy=False)  # currencies whose failure was told
    cambista_told_on = fields.Date(readonly=True, copy=False)

    def write(self, values):
        if "company_id" in values:
            values = {**values, "cambista_since": False, "cambista_read_on": False}
        return super().write(values)

    @api.constrains("service", "company_id", "cambista_url", "cambista_key", "cambista_side")
    def _check_cambista(self):
        for provider in self:
            fault = provider.service == "cambista" and provider._cambista_fault()
            if fault:
                raise ValidationError(fault)

    def _cambista_fault(self):
        """Returns a sentence if no rate can be right with these settings, else False."""
        provider = self.sudo()  # account managers may not read the key
        company = provider.company_id
        if not (provider.cambista_url and provider.cambista_key and provider.cambista_side):
            return _("Enter the server address, the API key and the rate of the dollar")
        if not ADDRESS.fullmatch(provider.cambista_url):
            return _("Enter the server address as https://HOST or http://HOST")
        if "root_id" in company._fields and company.parent_id:  # before Odoo 17 a parent shares no rates
            return _("%s is a branch and has the rates of its main company: choose that one") % company.name
        # Odoo divides all rates of a company by that of its own currency.
        own_rows = (
            self.env["res.currency.rate"]
            .sudo()
            .search([("currency_id", "=", company.currency_id.id), ("company_id", "in", [company.id, False])])
        )
        # Those that it wrote before the company changed its currency are deleted at the next run.
        written_in = provider.cambista_currency_id
        rows_to_delete = own_rows.filtered(lambda row: row.provider_id == provider)
        if not written_in or written_in == company.currency_id:
            rows_to_delete = rows_to_delete.browse()
        if any(row.rate != 1 for row in own_rows - rows_to_delete):
            return _("Delete the rates of %s in this company first") % company.currency_id.name
        return False

    def _get_supported_currencies(self):
        self.ensure_one()
        return CURRENCIES if self.service == "cambista" else super()._get_supported_currencies()

    def _update(self, date_from, date_to, newest_only=False):
        """Replaces OCA's update, which posts a failure as a note that nobody is notified of."""
        ours = self.filtered(lambda provider: provider.service == "cambista")
        super(ResCurrencyRateProviderCambista, self - ours)._update(date_from, date_to, newest_only)
        for provider in ours:
            if self.env.context.get("scheduled"):
                provider._cambista_run(date_to, newest_from=date_from if newest_only else None)
                continue
            failures = provider._cambista_update(date_from, date_to)[1]
            if failures:
                raise UserError("\n".join(provider._cambista_sentences(failures)))

    @api.model
    def _cambista_add_job(self):
        """Adds the job when the module is installed. An update of the module leaves the job as it is."""
        if self.env.ref(JOB, raise_if_not_found=False):
            return
        jobs = self.env["ir.cron"]
        values = {
            "name": "cambista: rates of the day",
            "model_id": self.env["ir.model"]._get_id(self._name),
            "state": "code",
            "code": "model._cambista_run_job()",
            "interval_number": 1,
            "interval_type": "hours",
        }
        if "numbercall" in jobs._fields:  # Odoo 16 and 17 run a job once by default
            values["numbercall"] = -1
        jobs._load_records([{"xml_id": JOB, "values": values, "noupdate": True}])

    @api.model
    def _scheduled_update(self):
        """Limits the time of OCA's job, which has one transaction for the providers of all services."""
        provider = self.with_context(cambista_start=time.monotonic())
        return super(ResCurrencyRateProviderCambista, provider)._scheduled_update()

    @api.model
    def _cambista_run_job(self):
        """Runs each provider with an interval of a day. OCA's job runs at 18:01 in Costa Rica: a day late."""
        domain = [("service", "=", "cambista"), ("company_id.currency_rates_autoupdate", "=", True)]
        providers = self.with_context(cambista_start=time.monotonic()).search(domain).filtered("daily")
        # Each hour begins with another company, so that none always waits for a slow server.
        first = int(fields.Datetime.now().timestamp()) // 3600 % max(1, len(providers))
        for provider in providers[first:] + providers[:first]:
            provider._cambista_run(self._cambista_today())
            self.env.cr.commit()  # a worker that dies loses one company at most

    def _cambista_delete(self):
        """Deletes providers when the module is uninstalled. Their rates stay."""
        rows = self.env["res.currency.rate"].search([("provider_id", "in", self.ids)])
        rows.with_context(tracking_disable=True).write({"provider_id": False})
        self.unlink()
