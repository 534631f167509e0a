"""OCA's currency_rate_update as its documentation and behaviour are: providers, their job at 00:01 UTC, the wizard."""

from datetime import datetime, timedelta

import orm
from odoo import api, fields, models
from odoo.exceptions import UserError, ValidationError

PERIODS = {"days": 1, "weeks": 7, "months": 30}


class Company(models.Model):
    _inherit = "res.company"

    currency_rates_autoupdate = fields.Boolean(default=True)


class Rate(models.Model):
    _inherit = "res.currency.rate"

    provider_id = fields.Many2one("res.currency.rate.provider")

    def write(self, values):
        by_hand = ("rate" in values or "name" in values) and "provider_id" not in values
        return super().write({**values, "provider_id": False} if by_hand else values)


orm.RESTRICTIONS["res.currency.rate.provider"] = [
    ("res.currency.rate", "provider_id", "Rates of this provider are in use")
]


class Provider(models.Model):
    _name = "res.currency.rate.provider"
    _writers = "base.group_system"

    company_id = fields.Many2one("res.company", default=lambda self: self.env.company.id)
    active = fields.Boolean(default=True)
    service = fields.Selection([("none", "None")], default="none")
    currency_ids = fields.Many2many("res.currency")
    name = fields.Char(compute=lambda provider: provider.service)
    interval_type = fields.Selection(default="days")
    interval_number = fields.Integer(default=1)
    last_successful_run = fields.Date()
    next_run = fields.Date(default=lambda self: fields.Date.today())
    daily = fields.Boolean(compute=lambda provider: (provider.interval_type, provider.interval_number) == ("days", 1))

    def message_post(self, **values):
        return self.env["mail.thread"].__class__.message_post(self, **values)

    @api.constrains("service", "company_id")
    def _refuse_twin(self):
        twins = [("service", "=", self.service), ("company_id", "=", self.company_id.id)]
        if self.with_context(active_test=False).search_count(twins) > 1:
            raise ValidationError("Two providers of one service")

    def _update(self, date_from, date_to, newest_only=False):
        for provider in self:
            company = provider.company_id
            try:
                names = provider.currency_ids.mapped("name")
                days = provider._obtain_rates(company.currency_id.name, names, date_from, date_to)
            except BaseException as error:
                provider.sudo().message_post(subject="Failure", body=f"No rates until {date_to}: {error}")
                continue
            if not days:
                continue
            if newest_only:
                days = dict([max(days.items())])
            for day, rates in days.items():
                for name, rate in rates.items():
                    if name != company.currency_id.name:
                        provider._store(fields.Date.from_string(day), name, rate)
            if self.env.context.get("scheduled"):
                newest = fields.Date.from_string(max(days))
                provider._schedule_last_successful_run(newest)
                provider._schedule_next_run(newest)

    def _store(self, day, name, rate):
        currency = self.env["res.currency"].search([("name", "=", name)], limit=1)
        if not currency:
            raise UserError(f"Unknown currency: {name}")
        key = {"company_id": self.company_id.id, "currency_id": currency.id, "name": day}
        values = {"rate": self._process_rate(currency, rate), "provider_id": self.id}
        row = self.env["res.currency.rate"].search([(column, "=", value) for column, value in key.items()], limit=1)
        if row:
            row.write(values)
        else:
            row.create({**key, **values})

    def _process_rate(self, currency, rate):
        return rate["direct"] if isinstance(rate, dict) else float(rate)

    def _schedule_last_successful_run(self, newest_date):
        self.last_successful_run = newest_date

    def _schedule_next_run(self, newest_date):
        self.next_run = newest_date + self._get_next_run_period()

    def _get_next_run_period(self):
        return timedelta(days=PERIODS[self.interval_type] * self.interval_number)

    @api.model
    def _scheduled_update(self):
        today = fields.Date.context_today(self)
        due = ["|", ("next_run", "<=", today), ("daily", "=", True)]
        on = [("company_id.currency_rates_autoupdate", "=", True), ("active", "=", True)]
        for provider in self.search(on + due).with_context(scheduled=True):
            last = provider.last_successful_run
            start = last + timedelta(days=1) if last else provider.next_run - provider._get_next_run_period()
            end = today if provider.daily else provider.next_run
            provider._update(start, end, newest_only=not provider.daily)

    def _get_supported_currencies(self):
        return []

    def _obtain_rates(self, base_currency, currencies, date_from, date_to):
        return {}


class Wizard(models.TransientModel):
    _name = "res.currency.rate.update.wizard"

    date_from = fields.Date()
    date_to = fields.Date()
    provider_ids = fields.Many2many("res.currency.rate.provider")

    def action_update(self):
        self.provider_ids._update(self.date_from, self.date_to)
        return {"type": "ir.actions.act_window_close"}


def add_job(env):
    values = {"name": "OCA", "model_id": env["ir.model"]._get_id("res.currency.rate.provider"), "state": "code"}
    values |= {"code": "model._scheduled_update()", "interval_number": 1, "interval_type": "days"}
    values |= {"numbercall": -1} if "numbercall" in env["ir.cron"]._fields else {}
    midnight = datetime.combine(fields.Date.today(), datetime.min.time())
    env["ir.cron"].create({**values, "nextcall": midnight + timedelta(days=1, minutes=1)})
