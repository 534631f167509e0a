// A provider in memory that a test writes on, makes fail, and whose requests it reads. With it comes a data directory
// that is synced from it.

import type { TestContext } from 'node:test'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { bccrCatalogue } from '../../../src/providers/bccr/catalogue.ts'
import type {
  CatalogueSeries,
  FetchRequest,
  Observation,
  Provider,
  SeriesGroup,
  SourceAnswer,
} from '../../../src/providers/provider.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { selectCoverage } from '../../../src/store/rates/coverage.ts'
import { selectRatesOfSeries } from '../../../src/store/rates/rates.ts'
import { selectSeries } from '../../../src/store/rates/series.ts'
import type { SyncRunRow } from '../../../src/store/rates/sync-runs.ts'
import type { SyncTrigger, WriteDb } from '../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../src/sync/catalogue.ts'
import { type SyncDeps, syncAll } from '../../../src/sync/run.ts'
import { addDays, dayNumber, type IsoDate, isoDate } from '../../../src/values/dates.ts'
import type { Interval } from '../../../src/values/intervals.ts'
import { fixedClock, type TestClock, temporaryDirectory, temporaryEngine } from '../temporary.ts'

export type MemoryBank = {
  provider: Provider
  /** Requests to the bank, oldest first. */
  asked: FetchRequest[]
  /** Value of a day by code, as text; undefined or null: none. */
  publish: Record<string, (day: IsoDate) => string | null | undefined>
  /** Codes and names that table 520 lists; by default those of the catalogue. */
  listed: Map<string, string>
  /** Throws to fail, answers instead of the bank, or returns undefined to let the bank answer. */
  fault:
    | ((
        ask: FetchRequest,
        usual: () => SourceAnswer,
      ) => SourceAnswer | undefined | Promise<SourceAnswer | undefined>)
    | undefined
  supportsSingleSeries: boolean
  notices: string[]
  /** Day by the clock of the bank; undefined: the bank reports none. */
  today: IsoDate | undefined
  /** Number of decimals of the values. */
  roundedTo: number | undefined
}

export const EUR = '333'
export const JPY = '325'
export const AUD = '3433'
export const XDR = '99001'
export const TOMORROW_OF_TEST = '2026-03-25'

/** The dollar, three parities, and a series whose code is not known yet. */
export const SMALL_CATALOGUE = selectCatalogue(['CRC', 'AUD', 'EUR', 'JPY', 'XDR'])

export function selectCatalogue(currencies: readonly string[]): CatalogueSeries[] {
  return bccrCatalogue.filter(({ base, quote }) => currencies.includes(base === 'USD' ? quote : base))
}

/** A bank with `500` colones for the dollar and `1.1` for all others, on every day up to tomorrow. */
export function createMemoryBank(
  clock: TestClock,
  options: { catalogue?: readonly CatalogueSeries[]; groups?: readonly SeriesGroup[] } = {},
): MemoryBank {
  const catalogue = options.catalogue ?? SMALL_CATALOGUE
  const seriesCode = (one: CatalogueSeries) => one.externalCode ?? XDR
  const everyDay = (value: string) => (day: IsoDate) => (day <= lastDay(clock) ? value : undefined)
  const bank: MemoryBank = {
    asked: [],
    publish: Object.fromEntries(
      catalogue.map((one) => [seriesCode(one), everyDay(one.table === '1' ? '500' : plausible(one))]),
    ),
    listed: new Map(
      catalogue.filter(({ table }) => table === '520').map((one) => [seriesCode(one), one.name]),
    ),
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
          const usual = () => bankAnswer(bank, ask)
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

/** The answer of the bank; an empty whole table lists nothing, as in the public API. */
function bankAnswer(bank: MemoryBank, { table, indicator, window }: FetchRequest): SourceAnswer {
  const codes =
    indicator !== undefined ? [indicator] : table === '520' ? [...bank.listed.keys()] : ['317', '318']
  const observations: Observation[] = []
  for (const code of codes) {
    for (const day of listDays(window.from, window.to)) {
      const value = bank.publish[code]?.(day)
      if (value) observations.push({ code, day, value, roundedTo: bank.roundedTo })
    }
  }
  const listed = codes.map((code) => ({ code, name: bank.listed.get(code) ?? `Indicador ${code}` }))
  const nothing = indicator === undefined && observations.length === 0
  return { listed: nothing ? [] : listed, observations }
}

export function nextDay(day: IsoDate, days = 1): IsoDate {
  return addDays(day, days)
}

export type Desk = {
  db: WriteDb
  dataDir: string
  clock: TestClock
  bank: MemoryBank
  logged: string[]
  deps: SyncDeps
  /** Runs one sync. */
  sync(options?: {
    range?: { from: IsoDate; to: IsoDate }
    trigger?: SyncTrigger
    signal?: AbortSignal
  }): Promise<SyncRunRow & { current: boolean }>
  /** Stored values of a currency by day; `CRC` is the selling rate of the dollar. */
  stored(currency: string): Promise<Record<IsoDate, string>>
  /** Covered days of a currency: one interval, several, or undefined for none. */
  covered(currency: string): Promise<Interval | readonly Interval[] | undefined>
  idOf(currency: string): Promise<number>
}

/** A data directory synced from a bank in memory, by default from 2026-02-01 to 2026-03-24. */
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
  const { db, takeLock, findHolder } = await temporaryEngine(t, dataDir)
  const bank = createMemoryBank(clock, options)
  await ensureCatalogue(db, [bank.provider], clock.read)
  const logged: string[] = []
  const deps: SyncDeps = {
    ...{ db, clock: clock.read, takeLock, findHolder },
    log: createLog({ level: 'debug', format: 'json', write: (text) => logged.push(text), now: clock.read }),
    backfillFrom: options.backfillFrom ?? '2026-02-01',
    settings: () => ({ url: 'https://bank', token: undefined, paceMs: 0, userAgent: 'test' }),
    onCommit: async () => {},
  }
  const find = async (currency: string) => {
    const series = (await selectSeries(db)).findLast(
      (one) => (one.base_currency === 'USD' ? one.quote_currency : one.base_currency) === currency,
    )
    if (!series) throw new Error(`there is no series of ${currency}`)
    return series.id
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

/** Days from the first to the last, both included. */
export function listDays(first: IsoDate, last: IsoDate): IsoDate[] {
  const days: IsoDate[] = []
  const end = dayNumber(last)
  for (let day = dayNumber(first); day <= end; day++) {
    const iso = isoDays.get(day) ?? isoDate(day)
    isoDays.set(day, iso)
    days.push(iso)
  }
  return days
}
