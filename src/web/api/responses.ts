// Response types of the APIs, with the fields that the page reads.

import type { ResponseHoles } from '../model/rates/holes.ts'
import type { PeriodPoint } from '../model/rates/months.ts'
import type { Point } from '../model/rates/statistics.ts'
import type { ConversionLeg } from '../model/rates/support.ts'

export type RateSide = 'compra' | 'venta' | 'referencia'

export type Latest = {
  pair: string
  rate_date: string
  compra: string | null
  venta: string | null
  referencia: string | null
  missing?: readonly string[]
  rounded_to?: number
  /** With details=true: the newest synchronized day, if it is before the requested one. */
  covered_to?: string
}

export type Series = {
  id: number
  /** Indicator of the bank. */
  external_code: string
  name: string
  base_currency: string
  quote_currency: string
  rate_type: RateSide
  first_data_date: string | null
  /** With details=true. */
  last_data_date?: string | null
}

/** `date`: day of the newest value that a point was computed from; `rate_date`: that of the oldest. */
export type HistoryPoint = Point & { rate_date: string; rounded_to?: number }

/** History of a pair by day. */
export type HistoryResponse = {
  rate_type: RateSide
  points: readonly HistoryPoint[]
  holes?: ResponseHoles
}

/** Published value of a series. */
export type PublishedValue = { rate_date: string; value: string; rounded_to?: number }

/** Figures of a pair by period. */
export type PeriodsResponse = {
  rate_type: RateSide
  points: readonly PeriodPoint[]
  holes?: ResponseHoles
}

export type Conversion = {
  rate_date: string
  rate_type: RateSide
  amount: string
  rate: string
  result: string
  rounded_to?: number
  legs: readonly ConversionLeg[]
}

export type CorrectedValue = {
  pair: string
  rate_type: RateSide
  rate_date: string
  was: string | null
  is: string | null
  at: string | null
  kind: 'correction' | 'refined' | 'discarded' | 'new'
}

/** Text of a conversion with its digest. A statement of both sides has two conversions: compra, venta. */
export type StatementResponse = {
  statement: string
  sha256: string
  as_of: string
  conversion: StatedConversion | readonly [StatedConversion, StatedConversion]
  matches?: boolean
  /** Answer of today, if it differs. */
  now?: {
    result: string | readonly string[] | null
    detail?: string
    corrections: readonly CorrectedValue[]
  }
}
export type StatedConversion = Omit<Conversion, 'legs'> & {
  legs: readonly (ConversionLeg & { series_id: number; rounded_to?: number })[]
}

export type SyncRun = {
  id: number
  provider_id: number
  trigger: string
  status: 'ok' | 'parcial' | 'error' | null
  date_from: string | null
  date_to: string | null
  inserted: number
  updated: number
  unchanged: number
  message: string | null
  started_at: string
  finished_at: string | null
  /** Absent for runs of earlier versions and imports. */
  failures?: readonly RunFailure[]
}

/** Failure of a run by its code. `of`: indicator, table or provider. */
export type RunFailure = {
  code: string
  of: string
  host?: string
  status?: number
  count?: number
}

/** Reason by its code why rates are not up to date. */
export type Reason = {
  code: string
  provider: string
  rate_type?: RateSide
  since?: string
  series_id?: number
  percent?: number
}

/** Value that its source corrected. */
export type Correction = {
  id: number
  pair: string
  rate_type: RateSide
  rate_date: string
  run_id: number | null
}

export type Health = {
  status: 'ok' | 'degraded' | 'error'
  rates: number
  series: number
  exact?: false
  detail?: { reasons?: readonly string[]; reason_codes?: readonly Reason[]; rounded?: string }
}

export type ProviderStatus = {
  code: string
  name: string
  enabled: boolean
  fresh: boolean
  sides: readonly { rate_type: RateSide; newest: string | null; age_days: number | null }[]
  exact: boolean
  last_good_sync: string | null
  next_sync: string | null
}

export type BackupStatus = {
  schedule: string
  next_run: string | null
  last_run: string | null
  last_status: 'ok' | 'error' | null
  last_verified: string | null
}

export type MailboxStatus = {
  id: number
  name: string
  state: 'active' | 'failing' | 'paused'
  last_round: string | null
  failing_since: string | null
  failure_code: string | null
  waiting: number | null
  taken: number
  refused: number
}

export type Status = {
  version: string
  status: 'ok' | 'degraded'
  /** Reasons in English, for those without a known code. */
  reasons: readonly string[]
  reason_codes: readonly Reason[]
  scheduler: { enabled: boolean; running: boolean }
  providers: readonly ProviderStatus[]
  storage: {
    rates: number
    rounded: number
    documents: number
    contents: number
    content_bytes: number
    free_bytes?: number
  }
  /** Null: no backups are scheduled. */
  backup: BackupStatus | null
  runs: readonly SyncRun[]
  /** Absent: there is no mailbox. */
  mail?: readonly MailboxStatus[]
  /** Absent: none is enabled. */
  indicators?: { enabled: readonly { state: string; history_percent: number | null }[] }
}
