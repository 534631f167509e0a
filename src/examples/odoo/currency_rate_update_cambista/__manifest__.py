{
    "name": "Currency Rate Update: cambista",
    "summary": "Exchange rates of the Central Bank of Costa Rica from a cambista server",
    "description": """
For Odoo 16.0, 17.0 and 18.0, with OCA's currency_rate_update: branch 16.0 or 17.0 of OCA/currency, or a port of 17.0.
The tests of cambista run it with stand-ins of these versions, and not in Odoo itself. For 19.0 only its rules for files
were read.

* Give address, key and side in a provider of each main company, and choose the currencies that you book in.
* Delete the rates of the company's own currency that are not 1: Odoo divides all others by them.
* Before you import old invoices, run the wizard over their days. Before the first rate of a currency, Odoo 16.0 and
  17.0 book 1 to 1, and 18.0 takes the oldest rate.
* A job runs hourly, and writes the rate of the day on that day. Its first runs go back to 1 January of last year, or to
  the oldest document in a foreign currency.
* Account managers get a message when a currency fails, weekly, and when it is over.
* A correction of the bank changes neither posted bills nor drafts. A message names its days.
* OCA's own job runs at 00:01 UTC, 18:01 of the day before in Costa Rica, and the bank publishes at 17:30. If you use
  that job alone, the server needs a second sync in between: cambista serve --sync-cron "45 5,17 * * *"
""",
    "version": "1.1.0",  # without a series: the same files are for each version
    "author": "cambista",
    "license": "Other OSI approved licence",
    "category": "Financial Management/Configuration",
    "depends": ["currency_rate_update"],
    "data": ["data/job.xml", "views/res_currency_rate_provider.xml"],
    "installable": True,
}
