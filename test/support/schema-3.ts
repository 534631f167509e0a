// A data directory as the program left it when its schema was of version 3, with every series and what years of use
// bring about, and what the program of that version answered over it, text for text, by the rules that it had.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { dayOf, type IsoDate } from '../../src/dates.ts'
import type { Interval } from '../../src/intervals.ts'
import { bccr } from '../../src/providers/bccr/bccr.ts'
import type { RateType } from '../../src/providers/provider.ts'
import { APPLICATION_ID, DATABASE_FILE } from '../../src/store/sqlite/database.ts'
import { decimalOf, fractionOf, inverted, rounded, times } from '../domain/support.ts'
import { daysFrom } from './rates/memory-bank.ts'

export type OldSeries = {
  id: number
  code: string
  name: string
  base: string
  quote: string
  rateType: RateType
  unit: string
  enabled: boolean
  /** What it was said to cover. */
  covered: Interval | undefined
  values: ReadonlyMap<IsoDate, { value: string; roundedTo: number | null }>
}

export const FIRST = '2024-01-01'
/** The day of the newest dollar; the newest parities are of the day before. */
export const TODAY = '2026-03-24'
export const YESTERDAY = '2026-03-23'
const INTERVAL = { from: FIRST, to: YESTERDAY }

/** The series that have something of their own; the others have a value for each working day of the interval. */
export const IDS = { compra: 1, venta: 2, aud: 5, cad: 10, eur: 18, gbp: 19, jpy: 27, xdr: 47 } as const

/** Runs and revisions were removed by hand, so that these counters are beyond the highest ids. */
export const COUNTERS = { sync_runs: 90, rate_revisions: 55 } as const

export const RUNS = [
  [7, 'startup', 'ok', '1983-01-01', '2024-01-02', 4100, 0, 12, null, '05:00:00.123', '05:09:17.004'],
  [
    8,
    'cli',
    'parcial',
    '1990-02-01',
    '1990-02-28',
    56,
    0,
    0,
    '520: HTTP 500',
    '14:00:00.000',
    '14:00:09.500',
  ],
  [
    40,
    'scheduler',
    'error',
    '2026-03-08',
    '2026-03-23',
    0,
    0,
    0,
    'interrupted',
    '11:00:00.000',
    '11:30:00.000',
  ],
  [41, 'retry', 'ok', '2026-03-09', '2026-03-24', 3, 2, 700, null, '11:15:00.000', '11:15:02.001'],
  [88, 'scheduler', 'error', '2026-03-10', '2026-03-25', 0, 0, 0, 'in progress', '11:00:00.000', null],
] as const

/** Id, series, day, old value, new value, instant, run. */
export const REVISIONS = [
  [3, IDS.compra, '2026-03-10', '499.9', '500.25', '2026-03-11T11:15:02.000Z', 8],
  [9, IDS.compra, '2026-03-10', '500.25', '499.9', '2026-03-12T11:15:02.000Z', 41],
  [50, IDS.eur, '2025-06-02', '1.1', '1.105', '2026-03-23T11:15:02.000Z', 41],
] as const

const columnsOf = (interval: Interval, days: readonly Interval[], daily = false) => ({
  covered: interval,
  days: days.flatMap(({ from, to }) => daysFrom(from, to)).filter((day) => daily || isWorkingDay(day)),
})

/** What is known of each series. */
export function oldSeries(): OldSeries[] {
  const island = { from: '1990-02-01', to: '1990-02-28' } // a sync of a range long ago
  const days = daysFrom(FIRST, TODAY)
  const without = (gone: string[], some: readonly IsoDate[]) => some.filter((day) => !gone.includes(day))
  const known: Record<number, { covered: Interval | undefined; days: IsoDate[] }> = {
    // A day of each side that the bank has skipped.
    [IDS.compra]: {
      covered: { from: FIRST, to: TODAY },
      days: [...daysFrom(island.from, island.to), ...without(['2025-08-01'], days)],
    },
    // More of the island than the other side has, and two days that touch the interval.
    [IDS.venta]: {
      covered: { from: FIRST, to: TODAY },
      days: [
        ...daysFrom(island.from, '1990-03-03'),
        ...daysFrom('2023-12-30', '2023-12-31'),
        ...without(['2025-07-09', '2025-07-10'], days),
      ],
    },
    [IDS.aud]: columnsOf({ from: FIRST, to: '2026-01-15' }, [{ from: FIRST, to: '2026-01-15' }]),
    [IDS.cad]: { covered: undefined, days: [] },
    // Its newest row was rejected.
    [IDS.gbp]: columnsOf(INTERVAL, [{ from: FIRST, to: '2026-03-20' }]),
    // Ranges have added values beyond the interval.
    [IDS.jpy]: columnsOf({ from: FIRST, to: '2026-03-13' }, [INTERVAL]),
    // Only ranges were asked for.
    [IDS.xdr]: { covered: undefined, days: daysFrom('2026-03-02', '2026-03-06') },
  }
  const usual = columnsOf(INTERVAL, [INTERVAL])
  return inOrder().map((entry, at) => {
    const id = at + 1
    const { covered, days } = known[id] ?? usual
    const isRounded = (day: IsoDate) => id === IDS.eur && day < '2026-01-01'
    return {
      id,
      code: entry.externalCode ?? '99001',
      name: entry.name,
      base: entry.base,
      quote: entry.quote,
      rateType: entry.rateType,
      unit: entry.unit,
      enabled: id !== IDS.aud,
      covered,
      values: new Map(
        days.map((day) => [day, { value: valueOn(id, day), roundedTo: isRounded(day) ? 4 : null }]),
      ),
    }
  })
}

/** Writes them, runs, revisions and a few documents into a data directory that is empty. */
export function writeSchema3(dataDir: string, series: readonly OldSeries[]): void {
  const sqlite = new Sqlite(join(dataDir, DATABASE_FILE))
  sqlite.exec(readFileSync(join(import.meta.dirname, '../fixtures/schema-3.sql'), 'utf8'))
  sqlite.pragma(`application_id = ${APPLICATION_ID}`)
  sqlite.pragma('user_version = 3')
  sqlite.pragma('foreign_keys = on')
  sqlite.transaction(() => {
    const { code, name, country, website } = bccr
    sqlite.prepare('insert into providers values (1, ?, ?, ?, ?, 1)').run(code, name, country, website)
    const addSeries = sqlite.prepare("insert into series values (?, 1, ?, ?, ?, ?, ?, ?, 'diaria', ?, 5)")
    const addFeed = sqlite.prepare('insert into feeds values (?, ?, ?)')
    const addRate = sqlite.prepare('insert into rates values (?, ?, ?, ?)')
    for (const one of series) {
      const { id, base, quote, covered } = one
      addSeries.run(id, one.code, one.name, base, quote, one.rateType, one.unit, one.enabled ? 1 : 0)
      if (covered) addFeed.run(id, covered.from, covered.to)
      for (const [day, { value, roundedTo }] of one.values) addRate.run(id, day, value, roundedTo)
    }
    for (const run of runsOfOld()) {
      sqlite.prepare(`insert into sync_runs values (${'?, '.repeat(11)}?)`).run(...Object.values(run))
    }
    for (const revision of REVISIONS.filter(([, of]) => series.some(({ id }) => id === of))) {
      sqlite.prepare('insert into rate_revisions values (?, ?, ?, ?, ?, ?, ?)').run(...revision)
    }
    for (const [table, seq] of Object.entries(COUNTERS)) {
      sqlite.prepare('update sqlite_sequence set seq = ? where name = ?').run(seq, table)
    }
    sqlite.exec(`
      insert into companies values (7, 'Acme S.A.', 'ACME', '2025-01-01T00:00:00.000Z');
      insert into owners values (3, 'Ana', 7, '2025-01-01T00:00:00.000Z');
      insert into agents values (4, 7, 'Facturas', '<b>hola</b>', 1, '2025-01-01T00:00:00.000Z');
      insert into tokens values (2, 'erp', 'h', 'documents:POST', null, '2025-01-01T00:00:00.000Z', null, null, 7);
      insert into attachments values (5, 'a.txt', 'text/plain', 4, '${'ab'.repeat(32)}', '2025-01-01T00:00:00.000Z');
      insert into documents values (6, 5, 7, 4, 3, 'a.txt', '2025-01-01T00:00:00.000Z');
      insert into api_keys values (8, 'erp', 'k', '2025-01-01T00:00:00.000Z', null, null);
    `)
  })()
  sqlite.close()
}

/** The rows of /sync/runs, oldest first. */
export function runsOfOld() {
  return RUNS.map(([id, trigger, status, from, to, inserted, updated, unchanged, message, began, ended]) => ({
    id,
    provider_id: 1,
    trigger,
    status,
    date_from: from,
    date_to: to,
    inserted,
    updated,
    unchanged,
    message,
    started_at: `${TODAY}T${began}Z`,
    finished_at: ended && `${TODAY}T${ended}Z`,
  }))
}

export type OldAnswer = { status: number; text: string }

/** What the program answered, by the rules of then: the last value goes on answering, whatever lies between. */
export function oldRules(series: readonly OldSeries[]) {
  const lastDay = ({ values }: OldSeries, on: IsoDate) =>
    [...values.keys()].reduce<IsoDate | undefined>(
      (last, day) => (day <= on && (last === undefined || day > last) ? day : last),
      undefined,
    )
  const about = (one: OldSeries) => ({
    provider: 'bccr',
    series_id: one.id,
    external_code: one.code,
    pair: `${one.base}/${one.quote}`,
  })
  const legOf = (from: string, to: string, type: RateType) => {
    const isLeg = (one: OldSeries, a: string, b: string) =>
      one.base === a && one.quote === b && (one.rateType === 'referencia' || one.rateType === type)
    const direct = series.find((one) => isLeg(one, from, to))
    const one = direct ?? series.find((other) => isLeg(other, to, from))
    if (!one) throw new Error(`no leg from ${from} to ${to}`)
    return { one, inverse: direct === undefined }
  }

  return {
    latest(on: IsoDate): OldAnswer {
      const sides = series.filter(({ base, quote }) => base === 'USD' && quote === 'CRC')
      const rate_date = sides
        .map((side) => lastDay(side, on) ?? '')
        .toSorted()
        .at(-1)
      if (!rate_date) return error(404, `No rate of USD/CRC is stored on or before ${on}`)
      const [compra = null, venta = null] = sides.map(({ values }) => values.get(rate_date)?.value ?? null)
      return ok({ provider: 'bccr', pair: 'USD/CRC', rate_date, compra, venta, referencia: null })
    },

    rates(on: IsoDate, exact = false): OldAnswer {
      return ok(
        series.flatMap((one) => {
          const day = lastDay(one, on)
          if (day === undefined || (exact && day !== on)) return []
          const { base, quote, rateType } = one
          const pair = { base_currency: base, quote_currency: quote, rate_type: rateType }
          return [{ ...about(one), ...pair, rate_date: day, value: one.values.get(day)?.value }]
        }),
      )
    },

    history(id: number, from: IsoDate, to: IsoDate): OldAnswer {
      const one = series.find((other) => other.id === id)
      if (!one) throw new Error(`no series ${id}`)
      const points = [...one.values]
        .filter(([day]) => day >= from && day <= to)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([rate_date, { value }]) => ({ rate_date, value }))
      const range = { rate_type: one.rateType, date_from: from, date_to: to, count: points.length, points }
      return ok({ ...about(one), ...range })
    },

    convert(amount: string, path: readonly string[], type: RateType, on: IsoDate): OldAnswer {
      const legs = path.slice(1).map((to, at) => legOf(path[at] ?? '', to, type))
      const days = legs.map(({ one }) => lastDay(one, on))
      const way = path.join(' -> ')
      if (days.includes(undefined)) return error(404, `No rate for ${way} is stored on or before ${on}`)
      const factors = legs.map(({ one, inverse }, at) => {
        const value = fractionOf(one.values.get(days[at] ?? '')?.value ?? '')
        return inverse ? inverted(value) : value
      })
      const [first] = legs
      const published = legs.length === 1 && first && !first.inverse
      const rate = published
        ? (first.one.values.get(days[0] ?? '')?.value ?? '')
        : rounded(factors.reduce(times), 15)
      const sided = legs.find(({ one }) => one.rateType !== 'referencia')
      return ok({
        provider: 'bccr',
        rate_date: days.toSorted()[0],
        rate_type: sided?.one.rateType ?? 'referencia',
        from_currency: path[0],
        to_currency: path.at(-1),
        amount,
        rate,
        result: decimalOf(times(fractionOf(amount), fractionOf(rate))),
        path: way,
        via_pivot: legs.length > 1,
      })
    },

    series(): OldAnswer {
      return ok(
        series.map((one) => ({
          id: one.id,
          provider_id: 1,
          external_code: one.code,
          name: one.name,
          base_currency: one.base,
          quote_currency: one.quote,
          rate_type: one.rateType,
          unit: one.unit,
          periodicity: 'diaria',
          enabled: one.enabled,
          first_data_date: [...one.values.keys()].toSorted()[0] ?? null,
        })),
      )
    },
  }
}

function ok(body: unknown): OldAnswer {
  return { status: 200, text: JSON.stringify(body) }
}

function error(status: number, detail: string): OldAnswer {
  return { status, text: JSON.stringify({ detail }) }
}

/** Sides of the dollar, then the parities by their currency; the one whose code had to be learned is the last. */
function inOrder() {
  const currencyOf = ({ base, quote }: { base: string; quote: string }) => (base === 'USD' ? quote : base)
  const parities = bccr.catalogue
    .filter(({ rateType }) => rateType === 'referencia')
    .toSorted((a, b) => (currencyOf(a) < currencyOf(b) ? -1 : 1))
  return [
    ...bccr.catalogue.filter(({ rateType }) => rateType !== 'referencia'),
    ...parities.filter(({ externalCode }) => externalCode !== undefined),
    ...parities.filter(({ externalCode }) => externalCode === undefined),
  ]
}

function isWorkingDay(day: IsoDate): boolean {
  return ![6, 0].includes(new Date(`${day}T00:00:00Z`).getUTCDay())
}

/** Some digits, another number of them on each day. */
function valueOn(id: number, day: IsoDate): string {
  const number = ((dayOf(day) * 7919 + id * 104_729) % 9000) + 1000
  const decimals = String((dayOf(day) * 31 + id) % 10 ** ((dayOf(day) % 4) + 1)).replace(/0+$/, '')
  return `${id <= 2 ? 450 + (number % 90) : (number % 50) + 1}${decimals === '' ? '' : `.${decimals}`}`
}
