// Messages of a real server to a hook, one of each type. Their bodies are the examples of the webhooks.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, type TestContext } from 'node:test'
import { HOOK_EVENTS } from '../../../src/domain/hooks/queued-events.ts'
import type { TestApp } from '../../support/app.ts'
import { runJson } from '../../support/company.ts'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../../support/directory.ts'
import { type ReceivedMessage, startReceiver } from '../../support/hooks/receiver.ts'
import { insertTestMailbox } from '../../support/mail/mailboxes.ts'
import { openTestDatabase } from '../../support/temporary.ts'
import { runCommand, until } from '../../support/terminal.ts'
import { openApp } from '../support.ts'

export const MESSAGES_FILE = join(import.meta.dirname, '../../../src/http/openapi/messages.json')

const RANGE = { from: '2026-03-23', to: '2026-03-24' }

export type CollectedMessages = {
  secret: string
  /** By type. */
  messages: Map<string, ReceivedMessage>
}

/** Collects a message of each type. The clock of the server has the time of its examples. */
export async function collectMessages(): Promise<CollectedMessages> {
  let correction: string | undefined
  const isCorrected = (code: string, day: string) => code === '318' && day === RANGE.from
  const app = await openApp({
    bank: { value: (code, day) => (isCorrected(code, day) ? correction : undefined) },
  })
  await fillDirectory(app)
  const receiver = await startReceiver({ after: (done) => after(done as () => void) } as TestContext)
  const words = ['hook', 'create', '--url', receiver.url, '--event', HOOK_EVENTS.join(',')]
  const { id, secret } = await runJson<{ id: number; secret: string }>(app.dataDir, ...words)
  const findMessage = (type: string) => receiver.received.find(({ body }) => body.type === type)

  await post(app, CREATE, batch(pdf('one'), pdf('two')))
  await finishDocument(app, { outcome: 'done', result: { total: '11300.10' } })
  await finishDocument(app, { outcome: 'failed', note: 'illegible' })
  await app.sync(RANGE)
  correction = '500.01'
  await app.sync(RANGE)
  app.bank.faults = () => ({ status: 400, body: '' })
  await app.sync(RANGE)
  const db = openTestDatabase(app.dataDir)
  const party = { company_id: 1, agent_id: 1, owner_id: 1 }
  await insertTestMailbox(db, { ...party, host: '127.0.0.1', port: 1, password_file: MESSAGES_FILE })
  await db.destroy()
  assert.equal((await runCommand(['hook', 'test', String(id), '--data-dir', app.dataDir])).code, 0)

  const types = [...HOOK_EVENTS, 'test']
  await until(() => types.every(findMessage))
  const messages = types.map((type) => [type, findMessage(type)] as [string, ReceivedMessage])
  return { secret, messages: new Map(messages) }
}

async function finishDocument(app: TestApp, outcome: object): Promise<void> {
  const headers = { authorization: `Bearer ${TOKENS.work}` }
  const reply = await post(app, '/api/v1/documents/claim', { agent_id: 1, limit: 1 }, headers)
  assert.equal(reply.status, 200)
  const { documents } = (await reply.json()) as { documents: { id: number; claim_id: string }[] }
  const [{ id, claim_id } = { id: 0, claim_id: '' }] = documents
  const path = `/api/v1/documents/${id}/finish`
  assert.equal((await post(app, path, { claim_id, ...outcome }, headers)).status, 200)
}

/** Bodies as the description has them. A test message has the clock of its command; the example has that of the server. */
export function shownMessages({ messages }: CollectedMessages): Record<string, ReceivedMessage['body']> {
  const serverTime = messages.get('document.created')?.body.timestamp ?? ''
  return Object.fromEntries(
    [...messages].map(([type, { body }]) => [
      type,
      type === 'test' ? { ...body, timestamp: serverTime } : body,
    ]),
  )
}
