// What hooks are told of: each message is written into the queue by the transaction that it tells of, so that nothing is
// sent of what was rolled back, and nothing is forgotten of what was committed. A message has ids and days, no contents (decisions 5.1).

import { setImmediate } from 'node:timers/promises'
import { addGivenUp, type HookRow, selectHooks } from '../../store/hooks/hooks.ts'
import { deleteMessagesBeyond, insertMessages } from '../../store/hooks/messages.ts'
import type { Db } from '../../store/tables.ts'
import { makeCode } from '../secrets.ts'

export const HOOK_EVENTS = ['document.created', 'rates.published', 'sync.failed'] as const
export type HookEvent = (typeof HOOK_EVENTS)[number]

/** Documents whose ids rise by one. */
type IdRun = { id: number; count: number }

type Data = Record<string, unknown>

const IDS_AT_MOST = 500 // a message of 4 to 8 KB
const QUEUE_AT_MOST = 10_000 // of a hook: then its oldest are given up

/** The body of a message, which is signed and sent as it is. */
export function bodyOf(type: string, timestamp: string, data: Data): string {
  return JSON.stringify({ type, timestamp, data })
}

/** Whether any hook is told of this. */
export async function isHooked(db: Db, event: HookEvent): Promise<boolean> {
  return (await hooksOf(db, event)).length > 0
}

/** Puts the documents of an upload into the queues of the hooks for them, inside the transaction of its rows. */
export async function queueDocuments(
  trx: Db,
  upload: { companyId: number; agentId: number; runs: readonly IdRun[]; at: string },
): Promise<void> {
  const { companyId, agentId, runs, at } = upload
  const hooks = (await hooksOf(trx, 'document.created')).filter(
    ({ company_id, agent_id }) =>
      (company_id === null || company_id === companyId) && (agent_id === null || agent_id === agentId),
  )
  if (hooks.length === 0) return
  for (const ids of idsOf(runs)) {
    await queue(trx, hooks, 'document.created', at, {
      company_id: companyId,
      agent_id: agentId,
      document_ids: ids,
    })
    await setImmediate() // others have their turn: an upload may have hundreds of thousands
  }
}

/** Puts a message into the queue of each hook that is told of this, inside the caller's transaction. */
export async function queueEvent(trx: Db, event: HookEvent, at: string, data: Data): Promise<void> {
  await queue(trx, await hooksOf(trx, event), event, at, data)
}

async function hooksOf(db: Db, event: HookEvent): Promise<HookRow[]> {
  return (await selectHooks(db)).filter(({ off_at, events }) => off_at === null && events.includes(event))
}

async function queue(
  trx: Db,
  hooks: readonly HookRow[],
  type: HookEvent,
  at: string,
  data: Data,
): Promise<void> {
  const message = {
    message_id: `msg_${makeCode()}`,
    type,
    body: bodyOf(type, at, data),
    created_at: at,
    due_at: at,
  }
  await insertMessages(
    trx,
    hooks.map(({ id }) => ({ hook_id: id, ...message })),
  )
  for (const { id } of hooks) {
    const dropped = await deleteMessagesBeyond(trx, id, QUEUE_AT_MOST)
    if (dropped > 0) await addGivenUp(trx, id, dropped)
  }
}

function* idsOf(runs: readonly IdRun[]): Generator<number[]> {
  let ids: number[] = []
  for (const { id, count } of runs) {
    for (let at = 0; at < count; at++) {
      ids.push(id + at)
      if (ids.length < IDS_AT_MOST) continue
      yield ids
      ids = []
    }
  }
  if (ids.length > 0) yield ids
}
