"""The parts of Odoo around the module, as 16.0, 17.0 and 18.0 differ: rates, messages, jobs, branches and groups."""

import itertools
import time
from datetime import timedelta

import orm
from markup import Markup, escape, visible_text
from odoo import api, fields, models
from odoo.exceptions import ValidationError

VERSION = 17
MANAGERS = "account.group_account_manager"
ADMINISTRATORS = "base.group_system"
# Seconds for a new row of a rate, and for one that is written again (31 days of 45 currencies are 1,395 rows). New rows
# in 18 were only seen to be between.
SECONDS_OF_NEW = {16: 1 / 217, 17: 1 / 60, 18: 1 / 130}
SECONDS_OF_OLD = {16: 2.9 / 1395, 17: 12 / 1395, 18: 4.4 / 1395}
WORKER_SECONDS = 120
read_clock = time.monotonic
WORKER = {"seconds": 0.0, "start": read_clock(), "rows": 0}
SPENT = {"seconds": 0.0}  # of all workers
# The module measures its own work, which costs the seconds of Odoo's.
time.monotonic = lambda: read_clock() + SPENT["seconds"]


class WorkerKilled(BaseException):
    """The server kills a worker that takes too long: its transaction is rolled back."""


def start_worker():
    WORKER.update(seconds=0.0, start=read_clock())


def spend(seconds, rows):
    WORKER["rows"] += rows
    WORKER["seconds"] += seconds * rows
    SPENT["seconds"] += seconds * rows
    if WORKER["seconds"] + read_clock() - WORKER["start"] > WORKER_SECONDS:
        raise WorkerKilled()


class Message(models.Model):
    _name = "mail.message"

    text = fields.Char()
    body = fields.Char()
    subject = fields.Char()
    model = fields.Char()
    res_id = fields.Integer()
    partner_ids = fields.Many2many("res.partner")


class Thread(models.Model):
    _name = "mail.thread"

    def message_post(self, *, body="", subject=False, partner_ids=None, **_more):
        # A text is HTML in 16, and escaped in later versions.
        body = body if VERSION == 16 or isinstance(body, Markup) else escape(body)
        values = {"body": str(body), "text": visible_text(body), "subject": subject, "model": self._name}
        values["partner_ids"] = [(6, 0, list(partner_ids or ()))]
        return self.env["mail.message"].sudo().create({**values, "res_id": self.ensure_one().id})


class Partner(models.Model):
    _name = "res.partner"

    name = fields.Char()
    lang = fields.Char()


class Currency(models.Model):
    _name = "res.currency"

    name = fields.Char()
    active = fields.Boolean(default=True)


class Company(models.Model):
    _name = "res.company"

    name = fields.Char()
    parent_id = fields.Many2one("res.company")
    partner_id = fields.Many2one("res.partner")
    currency_id = fields.Many2one("res.currency")


class BranchCompany(models.Model):
    """Branches share the rates of their root. Before 17, `parent_id` is only a name for a company above."""

    _inherit = "res.company"

    root_id = fields.Many2one("res.company", compute=lambda company: company._root())

    def _root(self):
        return self.parent_id._root() if self.parent_id else self


class Users(models.Model):
    _name = "res.users"

    name = fields.Char()
    tz = fields.Char()
    active = fields.Boolean(default=True)
    share = fields.Boolean(default=False)
    partner_id = fields.Many2one("res.partner")
    company_ids = fields.Many2many("res.company")
    groups = fields.Char(default="")

    def has_group(self, name):
        return name in self.groups


class Rate(models.Model):
    _name = "res.currency.rate"
    _order = "name desc,id"

    name = fields.Date()
    rate = fields.Float(default=1.0)
    currency_id = fields.Many2one("res.currency")
    company_id = fields.Many2one("res.company")

    def create(self, values):
        spend(SECONDS_OF_NEW[VERSION], len(values) if isinstance(values, list) else 1)
        return super().create(values)

    def write(self, values):
        spend(SECONDS_OF_OLD[VERSION], len(self))
        return super().write(values)

    @api.constrains("company_id")
    def _refuse_branch(self):
        if VERSION > 16 and self.company_id.parent_id:
            raise ValidationError("Rates belong to main companies")


class Move(models.Model):
    _name = "account.move"

    name = fields.Char()
    date = fields.Date()
    invoice_date = fields.Date()
    company_id = fields.Many2one("res.company")
    currency_id = fields.Many2one("res.currency")
    amount = fields.Float()

    def company_amount(self):
        """Amount in the currency of the company, as a draft of this day is computed."""
        company = self.company_id
        pair = (company.currency_id, self.currency_id)
        own, foreign = (stored_rate(self.env, company, one, self.date) for one in pair)
        return self.amount * own / foreign


def stored_rate(env, company, currency, day):
    """Rate by which Odoo divides. Without a row it is 1, and a row of the company's own currency counts too."""
    root = company.root_id if VERSION > 16 else company
    rows = env["res.currency.rate"].search(
        [("currency_id", "=", currency.id), ("company_id", "in", [root.id, False])], order="name"
    )
    before = [row for row in rows if row.name <= day]
    if before:
        return before[-1].rate
    return rows[0].rate if VERSION == 18 and rows else 1.0


class IrModel(models.Model):
    _name = "ir.model"

    model = fields.Char()

    def _get_id(self, name):
        found = self.search([("model", "=", name)], limit=1)
        return (found or self.create({"model": name})).id

    def _get(self, name):
        return self.browse(self._get_id(name))


class IrModelData(models.Model):
    _name = "ir.model.data"

    name = fields.Char()
    model = fields.Char()
    res_id = fields.Integer()
    noupdate = fields.Boolean()

    def _update_xmlids(self, items, update=False):
        for item in items:
            record = item["record"]
            self.create({"name": item["xml_id"], "model": record._name, "res_id": record.id})


class Module(models.Model):
    _name = "ir.module.module"

    name = fields.Char()
    state = fields.Char()


class Cron(models.Model):
    _name = "ir.cron"

    name = fields.Char()
    model_id = fields.Many2one("ir.model")
    state = fields.Char()
    code = fields.Char()
    active = fields.Boolean(default=True)
    user_id = fields.Many2one("res.users", default=lambda self: self.env.uid)
    interval_number = fields.Integer(default=1)
    interval_type = fields.Selection(default="months")
    nextcall = fields.Datetime(default=fields.Datetime.now)

    def _load_records(self, items, update=False):
        for item in items:
            record = self.create(item["values"])
            self.env["ir.model.data"]._update_xmlids([{"xml_id": item["xml_id"], "record": record}])

    def run(self):
        """Runs one job in a worker and a transaction of its own. Returns the failure, if it is rolled back."""
        start_worker()
        failure = None
        robot = self.browse(self.ids).with_user(self.user_id).sudo()
        model = robot.env[self.model_id.model].with_context({})
        try:
            with self.env.cr.savepoint():
                eval(self.code, {"model": model, "env": model.env})
        except (Exception, WorkerKilled) as error:
            failure = f"{self.name}: {type(error).__name__}: {error}"
        start_worker()
        step = {"days": 24, "hours": 1}[self.interval_type] * self.interval_number
        while self.nextcall <= orm.CLOCK["now"]:
            self.nextcall += timedelta(hours=step)
        if "numbercall" in self._fields and self.numbercall > 0:
            self.numbercall -= 1
            self.active = self.numbercall > 0
        return failure


class OldCron(models.Model):
    """A job of 16 and 17 runs once by default."""

    _inherit = "ir.cron"

    numbercall = fields.Integer(default=1)
    doall = fields.Boolean(default=True)


def drop_classes():
    """Leaves out what this version lacks."""
    lacking = ([BranchCompany] if VERSION == 16 else []) + ([OldCron] if VERSION == 18 else [])
    orm.CLASSES[:] = [cls for cls in orm.CLASSES if cls not in lacking]


def new_environment(registry):
    tables = {name: {} for name in registry}
    return orm.Environment(registry, tables, itertools.count(1))


def fill(env):
    """Adds a company in colones, its currencies and its people. The robot is the first record: its id is 1."""
    robot = env["res.users"].create({"name": "robot", "groups": ADMINISTRATORS, "active": False})
    partner = env["res.partner"].create({"name": "Costa SA", "lang": "es_CR"})
    names = "CRC USD EUR CAD".split()
    ids = {name: env["res.currency"].create({"name": name}).id for name in names}
    values = {"name": "Costa SA", "partner_id": partner.id, "currency_id": ids["CRC"]}
    company = env["res.company"].create(values)
    robot.write({"partner_id": env["res.partner"].create({"name": "robot"}).id, "company_ids": [(6, 0, [company.id])]})
    people = [("admin", ADMINISTRATORS), ("accountant", MANAGERS), ("clerk", "")]
    for name, groups in people:
        own = env["res.partner"].create({"name": name})
        values = {"name": name, "groups": groups, "partner_id": own.id, "company_ids": [(6, 0, [company.id])]}
        env["res.users"].create(values)
    return company
