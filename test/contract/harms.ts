// Harms of a valid answer. Nothing that differs from the valid answer is stored, and no day is covered whose value is
// withheld.

import { deflateRawSync, gzipSync } from 'node:zlib'
import type { SourceAnswer } from '../../src/providers/provider.ts'
import { validateRows } from '../../src/sync/windows/accept.ts'
import { answeredDays } from '../../src/sync/windows/answer-coverage.ts'
import { addDays, type IsoDate } from '../../src/values/dates.ts'
import { intersects } from '../../src/values/intervals.ts'
import { createRandom, type Random } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import type { Reply } from './faulty-source.ts'
import type { ProviderSample, Rewriting } from './provider.ts'

const YEAR_DAYS = 364
const LINE_FEED = 0x0a
const YEARS_LATER = { Date: 'Sun, 02 Jan 2028 18:00:00 GMT' }

const same = (text: string) => text
const commas = (value: string) => value.replace('.', ',')
const monthFirst = (day: IsoDate) => day.replace(/-(\d\d)-(\d\d)$/, '-$2-$1')
const nextYear = (day: IsoDate) => addDays(day, YEAR_DAYS)
const previousYear = (day: IsoDate) => addDays(day, -YEAR_DAYS)

/** Returns replies that are refused as a whole: in another notation, and of other days. */
export function harmfulReplies({ valid, rewrite, sendsEarlierDays }: ProviderSample): [string, Reply][] {
  const { from, to } = valid.ask.window
  const changes: [title: string, change: Partial<Rewriting>][] = [
    ['values in decimal commas', { value: commas }],
    ['a value in decimal commas', { value: onlyFirst(commas) }],
    ['values of three decimals after a comma', { value: (value) => `${value.split('.')[0]},665` }],
    ['a value below one with a comma', { value: onlyFirst(() => '0,853') }],
    ['days with the month first', { day: monthFirst }],
    [
      'days up to the 12th with the month first',
      { day: (day) => (day.slice(8) > '12' ? day : monthFirst(day)) },
    ],
    ['a day that is not of the calendar', { day: onlyFirst(() => '2026-02-30') }],
    ['days of a later window', { day: nextYear }],
    ['a day after the window', { day: onlyFirst(() => addDays(to, 1)) }],
  ]
  if (!sendsEarlierDays)
    changes.push(
      ['days of an earlier window', { day: previousYear }],
      ['a day before the window', { day: onlyFirst(() => addDays(from, -1)) }],
    )
  const identity = rewrite({ value: same, day: same })
  return changes
    .map(([title, change]): [string, Reply] => [
      title,
      { headers: YEARS_LATER, body: rewrite({ value: same, day: same, ...change }) },
    ])
    .filter(([, { body }]) => body !== identity)
}

/** Returns replies of the window's last day with later days than tomorrow. */
export function laterReplies({ valid, rewrite }: ProviderSample): [string, Reply][] {
  const headers = { Date: new Date(`${valid.ask.window.to}T18:00:00Z`).toUTCString() }
  return [
    ['days later than tomorrow', { headers, body: rewrite({ value: same, day: nextYear }) }],
    [
      'values of a day later than tomorrow',
      { headers, body: rewrite({ value: same, day: onlyFirst(nextYear) }) },
    ],
  ]
}

/** Returns the valid body cut at each byte, or at 150 random ones, and at some ends of its lines. */
export function cutBodies({ valid: { body } }: ProviderSample): Buffer[] {
  const bytes = Buffer.from(body)
  const length = Buffer.byteLength(body.trimEnd())
  const lineEnds = [...bytes.entries()].flatMap(([at, byte]) =>
    byte === LINE_FEED && at + 1 < length ? [at + 1] : [],
  )
  const random = createRandom(SEED)
  const places = length <= 700 ? range(length) : range(150).map(() => random.int(0, length - 1))
  const ends = [...lineEnds.slice(0, 10), ...shuffle(lineEnds, random).slice(0, 20), ...lineEnds.slice(-10)]
  return [...new Set([...places, ...ends])].map((end) => bytes.subarray(0, end))
}

/** Returns replies with the valid text in another encoding that is refused, with their titles. */
export function encodedReplies({ valid: { body } }: ProviderSample): [title: string, reply: Reply][] {
  const little = Buffer.from(`\ufeff${body}`, 'utf16le')
  const packed = gzipSync(body)
  const gzip = { 'Content-Encoding': 'gzip' }
  return [
    ['UTF-16 with its mark', { body: little }],
    ['UTF-16 without a mark', { body: little.subarray(2) }],
    ['UTF-16 with the high byte first', { body: Buffer.from(little).swap16() }],
    ['a body that is compressed without a word', { body: packed }],
    ['half of a compressed body', { headers: gzip, body: packed.subarray(0, packed.length / 2) }],
    ['a compressed body of another form', { headers: gzip, body: deflateRawSync(body) }],
    ['a body that is compressed twice', { headers: gzip, body: gzipSync(packed) }],
  ]
}

/** Returns bodies with the rows of the valid one in another order or number, with their titles. */
export function rowChanges({ rewriteRows }: ProviderSample): [title: string, body: string][] {
  if (!rewriteRows) return []
  const random = createRandom(SEED)
  return [
    ['doubled rows', rewriteRows((rows) => rows.flatMap((row) => [row, row]))],
    ['reversed rows', rewriteRows((rows) => rows.toReversed())],
    ['shuffled rows', rewriteRows((rows) => shuffle(rows, random))],
  ]
}

/** Returns bodies without one row, each or 20 random ones, and without a half of the rows. */
export function bodiesWithoutRows({ rewriteRows }: ProviderSample): string[] {
  if (!rewriteRows) return []
  const random = createRandom(SEED)
  let count = 0
  rewriteRows((rows) => {
    count = rows.length
    return rows
  })
  const places = count <= 20 ? range(count) : range(20).map(() => random.int(0, count - 1))
  return [
    ...places.map((place) => rewriteRows((rows) => rows.filter((_, at) => at !== place))),
    rewriteRows((rows) => rows.slice(count / 2)),
    rewriteRows((rows) => rows.slice(0, count / 2)),
  ]
}

/** Returns replies with values that are no rates, with their titles. */
export function valueChanges({ rewrite }: ProviderSample): [title: string, body: string][] {
  const change = (value: (text: string) => string) => rewrite({ value, day: same })
  return [
    ['values of zero', change(() => '0')],
    ['a value of zero', change(onlyFirst(() => '0.0000'))],
    ['negative values', change((value) => `-${value}`)],
    ['a negative value', change(onlyFirst((value) => `-${value}`))],
  ]
}

/**
 * Returns what a sync would store or cover wrongly of an answer to the valid request. A second answer is the same.
 * `ignoresHoles`: days without a row may be covered.
 */
export function wrongOutcome(
  { provider, valid }: ProviderSample,
  answer: SourceAnswer,
  { ignoresHoles = false } = {},
): string[] {
  const { window, table, indicator } = valid.ask
  const values = new Map(valid.values.map(([code, day, value]) => [`${code} ${day}`, value]))
  const requested = provider.catalogue.flatMap((one) =>
    one.table === table && (indicator ?? one.externalCode) === one.externalCode
      ? (one.externalCode ?? [])
      : [],
  )
  const listedCodes = new Set(answer.listed.map(({ code }) => code))
  // A series that two answers do not list is covered without a value.
  const isAnswered = (code: string) => listedCodes.has(code) || !answer.leftOut?.includes(code)
  const { accepted, rejectedDays, undated } = validateRows(answer.observations, new Set(requested), window)
  const acceptedValues = new Map(accepted.map(({ code, day, value }) => [`${code} ${day}`, value]))
  const wrong = [...acceptedValues]
    .filter(([key, value]) => values.get(key) !== value)
    .map(([key]) => `stored ${key}`)
  for (const [code, day] of ignoresHoles ? [] : valid.values) {
    const valueDays = accepted.filter((one) => one.code === code).map((one) => one.day)
    const covered = answeredDays(valueDays, undated.has(code), window, window.to)
    const isCovered = covered.some((one) => intersects(one, { from: day, to: day }))
    if (
      isCovered &&
      isAnswered(code) &&
      !acceptedValues.has(`${code} ${day}`) &&
      !rejectedDays.get(code)?.has(day)
    )
      wrong.push(`covered ${code} ${day}`)
  }
  return wrong
}

function range(length: number): number[] {
  return Array.from({ length }, (_, at) => at)
}

function shuffle<T>(rows: readonly T[], random: Random): T[] {
  const rest = [...rows]
  return rows.flatMap(() => rest.splice(random.int(0, rest.length - 1), 1))
}

/** Returns a change of the first text alone. */
function onlyFirst(change: (text: string) => string): (text: string) => string {
  let first: string | undefined
  return (text) => {
    first ??= text
    return text === first ? change(text) : text
  }
}
