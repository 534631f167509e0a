// Every path of the server: method, path, permission and purpose. An endpoint names its path and has the rest from
// here; a path without a line does not compile. Compat endpoints also answer at the addresses of the services that
// they replace (compat/addresses.ts), and `url-key` ones below /k/KEY.

import type { ALLOWED } from '../domain/access/secrets.ts'

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
  'GET /api/v1/providers': ['key', 'Provider catalog'],
  'GET /api/v1/series': ['key', 'Series catalog'],
  ...tableRoutes('/api/v1/series/{series_id}/history', 'Daily values of one series'),
  'GET /api/v1/rates/latest': ['url-key', 'Current rate of one pair'],
  ...tableRoutes('/api/v1/rates', 'Rates of many series on one date'),
  ...tableRoutes(
    '/api/v1/convert',
    'Conversion of an amount, through the dollar where no series leads directly',
  ),
  'GET /api/v1/convert/statement': [
    'key',
    'A conversion as a text with a digest, which this server can repeat later',
  ],
  'POST /api/v1/convert/batch': ['key', 'Up to 10000 conversions at once'],
  'GET /api/v1/export': ['key', 'Every stored value, as CSV or NDJSON'],
  'GET /api/v1/export.csv': ['key', 'Every stored value, as csv'],
  'GET /api/v1/export.ndjson': ['key', 'Every stored value, as ndjson'],
  ...tableRoutes('/api/v1/history', 'History of any pair, by day, week, month, quarter or year'),
  'GET /api/v1/revisions': ['key', 'Values that were replaced by others, oldest first'],

  // State of the server, for its operator and for probes
  'GET /api/v1/health': ['key', 'Service status and stored counts'],
  'GET /healthz': ['open', 'The process answers'],
  'GET /readyz': ['open', 'The server can answer'],
  'GET /api/v1/status': ['key', 'Freshness, storage, backups, syncs and version in one answer'],
  'GET /api/v1/sync/runs': ['key', 'Synchronization records, newest first'],
  'GET /api/v1/scheduler': ['key', 'Whether the embedded scheduler is active, and when its tasks run'],
  'GET /openapi.json': ['open', 'This description'],
  'GET /metrics': ['local', 'What Prometheus reads'],

  // Documents
  'POST /api/v1/documents/create': ['documents:POST', 'Create documents for an agent, all or none'],
  'POST /api/v1/documents': ['documents:POST', 'Send a document, or a form with several, without base64'],
  'GET /api/v1/documents': ['documents:GET', 'Documents by id, a page at a time'],
  'GET /api/v1/documents/summary': ['documents:GET', 'What waits, is worked on, failed and was done today'],
  'GET /api/v1/documents/{id}': ['documents:GET', 'One document'],
  'GET /api/v1/documents/{id}/events': ['documents:GET', 'What became of one document'],
  'GET /api/v1/documents/{id}/result': ['documents:GET', 'What its worker handed back'],
  'GET /api/v1/documents/{id}/content': [
    'documents:GET',
    'The bytes of one document, whole or a range of them',
  ],
  'POST /api/v1/documents/claim': ['documents:CLAIM', 'Take the oldest documents of an agent to work on'],
  'POST /api/v1/documents/{id}/finish': ['documents:CLAIM', 'Say what became of a claimed document'],
  'POST /api/v1/documents/{id}/extend': ['documents:CLAIM', 'Hold a claimed document for longer'],
  'POST /api/v1/documents/{id}/release': ['documents:CLAIM', 'Give a claimed document back'],
  'POST /api/v1/documents/{id}/retry': ['documents:RETRY', 'Put a document back, for a worker to claim'],
  'DELETE /api/v1/documents/{id}': ['documents:DELETE', 'Delete a document for good'],
  'POST /api/v1/agent/get_by_company': ['agent:POST', 'Active agents of a company'],
  'GET /api/v1/companies': ['documents:GET', 'Companies that the token may see, by id'],
  'GET /api/v1/companies/{id}/agents': ['documents:GET', 'Agents of a company by id, active or not'],
  'GET /api/v1/companies/{id}/owners': ['documents:GET', 'Owners by id that may own documents of a company'],

  'PUT /u/{link}': ['open', 'One document, to a link that the tool upload_document answered'],

  // AI agents
  'POST /mcp': ['key-or-token', 'Model Context Protocol: a message of JSON-RPC, and its answer'],

  // The page
  'POST /session': [
    'open',
    'Sign in with a key, a token or a link; a key or token is added to an open session, a link replaces it',
  ],
  'GET /session': ['open', 'Which key and token the session has; null for what it has not'],
  'DELETE /session': ['open', 'Sign out'],
  'POST /session/code': ['open', 'What a link would sign in with, without using it up'],
  'POST /session/ticket': [
    'session',
    'A URL that opens one PDF in a tab of its own, or gives an export as a file: once, within a minute',
  ],
  'GET /t/{ticket}': ['open', 'What a ticket is for: a PDF, or an export'],
  'GET /': ['open', 'The page for people'],
  'GET /docs': ['open', 'The reference of the APIs, to read and to try'],
  'GET /page/{file}': ['open', 'A file of the page; its name changes with its bytes'],

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
  path: P,
  purpose: string,
): Record<`GET ${P}` | `GET ${P}.csv` | `GET ${P}.ndjson`, RouteEntry> {
  const routes: Record<string, RouteEntry> = {
    [`GET ${path}`]: ['url-key', purpose],
    [`GET ${path}.csv`]: ['url-key', `${purpose}: CSV`],
    [`GET ${path}.ndjson`]: ['url-key', `${purpose}: NDJSON, a line of JSON for each row`],
  }
  return routes as ReturnType<typeof tableRoutes<P>>
}
