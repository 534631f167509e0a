// Interface of a source of rates. A provider only fetches: for a window of days it returns the published values,
// unchanged. Values are neither validated here nor compared with the database.

import type { IsoDate } from '../values/dates.ts'
import type { Interval } from '../values/intervals.ts'

export type RateType = 'compra' | 'venta' | 'referencia'

/** Both ends included. */
export type Window = Interval

/** Series that is known before its first fetch. */
export type CatalogueSeries = {
  /** Code of the provider; undefined: an answer supplies it, matched by name. */
  externalCode: string | undefined
  name: string
  base: string
  quote: string
  rateType: RateType
  /** Table that contains the series. */
  table: string
  /**
   * Plausible values of today, both ends included. A first value far outside, with its inverse inside, is quoted in the
   * other direction (upstream 3). Undefined: no range is reliable.
   */
  plausibleRange: { low: string; high: string } | undefined
}

/** Series that are fetched together; their values of a window are stored together. */
export type SeriesGroup = {
  /** Name in the progress of a run. */
  name: string
  table: string
  /** Series with a request each; undefined: a single request for the whole table. */
  indicators: readonly string[] | undefined
  /** Days of the longest window of a request. */
  chunkDays: number
  /** First day of the history; undefined: fetch backwards until a year has no values. */
  startsOn: IsoDate | undefined
  /** Each calendar day has a value. A begun day without one is open until three runs agree. */
  publishesDaily?: true
}

/** Request for a whole table, or for a single indicator of it. */
export type FetchRequest = {
  table: string
  indicator: string | undefined
  window: Window
  /** Bypasses the cache of the connection. */
  again?: boolean
}

/** Published value. `day` and `value` are the text of the answer, not validated. */
export type Observation = {
  code: string
  day: string
  value: string
  /** Decimals to which the source rounds; undefined: the value is exact. */
  roundedTo: number | undefined
}

export type SourceAnswer = {
  /** Series in the answer, with values or without. */
  listed: { code: string; name: string }[]
  observations: Observation[]
  /**
   * Codes of series that the source omitted from a table because it has not synchronized some of their days. Each needs
   * a request of its own.
   */
  leftOut?: readonly string[]
}

/** Problem that does not stop the sync but needs the operator, such as a refused token. */
export type Notice = {
  message: string
  /** The problem is the token. */
  token?: true
  /** The source has refused the token. */
  isRefused?: boolean
}

/** Value of a side of the dollar, by a second opinion. */
export type OpinionSide = { rate_type: 'compra' | 'venta'; rate_date: IsoDate; value: string }

/** Settings of the provider, read anew for each run. */
export type ProviderSettings = {
  url: string
  /** Token of the operator; undefined or empty: none. */
  token: string | undefined
  /** Minimum milliseconds between the starts of two requests. */
  paceMs: number
  userAgent: string
}

/** Setting of the operator: a flag, and the environment variable of the same name. */
export type Setting = {
  /** Flag without its dashes, with the code of the provider as prefix. */
  option: string
  fallback: string
  help: string
  /** Help in Spanish. */
  spanish: string
}

/** Token from a file, or from the variable of the option without `_FILE`. No flag contains it, as `ps` shows flags. */
export type TokenSetting = {
  option: string
  help: string
  spanish: string
  /** Name in messages: `the bank's token`. */
  name: string
  /** Log event of a server without a token. */
  absence: string
  /** An empty file means no token; without it, each run fails. */
  emptyIsNone?: true
  /** File of an installed service. */
  installed?: { file: string /** Title in the list of next steps. */; title: string }
}

/** Times of publication, in the time zone of the provider. */
export type Publication = {
  /** Time from which the values of the day are available: `16:00`. */
  time: string
  days: 'every day' | 'working days'
}

/** Pair that decides whether the rates are current: each side must have the newest day that is due. */
export type Benchmark = {
  base: string
  quote: string
  /** Name in messages: `dollar`. */
  noun: string
  /** Days that a side may lag behind the day that is due; above them it is stale. */
  staleDays: number
}

/** Overrides for tests: the wait, and the bounds of a request. */
export type RequestTuning = {
  sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>
  timeoutMs?: number
  bodyLimit?: number
}

/** Connection of a run to a provider. */
export type SourceConnection = {
  /**
   * Reads a window of any length; the connection splits it as its source requires.
   * @throws UnsynchronizedFailure when the source works, but has not synchronized some of the days itself
   * @throws FetchFailure when the source does not return a valid answer
   */
  read(request: FetchRequest): Promise<SourceAnswer>
  /** Without it, a request for a single series reads the whole table. */
  readonly supportsSingleSeries: boolean
  /** Values are as published; without it, they are rounded. */
  readonly exact: boolean
  /** Current day in the time zone of the provider, from the Date of the last answer. Undefined: it had none in GMT. */
  readonly sourceDay: IsoDate | undefined
  /** Returns the notices since the last call. */
  notices(): Notice[]
}

/** File from the website of the source, with the options of its import. */
export type SpreadsheetFile = {
  bytes: Buffer
  /** Candidates for the series of the file. */
  series: readonly { code: string; name: string }[]
  /** Code of the series; undefined: read from the titles of the file. */
  code: string | undefined
  /** Decimal sign of numbers in text cells; undefined: read from the numbers. */
  decimal: 'comma' | 'point' | undefined
  /** Values are as published; else they are rounded to the decimals that the file shows. */
  exact: boolean
  /** Latest day that may have a value. */
  lastDay: IsoDate
}

/** Values of a series in a file, by day; `place` is the cell or line, for messages. */
export type SpreadsheetSeries = {
  code: string
  values: { day: IsoDate; value: string; roundedTo: number | undefined; place: string }[]
  covered: Interval[]
}

/** @throws AppError `failed`, with each bad cell, unless the whole file is valid */
export type SpreadsheetReader = (file: SpreadsheetFile) => Promise<SpreadsheetSeries[]>

export type IndicatorKind = 'interest' | 'exchange' | 'amount' | 'index' | 'counter' | 'other'

/** Indicator that is known before its first fetch. */
export type KnownIndicator = {
  code: string
  /** Alias of the code. */
  key?: string | undefined
  kind: IndicatorKind
  name: string
  unit: string | null
  periodicity: string
  /** Bank or exchange house of a counter rate, with its kind and the side. */
  entity?: string
  group?: string
  side?: 'compra' | 'venta'
}

/** Answer about one indicator. `unit` and `periodicity` are null where the source does not have them. */
export type IndicatorFacts = { name: string; unit: string | null; periodicity: string | null }

/** Connection of a run to the indicators of a provider. Requests have the pace of the provider. */
export type IndicatorConnection = {
  /**
   * Reads one window with one request.
   * @throws FetchFailure without a valid answer; its fact has the status with which the source refused code or token
   */
  read(code: string, window: Window): Promise<SourceAnswer>
  /** @throws FetchFailure like `read` */
  readFacts(code: string): Promise<IndicatorFacts>
  /** As of SourceConnection. */
  readonly sourceDay: IsoDate | undefined
}

/** Series of a source that are no rates, each by its code (decisions#indicators). */
export type IndicatorSource = {
  /** Returns the indicators with a key, and counter rates. */
  named(): KnownIndicator[]
  /** Returns all known indicators. */
  listed(): KnownIndicator[]
  /** Returns the names of the source's own catalogue by code. */
  catalogueNames(): ReadonlyMap<string, string>
  /** `settings.token` is required. */
  connect(
    settings: ProviderSettings & { token: string },
    signal: AbortSignal,
    tuning?: RequestTuning,
  ): IndicatorConnection
}

/** Source of rates. */
export type Provider = {
  /** Public id of its row, the same in each database. */
  id: number
  code: string
  name: string
  country: string
  website: string
  /** Off until the operator enables it: until then the database has no row of it. */
  isOptional?: true
  /** Its values are invented: of a demo. The database is marked with its first row. */
  isInvented?: true
  /** Line that names the source, as its terms require. */
  attribution: string
  /** URL of its terms; undefined: none are published. */
  terms: string | undefined
  /** Intermediate currency of a conversion without a direct series. */
  pivot: string
  /** IANA name of the time zone of its days and its schedule. */
  timeZone: string
  publication: Publication
  benchmark: Benchmark
  /** Name of the source of rounded values, such as `the bank's website`; undefined: all values are exact. */
  roundedSource: string | undefined
  settings: {
    /** Cron pattern of the syncs, in the time zone of the provider. */
    schedule: Setting
    url: Setting
    pace: Setting
    token: TokenSetting | undefined
  }
  /** Series in the order of their ids. */
  catalogue: readonly CatalogueSeries[]
  /** Groups in the order of reading: most important first, beginning with the group of the benchmark. */
  groups: readonly SeriesGroup[]
  connect(settings: ProviderSettings, signal: AbortSignal, tuning?: RequestTuning): SourceConnection
  /** Loads the reader of files from its website; undefined: it has no files. */
  spreadsheets?: () => Promise<SpreadsheetReader>
  /** Loads the source of its indicators; undefined: it has none. */
  indicators?: () => Promise<IndicatorSource>
}

/** The source did not return a valid answer. The message goes into the row of a run and contains no secret. */
export class FetchFailure extends Error {
  readonly fact: FailureFact

  constructor(message: string, fact: FailureFact = { code: 'not_understood' }) {
    super(message)
    this.name = 'FetchFailure'
    this.fact = fact
  }
}

/** Kind of a failed request, with the host that was not reached or the status of the answer. */
export type FailureFact = {
  code: 'unreachable' | 'timeout' | 'tls' | 'http_status' | 'not_understood'
  host?: string
  status?: number
}

/**
 * The source has a store of its own and has not synchronized some of the days. Days before and after these can be
 * requested; a retry of the same days is pointless.
 */
export class UnsynchronizedFailure extends FetchFailure {
  /** Days within the window of the request. */
  readonly days: Interval

  constructor(message: string, days: Interval) {
    super(message)
    this.name = 'UnsynchronizedFailure'
    this.days = days
  }
}

/** Completes an answer with an older one to the same request: with the series that only the older one lists. */
export function completeAnswer(newer: SourceAnswer, older: SourceAnswer): SourceAnswer {
  const listed = new Set(newer.listed.map(({ code }) => code))
  const isOnlyInOlder = ({ code }: { code: string }) => !listed.has(code)
  const leftOut = [...(newer.leftOut ?? []), ...(older.leftOut ?? []).filter((code) => !listed.has(code))]
  return {
    listed: [...newer.listed, ...older.listed.filter(isOnlyInOlder)],
    observations: [...newer.observations, ...older.observations.filter(isOnlyInOlder)],
    ...(leftOut.length > 0 && { leftOut: [...new Set(leftOut)] }),
  }
}
