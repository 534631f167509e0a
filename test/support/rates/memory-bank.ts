// A source of rates on memory: a Provider in memory that a test writes on, reads the questions of and makes
// fail, and a data directory that is synced from it.

import type { TestContext } from 'node:test'
import { addDays, dayOf, type IsoDate, isoOf } from '../../../src/dates.ts'
import type { Interval } from '../../../src/intervals.ts'
import { createLog } from '../../../src/log.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { bccrCatalogue } from '../../../src/providers/bccr/catalogue.ts'
import type {
  Answer,
  CatalogueSeries,
  FetchRequest,
  Observation,
  Provider,
  SeriesGroup,
} from '../../../src/providers/provider.ts'
import { selectCoverage } from '../../../src/store/rates/coverage.ts'
import { selectRatesOfSeries } from '../../../src/store/rates/rates.ts'
import { selectSeries } from '../../../src/store/rates/series.ts'
import { locksIn } from '../../../src/store/sqlite/engine.ts'
import type { SyncRunRow } from '../../../src/store/sync-runs.ts'
import type { Db, SyncTrigger } from '../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../src/sync/catalogue.ts'
import { type SyncDeps, syncAll } from '../../../src/sync/run.ts'
import { fixedClock, type TestClock, temporaryDatabase, temporaryDirectory } from '../temporary.ts'

export type MemoryBank = {
  provider: Provider
  /** What was asked, oldest first. */
  asked: FetchRequest[]
  /** By code, what a day's value is, as text; undefined or null: none. */
  publish: Record<string, (day: IsoDate) => string | null | undefined>
  /** The codes that table 520 lists, and the names it gives them; by default those of the catalogue. */
  listed: Map<string, string>
  /** Throws to fail, answers in the bank's place, or leaves it to the bank. */
  fault:
    | ((ask: FetchRequest, usual: () => Answer) => Answer | undefined | Promise<Answer | undefined>)
    | undefined
  supportsSingleSeries: boolean
  notices: string[]
  /** The day by the clock of the bank; undefined: it does not say. */
  today: IsoDate | undefined
  /** The values are rounded to so many decimals. */
  roundedTo: number | undefined
}

export const EUR = '333'
export const JPY = '325'
export const AUD = '3433'
export const XDR = '99001'
export const TOMORROW_OF_TEST = '2026-03-25'

/** The dollar, three parities and one whose code must be learned. */
export const SMALL_CATALOGUE = catalogueOf(['CRC', 'AUD', 'EUR', 'JPY', 'XDR'])

export function catalogueOf(currencies: readonly string[]): CatalogueSeries[] {
  return bccrCatalogue.filter(({ base, quote }) => currencies.includes(base === 'USD' ? quote : base))
}

/** A bank that has published `500` colones and `1.1` of everything else on every day up to tomorrow. */
export function createMemoryBank(
  clock: TestClock,
  options: { catalogue?: readonly CatalogueSeries[]; groups?: readonly SeriesGroup[] } = {},
): MemoryBank {
  const catalogue = options.catalogue ?? SMALL_CATALOGUE
  const codeOf = (one: CatalogueSeries) => one.externalCode ?? XDR
  const everyDay = (value: string) => (day: IsoDate) => (day <= lastDay(clock) ? value : undefined)
  const bank: MemoryBank = {
    asked: [],
    publish: Object.fromEntries(
      catalogue.map((one) => [codeOf(one), everyDay(one.table === '1' ? '500' : plausible(one))]),
    ),
    listed: new Map(catalogue.filter(({ table }) => table === '520').map((one) => [codeOf(one), one.name])),
    fault: undefined,
    supportsSingleSeries: true,
    notices: [],
    today: undefined,
    roundedTo: undefined,
    provider: {
      ...bccr,
      catalogue,
      groups: options.groups ?? bccr.groups,
      connect: (_settings, signal) => ({
        read: async (ask) => {
          signal.throwIfAborted()
          bank.asked.push(ask)
          const usual = () => answerOf(bank, ask)
          return (await bank.fault?.(ask, usual)) ?? usual()
        },
        get supportsSingleSeries() {
          return bank.supportsSingleSeries
        },
        get exact() {
          return bank.roundedTo === undefined
        },
        get sourceDay() {
          return bank.today
        },
        notices: () => bank.notices.splice(0).map((message) => ({ message })),
      }),
    },
  }
  return bank
}

function lastDay(clock: TestClock): IsoDate {
  return addDays(clock.today(), 1)
}

function plausible({ plausibleRange }: CatalogueSeries): string {
  return plausibleRange?.low ?? '1.1'
}

/** What the bank would say; a whole table with nothing in it lists nothing, as the public API does. */
function answerOf(bank: MemoryBank, { table, indicator, window }: FetchRequest): Answer {
  const codes =
    indicator !== undefined ? [indicator] : table === '520' ? [...bank.listed.keys()] : ['317', '318']
  const observations: Observation[] = []
  for (const code of codes) {
    for (const day of daysFrom(window.from, window.to)) {
      const value = bank.publish[code]?.(day)
      if (value) observations.push({ code, day, value, roundedTo: bank.roundedTo })
    }
  }
  const named = codes.map((code) => ({ code, name: bank.listed.get(code) ?? `Indicador ${code}` }))
  const nothing = indicator === undefined && observations.length === 0
  return { listed: nothing ? [] : named, observations }
}

export function dayAfter(day: IsoDate, days = 1): IsoDate {
  return addDays(day, days)
}

export type Desk = {
  db: Db
  dataDir: string
  clock: TestClock
  bank: MemoryBank
  logged: string[]
  deps: SyncDeps
  /** One run. */
  sync(options?: {
    range?: { from: IsoDate; to: IsoDate }
    trigger?: SyncTrigger
    signal?: AbortSignal
  }): Promise<SyncRunRow & { current: boolean }>
  /** The stored values of a currency (`CRC` is the sale of the dollar), by day. */
  stored(currency: string): Promise<Record<IsoDate, string>>
  /** Which days of a currency are covered: an interval, several, or undefined for none. */
  covered(currency: string): Promise<Interval | readonly Interval[] | undefined>
  idOf(currency: string): Promise<number>
}

/** A data directory that is synced from a bank on memory, from 2026-02-01 to 2026-03-24 unless told otherwise. */
export async function openDesk(
  t: TestContext,
  options: {
    now?: string
    backfillFrom?: IsoDate
    catalogue?: readonly CatalogueSeries[]
    groups?: readonly SeriesGroup[]
  } = {},
): Promise<Desk> {
  const clock = fixedClock(options.now)
  const dataDir = temporaryDirectory(t)
  const db = temporaryDatabase(t, dataDir)
  const bank = createMemoryBank(clock, options)
  await ensureCatalogue(db, [bank.provider], clock.read)
  const logged: string[] = []
  const deps: SyncDeps = {
    ...{ db, clock: clock.read },
    ...locksIn(dataDir),
    log: createLog({ level: 'debug', format: 'json', write: (text) => logged.push(text), now: clock.read }),
    backfillFrom: options.backfillFrom ?? '2026-02-01',
    settings: () => ({ url: 'https://bank', token: undefined, paceMs: 0, userAgent: 'test' }),
    changed: async () => {},
  }
  const find = async (currency: string) => {
    const found = (await selectSeries(db)).findLast(
      (one) => (one.base_currency === 'USD' ? one.quote_currency : one.base_currency) === currency,
    )
    if (!found) throw new Error(`there is no series of ${currency}`)
    return found.id
  }
  return {
    db,
    dataDir,
    clock,
    bank,
    logged,
    deps,
    async sync({ range, trigger = 'cli', signal = new AbortController().signal } = {}) {
      const [end] = await syncAll(deps, [bank.provider], { trigger, range, signal })
      if (!end) throw new Error('no provider is enabled')
      return { ...end.run, current: end.current }
    },
    async stored(currency) {
      const rows = await selectRatesOfSeries(db, await find(currency))
      return Object.fromEntries(rows.map(({ rate_date, value }) => [rate_date, value]))
    },
    async covered(currency) {
      const intervals = (await selectCoverage(db)).get(await find(currency))
      return intervals?.length === 1 ? intervals[0] : intervals
    },
    idOf: find,
  }
}

const isoDays = new Map<number, IsoDate>()

/** The days from the first to the last, both included. */
export function daysFrom(first: IsoDate, last: IsoDate): IsoDate[] {
  const days: IsoDate[] = []
  const end = dayOf(last)
  for (let day = dayOf(first); day <= end; day++) {
    const iso = isoDays.get(day) ?? isoOf(day)
    isoDays.set(day, iso)
    days.push(iso)
  }
  return days
}
