// What makes a copy of a database the beginning of another life: it may go on from an instant that the original has
// left behind, and nothing that it says from there may be taken for what the original said.

import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { flush } from '../../file-hash.ts'
import type { LostContent } from '../lost-contents.ts'
import { type Counters, raiseCounters } from './id-counters.ts'
import { SCHEMA_VERSION } from './migrations.ts'
import { nativeBinding } from './native.ts'
import { upgradeSchema } from './upgrade.ts'

export type Renewal = {
  /** Ids that another restore may have given out: counters move above these too. */
  above: Counters
  /** The contents that it names and that are not there. */
  lost: readonly LostContent[]
  /** From when on the original may have gone on otherwise, and when the copy begins to: milliseconds since 1970. */
  gap: { from: number; to: number }
}

export type Renewed = { epoch: string; counters: Counters; schema: { from: number; to: number } }

/**
 * Brings a copy to today's schema (the tables that this makes have counters too), gives it another epoch, so that no
 * ETag of the original is taken for one of its own (decisions 2.14), moves its counters up, and writes down what is
 * lost, and from when to when nothing is known: all of it or nothing. The copy is flushed.
 */
export async function renewDatabase(path: string, { above, lost, gap }: Renewal): Promise<Renewed> {
  const sqlite = open(path, { fileMustExist: true })
  let renewed: Renewed
  try {
    sqlite.pragma('synchronous = full')
    sqlite.pragma('foreign_keys = on') // as where migrations run otherwise (database.ts)
    sqlite.pragma('trusted_schema = off')
    renewed = sqlite.transaction(() => {
      const from = Number(sqlite.pragma('user_version', { simple: true }))
      if (from < SCHEMA_VERSION) upgradeSchema(sqlite, from)
      const epoch = renewEpoch(sqlite)
      const counters = raiseCounters(sqlite, above)
      sqlite.exec('delete from lost_contents')
      sqlite.exec('delete from login_links') // one that was used since may be among them
      sqlite.exec('delete from hook_messages; delete from hook_days') // of the past; hook.key is gone, too
      const insert = sqlite.prepare('insert into lost_contents (sha256, fault, since) values (?, ?, ?)')
      for (const { sha256, fault, since } of lost) insert.run(sha256, fault, since)
      // Where the clock was set back since, no instant is between.
      if (gap.from < gap.to) {
        sqlite.prepare('insert into record_gaps (gap_from, gap_to) values (?, ?)').run(gap.from, gap.to)
      }
      return { epoch, counters, schema: { from, to: SCHEMA_VERSION } }
    })()
  } finally {
    sqlite.close()
  }
  await flush(path)
  return renewed
}

/** Gives a database another random epoch, and returns it. */
export function renewEpoch(sqlite: Sqlite.Database): string {
  return String(
    sqlite.prepare('update meta set epoch = lower(hex(randomblob(8))) returning epoch').pluck().get(),
  )
}

/** The epoch of a database without a writer; undefined: it is not there, or not finished. */
export function epochOf(path: string): string | undefined {
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
