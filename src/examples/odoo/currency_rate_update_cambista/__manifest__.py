{
    "name": "Currency Rate Update: cambista",
    "summary": "Exchange rates of the Central Bank of Costa Rica from a cambista server",
    "version": "1.1.0",  # without a series: the same files are for Odoo 16.0 to 19.0
    "author": "cambista",
    "license": "Other OSI approved licence",
    "category": "Financial Management/Configuration",
    "depends": ["currency_rate_update"],
    "data": ["data/job.xml", "views/res_currency_rate_provider.xml"],
    "installable": True,
}
