// A random bank from a seed, with a few months and five series. The bank publishes late, corrects values, sends
// invalid rows, omits series, has a rounding website, and fails. A listener receives each request and its outcome.

import { setTimeout as delay } from 'node:timers/promises'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import type {
  CatalogueSeries,
  FetchRequest,
  Observation,
  Provider,
  SourceAnswer,
} from '../../../src/providers/provider.ts'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { addDays, dayNumber, earliest, type IsoDate, isoDate } from '../../../src/values/dates.ts'
import type { TestClock } from '../temporary.ts'
import { EUR, JPY, listDays, selectCatalogue, XDR } from './memory-bank.ts'
import type { Random } from './random-bank.ts'

/** First day, and number of days. */
export const FIRST_DAY = '2025-06-01'
const HORIZON = 420

const PARITIES = [EUR, JPY, XDR]
const CODES = ['317', '318', ...PARITIES]
const MIDDLE: Record<string, number> = { 317: 495, 318: 505, [EUR]: 1.2, [JPY]: 120, [XDR]: 1.4 }
const EXACT_DECIMALS: Record<string, number> = { 317: 3, 318: 3, [EUR]: 5, [JPY]: 4, [XDR]: 5 }
/** Decimals of each table on the website. */
const SITE_DECIMALS: Record<string, number> = { 1: 2, 520: 3 }
const REJECTED = ['-1', '0', 'abc', '1.2.3', '0.00']

/** A day of one series, with the instants of its publication and its correction. */
type Publication = {
  at: number
  value: string | undefined
  corrected: { at: number; value: string } | undefined
  /** Until this instant the row is invalid. */
  spoiltUntil: number
  spoilt: string
  /** Value of the website until it is corrected. */
  site: { until: number; value: string } | undefined
}

export type SeededBank = {
  catalogue: readonly CatalogueSeries[]
  provider: Provider
  /** Shares of requests that fail, and that are answered with nothing. */
  failing: number
  silent: number
  /** A code whose requests fail. */
  broken: string | undefined
  /** Codes that no answer lists. */
  hidden: Set<string>
  /** Called before each answer; its errors reach the program. */
  before: ((ask: FetchRequest, connection: SeededConnection) => Promise<void>) | undefined
  /** Called with the outcome of each request. */
  after:
    | ((ask: FetchRequest, connection: SeededConnection, outcome: SourceAnswer | FetchFailure) => void)
    | undefined
}

export type SeededConnection = {
  /** A connection with a token, which may be refused at any time. */
  supportsSingleSeries: boolean
  readonly signal: AbortSignal
}

export function createSeededBank(clock: TestClock, random: Random): SeededBank {
  const books = new Map(CODES.map((code) => [code, createPublications(code, random)]))
  const bank: SeededBank = {
    catalogue: selectCatalogue(['CRC', 'EUR', 'JPY', 'XDR']),
    failing: 0,
    silent: 0,
    broken: undefined,
    hidden: new Set(),
    before: undefined,
    after: undefined,
    provider: {
      ...bccr,
      connect: (settings, signal) => {
        const connection: SeededConnection = { supportsSingleSeries: Boolean(settings.token), signal }
        let last: Promise<unknown> = Promise.resolve()
        return {
          get supportsSingleSeries() {
            return connection.supportsSingleSeries
          },
          get exact() {
            return connection.supportsSingleSeries
          },
          sourceDay: undefined,
          notices: () => [],
          // Serializes requests, as the real connection does.
          read: (ask) => {
            const answer = last.then(async () => {
              signal.throwIfAborted()
              await bank.before?.(ask, connection)
              await delay(0)
              const outcome = bankAnswer(bank, { books, clock, random }, ask, connection.supportsSingleSeries)
              bank.after?.(ask, connection, outcome)
              if (outcome instanceof FetchFailure) throw outcome
              return outcome
            })
            last = answer.catch(() => undefined)
            return answer
          },
        }
      },
    },
  }
  bank.provider = {
    ...bank.provider,
    catalogue: bank.catalogue,
    groups: bccr.groups.map((group) => ({
      ...group,
      chunkDays: group.table === '1' ? 60 : 40,
      startsOn: group.startsOn && FIRST_DAY,
    })),
  }
  return bank
}

type Ground = { books: Map<string, Map<IsoDate, Publication>>; clock: TestClock; random: Random }

function bankAnswer(
  bank: SeededBank,
  { books, clock, random }: Ground,
  ask: FetchRequest,
  supportsSingleSeries: boolean,
): SourceAnswer | FetchFailure {
  const { indicator, table, window } = ask
  if (random.chance(bank.failing)) return new FetchFailure('HTTP 500')
  if (indicator !== undefined && indicator === bank.broken) return new FetchFailure('HTTP 503')
  if (table === '520' && bank.broken === '520') return new FetchFailure('HTTP 502')
  const whole = indicator === undefined
  const codes = (whole ? PARITIES : [indicator]).filter((code) => !bank.hidden.has(code))
  const silent = random.chance(bank.silent)
  const observations: Observation[] = []
  for (const code of silent ? [] : codes) {
    for (const day of listDays(window.from, earliest(window.to, addDays(clock.today(), 1)))) {
      const value = publishedValue(
        books.get(code)?.get(day),
        clock.now.getTime(),
        supportsSingleSeries ? undefined : table,
      )
      if (value === undefined) continue
      observations.push({
        code,
        day,
        value,
        roundedTo: supportsSingleSeries ? undefined : SITE_DECIMALS[table],
      })
    }
  }
  // The public API lists nothing if the whole table or the requested series is empty.
  const nothing = observations.length === 0 && (silent || (whole && supportsSingleSeries))
  return { listed: nothing ? [] : codes.map((code) => ({ code, name: seriesName(code) })), observations }
}

function seriesName(code: string): string {
  return code === XDR ? 'Derechos Especiales de Giro' : `Indicador ${code}`
}

function publishedValue(found: Publication | undefined, now: number, siteTable: string | undefined) {
  if (!found || now < found.at) return undefined
  if (now < found.spoiltUntil) return found.spoilt
  const { corrected, site } = found
  const exact = corrected && now >= corrected.at ? corrected.value : found.value
  if (exact === undefined || siteTable === undefined) return exact
  return roundedText(site && now < site.until ? site.value : exact, SITE_DECIMALS[siteTable] ?? 2)
}

/** Rounds half up, with all decimals, as the website writes it. */
function roundedText(text: string, decimals: number): string {
  const [whole = '', rest = ''] = text.split('.')
  const digits = BigInt(whole + rest.padEnd(decimals + 1, '0').slice(0, decimals + 1))
  const half = String((digits + 5n) / 10n).padStart(decimals + 1, '0')
  return `${half.slice(0, -decimals)}.${half.slice(-decimals)}`
}

function createPublications(code: string, random: Random): Map<IsoDate, Publication> {
  const daily = !PARITIES.includes(code)
  const born = daily ? 0 : random.chance(0.6) ? 0 : random.int(1, 150)
  const gaps = Array.from({ length: random.int(0, 3) }, () => {
    const from = random.int(0, HORIZON)
    return { from, to: from + random.int(2, random.chance(0.7) ? 10 : 60) }
  })
  const book = new Map<IsoDate, Publication>()
  for (let at = born; at < HORIZON; at++) {
    const day = isoDate(dayNumber(FIRST_DAY) + at)
    const weekend = (dayNumber(day) + 4) % 7 === 0 || (dayNumber(day) + 4) % 7 === 6
    const none = daily ? random.chance(0.01) : weekend || random.chance(0.04)
    const inGap = gaps.some(({ from, to }) => at >= from && at < to)
    if (none || inGap) {
      // Some of these days have an invalid row for a while, and then none.
      if (random.chance(0.92)) continue
    }
    const midnight = Date.parse(`${day}T06:00:00Z`)
    const hours = (low: number, high: number) => random.int(low, high) * 3_600_000
    const published = midnight + (daily ? hours(-6, -5) : hours(8, 14))
    const late = random.chance(0.06) ? hours(6, 96) : 0
    const first = (MIDDLE[code] ?? 1) * (1 + (random.next() - 0.5) / 20)
    const text = (value: number) => value.toFixed(EXACT_DECIMALS[code])
    const spoilt = none || inGap || random.chance(0.02)
    book.set(day, {
      at: published + late,
      value: none || inGap ? undefined : text(first),
      corrected: random.chance(0.04)
        ? {
            at: published + late + hours(1, 240),
            value: text(first * (random.chance(0.5) ? 1.001 : 1.000001)),
          }
        : undefined,
      spoiltUntil: spoilt ? published + late + hours(12, 1500) : 0,
      spoilt: REJECTED[random.int(0, REJECTED.length - 1)] ?? '-1',
      site: random.chance(0.03)
        ? { until: published + hours(24, 500), value: text(first * 1.01) }
        : undefined,
    })
  }
  for (const publication of book.values())
    if (publication.value === undefined) publication.corrected = undefined
  return book
}
