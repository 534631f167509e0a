// The upgrade of a database as a task of its own: what would be said, and saying it.

import { type Migration, SHARED_MIGRATIONS, schemaOf } from '../../migrations.ts'
import { addressOf } from '../address.ts'
import { pendingSteps, versionsOf } from '../make-schema.ts'
import { openPostgres, queriesTo } from '../open.ts'

const POOL = { size: 1, answerMs: 6000 }

export type Upgrade = {
  /** Where the database is, without user and password. */
  place: string
  /** Undefined: it has no tables yet. */
  from: number | undefined
  to: number
  /** In their order, each ended by a semicolon; none: there is nothing to do. */
  statements: string[]
}

/** Changes nothing. @throws AppError like `openPostgres` */
export async function plannedUpgrade(
  url: string,
  migrations: readonly Migration[] = SHARED_MIGRATIONS,
): Promise<Upgrade> {
  const address = addressOf(url)
  const db = queriesTo(address, POOL)
  try {
    const versions = await versionsOf(db, migrations)
    const steps = await pendingSteps(db, migrations)
    const statements = steps.map(({ statement }) => `${statement};`)
    const to = steps.length === 0 ? (versions?.schema ?? schemaOf(migrations)) : schemaOf(migrations)
    return { place: address.name, from: versions?.schema, to, statements }
  } finally {
    await db.destroy()
  }
}

/** @throws AppError like `openPostgres` */
export async function upgrade(url: string): Promise<Upgrade> {
  const planned = await plannedUpgrade(url)
  const engine = await openPostgres(url)
  await engine.close()
  return planned
}
