// Telling a hook something now, from this process: whether it arrives, without a look into a log.

import { bodyOf } from '../../../domain/hooks/events.ts'
import { confirmHook } from '../../../domain/hooks/hooks.ts'
import { secretsOf } from '../../../domain/hooks/seal.ts'
import { makeCode } from '../../../domain/secrets.ts'
import { AppError } from '../../../errors.ts'
import { post } from '../../../hooks/post.ts'
import { hookKeyOf } from '../../../store/hooks/key.ts'
import { command, printResult } from '../../command.ts'
import { HOOKS_PLACE } from '../../place/options.ts'
import { parseId } from '../positionals.ts'
import { needHook } from './hook.ts'

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_/

export const hookTest = command({
  name: 'hook test',
  positionals: ['ID'],
  summary: 'send a hook a message of type test now: exit 0 if it arrives, else 1 and why not',
  about: `The message is sent by this command, not by the server. When it arrives, a hook that was off is on again, and the
server sends what waits for it at once.`,
  options: [...HOOKS_PLACE, 'json'],
  changesData: true,
  example: 'cambista hook test 3',
  run({ options, positionals, terminal, place, withDatabase }) {
    const id = parseId(positionals[0])
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const hook = await needHook(db, id)
      const now = clock()
      const secrets = secretsOf(hook, hookKeyOf(place()), now)
      if (!secrets) {
        const advice = { about: 'hook-secret', id } as const
        throw new AppError('failed', `the secret of hook ${id} cannot be read`, { advice })
      }
      const body = bodyOf('test', now.toISOString(), { hook_id: id })
      const message = { url: hook.url, secrets, id: `msg_${makeCode()}`, body, now }
      const outcome = await post(message, terminal.stop)
      const { failure, status, ms } = outcome
      if (failure === undefined) await confirmHook(db, id, clock().toISOString())
      const hint = UNTRUSTED.test(failure ?? '')
        ? ': NODE_EXTRA_CA_CERTS=FILE adds an authority to trust'
        : ''
      const line =
        failure === undefined
          ? `hook ${id}: HTTP ${status} after ${ms} ms${hook.off_at === null ? '' : '; it is on again'}`
          : `hook ${id}: ${failure}, after ${ms} ms${hint}`
      printResult(terminal, options, { id, arrived: failure === undefined, ...outcome }, [line])
      return failure === undefined ? 0 : 1
    })
  },
})
