// Lists the messages of hooks that ended, and sends them again.

import { AppError } from '../../../runtime/errors.ts'
import { atomically } from '../../../store/engine.ts'
import {
  type DeliveryRow,
  hasDelivery,
  requeueDeliveries,
  selectDeliveries,
} from '../../../store/hooks/deliveries.ts'
import { selectHooks } from '../../../store/hooks/hooks.ts'
import { command, printResult } from '../../command.ts'
import { time } from '../../options/formats.ts'
import { option } from '../../options/names.ts'
import { STORAGE } from '../../options/storage.ts'
import { parseId } from '../positionals.ts'
import { listCommand } from '../rows.ts'
import { needHook } from './hook.ts'

export const hookDeliveries = listCommand({
  name: 'hook deliveries',
  options: ['hook', 'failed', 'limit', 'before'],
  async select(db, _engine, { hook, failed: failedOnly, limit, before }) {
    if (hook !== undefined) await needHook(db, hook)
    return selectDeliveries(db, { hookId: hook, failedOnly }, { before, limit })
  },
  columns: {
    ...{ ID: 'id', HOOK: 'hook_id', TYPE: 'type', MESSAGE: 'message_id', TRIES: 'tries' },
    ...{ ENDED: 'ended_at', RESULT: deliveryResult },
  },
})

export const hookRedeliver = command({
  name: 'hook redeliver',
  positionals: ['[ID]'],
  options: ['since', 'hook', 'failed', ...STORAGE, 'json'],
  overrides: { since: option('TIME', time) },
  changesData: true,
  run({ options, positionals: [word], terminal, withDatabase }) {
    const { since, hook, failed: failedOnly } = options
    if ((word === undefined) === (since === undefined)) {
      throw new AppError('usage', 'give either the ID of a delivery or --since with a time such as 24h')
    }
    if (word !== undefined && (hook !== undefined || failedOnly)) {
      throw new AppError('usage', '--hook and --failed are for --since')
    }
    const id = word === undefined ? undefined : parseId(word)
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      if (hook !== undefined) await needHook(db, hook)
      const now = clock()
      const from = since === undefined ? undefined : new Date(now.getTime() - since).toISOString()
      const { hookIds, offIds } = await atomically(db, async (trx) => {
        const filter = { hookId: hook, failedOnly, id, since: from }
        const hookIds = await requeueDeliveries(trx, filter, now.toISOString())
        if (id !== undefined && hookIds.length === 0 && !(await hasDelivery(trx, id)))
          throw new AppError('not-found', `there is no delivery ${id}: see cambista hook deliveries`)
        const offIds = (await selectHooks(trx)).filter(({ off_at }) => off_at !== null).map(({ id }) => id)
        return { hookIds, offIds }
      })
      printResult(terminal, options, { queued: hookIds.length }, queuedLines(hookIds, offIds))
    })
  },
})

/** Describes queued messages. `hookIds`: the hook of each. */
function queuedLines(hookIds: readonly number[], offIds: readonly number[]): string[] {
  if (hookIds.length === 0) return ['no message is sent again: there is none, or it waits already']
  const sendCount = hookIds.filter((id) => !offIds.includes(id)).length
  const sendLine = sendCount === 1 ? '1 message is sent again' : `${sendCount} messages are sent again`
  const lines = sendCount === 0 ? [] : [sendLine]
  for (const id of offIds) {
    const waitCount = hookIds.filter((hookId) => hookId === id).length
    if (waitCount === 0) continue
    const subject = waitCount === 1 ? '1 message waits' : `${waitCount} messages wait`
    lines.push(`${subject} until cambista hook test ${id} turns hook ${id} on`)
  }
  return lines
}

function deliveryResult({ status, failure }: DeliveryRow): string {
  return failure === null ? `delivered, HTTP ${status}` : `given up: ${failure}`
}
