// Which engine keeps the data: the file of a data directory, or a PostgreSQL that is named. The second is loaded only then.

import type { Clock } from '../dates.ts'
import type { Engine } from './engine.ts'
import type { Place } from './place.ts'
import type { LeaseTimes } from './postgres/lease.ts'
import { type EngineOptions, openSqliteEngine } from './sqlite/engine.ts'

type OfNodes = { wentBack?: () => void; leaseTimes?: LeaseTimes | undefined; migrate?: boolean | undefined }

/** @throws AppError like `openSqliteEngine` and `openPostgres` */
export async function openEngine(
  { dataDir, database }: Pick<Place, 'dataDir' | 'database'>,
  options: EngineOptions & OfNodes = {},
): Promise<Engine> {
  if (database === undefined) return openSqliteEngine(dataDir, options)
  const { openPostgres } = await import('./postgres/open.ts')
  const { wentBack, leaseTimes, migrate = true } = options
  const engine = await openPostgres(database, {
    migrate,
    ...(wentBack && { wentBack }),
    ...(leaseTimes && { leaseTimes }),
  })
  return { ...engine, clock: options.clock ?? engine.clock } satisfies { clock: Clock }
}
