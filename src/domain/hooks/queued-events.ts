// Queues messages for hooks. A message is written in the transaction that it reports, so hooks see only commits and
// miss none. Messages have ids and days, no blobs (decisions#messages).

import { setImmediate } from 'node:timers/promises'
import { splitBatches } from '../../store/batches.ts'
import { type IdRun, rangeIds } from '../../store/documents/idempotency.ts'
import { endOldestMessages } from '../../store/hooks/deliveries.ts'
import { addGivenUp, type HookRow, selectActiveHooks } from '../../store/hooks/hooks.ts'
import { insertBatches } from '../../store/rows.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import { makeCode } from '../access/secrets.ts'

export const HOOK_EVENTS = [
  ...(['document.created', 'document.finished', 'document.failed'] as const),
  ...(['rates.published', 'rates.corrected', 'sync.failed', 'mail.failed'] as const),
] as const
export type HookEvent = (typeof HOOK_EVENTS)[number]

type Data = Record<string, unknown>

export const MAX_IDS = 500 // a message of 4 to 8 KB
const MAX_QUEUED = 10_000 // per hook; beyond it the oldest messages are dropped

/** Body of a message, signed and sent byte for byte. */
export function messageBody(type: string, timestamp: string, data: Data): string {
  return JSON.stringify({ type, timestamp, data })
}

/** Returns true if a hook subscribes to the event. */
export async function hasHook(db: ReadDb, event: HookEvent): Promise<boolean> {
  return (await subscribedHooks(db, event)).length > 0
}

/** Queues the documents of an upload for the hooks of its company and agent, inside the transaction of its rows. */
export async function queueDocuments(
  trx: WriteDb,
  upload: { companyId: number; agentId: number; runs: readonly IdRun[]; at: string },
): Promise<void> {
  const { companyId, agentId, runs, at } = upload
  const hooks = (await subscribedHooks(trx, 'document.created')).filter(matchesParty(companyId, agentId))
  if (hooks.length === 0) return
  for (const ids of splitBatches(rangeIds(runs), MAX_IDS)) {
    await queue(trx, hooks, 'document.created', at, {
      company_id: companyId,
      agent_id: agentId,
      document_ids: ids,
    })
    await setImmediate() // yields to other requests: an upload may have hundreds of thousands of documents
  }
}

/** A document whose work ended. */
type EndedDocument = { id: number; company_id: number; agent_id: number }

/**
 * Queues the outcomes of documents for the hooks of their companies and agents, inside the transaction of the outcomes.
 * @param hasResult a worker returned a result with this one outcome
 */
export async function queueOutcomes(
  trx: WriteDb,
  event: 'document.finished' | 'document.failed',
  at: string,
  documents: readonly EndedDocument[],
  { hasResult = false } = {},
): Promise<void> {
  if (documents.length === 0) return
  const hooks = await subscribedHooks(trx, event)
  if (hooks.length === 0) return
  const byAgent = Map.groupBy(documents, ({ company_id, agent_id }) => `${company_id} ${agent_id}`)
  for (const group of byAgent.values()) {
    const [{ company_id, agent_id } = { company_id: 0, agent_id: 0 }] = group
    const own = hooks.filter(matchesParty(company_id, agent_id))
    if (own.length === 0) continue
    for (const some of splitBatches(group, MAX_IDS)) {
      const document_ids = some.map(({ id }) => id)
      const data = { company_id, agent_id, document_ids, ...(hasResult && { has_result: true }) }
      await queue(trx, own, event, at, data)
    }
  }
}

/** Returns a test for hooks of a company and an agent. */
function matchesParty(companyId: number, agentId: number): (hook: HookRow) => boolean {
  return ({ company_id, agent_id }) =>
    (company_id === null || company_id === companyId) && (agent_id === null || agent_id === agentId)
}

/** Queues a message for each hook that subscribes to the event, inside the caller's transaction. */
export async function queueEvent(trx: WriteDb, event: HookEvent, at: string, data: Data): Promise<void> {
  await queue(trx, await subscribedHooks(trx, event), event, at, data)
}

async function subscribedHooks(db: ReadDb, event: HookEvent): Promise<HookRow[]> {
  return (await selectActiveHooks(db)).filter(({ events }) => events.includes(event))
}

async function queue(
  trx: WriteDb,
  hooks: readonly HookRow[],
  type: HookEvent,
  at: string,
  data: Data,
): Promise<void> {
  const message = {
    message_id: `msg_${makeCode()}`,
    type,
    body: messageBody(type, at, data),
    created_at: at,
    due_at: at,
  }
  await insertBatches(
    trx,
    'hook_messages',
    hooks.map(({ id }) => ({ hook_id: id, ...message })),
  )
  for (const { id } of hooks) {
    const end = { at, status: null, failure: `more than ${MAX_QUEUED} messages waited`, tries: 0 } as const
    const dropped = await endOldestMessages(trx, id, MAX_QUEUED, end)
    if (dropped > 0) await addGivenUp(trx, id, dropped)
  }
}
