// Finds out whether a database went back. Causes are a failover to a server without the last commits, and a restored
// backup. Each promotion of a standby begins a new timeline of the server. Where it cannot be queried, the change
// counters are compared. Decisions 7.9.

import { AppError, errorCode } from '../../runtime/errors.ts'
import type { ReadDb } from '../tables.ts'
import { rawQuery } from './raw-query.ts'

/** The server behind a connection. Undefined: the role may not query it, or the server has none. */
export type ServerState = {
  /** Number of the timeline, which rises with each promotion of a standby. */
  timeline: number | undefined
  /** Identifier of the data of the server: equal on standbys and base backups, another after a dump or pg_upgrade. */
  serverId: string | undefined
}

/** A poll of the database. */
export type LineageReading = {
  epoch: string
  /** Number of renewals of the epoch. */
  generation: number
  /** The greatest known state, out of `meta`. */
  known: ServerState
  server: ServerState
  /** Numbers that only rise within an epoch. The last is not known on every server. */
  counters: readonly number[]
}

/** Number of the counters that each poll has. */
export const ALWAYS_KNOWN = 4

export type Verdict =
  | { kind: 'same' }
  /** The database has never recorded its server. */
  | { kind: 'record' }
  /** The database may lack commits that were acknowledged. */
  | { kind: 'renew'; cause: RenewalCause }
  /** The connection leads to an earlier server, or to a copy, which no retry changes: nothing may be written. */
  | { kind: 'refuse'; isCopy: boolean; message: string }

export type RenewalCause = 'timeline' | 'counters'

const COPY =
  'the database is a copy on another server, or an earlier state that was put back: run cambista database restored (for a rehearsal beside the real one with --copy)'

/** Compares a poll with the previous one of this process. */
export function judgeLineage(last: LineageReading | undefined, now: LineageReading): Verdict {
  const { known, server } = now
  const copy: Verdict = { kind: 'refuse', isCopy: true, message: COPY }
  if (known.serverId !== undefined && server.serverId !== undefined && known.serverId !== server.serverId)
    return copy
  if (precedes(server.timeline, last?.server.timeline)) {
    const timelines = `timeline ${server.timeline} after ${last?.server.timeline}`
    const message = `the database is a former primary (${timelines}): stop it, and let the address lead to the later one`
    return { kind: 'refuse', isCopy: false, message }
  }
  if (precedes(server.timeline, known.timeline)) return copy
  if (precedes(known.timeline, server.timeline)) return { kind: 'renew', cause: 'timeline' }
  if (last && now.generation < last.generation) return { kind: 'renew', cause: 'counters' }
  // Two renewals of one state: a failover lost the first, with the ids that followed it.
  if (last && now.generation === last.generation && now.epoch !== last.epoch)
    return { kind: 'renew', cause: 'counters' }
  if (last?.epoch === now.epoch && now.counters.some((one, at) => precedes(one, last.counters[at])))
    return { kind: 'renew', cause: 'counters' }
  const isRecorded = known.timeline === server.timeline && known.serverId === server.serverId
  return isRecorded || isUnknown(server) ? { kind: 'same' } : { kind: 'record' }
}

function precedes(one: number | undefined, other: number | undefined): boolean {
  return one !== undefined && other !== undefined && one < other
}

function isUnknown({ timeline, serverId }: ServerState): boolean {
  return timeline === undefined && serverId === undefined
}

/** SQL expressions of a server state; `null` where the server or its role does not allow the functions. */
export type LineageSql = {
  timeline: string
  serverId: string
  /** Last document id of the sequence, only where there is no timeline. */
  lastId: string
}

/** Timeline of a primary: the first eight digits of a WAL file's name. */
export const TIMELINE_SQL = `('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int`
// The first works at once after a promotion, the second after the next checkpoint.
const TIMELINES = [TIMELINE_SQL, '(select timeline_id from pg_control_checkpoint())']
const SERVER_ID = '(select system_identifier::text from pg_control_system())'
const LAST_ID = '(select last_value from documents_id_seq)'
const NOT_ALLOWED = /^PG_(42883|42501|42P01|42704|0A000|XX000)$/

/** Returns the expressions that the server allows. Its role needs no grant by default. */
export async function findLineageSql(db: ReadDb): Promise<LineageSql> {
  const timeline = await firstAllowed(db, TIMELINES)
  return {
    timeline,
    serverId: await firstAllowed(db, [SERVER_ID]),
    lastId: timeline === 'null' ? await firstAllowed(db, [LAST_ID]) : 'null',
  }
}

export async function selectServer(db: ReadDb, sql: LineageSql): Promise<ServerState> {
  const { rows } = await rawQuery<{ timeline: number | null; server_id: string | null }>(
    db,
    `select ${sql.timeline} as timeline, ${sql.serverId} as server_id`,
  )
  return { timeline: rows[0]?.timeline ?? undefined, serverId: rows[0]?.server_id ?? undefined }
}

/** Error of a database that was another one at the poll. */
export function changedAgainError(): AppError {
  return new AppError('unavailable', 'The database has changed again: try again in a moment')
}

async function firstAllowed(db: ReadDb, expressions: readonly string[]): Promise<string> {
  for (const expression of expressions) {
    try {
      await rawQuery(db, `select ${expression}`)
      return expression
    } catch (error) {
      if (!isNotAllowed(error)) throw error
    }
  }
  return 'null'
}

/** Returns whether the server lacks a function, or its role may not call it. */
export function isNotAllowed(error: unknown): boolean {
  return NOT_ALLOWED.test(errorCode(error))
}
