// Renews a restored copy of a database. No new id, ETag or cursor may equal one that the original assigned after the
// instant of the copy.

import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { flush } from '../../runtime/file-hash.ts'
import type { LostBlob } from '../documents/lost-blobs.ts'
import { SCHEMA_VERSION } from '../migrations.ts'
import { type Counters, raiseCounters } from './id-counters.ts'
import { nativeBinding } from './native.ts'
import { upgradeSchema } from './upgrade.ts'

export type Renewal = {
  /** Ids that another restore may have assigned: counters are raised above these too. */
  above: Counters
  /** Referenced blobs that are missing. */
  lost: readonly LostBlob[]
  /** Lost time in milliseconds since 1970: from the instant of the copy to that of the restore. */
  gap: { from: number; to: number }
}

export type RenewedFile = { epoch: string; counters: Counters; schema: { from: number; to: number } }

/**
 * Upgrades a copy to the present schema, sets a new epoch and raises its counters. Then it records the lost blobs and
 * the gap. Everything is one transaction, which is flushed. With the new epoch no ETag of the original is valid
 * (decisions#caching). The upgrade comes first, because new tables have counters too.
 */
export async function renewFile(path: string, { above, lost, gap }: Renewal): Promise<RenewedFile> {
  const sqlite = open(path, { fileMustExist: true })
  let renewed: RenewedFile
  try {
    sqlite.pragma('synchronous = full')
    sqlite.pragma('foreign_keys = on') // as for other migrations (database.ts)
    sqlite.pragma('trusted_schema = off')
    renewed = sqlite.transaction(() => {
      const from = Number(sqlite.pragma('user_version', { simple: true }))
      if (from < SCHEMA_VERSION) upgradeSchema(sqlite, from)
      const epoch = renewEpoch(sqlite)
      const counters = raiseCounters(sqlite, above)
      sqlite.exec('delete from lost_contents')
      deleteLinksAndSessions(sqlite)
      pauseMailboxes(sqlite, new Date(gap.to).toISOString())
      sqlite.exec('delete from hook_messages; delete from hook_days') // outdated; hook.key is not restored either
      const insert = sqlite.prepare('insert into lost_contents (sha256, fault, since) values (?, ?, ?)')
      for (const { sha256, fault, since } of lost) insert.run(sha256, fault, since)
      // There is no gap if the clock was set back since.
      if (gap.from < gap.to) {
        sqlite.prepare('insert into record_gaps (gap_from, gap_to) values (?, ?)').run(gap.from, gap.to)
      }
      sqlite.exec('update record_end set revision = 0') // the change log now ends with the gap
      return { epoch, counters, schema: { from, to: SCHEMA_VERSION } }
    })()
  } finally {
    sqlite.close()
  }
  await flush(path)
  return renewed
}

/** Sets a new random epoch, and returns it. */
export function renewEpoch(sqlite: Sqlite.Database): string {
  return String(
    sqlite.prepare('update meta set epoch = lower(hex(randomblob(8))) returning epoch').pluck().get(),
  )
}

/** Signs every browser out, and ends all links: the rows may include those that were used or closed later. */
export function deleteLinksAndSessions(sqlite: Sqlite.Database): void {
  const tables = sqlite
    .prepare(
      `select name from sqlite_schema
       where type = 'table' and name in ('login_links', 'page_sessions', 'page_tickets', 'upload_links')`,
    )
    .pluck()
    .all()
  for (const table of tables) sqlite.exec(`delete from ${table}`)
}

/**
 * Pauses every mailbox: the original server may take mails of the same folder. `at`: instant of the pause. Databases
 * of earlier schemas have no mailboxes.
 */
export function pauseMailboxes(sqlite: Sqlite.Database, at: string): void {
  if (!hasMailboxes(sqlite)) return
  sqlite
    .prepare(
      `update mailboxes set paused_at = ?, pause_reason = 'restore' where paused_at is null and deleted_at is null`,
    )
    .run(at)
}

/** Ends the pauses of `pauseMailboxes` that began at an instant. */
export function endPauses(sqlite: Sqlite.Database, at: string): void {
  if (!hasMailboxes(sqlite)) return
  sqlite
    .prepare(
      `update mailboxes set paused_at = null, pause_reason = null where paused_at = ? and pause_reason = 'restore'`,
    )
    .run(at)
}

function hasMailboxes(sqlite: Sqlite.Database): boolean {
  const table = sqlite.prepare(`select 1 from sqlite_schema where type = 'table' and name = 'mailboxes'`)
  return table.get() !== undefined
}

/** Returns the epoch of a database without a writer; undefined: it is missing or unfinished. */
export function readEpoch(path: string): string | undefined {
  let sqlite: Sqlite.Database | undefined
  try {
    sqlite = open(path, { fileMustExist: true, readonly: true })
    return String(sqlite.prepare('select epoch from meta').pluck().get())
  } catch {
    return undefined
  } finally {
    sqlite?.close()
  }
}

function open(path: string, options: Sqlite.Options): Sqlite.Database {
  return new Sqlite(path, { ...options, nativeBinding: nativeBinding(dirname(path)) })
}
