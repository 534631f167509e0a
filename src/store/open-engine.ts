// Opens the engine of a configuration: the file of a data directory, or a PostgreSQL. The second is
// loaded only when it is used, for a faster start of the first.

import type { Clock } from '../values/dates.ts'
import type { Engine } from './engine.ts'
import type { LeaseTimes } from './postgres/lease.ts'
import type { LineageRenewal } from './postgres/maintenance/failover.ts'
import { type FileUpgrade, openStandaloneReads } from './sqlite/database.ts'
import { type EngineOptions, openSqliteEngine } from './sqlite/sqlite-engine.ts'
import type { StorageConfig } from './storage-config.ts'
import type { ReadDb } from './tables.ts'

export type { FileUpgrade as Upgrade, LeaseTimes, LineageRenewal }

type ClusterOptions = {
  onRenewal?: (renewal: LineageRenewal) => void
  anyServer?: boolean
  leaseTimes?: LeaseTimes | undefined
  migrate?: boolean | undefined
}

/** @throws AppError like `openSqliteEngine` and `openPostgres` */
export async function openEngine(
  { dataDir, database }: Pick<StorageConfig, 'dataDir' | 'database'>,
  options: EngineOptions & ClusterOptions = {},
): Promise<Engine> {
  if (database === undefined) return openSqliteEngine(dataDir, options)
  const { onRenewal, anyServer, leaseTimes, migrate = true } = options
  const { openPostgres } = await import('./postgres/open-postgres.ts')
  const engine = await openPostgres(database, {
    ...{ migrate, onRenewal, anyServer },
    ...(leaseTimes && { leaseTimes }),
  })
  return { ...engine, clock: options.clock ?? engine.clock } satisfies { clock: Clock }
}

/** An open database for commands that only read, with or without a running server. */
export type EngineReader = Pick<Engine, 'kind'> & { db: ReadDb; clock: Clock; close(): Promise<void> }

/** @throws AppError like `openEngine`; also for a data directory without a database */
export async function openReader(place: Pick<StorageConfig, 'dataDir' | 'database'>): Promise<EngineReader> {
  if (place.database === undefined) {
    const db = await openStandaloneReads(place.dataDir)
    return { kind: 'sqlite', db, clock: () => new Date(), close: () => db.destroy() }
  }
  const { kind, reads, clock, close } = await openEngine(place, { migrate: false })
  return { kind, db: reads, clock, close }
}
