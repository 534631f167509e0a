// What an administrator set up, and what the nodes do right now, as the database says it.

import type { Db } from '../../tables.ts'
import { ask } from '../ask.ts'

export type DatabaseFacts = {
  /** Such as `PostgreSQL 18.4`. */
  version: string
  encoding: string
  /** Of the whole database; the columns of texts have their own, which is C. */
  collation: string
  /** Of transactions that do not say: `read committed`. */
  isolation: string
  /** Whether a commit that is told as done is on the disk of the server: `on`, or more. */
  synchronousCommit: string
  fsync: string
  /** The replicas that a commit waits for; empty: none. */
  standbys: string
}

export type Holder = { task: string; holder: string; since: string }

export async function selectFacts(db: Db): Promise<DatabaseFacts> {
  const setting = (name: string) => `coalesce(current_setting('${name}', true), 'unknown')`
  const { rows } = await ask<DatabaseFacts>(
    db,
    `select split_part(version(), ' (', 1) as version, ${setting('server_encoding')} as encoding,
       (select datcollate from pg_database where datname = current_database()) as collation,
       ${setting('default_transaction_isolation')} as isolation, ${setting('synchronous_commit')} as "synchronousCommit",
       ${setting('fsync')} as fsync, coalesce(current_setting('synchronous_standby_names', true), '') as standbys`,
  )
  const [facts] = rows
  if (!facts) throw new Error('the database says nothing of itself')
  return { ...facts, version: facts.version.replace(/ on .*/, '') }
}

/** Who has which task at the moment, by task. */
export async function selectHolders(db: Db): Promise<Holder[]> {
  const { rows } = await ask<Holder>(
    db,
    `select name as task, split_part(holder, ', ', 1) || ', ' || split_part(holder, ', ', 2) as holder,
       to_char(taken_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
     from leases where expires_at > clock_timestamp() order by name`,
  )
  return rows
}
