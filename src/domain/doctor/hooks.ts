// Hooks that are told nothing, or that do not hear it.

import { reasonOf } from '../../errors.ts'
import type { Examined } from '../../store/engine.ts'
import { selectHooks } from '../../store/hooks/hooks.ts'
import { readHookKey } from '../../store/hooks/key.ts'
import { SCHEMA_VERSION } from '../../store/sqlite/migrations.ts'
import { secretsOf } from '../hooks/seal.ts'
import type { DoctorRequest, Report } from './examination.ts'

/** Without a data directory the key is elsewhere, and what is sealed with it is not looked at. */
export async function examineHooks(
  { db, schema }: Pick<Examined, 'db' | 'schema'>,
  { dataDir, clock }: Pick<DoctorRequest, 'clock'> & { dataDir?: string },
  report: Report,
): Promise<void> {
  if (schema < SCHEMA_VERSION) return
  const hooks = await selectHooks(db)
  if (hooks.length === 0) return
  const key = dataDir === undefined ? undefined : keyOrFinding(dataDir, report)
  for (const hook of hooks) {
    const { id, failure, failing_since, off_at, given_up } = hook
    const finding = (message: string, about: 'hook-secret' | 'hook-test') =>
      report.finding('hooks', message, { about, id })
    if (dataDir !== undefined && !secretsOf(hook, key, clock())) {
      finding(
        `the secret of hook ${id} cannot be read, as after a restore, so it is told nothing`,
        'hook-secret',
      )
    } else if (off_at !== null) finding(`hook ${id} is off since ${off_at} (${failure})`, 'hook-test')
    else if (failing_since !== null)
      finding(`hook ${id} fails since ${failing_since} (${failure})`, 'hook-test')
    else if (given_up > 0) report.note(`${given_up} messages of hook ${id} never arrived`)
  }
}

function keyOrFinding(dataDir: string, report: Report): Buffer | undefined {
  try {
    return readHookKey(dataDir)
  } catch (error) {
    report.finding('hooks', reasonOf(error))
    return undefined
  }
}
