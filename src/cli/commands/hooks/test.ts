// Sends a test message to a hook from this process and prints the outcome, so that no log is needed.

import { makeCode } from '../../../domain/access/secrets.ts'
import { confirmHook } from '../../../domain/hooks/hook-changes.ts'
import { postMessage } from '../../../domain/hooks/post.ts'
import { messageBody } from '../../../domain/hooks/queued-events.ts'
import { unsealHook } from '../../../domain/hooks/seal.ts'
import { AppError, unreachableText } from '../../../runtime/errors.ts'
import { findHookKey } from '../../../store/hooks/key.ts'
import { command, printResult } from '../../command.ts'
import { STORAGE_WITH_HOOK_KEY } from '../../options/storage.ts'
import { trustExtraCertificates, trustHint } from '../../parse/settings.ts'
import { parseId } from '../positionals.ts'
import { needHook } from './hook.ts'

export const hookTest = command({
  name: 'hook test',
  positionals: ['ID'],
  options: [...STORAGE_WITH_HOOK_KEY, 'json'],
  changesData: true,
  run({ options, positionals, terminal, settings, storage, withDatabase }) {
    const id = parseId(positionals[0])
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const hook = await needHook(db, id)
      const now = clock()
      const unsealed = unsealHook(hook, findHookKey(storage()), now)
      if (!unsealed) {
        const advice = { about: 'hook-secret', id } as const
        throw new AppError('failed', `the secret of hook ${id} cannot be read`, { advice })
      }
      trustExtraCertificates(settings, terminal.err)
      const body = messageBody('test', now.toISOString(), { hook_id: id })
      const message = { hook, ...unsealed, id: `msg_${makeCode()}`, body, now }
      const outcome = await postMessage(message, terminal.stop)
      const { failure, status, ms } = outcome
      if (failure === undefined) await confirmHook(db, id, clock().toISOString())
      const line =
        failure === undefined
          ? `hook ${id}: HTTP ${status} after ${ms} ms${hook.off_at === null ? '' : '; it is on again'}`
          : `hook ${id}: ${unreachableText(failure, address(hook.url)) ?? failure}, after ${ms} ms${trustHint(failure)}`
      printResult(terminal, options, { id, arrived: failure === undefined, ...outcome }, [line])
      return failure === undefined ? 0 : 1
    })
  },
})

/** Returns host and port of a URL. */
function address(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}
