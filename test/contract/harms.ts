// Harms of a valid answer. Nothing that differs from the valid answer is stored, and no day is covered whose value is
// withheld.

import type { SourceAnswer } from '../../src/providers/provider.ts'
import { validateRows } from '../../src/sync/windows/accept.ts'
import { answeredDays } from '../../src/sync/windows/answer-coverage.ts'
import { addDays, type IsoDate } from '../../src/values/dates.ts'
import { intersects } from '../../src/values/intervals.ts'
import type { Reply } from './faulty-source.ts'
import type { ProviderSample, Rewriting } from './provider.ts'

const YEAR_DAYS = 364
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

/** Returns the valid body cut at 40 places, and at the last ends of its lines. */
export function cutBodies({ valid: { body } }: ProviderSample): string[] {
  const whole = body.trimEnd()
  const lineEnds = [...body.matchAll(/\n/g)].map(({ index }) => index + 1).filter((end) => end < whole.length)
  const places = Array.from({ length: 40 }, (_, at) => Math.floor(((at + 1) * whole.length) / 41))
  return [...places, ...lineEnds.slice(-20)].map((end) => body.slice(0, end))
}

/** Returns bodies with other rows than the valid one, with their titles. */
export function rowChanges({ rewriteRows }: ProviderSample): [title: string, body: string][] {
  if (!rewriteRows) return []
  return [
    ['doubled rows', rewriteRows((rows) => rows.flatMap((row) => [row, row]))],
    ['reversed rows', rewriteRows((rows) => rows.toReversed())],
    ['rows without the last', rewriteRows((rows) => rows.slice(0, -1))],
  ]
}

/** Returns what a sync would store or cover wrongly of an answer to the valid request. */
export function wrongOutcome({ valid }: ProviderSample, answer: SourceAnswer): string[] {
  const { window } = valid.ask
  const values = new Map(valid.values.map(([code, day, value]) => [`${code} ${day}`, value]))
  const codes = new Set(valid.values.map(([code]) => code))
  const listedCodes = new Set(answer.listed.map(({ code }) => code))
  const { accepted, rejectedDays, undated } = validateRows(answer.observations, codes, window)
  const acceptedValues = new Map(accepted.map(({ code, day, value }) => [`${code} ${day}`, value]))
  const wrong = [...acceptedValues]
    .filter(([key, value]) => values.get(key) !== value)
    .map(([key]) => `stored ${key}`)
  for (const [code, day] of valid.values) {
    const valueDays = accepted.filter((one) => one.code === code).map((one) => one.day)
    const covered = answeredDays(valueDays, undated.has(code), window, window.to)
    const isCovered = covered.some((one) => intersects(one, { from: day, to: day }))
    if (
      isCovered &&
      listedCodes.has(code) &&
      !acceptedValues.has(`${code} ${day}`) &&
      !rejectedDays.get(code)?.has(day)
    )
      wrong.push(`covered ${code} ${day}`)
  }
  return wrong
}

/** Returns a change of the first text alone. */
function onlyFirst(change: (text: string) => string): (text: string) => string {
  let first: string | undefined
  return (text) => {
    first ??= text
    return text === first ? change(text) : text
  }
}
