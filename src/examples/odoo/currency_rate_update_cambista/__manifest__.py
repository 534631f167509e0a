{
    "name": "Currency Rate Update: cambista",
    "summary": "Exchange rates of the Central Bank of Costa Rica from a cambista server",
    "version": "17.0.1.0.0",
    "author": "cambista",
    "license": "Other OSI approved licence",
    "category": "Financial Management/Configuration",
    "depends": ["currency_rate_update"],
    "data": ["views/res_currency_rate_provider.xml"],
    "installable": True,
}
