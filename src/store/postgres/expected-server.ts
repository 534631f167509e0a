// Compares the server behind a connection with that of the last poll. A former primary is refused. So is a later server
// until a node has renewed it. Decisions 7.9.

import { AppError } from '../../runtime/errors.ts'
import { COUNTER_NAMES, type CounterValues, wentBack } from './change-counters.ts'
import { READ_ONLY } from './postgres-errors.ts'

/** As of the last poll. Undefined: not known yet, or not available (lineage.ts). */
export type ExpectedServer = {
  /** SQL expression of the timeline. */
  timelineSql?: string | undefined
  timeline?: number | undefined
  /** Epoch of the data. */
  epoch?: string | undefined
  /** Greatest counters of the epoch, of polls and of this node's commits since. */
  counters?: CounterValues | undefined
  /** True: the data may be of another server or an earlier state, which the command is about. */
  isAny?: boolean | undefined
}

/** Null: not available. Columns of `meta` are absent without an epoch to compare. */
export type ServerRow = CounterValues & {
  read_only: string
  timeline: number | null
  /** Timeline of the last renewal. */
  data_timeline?: number | null
  epoch?: string
}

const OTHER_SERVER = 'The database has failed over: try again in a moment'

/** Query of a `ServerRow`. `hasTables` false: the search path is not set yet. */
export function selectServerRow(
  { timelineSql = 'null', timeline, epoch, isAny }: ExpectedServer,
  hasTables: boolean,
): string {
  const isComparable = hasTables && epoch !== undefined && !isAny
  const data = `, ${COUNTER_NAMES.join()}, epoch, meta.timeline as data_timeline from meta, document_order`
  const ofServer = timeline === undefined ? 'null::int' : timelineSql
  return `select current_setting('transaction_read_only') as read_only,
    case when pg_is_in_recovery() then null else ${ofServer} end as timeline${isComparable ? data : ''}`
}

/**
 * Returns whether the server is later than the last poll, or its data have another epoch or went back. Then the poller
 * has to compare it first.
 */
export function isLater(row: ServerRow, { timeline, epoch, counters = {} }: ExpectedServer): boolean {
  if (timeline !== undefined && row.timeline !== null) {
    if (row.timeline !== timeline) return row.timeline > timeline
    // Two promotions may have made the same timeline: the data know only their own.
    if (row.data_timeline != null && row.data_timeline !== timeline) return true
  }
  return row.epoch !== undefined && (row.epoch !== epoch || wentBack(row, counters))
}

/** @throws an error for a server other than the expected one, or one that only reads */
export function checkServerRow(row: ServerRow | undefined, expected: ExpectedServer): void {
  // After a failover the address may still lead to the former primary.
  if (row?.read_only === 'on') throw readOnlyError()
  if (!row || expected.epoch === undefined) return
  const isFormer =
    expected.timeline !== undefined && row.timeline !== null && row.timeline < expected.timeline
  if (isFormer || isLater(row, expected)) throw new AppError('unavailable', OTHER_SERVER)
}

function readOnlyError(): Error {
  return Object.assign(new Error('the server is a copy that only reads'), { code: READ_ONLY })
}
