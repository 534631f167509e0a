// What a source of rates is. A provider only fetches: asked for a window of days it answers with what was
// published, as published. It knows neither which values we have nor which of these we will believe.

import type { IsoDate } from '../dates.ts'
import type { Interval } from '../intervals.ts'

export type RateType = 'compra' | 'venta' | 'referencia'

/** Both ends included. */
export type Window = Interval

/** A series that the program knows of before it has asked its source. */
export type CatalogueSeries = {
  /** The provider's own code; undefined when it must be learned by name from an answer. */
  externalCode: string | undefined
  name: string
  base: string
  quote: string
  rateType: RateType
  unit: string
  periodicity: string
  /** The table that the series is read from. */
  table: string
  /**
   * Today's plausible values, both ends included. A first answer far outside of it whose inverse lies inside
   * is quoted in the other direction (upstream 3). Undefined where nothing is plausible enough.
   */
  plausibleRange: { low: string; high: string } | undefined
}

/** Series that are asked for together, and whose values of a window are stored together. */
export type SeriesGroup = {
  /** What a run's progress calls it. */
  name: string
  table: string
  /** The series asked for, each with a request of its own, or undefined for the whole table with one. */
  indicators: readonly string[] | undefined
  /** The longest window to ask for at once. */
  chunkDays: number
  /** The first day of the history where it is known; undefined: ask backwards until a year brings nothing. */
  startsOn: IsoDate | undefined
}

/** A whole table, or one indicator of it asked for alone. */
export type FetchRequest = {
  table: string
  indicator: string | undefined
  window: Window
  /** The source itself is asked again, not what the session remembers of it. */
  again?: boolean
}

/** One published value. Nothing of it has been judged: `day` and `value` are the answer's own text. */
export type Observation = {
  code: string
  day: string
  value: string
  /** The source rounds to so many decimals; undefined: the value is exact. */
  roundedTo: number | undefined
}

export type Answer = {
  /** The series that the answer lists, with values or without. */
  listed: { code: string; name: string }[]
  observations: Observation[]
  /**
   * Codes of series that the source left out of a table because days of them were not synchronized there. Each is asked for
   * alone.
   */
  leftOut?: readonly string[]
}

/** Something that an operator must hear of although the sync went on, such as a refused token. */
export type Notice = { message: string /** It is about the token. */; token?: true }

/** What a run hands to its provider: its own settings and no other's, read anew for each run. */
export type ProviderSettings = {
  url: string
  /** The operator's token; undefined or empty: none. */
  token: string | undefined
  /** Least milliseconds between the starts of two requests. */
  paceMs: number
  userAgent: string
}

/** A setting that the operator may give: a flag, and the environment variable of the same name. */
export type Setting = {
  /** The flag without its dashes; it begins with the provider's code. */
  option: string
  fallback: string
  help: string
  /** The help in Spanish. */
  spanish: string
}

/** A token is read from a file, or from the variable of the file's option without `_FILE`; no flag shows it to `ps`. */
export type TokenSetting = {
  option: string
  help: string
  spanish: string
  /** What messages call it: `the bank's token`. */
  name: string
  /** What the log says of a server that has none. */
  without: string
  /** Where an installed service has it. */
  installed?: { file: string /** In the list of what to do next. */; title: string }
}

/** When values appear, by the provider's own clock. */
export type Publication = {
  /** From this time on the values of the day are there: `16:00`. */
  time: string
  days: 'every day' | 'working days'
}

/** The pair whose sides say whether the rates are current: each of them must have the newest day that is due. */
export type Benchmark = {
  base: string
  quote: string
  /** What messages call it: `dollar`. */
  noun: string
  /** A side that is more days behind the day that is due is stale. */
  staleDays: number
}

/** What tests replace of a conversation: waiting, and the bounds of one request. */
export type RequestTuning = {
  sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>
  timeoutMs?: number
  bodyLimit?: number
}

/** One run's conversation with a provider. */
export type Session = {
  /**
   * Reads one window. Windows of any length are fine; the session splits them as its source needs.
   * @throws UnsynchronizedFailure when the source is well, but names days that it has not synchronized itself
   * @throws FetchFailure when the source did not give a valid answer
   */
  read(request: FetchRequest): Promise<Answer>
  /** Whether the source can be asked for one series alone; without it, such an ask reads the whole table. */
  readonly supportsSingleSeries: boolean
  /** Whether the source gives values as published; without it, they are rounded. */
  readonly exact: boolean
  /** Which day it is in the provider's zone by the clock of the source, as its last answer said; undefined: it did not. */
  readonly sourceDay: IsoDate | undefined
  /** Takes what has to be said about the conversation so far. */
  notices(): Notice[]
}

/** A file that the source hands out on its website, and what is known of it. */
export type SpreadsheetFile = {
  bytes: Buffer
  /** The series that it may be of. */
  series: readonly { code: string; name: string }[]
  /** The code of the one that it is of; undefined: it says so itself. */
  code: string | undefined
  /** The decimal sign of numbers that are text; undefined: the numbers themselves say which. */
  decimal: 'comma' | 'point' | undefined
  /** Whether its values are as published; else they are rounded to the decimals that it shows. */
  exact: boolean
  /** No value can be of a later day. */
  lastDay: IsoDate
}

/** What a file says of one series, by day; `place` is where a person finds a value in it. */
export type SpreadsheetSeries = {
  code: string
  values: { day: IsoDate; value: string; roundedTo: number | undefined; place: string }[]
  covered: Interval[]
}

/** @throws AppError `failed`, which names each bad cell, for a file that is not understood as a whole */
export type SpreadsheetReader = (file: SpreadsheetFile) => Promise<SpreadsheetSeries[]>

/** A source of rates: all that the rest of the program knows of it. */
export type Provider = {
  code: string
  name: string
  country: string
  website: string
  /** The currency that a conversion goes through where no series leads directly. */
  pivot: string
  /** Its days and its schedule are of this zone, as the IANA names it. */
  timeZone: string
  publication: Publication
  benchmark: Benchmark
  /** Where rounded values come from, in words such as `the bank's website`; undefined: it never rounds. */
  roundedSource: string | undefined
  settings: {
    /** A cron pattern in the provider's zone: when to sync. */
    schedule: Setting
    url: Setting
    pace: Setting
    token: TokenSetting | undefined
  }
  /** In the order in which the series get their ids. */
  catalogue: readonly CatalogueSeries[]
  /** In the order in which they are read: what matters most first, and first of all the group of the benchmark. */
  groups: readonly SeriesGroup[]
  connect(settings: ProviderSettings, signal: AbortSignal, tuning?: RequestTuning): Session
  /** Loads what reads files of its website; undefined: there are none. */
  spreadsheets?: () => Promise<SpreadsheetReader>
}

/** The source did not give a valid answer; the message is for a run's record and holds no secret. */
export class FetchFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'FetchFailure'
  }
}

/**
 * The source answers from a store of its own and has not synchronized some of the days. Days before and after these can be
 * requested; a retry of the same days is pointless.
 */
export class UnsynchronizedFailure extends FetchFailure {
  /** Within the window of the request. */
  readonly days: Interval

  constructor(message: string, days: Interval) {
    super(message)
    this.name = 'UnsynchronizedFailure'
    this.days = days
  }
}
