"""Runs our Odoo module in a fake of Odoo 16.0, 17.0 or 18.0 with OCA's currency_rate_update.

Words: the version, and the folder of the module. Each line of the input is a JSON array with a command and its words;
its answer is a line with `result` or `error`. Debian has no Odoo.
"""

import ast
import csv
import importlib.util
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree
from datetime import date, datetime

import orm
from markup import Markup

WORD = re.compile(r"[A-Za-z_]\w*")
LITERALS = {"True", "False", "None", "not", "and", "or", "in"}


def check_version(series, version):
    """Applies the rule of a series for the `version` of a manifest. @returns the version that Odoo stores"""
    parts = version.split(".")
    if not all(part.isdigit() for part in parts) or len(parts) not in (2, 3, 4, 5):
        raise ValueError("invalid manifest")
    if version.startswith(f"{series}.0."):
        return version
    if len(parts) > 3 and series > 16:
        raise ValueError("invalid manifest: not installable" if series > 18 else "invalid manifest")
    return f"{series}.0.{version}"


def check_view(series, tree):
    """Refuses what views of this series must not have. @throws SyntaxError"""
    for node in tree.iter():
        if node.tag == ("list" if series < 18 else "tree"):
            raise SyntaxError(f"<{node.tag}> is no view of {series}")
        if series > 16 and {"attrs", "states"} & set(node.attrib):
            raise SyntaxError("attrs are not used any more")
        for name in ("invisible", "required", "readonly"):
            words = set(WORD.findall(re.sub(r"'[^']*'", "", node.get(name, ""))))
            if series == 16 and words - LITERALS:
                raise SyntaxError(f"NameError: {sorted(words - LITERALS)[0]}")


class Server:
    def __init__(self, series, folder):
        orm.install_modules(Markup)
        import base  # imports the fake of Odoo
        import oca

        base.VERSION = self.series = int(series)
        base.drop_classes()
        self.folder = pathlib.Path(folder)
        self.failures = []
        self.manifest = ast.literal_eval((self.folder / "__manifest__.py").read_text())
        self.version = check_version(self.series, self.manifest["version"])
        self.load_python()
        self.load_translations()
        self.base = base
        self.env = base.new_environment(orm.build_registry())
        company = base.fill(self.env)
        oca.add_job(self.env)
        for name in self.manifest["data"]:
            self.load_data(name)
        self.company = company

    def load_python(self):
        name = self.folder.name
        path = str(self.folder)
        spec = importlib.util.spec_from_file_location(
            name, self.folder / "__init__.py", submodule_search_locations=[path]
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)

    def load_translations(self):
        text = (self.folder / "i18n/es.po").read_text()
        for key, value in re.findall(r'^msgid (".*")\nmsgstr (".*")$', text, re.M):
            orm.TRANSLATIONS[ast.literal_eval(key)] = ast.literal_eval(value)

    def load_data(self, name):
        if name.endswith(".csv"):
            list(csv.DictReader((self.folder / name).open()))
            return
        tree = ElementTree.parse(self.folder / name)
        check_view(self.series, tree)
        for node in tree.iter("function"):
            getattr(self.env[node.get("model")], node.get("name"))()
        for node in tree.iter("record"):
            if node.get("model") == "ir.cron":
                values = {field.get("name"): field.text for field in node.iter("field")}
                self.env["ir.cron"].create(values)
            for field in node.iter("field"):
                for inner in field.iter("field"):
                    shown = inner.get("name")
                    if field.get("name") == "arch" and inner is not field:
                        assert shown in self.env["res.currency.rate.provider"]._fields, shown

    # Commands
    def run_until(self, instant):
        """Runs the jobs that are due until an instant. The clock stands at the due time of each."""
        end = read_instant(instant)
        while due := self.env["ir.cron"].search([("nextcall", "<=", end)], order="nextcall", limit=1):
            orm.CLOCK["now"] = max(due.nextcall, orm.CLOCK["now"])
            self.failures += [failure for failure in [due.run()] if failure]
        orm.CLOCK["now"] = end

    def run_job(self, name):
        job = self.env["ir.cron"].search([]).filtered(lambda one: (one.name == "OCA") == (name == "OCA"))
        if not job:
            raise ValueError(f"there is no job of {name}")
        failure = job.run()
        self.failures += [failure] if failure else []

    def execute(self, model, method, ids, words, user="robot", named=None):
        """Calls a method in a transaction of its own."""
        found = self.env["res.users"].with_context(active_test=False).search([("name", "=", user)])
        records = self.env[model].browse(ids).with_user(found)
        records = records.sudo() if user == "robot" else records
        if user != "robot":
            records = records.with_context(lang=found.partner_id.lang or "en_US")
        self.base.start_worker()
        with self.env.cr.savepoint():
            result = getattr(records, method)(*words, **(named or {}))
        return result.ids if isinstance(result, orm.Model) else result

    def read(self, model, domain, names, order=None):
        records = self.env[model].with_context(active_test=False).search(domain, order=order)
        value = lambda record, name: getattr(record, name)
        plain = lambda item: item.mapped("name") if isinstance(item, orm.Model) else item
        return [{name: plain(value(record, name)) for name in names} for record in records]

    def bill(self, currency, day, amount):
        """Amount of a new draft in the currency of its company."""
        found = self.env["res.currency"].search([("name", "=", currency)])
        values = {"company_id": self.company.id, "currency_id": found.id, "amount": amount, "date": day}
        move = self.env["account.move"].create(values)
        result = move.company_amount()
        move.unlink()
        return result

    def update_module(self):
        for name in self.manifest["data"]:
            self.load_data(name)

    def limit(self, limits):
        """Shortens the time-outs of the module."""
        for name in ("cambista", "cambista_run"):
            module = vars(sys.modules[f"{self.folder.name}.models.{name}"])
            module.update({key: value for key, value in limits.items() if key in module})

    def slow(self, seconds):
        """Sets the seconds of a new row."""
        self.base.SECONDS_OF_NEW[self.series] = seconds

    def hang(self, seconds):
        """Makes each request of the module cost these seconds."""
        server = sys.modules[f"{self.folder.name}.models.cambista"].Server
        request = server._request

        def wait(*words, **named):
            self.base.spend(seconds, 1)
            return request(*words, **named)

        server._request = wait

    def uninstall(self):
        """Applies `ondelete` of our choice to each provider that has it, archived ones too."""
        records = self.env["res.currency.rate.provider"].with_context(active_test=False)
        field = records._fields["service"]
        policy = field.settings["ondelete"]["cambista"]
        ours = records.search([("service", "=", "cambista")])
        self.base.start_worker()
        with self.env.cr.savepoint():
            if callable(policy):
                policy(ours)
            else:
                ours.write({"service": field.default(self.env)})

    def state(self):
        return {
            "depends": self.manifest["depends"],
            "version": self.version,
            "failures": self.failures,
            "jobs": [self.job(cron) for cron in self.env["ir.cron"].search([])],
            "rows": self.base.WORKER["rows"],
        }

    def job(self, cron):
        names = ("name", "active", "interval_type", "interval_number", "numbercall")
        return {name: getattr(cron, name) for name in names if name in cron._fields}


def read_instant(text):
    return datetime.fromisoformat(text.replace("Z", ""))


def encode(value):
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    raise TypeError(type(value).__name__)


def main(series, folder):
    server = None
    for line in sys.stdin:
        command, *words = json.loads(line)
        try:
            if command == "clock":  # before the installation too
                orm.CLOCK["now"] = read_instant(*words)
                print('{"result": null}', flush=True)
                continue
            server = server or Server(series, folder)
            answer = {"result": getattr(server, command)(*words)}
        except BaseException as error:
            answer = {"error": str(error) or type(error).__name__}
        print(json.dumps(answer, default=encode), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
