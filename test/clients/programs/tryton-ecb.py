"""CURRENCY DAY: the rates that Tryton's reader of the ECB's files has for a currency on a day.

The reader is Debian's, unchanged. It is loaded by its path: the package around it needs a database.
"""

import importlib.util
import json
import sys
from datetime import date
from importlib.machinery import PathFinder

[folder] = PathFinder.find_spec("trytond").submodule_search_locations
spec = importlib.util.spec_from_file_location("ecb", f"{folder}/modules/currency/ecb.py")
ecb = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ecb)

currency, day = sys.argv[1:]
try:
    rates = ecb.get_rates(currency, date.fromisoformat(day))
    print(json.dumps({code: str(rate) for code, rate in rates.items()}))
except ecb.RatesNotAvailableError:
    print(json.dumps("not available"))
