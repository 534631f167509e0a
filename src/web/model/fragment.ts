// Encodes the state of the screens in the fragment of the URL, which browsers send to no server. Defaults are left out.
// A link may come from an attacker: invalid parameters are ignored.

import { isDay } from './days.ts'

export const SCREENS = ['rates', 'documents', 'status'] as const
/** Views of the screen of exchange rates. The first has the address of the screen, `closes` is `#rates/closes`. */
export const RATES_VIEWS = ['query', 'closes', 'list', 'differential'] as const
export const SPANS = ['1m', '3m', '6m', '1y', '5y', '10y', 'all'] as const
export const EVERY = ['month', 'quarter', 'year'] as const
export const SIDES = ['compra', 'venta'] as const
/** Sides for positions. `usual`: assets at the buy rate, liabilities at the sell rate. */
export const SIDE_RULES = ['usual', 'venta', 'compra'] as const
/** Groups of documents by state. `waiting` includes claims whose lease is over, `working` excludes them. */
export const QUEUE_GROUPS = ['waiting', 'working', 'failed', 'done', 'today'] as const
/** Longest search that the API accepts, in characters. */
export const MAX_SEARCH = 100

export type Screen = (typeof SCREENS)[number]
/** `certificate` has no link among the views. */
export type RatesView = (typeof RATES_VIEWS)[number] | 'certificate'
export type Span = (typeof SPANS)[number]
export type ShownSide = (typeof SIDES)[number]
export type SideRule = (typeof SIDE_RULES)[number]
export type QueueGroup = (typeof QUEUE_GROUPS)[number]

type Reader<T> = { first: T; read(text: string): T | undefined }

/** Parameter that matches a pattern. */
function pattern(first: string, allowed: RegExp): Reader<string> {
  return { first, read: (text) => (allowed.test(text) ? text : undefined) }
}
function word<T extends string>(all: readonly T[], first: T): Reader<T> {
  return { first, read: (text) => all.find((one) => one === text) }
}
const CODE = /^[A-Z]{3}$/
const PAIR = /^[A-Z]{3}\/[A-Z]{3}$/
const day: Reader<string> = { first: '', read: (text) => (isDay(text) ? text : undefined) }
const flag: Reader<boolean> = { first: false, read: (text) => text === 'true' }
/** Id; 0: all. */
const id: Reader<number> = {
  first: 0,
  read: (text) => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined),
}

const QUERY_PARAMS = {
  /** Day of the dollar; empty: today. */
  day,
  /** Day of the converter; empty: the day of the dollar. */
  on: day,
  /** Pair of the chart, such as `USD/CRC`. */
  pair: pattern('USD/CRC', PAIR),
  /** Currency or year that the chart is compared with; empty: none. */
  compare: pattern('', /^([A-Z]{3}|(19|2\d)\d\d)$/),
  span: word(SPANS, '1y'),
  /** First and last day of the chart; both empty: the span. */
  from: day,
  to: day,
  table: flag,
  /** Amount to convert: digits and a point, with a minus if negative. */
  amount: pattern('1000', /^-?(0|[1-9]\d{0,39})(\.\d{1,20})?$/),
  source: pattern('USD', CODE),
  target: pattern('CRC', CODE),
  side: word(SIDES, 'venta'),
  /** Code of the indicator in the chart of indicators; empty: the first. */
  indicator: pattern('', /^[1-9]\d{0,9}$/),
  indicatorSpan: word(SPANS, '1y'),
  /** First and last day of that chart; both empty: the span. */
  indicatorFrom: day,
  indicatorTo: day,
}
const CLOSES_PARAMS = {
  /** Pair of the table of months, such as `EUR/CRC`. */
  months: pattern('USD/CRC', PAIR),
  /** Year of that table; empty: the year of the last complete month. */
  year: pattern('', /^(19|2\d)\d\d$/),
  /** Periods of that table. */
  every: word(EVERY, 'month'),
}
const LIST_PARAMS = {
  /** Currency of rows of a list without one, its target, and its side. */
  listSource: pattern('USD', CODE),
  listTarget: pattern('CRC', CODE),
  listSide: word(SIDES, 'venta'),
}
const DIFFERENTIAL_PARAMS = {
  /** Closing day of the positions; empty: the end of the last month. */
  closing: day,
  /** Currency of the books. */
  books: pattern('CRC', CODE),
  rule: word(SIDE_RULES, 'usual'),
}
const DOCUMENTS_PARAMS = {
  company: id,
  agent: id,
  /** Group of states of documents; empty: all. */
  state: word(['', ...QUEUE_GROUPS], ''),
  /** Words of the names of documents. */
  search: { first: '', read: (text) => text.slice(0, MAX_SEARCH) } as Reader<string>,
  /** Id of the issuer of invoices, digits; empty: all. */
  issuer: pattern('', /^\d{1,20}$/),
  /** Clave of an invoice, 50 digits; empty: all. */
  clave: pattern('', /^\d{50}$/),
  /** First and last day of arrival; empty: no limit. */
  since: day,
  until: day,
  /** Id of the document in the panel; 0: none. */
  document: id,
  /** Sending is in the panel. */
  send: flag,
}
const PARAMS = {
  ...QUERY_PARAMS,
  ...CLOSES_PARAMS,
  ...LIST_PARAMS,
  ...DIFFERENTIAL_PARAMS,
  ...DOCUMENTS_PARAMS,
}
const VIEW_PARAMS = {
  query: QUERY_PARAMS,
  closes: CLOSES_PARAMS,
  list: LIST_PARAMS,
  differential: DIFFERENTIAL_PARAMS,
  certificate: { certificate: '' },
}
type ViewValues = { [Name in keyof typeof PARAMS]: (typeof PARAMS)[Name]['first'] }

export type View = ViewValues & {
  screen: Screen
  ratesView: RatesView
  /** Parameters of the certificate as in the link (certificate-link.ts), so that the first screen need not parse them. */
  certificate: string
}

export const FIRST_VIEW: View = { screen: 'rates', ratesView: 'query', certificate: '', ...readParams() }

export function encodeFragment(view: View): string {
  if (view.screen === 'rates' && view.ratesView === 'certificate') {
    return `#rates/certificate?${view.certificate}`
  }
  const params = new URLSearchParams()
  for (const name of viewParams(view)) {
    if (view[name] !== FIRST_VIEW[name]) params.set(name, String(view[name]))
  }
  if (params.has('on')) encodeDays(params, view)
  const query = params.toString().replaceAll('%2F', '/')
  const path = view.screen === 'rates' && view.ratesView !== 'query' ? `rates/${view.ratesView}` : view.screen
  return `#${path}${query === '' ? '' : `?${query}`}`
}

/** Older links have one day, `on`, for the dollar and the converter. Two different days are both written. */
function encodeDays(params: URLSearchParams, { day, on }: View): void {
  if (day === on) params.delete('day')
  else params.set('day', day)
}

function viewParams({ screen, ratesView }: View): readonly (keyof View)[] {
  if (screen === 'status') return []
  return Object.keys(screen === 'documents' ? DOCUMENTS_PARAMS : VIEW_PARAMS[ratesView]) as (keyof View)[]
}

export function parseFragment(fragment: string): View {
  const [path = '', query = ''] = fragment.replace(/^#/, '').split('?', 2)
  const [name = '', viewName = ''] = path.split('/', 2)
  const params = new URLSearchParams(query)
  const view = readParams(params)
  if (!isRange(view.from, view.to)) view.from = view.to = ''
  if (!isRange(view.indicatorFrom, view.indicatorTo)) view.indicatorFrom = view.indicatorTo = ''
  if (!params.has('day')) view.day = view.on
  const isCertificate = viewName === 'certificate'
  // An older link has the months beside the rest.
  const isOldCloses = viewName === '' && Object.keys(CLOSES_PARAMS).some((param) => params.has(param))
  return {
    ...view,
    screen: SCREENS.find((one) => one === name) ?? FIRST_VIEW.screen,
    ratesView: isCertificate
      ? viewName
      : isOldCloses
        ? 'closes'
        : (RATES_VIEWS.find((one) => one === viewName) ?? 'query'),
    certificate: isCertificate && /^[\w=&.:%-]{0,600}$/.test(query) ? query : '',
  }
}

/** Values of all parameters; the first value of one that is missing or invalid. */
function readParams(params = new URLSearchParams()): ViewValues {
  const values = Object.entries(PARAMS).map(([name, { first, read }]) => [
    name,
    read(params.get(name) ?? '') ?? first,
  ])
  return Object.fromEntries(values)
}

function isRange(from: string, to: string): boolean {
  return from !== '' && to !== '' && from <= to
}

/** Link to a new certificate. @param side `both`: compra and venta */
export function certificateFragment(params: {
  amount: string
  source: string
  target: string
  side: ShownSide | 'both'
  on: string
}): string {
  return `#rates/certificate?${new URLSearchParams(params)}`
}

/** Replaces the parameters of the fragment's view; other views are unchanged. */
export function applyFragment(view: View, fragment: string): View {
  const next = parseFragment(fragment)
  const names: (keyof View)[] = ['screen', ...viewParams(next)]
  if (next.screen === 'rates') names.push('ratesView')
  return { ...view, ...Object.fromEntries(names.map((name) => [name, next[name]])) }
}
