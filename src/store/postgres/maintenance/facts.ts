// Settings of the database and the present tasks of the nodes, for the doctor.

import type { ReadDb } from '../../tables.ts'
import { rawQuery } from '../raw-query.ts'

export type DatabaseFacts = {
  /** Product and version: `PostgreSQL 18.4`. */
  version: string
  encoding: string
  /** Default collation of the database; columns of text have the collation C. */
  collation: string
  /** Default isolation level of transactions: `read committed`. */
  isolation: string
  /** `on` or stronger: an acknowledged commit is flushed on the server. */
  synchronousCommit: string
  fsync: string
  /** Replicas that a commit waits for; empty: none. */
  standbys: string
}

export type LeaseHolder = { task: string; holder: string; since: string }

export async function selectFacts(db: ReadDb): Promise<DatabaseFacts> {
  const setting = (name: string) => `coalesce(current_setting('${name}', true), 'unknown')`
  const { rows } = await rawQuery<DatabaseFacts>(
    db,
    `select split_part(version(), ' (', 1) as version, ${setting('server_encoding')} as encoding,
       (select datcollate from pg_database where datname = current_database()) as collation,
       ${setting('default_transaction_isolation')} as isolation, ${setting('synchronous_commit')} as "synchronousCommit",
       ${setting('fsync')} as fsync, coalesce(current_setting('synchronous_standby_names', true), '') as standbys`,
  )
  const [facts] = rows
  if (!facts) throw new Error('the database returned no settings')
  return { ...facts, version: facts.version.replace(/ on .*/, '') }
}

/** Selects the holders of unexpired leases, by task. */
export async function selectHolders(db: ReadDb): Promise<LeaseHolder[]> {
  const { rows } = await rawQuery<LeaseHolder>(
    db,
    `select name as task, split_part(holder, ', ', 1) || ', ' || split_part(holder, ', ', 2) as holder,
       to_char(taken_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
     from leases where expires_at > clock_timestamp() order by name`,
  )
  return rows
}
