// Every path of the server: method, path, permission and purpose. An endpoint names its path and has the rest from
// here; a path without a line does not compile. Compat endpoints also answer at the addresses of the services that
// they replace (compat/addresses.ts), and `url-key` ones below /k/KEY.

import type { ALLOWED } from '../domain/access/secrets.ts'

/** Path of the links for uploads. */
export const LINKS_PATH = '/u'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Required credential. The permissions of tokens also accept the session of a token. */
export type Permission =
  | 'open'
  /** An API key in a header, or the session of one. */
  | 'key'
  /** The same, or a key made for URLs, also in the URL. */
  | 'url-key'
  /** A key in any place that the other service has for one, or an address in an open network. */
  | 'any-key'
  | (typeof ALLOWED)[number]
  | 'key-or-token'
  | 'session'
  /** A client on this machine; any client if the metrics have their own port. */
  | 'local'

type RouteEntry = readonly [permission: Permission, purpose: string]

/** Paths of a method. */
export type Path<M extends Method> = Paths<keyof typeof ROUTES, M>
type Paths<R, M extends Method> = R extends `${M} ${infer P}` ? P : never

const FRANKFURTER_V1: RouteEntry = ['any-key', 'Frankfurter v1: rates of a day or a period']
const EXCHANGERATE_API: RouteEntry = ['any-key', 'ExchangeRate-API: rates, codes and conversions']

export const ROUTES = {
  // Rates
  'GET /api/v1/providers': ['key', 'List providers'],
  'GET /api/v1/series': ['key', 'List series'],
  ...tableRoutes('url-key', '/api/v1/series/{series_id}/history', 'History of one series'),
  'GET /api/v1/rates/latest': ['url-key', 'Current rate of a pair'],
  ...tableRoutes('url-key', '/api/v1/rates', 'Rates of one day'),
  ...tableRoutes('url-key', '/api/v1/convert', 'Convert an amount'),
  'GET /api/v1/convert/statement': ['key', 'Statement of a conversion'],
  'POST /api/v1/convert/batch': ['key', 'Convert many amounts'],
  'GET /api/v1/export': ['key', 'Export all values'],
  'GET /api/v1/export.csv': ['key', 'Export all values: CSV'],
  'GET /api/v1/export.ndjson': ['key', 'Export all values: NDJSON'],
  ...tableRoutes('url-key', '/api/v1/history', 'History of a pair'),
  'GET /api/v1/history.ledger': ['url-key', 'Prices for ledger and hledger'],
  'GET /api/v1/history.beancount': ['url-key', 'Prices for beancount'],
  'GET /api/v1/revisions': ['key', 'List corrected values'],

  // Indicators: other series of the bank, and counter rates
  ...tableRoutes('url-key', '/api/v1/indicators', 'List indicators'),
  'GET /api/v1/indicators/runs': ['key', 'List indicator runs'],
  'GET /api/v1/indicators/{code}/latest': ['url-key', 'Latest value of an indicator'],
  ...tableRoutes('url-key', '/api/v1/indicators/{code}/history', 'History of an indicator'),
  'GET /api/v1/indicators/export': ['key', 'Export all indicators'],
  'GET /api/v1/indicators/export.csv': ['key', 'Export all indicators: CSV'],
  'GET /api/v1/indicators/export.ndjson': ['key', 'Export all indicators: NDJSON'],
  ...tableRoutes('url-key', '/api/v1/ventanilla', 'Counter rates by entity'),

  // State of the server, for its operator and for probes
  'GET /api/v1/health': ['key', 'Health of the server'],
  'GET /healthz': ['open', 'Liveness probe'],
  'GET /readyz': ['open', 'Readiness probe'],
  'GET /api/v1/status': ['key', 'Status of the server'],
  'GET /api/v1/sync/runs': ['key', 'List sync runs'],
  'GET /api/v1/scheduler': ['key', 'State of the scheduler'],
  'GET /openapi.json': ['open', 'OpenAPI of this server'],
  'GET /openapi-compat.json': ['open', 'OpenAPI of other services'],
  'GET /metrics': ['local', 'Metrics for Prometheus'],

  // Documents
  'POST /api/v1/documents/create': ['documents:POST', 'Create documents'],
  'POST /api/v1/documents': ['documents:POST', 'Upload documents'],
  'GET /api/v1/documents': ['documents:GET', 'List documents'],
  'GET /api/v1/documents.csv': ['documents:GET', 'Export documents as CSV'],
  'GET /api/v1/documents.ndjson': ['documents:GET', 'Export documents as NDJSON'],
  'GET /api/v1/documents/summary': ['documents:GET', 'Summary of documents'],
  'GET /api/v1/documents/{id}': ['documents:GET', 'Read a document'],
  'GET /api/v1/documents/{id}/events': ['documents:GET', 'Events of a document'],
  'GET /api/v1/documents/{id}/result': ['documents:GET', 'Result of a document'],
  'GET /api/v1/documents/{id}/content': ['documents:GET', 'Download a document'],
  'POST /api/v1/documents/claim': ['documents:CLAIM', 'Claim documents'],
  'POST /api/v1/documents/{id}/finish': ['documents:CLAIM', 'Finish a document'],
  'POST /api/v1/documents/{id}/extend': ['documents:CLAIM', 'Extend a claim'],
  'POST /api/v1/documents/{id}/release': ['documents:CLAIM', 'Release a claim'],
  'POST /api/v1/documents/{id}/retry': ['documents:RETRY', 'Retry a document'],
  'DELETE /api/v1/documents/{id}': ['documents:DELETE', 'Delete a document'],
  'POST /api/v1/agent/get_by_company': ['agent:POST', 'Active agents of a company'],
  'GET /api/v1/companies': ['documents:GET', 'List companies'],
  'GET /api/v1/companies/{id}/agents': ['documents:GET', 'Agents of a company'],
  'GET /api/v1/companies/{id}/owners': ['documents:GET', 'Owners of a company'],
  'GET /api/v1/mailboxes/left': ['documents:GET', 'Refused and incomplete mails'],

  'PUT /u/{link}': ['open', 'Upload to a link'],

  // AI agents
  'POST /mcp': ['key-or-token', 'Send an MCP message'],

  // The page
  'POST /session': ['open', 'Sign in'],
  'GET /session': ['open', 'Read the session'],
  'DELETE /session': ['open', 'Sign out'],
  'POST /session/code': ['open', 'Check a link'],
  'POST /session/ticket': ['session', 'Create a ticket'],
  'GET /t/{ticket}': ['open', 'Open a ticket'],
  'GET /': ['open', 'Web page'],
  'GET /docs': ['open', 'Guides'],
  'GET /docs/es': ['open', 'Guides in Spanish'],
  'GET /docs/reference': ['open', 'Reference of the APIs'],
  'GET /docs/es/reference': ['open', 'Reference with Spanish links'],
  'GET /page/{file}': ['open', 'File of the page'],

  // Other services: the bank
  'GET /compat/bccr/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx': [
    'open',
    'Old web service of the bank: WSDL, or what it is',
  ],
  'POST /compat/bccr/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx': [
    'open',
    'Old web service of the bank: SOAP 1.1 and 1.2',
  ],
  'GET /compat/bccr/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx/{operation}': [
    'open',
    'Old web service of the bank: GET',
  ],
  'POST /compat/bccr/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx/{operation}': [
    'open',
    'Old web service of the bank: form',
  ],
  'GET /compat/sdde/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/indicadoreseconomicos/{code}/series': [
    'any-key',
    'API of the bank: indicadoreseconomicos, series',
  ],
  'GET /compat/sdde/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/cuadro/{code}/series': [
    'any-key',
    'API of the bank: cuadro, series',
  ],
  'GET /compat/sdde/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/indicadoreseconomicos/{code}/metadata': [
    'any-key',
    'API of the bank: indicadoreseconomicos, metadata',
  ],
  'GET /compat/sdde/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/cuadro/{code}/metadata': [
    'any-key',
    'API of the bank: cuadro, metadata',
  ],

  // Hacienda
  'GET /compat/hacienda/indicadores/tc': ['any-key', 'Hacienda: dollar and euro'],
  'GET /compat/hacienda/indicadores/tc/dolar': ['any-key', 'Hacienda: the dollar'],
  'GET /compat/hacienda/indicadores/tc/euro': ['any-key', 'Hacienda: the euro'],
  'GET /compat/hacienda/indicadores/tc/dolar/historico': ['any-key', 'Hacienda: the dollar, day by day'],
  'GET /compat/hacienda-2020/indicadores/tc': ['any-key', 'Hacienda: dollar and euro'],
  'GET /compat/hacienda-2020/indicadores/tc/dolar': ['any-key', 'Hacienda: the dollar'],
  'GET /compat/hacienda-2020/indicadores/tc/euro': ['any-key', 'Hacienda: the euro'],
  'GET /compat/hacienda-2020/indicadores/tc/dolar/historico': ['any-key', 'Hacienda: the dollar, day by day'],

  // The ECB
  'GET /compat/ecb/stats/eurofxref/eurofxref-daily.xml': ['any-key', 'ECB: the newest day'],
  'GET /compat/ecb/stats/eurofxref/eurofxref-hist-90d.xml': ['any-key', 'ECB: the last 90 days'],
  'GET /compat/ecb/stats/eurofxref/eurofxref-hist.xml': ['any-key', 'ECB: all days'],
  'GET /compat/ecb/stats/eurofxref/eurofxref-hist.csv': ['any-key', 'ECB: all days as CSV'],
  'GET /compat/ecb/stats/eurofxref/eurofxref-hist.zip': ['any-key', 'ECB: all days as CSV in a ZIP'],

  // Copies of Hacienda's dollar
  'GET /compat/gometa/tdc/tdc.json': ['any-key', 'GoMeta: the dollar'],
  'GET /compat/paginasweb/api': ['any-key', 'paginasweb: the dollar of today'],
  'GET /compat/paginasweb/api/{day}/{month}/{year}': ['any-key', 'paginasweb: the dollar of a day'],

  // Frankfurter
  'GET /compat/frankfurter/v1/latest': FRANKFURTER_V1,
  'GET /compat/frankfurter/v1/current': FRANKFURTER_V1,
  'GET /compat/frankfurter/v1/{day}': FRANKFURTER_V1,
  'GET /compat/frankfurter/latest': FRANKFURTER_V1,
  'GET /compat/frankfurter/current': FRANKFURTER_V1,
  'GET /compat/frankfurter/{day}': FRANKFURTER_V1,
  'GET /compat/frankfurter/v1': ['any-key', 'Frankfurter v1: what it is'],
  'GET /compat/frankfurter/v1/currencies': ['any-key', 'Frankfurter v1: codes and names'],
  'GET /compat/frankfurter/currencies': ['any-key', 'Frankfurter v1: codes and names'],
  'GET /compat/frankfurter/v2/rates': ['any-key', 'Frankfurter v2: rates'],
  'GET /compat/frankfurter/v2/rates.csv': ['any-key', 'Frankfurter v2: rates'],
  'GET /compat/frankfurter/v2/providers/bccr/rates': ['any-key', 'Frankfurter v2: rates'],
  'GET /compat/frankfurter/v2/rate/{base}/{quote}': ['any-key', 'Frankfurter v2: one rate'],
  'GET /compat/frankfurter/v2/currencies': ['any-key', 'Frankfurter v2: currencies'],
  'GET /compat/frankfurter/v2/currencies.csv': ['any-key', 'Frankfurter v2: currencies are not there as CSV'],
  'GET /compat/frankfurter/v2/currency/{code}': ['any-key', 'Frankfurter v2: one currency'],
  'GET /compat/frankfurter/v2/providers': ['any-key', 'Frankfurter v2: the provider'],

  // currencylayer, Fixer
  'GET /compat/currencylayer/live': ['any-key', 'currencylayer: what a source is worth on a day'],
  'GET /compat/currencylayer/historical': ['any-key', 'currencylayer: what a source is worth on a day'],
  'GET /compat/currencylayer/timeframe': [
    'any-key',
    'currencylayer: what a source is worth on each day of a period',
  ],
  'GET /compat/currencylayer/convert': [
    'any-key',
    'currencylayer: what an amount of a currency is worth in another',
  ],
  'GET /compat/currencylayer/list': ['any-key', 'currencylayer: codes and names'],
  'GET /compat/currencylayer/latest': ['any-key', 'currencylayer: a table of rates, with its base'],
  'GET /compat/currencylayer/{day}': ['any-key', 'currencylayer: a table of rates, with its base'],
  'GET /compat/fixer/api/latest': ['any-key', 'fixer: a table of rates, with its base'],
  'GET /compat/fixer/api/{day}': ['any-key', 'fixer: a table of rates, with its base'],
  'GET /compat/fixer/api/timeseries': ['any-key', 'fixer: a table of rates for each day of a period'],
  'GET /compat/fixer/api/convert': ['any-key', 'fixer: what an amount of a currency is worth in another'],
  'GET /compat/fixer/api/symbols': ['any-key', 'fixer: codes and names'],

  // Open Exchange Rates
  'GET /compat/oxr/api/latest.json': ['any-key', 'Open Exchange Rates: a table of rates, with its base'],
  'GET /compat/oxr/api/historical/{file}': [
    'any-key',
    'Open Exchange Rates: a table of rates, with its base',
  ],
  'GET /compat/oxr/api/time-series.json': [
    'any-key',
    'Open Exchange Rates: a table of rates for each day of a period',
  ],
  'GET /compat/oxr/api/convert/{value}/{from}/{to}': [
    'any-key',
    'Open Exchange Rates: what an amount of a currency is worth in another',
  ],
  'GET /compat/oxr/api/currencies.json': ['open', 'Open Exchange Rates: codes and names'],
  'GET /compat/oxr/api/usage.json': [
    'any-key',
    'Open Exchange Rates: what was used of a quota that there is not',
  ],

  // ExchangeRate-API
  'GET /compat/exchangerate-api/v6/keyed/latest/{base}': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/latest/{base}': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v4/latest/{base}': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/keyed/pair/{from}/{to}': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/keyed/pair/{from}/{to}/{amount}': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/keyed/history/{base}/{year}/{month}/{date}': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/keyed/history/{base}/{year}/{month}/{date}/{amount}': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/keyed/codes': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/keyed/quota': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/pair/{from}/{to}': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/pair/{from}/{to}/{amount}': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/history/{base}/{year}/{month}/{date}': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/history/{base}/{year}/{month}/{date}/{amount}': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/codes': EXCHANGERATE_API,
  'GET /compat/exchangerate-api/v6/quota': EXCHANGERATE_API,

  // Spreadsheets
  'GET /compat/valor': ['any-key', 'One value as plain text, for spreadsheets'],
} satisfies Record<`${Method} /${string}`, RouteEntry>

/** Returns permission and purpose of a path. */
export function routeEntry<M extends Method>(
  method: M,
  path: Path<M>,
): { permission: Permission; summary: string } {
  const routes: Readonly<Record<string, RouteEntry | undefined>> = ROUTES
  const route = routes[`${method} ${path}`]
  if (!route) throw new TypeError(`${method} ${path} is not in the list of routes`)
  const [permission, summary] = route
  return { permission, summary }
}

/** Routes of a table: by Accept, and in two paths for one form each. */
function tableRoutes<P extends string>(
  permission: Permission,
  path: P,
  purpose: string,
): Record<`GET ${P}` | `GET ${P}.csv` | `GET ${P}.ndjson`, RouteEntry> {
  const routes: Record<string, RouteEntry> = {
    [`GET ${path}`]: [permission, purpose],
    [`GET ${path}.csv`]: [permission, `${purpose}: CSV`],
    [`GET ${path}.ndjson`]: [permission, `${purpose}: NDJSON`],
  }
  return routes as ReturnType<typeof tableRoutes<P>>
}
