// Reports hooks that are off, fail, or have an unreadable secret.

import { errorReason } from '../../../runtime/errors.ts'
import { selectHooks } from '../../../store/hooks/hooks.ts'
import { readHookKey } from '../../../store/hooks/key.ts'
import { unsealHook } from '../../hooks/seal.ts'
import type { CheckContext, Report } from './examination.ts'

/** Without a data directory the key is that of the nodes. Without a key the secrets are not checked. */
export async function examineHooks({ db, clock, dataDir, hookKey, report }: CheckContext): Promise<void> {
  const hooks = await selectHooks(db)
  if (hooks.length === 0) return
  const key = dataDir === undefined ? hookKey : keyOrFinding(dataDir, report)
  const isKeyElsewhere = dataDir === undefined && key === undefined
  if (isKeyElsewhere) {
    report.note('the secrets of hooks are not looked at, because --hook-key-file does not say their key')
  }
  const unreadable =
    dataDir === undefined
      ? 'cannot be read with this key, so a node that has it tells it nothing; the right key is that of the other nodes'
      : 'cannot be read, as after a restore, so it is told nothing'
  for (const hook of hooks) {
    const { id, failure, failing_since, off_at, given_up } = hook
    const finding = (message: string, about: 'hook-secret' | 'hook-test') =>
      report.finding('hooks', message, { about, id })
    if (!isKeyElsewhere && !unsealHook(hook, key, clock())) {
      finding(`the secret of hook ${id} ${unreadable}`, 'hook-secret')
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
    report.finding('hooks', errorReason(error))
    return undefined
  }
}
