"""Runs the Odoo module with fakes of Odoo and of OCA's currency_rate_update, since Debian has neither.

Words: the folder of the module, and a JSON object with the fields of a provider and its calls. The fake writes what
the provider obtains as OCA's `_update` does: a failure is a message, and a row of a day is replaced.
"""

import ast
import importlib.util
import json
import pathlib
import sys
import types
import xml.etree.ElementTree as ElementTree
from datetime import date, timedelta


class Field:
    def __init__(self, *words, **settings):
        self.settings = settings


class UserError(Exception):
    pass


class Model:
    """Fake of res.currency.rate.provider."""

    def __init__(self, values):
        self.rows = {}
        self.messages = []
        self.last_successful_run = None
        self.env = types.SimpleNamespace(context={})
        for name, value in values.items():
            setattr(self, name, value)

    def ensure_one(self):
        pass

    def sudo(self):
        return self

    def _get_supported_currencies(self):
        return []

    def _obtain_rates(self, base_currency, currencies, date_from, date_to):
        return {}

    def _update(self, date_from, date_to, newest_only=False):
        try:
            data = self._obtain_rates(self.company_currency, self.currencies, date_from, date_to)
        except BaseException as error:
            self.messages.append(str(error))
            return
        if not data:
            return
        items = [max(data.items())] if newest_only else data.items()
        for day, rates in items:
            for currency, rate in rates.items():
                self.rows.setdefault(day, {})[currency] = rate
        if self.env.context.get("scheduled"):
            self.last_successful_run = date.fromisoformat(max(day for day, _ in items))

    def _scheduled_update(self, today):
        self.env.context = {"scheduled": True}
        start = self.last_successful_run + timedelta(days=1) if self.last_successful_run else today
        self._update(start, today)
        self.env.context = {}


def add_module(name, **members):
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module
    return module


fields = add_module("odoo.fields", Selection=Field, Char=Field)
models = add_module("odoo.models", Model=Model)
exceptions = add_module("odoo.exceptions", UserError=UserError)
add_module("odoo", _=lambda text: text, fields=fields, models=models, exceptions=exceptions, __path__=[])


def load(folder):
    """Loads the module as Odoo does: the manifest, the Python files and the data."""
    manifest = ast.literal_eval((folder / "__manifest__.py").read_text())
    for path in manifest["data"]:
        ElementTree.parse(folder / path)
    spec = importlib.util.spec_from_file_location(
        folder.name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[folder.name] = module
    spec.loader.exec_module(module)
    file = module.models.res_currency_rate_provider_cambista
    return manifest, file.ResCurrencyRateProviderCambista


def main(folder, text):
    manifest, provider_class = load(pathlib.Path(folder))
    settings = json.loads(text)
    provider = provider_class(settings["provider"])
    for name, *days in settings["calls"]:
        getattr(provider, name)(*map(date.fromisoformat, days))
    print(
        json.dumps(
            {
                "depends": manifest["depends"],
                "currencies": provider._get_supported_currencies(),
                "rows": provider.rows,
                "messages": provider.messages,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
