// What is looked at, as the fragment of the address: a link can be sent, and no log and no other site sees it. Only what
// differs from the first view is written. A link may come from an attacker: what is not understood is left out.

import { isDay } from './days.ts'

export const SCREENS = ['rates', 'documents', 'status'] as const
export const SPANS = ['1m', '3m', '6m', '1y', '5y', '10y', 'all'] as const
export const SIDES = ['compra', 'venta'] as const

export type Screen = (typeof SCREENS)[number]
export type Span = (typeof SPANS)[number]
export type Side = (typeof SIDES)[number]

export type View = {
  screen: Screen
  /** The day whose rates are shown; empty: today. */
  on: string
  /** What the chart is of, as `USD/CRC`. */
  pair: string
  span: Span
  /** A range of the chart instead of the span; both empty: the span. */
  from: string
  to: string
  table: boolean
  /** What the months are of, as `EUR/CRC`, and of which year; empty: the one of the last month that is over. */
  months: string
  year: string
  /** What is converted: digits and a point. */
  amount: string
  source: string
  target: string
  side: Side
  /** Ids; 0: all. */
  company: number
  agent: number
}

export const FIRST_VIEW: View = {
  screen: 'rates',
  on: '',
  pair: 'USD/CRC',
  span: '1y',
  from: '',
  to: '',
  table: false,
  months: 'USD/CRC',
  year: '',
  amount: '1000',
  source: 'USD',
  target: 'CRC',
  side: 'venta',
  company: 0,
  agent: 0,
}

const PAIR = /^[A-Z]{3}\/[A-Z]{3}$/

const OF_SCREEN: Record<Screen, readonly (keyof View)[]> = {
  rates: [
    'on',
    'pair',
    'span',
    'from',
    'to',
    'table',
    'months',
    'year',
    'amount',
    'source',
    'target',
    'side',
  ],
  documents: ['company', 'agent'],
  status: [],
}

export function fragmentOf(view: View): string {
  const words = new URLSearchParams()
  for (const name of OF_SCREEN[view.screen]) {
    if (view[name] !== FIRST_VIEW[name]) words.set(name, String(view[name]))
  }
  const query = words.toString().replaceAll('%2F', '/')
  return `#${view.screen}${query === '' ? '' : `?${query}`}`
}

export function viewOf(fragment: string): View {
  const [name = '', query = ''] = fragment.replace(/^#/, '').split('?', 2)
  const words = new URLSearchParams(query)
  const from = dayIn(words, 'from')
  const to = dayIn(words, 'to')
  const isRange = from !== '' && to !== '' && from <= to
  return {
    screen: oneOf(SCREENS, name, FIRST_VIEW.screen),
    on: dayIn(words, 'on'),
    pair: matching(words, 'pair', PAIR),
    span: oneOf(SPANS, words.get('span'), FIRST_VIEW.span),
    from: isRange ? from : '',
    to: isRange ? to : '',
    table: words.get('table') === 'true',
    months: matching(words, 'months', PAIR),
    year: matching(words, 'year', /^(19|2\d)\d\d$/),
    amount: matching(words, 'amount', /^(0|[1-9]\d{0,39})(\.\d{1,20})?$/),
    source: matching(words, 'source', /^[A-Z]{3}$/),
    target: matching(words, 'target', /^[A-Z]{3}$/),
    side: oneOf(SIDES, words.get('side'), FIRST_VIEW.side),
    company: idIn(words, 'company'),
    agent: idIn(words, 'agent'),
  }
}

/** The view after another fragment was opened: what belongs to other screens stays as it was. */
export function viewAfter(before: View, fragment: string): View {
  const opened = viewOf(fragment)
  const own: (keyof View)[] = ['screen', ...OF_SCREEN[opened.screen]]
  return { ...before, ...Object.fromEntries(own.map((name) => [name, opened[name]])) }
}

function oneOf<T extends string>(all: readonly T[], word: string | null, otherwise: T): T {
  return all.find((one) => one === word) ?? otherwise
}

function matching(
  words: URLSearchParams,
  name: 'pair' | 'months' | 'year' | 'amount' | 'source' | 'target',
  form: RegExp,
): string {
  const word = words.get(name) ?? ''
  return form.test(word) ? word : FIRST_VIEW[name]
}

function dayIn(words: URLSearchParams, name: string): string {
  const word = words.get(name) ?? ''
  return isDay(word) ? word : ''
}

function idIn(words: URLSearchParams, name: string): number {
  const word = words.get(name) ?? ''
  return /^[1-9]\d{0,14}$/.test(word) ? Number(word) : 0
}
