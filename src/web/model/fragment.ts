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

export type View = {
  screen: Screen
  ratesView: RatesView
  /** Day of the dollar; empty: today. */
  day: string
  /** Day of the converter; empty: the day of the dollar. */
  on: string
  /** Pair of the chart, such as `USD/CRC`. */
  pair: string
  /** Currency or year that the chart is compared with; empty: none. */
  compare: string
  span: Span
  /** First and last day of the chart; both empty: the span. */
  from: string
  to: string
  table: boolean
  /** Code of the indicator in the chart of indicators; empty: the first. */
  indicator: string
  indicatorSpan: Span
  /** First and last day of that chart; both empty: the span. */
  indicatorFrom: string
  indicatorTo: string
  /** Pair of the table of months, such as `EUR/CRC`. */
  months: string
  /** Periods of that table. */
  every: (typeof EVERY)[number]
  /** Year of that table; empty: the year of the last complete month. */
  year: string
  /** Amount to convert: digits and a point, with a minus if negative. */
  amount: string
  source: string
  target: string
  side: ShownSide
  /** Currency of rows of a list without one, its target, and its side. */
  listSource: string
  listTarget: string
  listSide: ShownSide
  /** Closing day of the positions; empty: the end of the last month. */
  closing: string
  /** Currency of the books. */
  books: string
  rule: SideRule
  /** Parameters of the certificate as in the link (certificate-link.ts), so that the first screen need not parse them. */
  certificate: string
  /** Ids; 0: all. */
  company: number
  agent: number
  /** Group of states of documents; empty: all. */
  state: '' | QueueGroup
  /** Words of the names of documents. */
  search: string
  /** Id of the issuer of invoices, digits; empty: all. */
  issuer: string
  /** Clave of an invoice, 50 digits; empty: all. */
  clave: string
  /** First and last day of arrival; empty: no limit. */
  since: string
  until: string
  /** Id of the document in the panel; 0: none. */
  document: number
  /** Sending is in the panel. */
  send: boolean
}

export const FIRST_VIEW: View = {
  screen: 'rates',
  ratesView: 'query',
  day: '',
  on: '',
  pair: 'USD/CRC',
  compare: '',
  span: '1y',
  from: '',
  to: '',
  table: false,
  indicator: '',
  indicatorSpan: '1y',
  indicatorFrom: '',
  indicatorTo: '',
  months: 'USD/CRC',
  every: 'month',
  year: '',
  amount: '1000',
  source: 'USD',
  target: 'CRC',
  side: 'venta',
  listSource: 'USD',
  listTarget: 'CRC',
  listSide: 'venta',
  closing: '',
  books: 'CRC',
  rule: 'usual',
  certificate: '',
  company: 0,
  agent: 0,
  state: '',
  search: '',
  issuer: '',
  clave: '',
  since: '',
  until: '',
  document: 0,
  send: false,
}

const PAIR = /^[A-Z]{3}\/[A-Z]{3}$/

const QUERY_PARAMS = [
  ...(['day', 'on', 'pair', 'compare', 'span', 'from', 'to', 'table'] as const),
  ...(['amount', 'source', 'target', 'side'] as const),
  ...(['indicator', 'indicatorSpan', 'indicatorFrom', 'indicatorTo'] as const),
]
const DOCUMENTS_PARAMS = [
  ...(['company', 'agent', 'state', 'search', 'issuer', 'clave', 'since', 'until'] as const),
  ...(['document', 'send'] as const),
]
const CLOSES_PARAMS = ['months', 'year', 'every'] as const
const LIST_PARAMS = ['listSource', 'listTarget', 'listSide'] as const
const DIFFERENTIAL_PARAMS = ['closing', 'books', 'rule'] as const

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
  if (screen === 'documents') return DOCUMENTS_PARAMS
  if (screen === 'status') return []
  if (ratesView === 'list') return LIST_PARAMS
  if (ratesView === 'differential') return DIFFERENTIAL_PARAMS
  if (ratesView === 'certificate') return ['certificate']
  return ratesView === 'closes' ? CLOSES_PARAMS : QUERY_PARAMS
}

export function parseFragment(fragment: string): View {
  const [path = '', query = ''] = fragment.replace(/^#/, '').split('?', 2)
  const [name = '', viewName = ''] = path.split('/', 2)
  const params = new URLSearchParams(query)
  const from = dayParam(params, 'from')
  const to = dayParam(params, 'to')
  const isRange = from !== '' && to !== '' && from <= to
  const [indicatorFrom, indicatorTo] = [dayParam(params, 'indicatorFrom'), dayParam(params, 'indicatorTo')]
  const isIndicatorRange = indicatorFrom !== '' && indicatorTo !== '' && indicatorFrom <= indicatorTo
  const on = dayParam(params, 'on')
  // An older link has the months beside the rest.
  const isOldCloses = viewName === '' && CLOSES_PARAMS.some((param) => params.has(param))
  return {
    screen: wordParam(SCREENS, name, FIRST_VIEW.screen),
    ratesView:
      viewName === 'certificate'
        ? viewName
        : isOldCloses
          ? 'closes'
          : wordParam(RATES_VIEWS, viewName, 'query'),
    certificate: viewName === 'certificate' && /^[\w=&.:%-]{0,600}$/.test(query) ? query : '',
    day: params.has('day') ? dayParam(params, 'day') : on,
    on,
    pair: patternParam(params, 'pair', PAIR),
    compare: patternParam(params, 'compare', /^([A-Z]{3}|(19|2\d)\d\d)$/),
    span: wordParam(SPANS, params.get('span'), FIRST_VIEW.span),
    from: isRange ? from : '',
    to: isRange ? to : '',
    table: params.get('table') === 'true',
    indicator: patternParam(params, 'indicator', /^[1-9]\d{0,9}$/),
    indicatorSpan: wordParam(SPANS, params.get('indicatorSpan'), FIRST_VIEW.indicatorSpan),
    indicatorFrom: isIndicatorRange ? indicatorFrom : '',
    indicatorTo: isIndicatorRange ? indicatorTo : '',
    months: patternParam(params, 'months', PAIR),
    every: wordParam(EVERY, params.get('every'), FIRST_VIEW.every),
    year: patternParam(params, 'year', /^(19|2\d)\d\d$/),
    amount: patternParam(params, 'amount', /^-?(0|[1-9]\d{0,39})(\.\d{1,20})?$/),
    source: patternParam(params, 'source', /^[A-Z]{3}$/),
    target: patternParam(params, 'target', /^[A-Z]{3}$/),
    side: wordParam(SIDES, params.get('side'), FIRST_VIEW.side),
    listSource: patternParam(params, 'listSource', /^[A-Z]{3}$/),
    listTarget: patternParam(params, 'listTarget', /^[A-Z]{3}$/),
    listSide: wordParam(SIDES, params.get('listSide'), FIRST_VIEW.listSide),
    closing: dayParam(params, 'closing'),
    books: patternParam(params, 'books', /^[A-Z]{3}$/),
    rule: wordParam(SIDE_RULES, params.get('rule'), FIRST_VIEW.rule),
    company: readId(params, 'company'),
    agent: readId(params, 'agent'),
    state: wordParam(['', ...QUEUE_GROUPS] as const, params.get('state'), ''),
    search: (params.get('search') ?? '').slice(0, MAX_SEARCH),
    issuer: patternParam(params, 'issuer', /^\d{1,20}$/),
    clave: patternParam(params, 'clave', /^\d{50}$/),
    since: dayParam(params, 'since'),
    until: dayParam(params, 'until'),
    document: readId(params, 'document'),
    send: params.get('send') === 'true',
  }
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

function wordParam<T extends string>(all: readonly T[], value: string | null, fallback: T): T {
  return all.find((one) => one === value) ?? fallback
}

function patternParam(
  params: URLSearchParams,
  name:
    | 'pair'
    | 'compare'
    | 'indicator'
    | 'months'
    | 'year'
    | 'amount'
    | 'source'
    | 'target'
    | 'listSource'
    | 'listTarget'
    | 'books'
    | 'issuer'
    | 'clave',
  pattern: RegExp,
): string {
  const value = params.get(name) ?? ''
  return pattern.test(value) ? value : FIRST_VIEW[name]
}

function dayParam(params: URLSearchParams, name: string): string {
  const value = params.get(name) ?? ''
  return isDay(value) ? value : ''
}

function readId(params: URLSearchParams, name: string): number {
  const value = params.get(name) ?? ''
  return /^[1-9]\d{0,14}$/.test(value) ? Number(value) : 0
}
