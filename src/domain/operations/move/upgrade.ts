// Upgrades a database as a task of its own, and lists the steps beforehand.

import { type Migration, SHARED_MIGRATIONS, schemaVersion } from '../../../store/migrations.ts'
import { parseAddress } from '../../../store/postgres/address.ts'
import { pendingSteps, selectVersions } from '../../../store/postgres/make-schema.ts'
import { createPostgresDb, openPostgres } from '../../../store/postgres/open-postgres.ts'

const POOL = { size: 1, answerMs: 6000 }

export type UpgradePlan = {
  /** Where the database is, without user and password. */
  location: string
  /** Undefined: it has no tables yet. */
  from: number | undefined
  to: number
  /** In their order, each ended by a semicolon; none: there is nothing to do. */
  statements: string[]
}

/** Changes nothing. @throws AppError like `openPostgres` */
export async function planUpgrade(
  url: string,
  migrations: readonly Migration[] = SHARED_MIGRATIONS,
): Promise<UpgradePlan> {
  const address = parseAddress(url)
  const db = createPostgresDb(address, POOL)
  try {
    const versions = await selectVersions(db, migrations)
    const steps = await pendingSteps(db, migrations)
    const statements = steps.map(({ statement }) => `${statement};`)
    const to =
      steps.length === 0 ? (versions?.schema ?? schemaVersion(migrations)) : schemaVersion(migrations)
    return { location: address.name, from: versions?.schema, to, statements }
  } finally {
    await db.destroy()
  }
}

/** @throws AppError like `openPostgres` */
export async function upgrade(url: string): Promise<UpgradePlan> {
  const planned = await planUpgrade(url)
  const engine = await openPostgres(url)
  await engine.close()
  return planned
}
