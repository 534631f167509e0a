// Connections of cambista to a database, for a command that must be alone with it. Leases do not show them: a restored
// database has the leases of its backup. A node without a task has no lease.

import { AppError, errorReason } from '../../../runtime/errors.ts'
import type { ReadDb } from '../../tables.ts'
import { parseAddress } from '../address.ts'
import { createPostgresDb } from '../open-postgres.ts'
import { rawQuery } from '../raw-query.ts'

export type HostConnections = {
  /** Null: unknown, because another role opened the connections. */
  host: string | null
  since: string | null
  /** Ids of the server's processes, for pg_terminate_backend. */
  pids: number[]
}

const POOL = { size: 1, answerMs: 6000 }
const NAME = 'cambista'
const MAX_PIDS = 20

/**
 * Call before this process opens the database: its own connections would count.
 * @throws AppError `failed` while cambista has other connections to the database
 */
export async function refuseOpenConnections(url: string): Promise<void> {
  const address = parseAddress(url)
  const db = createPostgresDb(address, POOL)
  try {
    const hosts = await selectOpenConnections(db, [NAME, address.config.application_name ?? NAME])
    if (hosts.length === 0) return
    const pids = hosts.flatMap((one) => one.pids).slice(0, MAX_PIDS)
    throw new AppError(
      'failed',
      `cambista uses this database (${hosts.map(hostInWords).join('; ')}): stop all nodes and commands, and try again; for sessions of a machine that is gone, or that a pooler leaves open: select pg_terminate_backend(pid) from unnest(array[${pids}]) pid`,
    )
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = errorReason(error)
    throw new AppError('failed', `cannot open the database ${address.name}: ${reason}`, { cause: error })
  } finally {
    await db.destroy()
  }
}

/** Selects the other connections to the database with these application names, by host. */
async function selectOpenConnections(db: ReadDb, names: readonly string[]): Promise<HostConnections[]> {
  const { rows } = await rawQuery<HostConnections>(
    db,
    `select case when client_port = -1 then 'the machine of the database' else host(client_addr) end as host,
       to_char(min(backend_start) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since,
       array_agg(pid order by pid) as pids
     from pg_stat_activity
     where datname = current_database() and application_name = any($1) and pid <> pg_backend_pid()
     group by 1 order by 2`,
    [names],
  )
  return rows
}

function hostInWords({ host, since, pids }: HostConnections): string {
  const count = `${pids.length} ${pids.length === 1 ? 'session' : 'sessions'}`
  return host === null ? `${count} of another role` : `${count} from ${host} since ${since}`
}
