// Sends the examples of the description; a test compares the answers with the shown ones. `node
// test/api/openapi/examples.ts` writes those again.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLAIM_ID } from '../../../src/http/openapi/examples.ts'
import { replaceResult } from '../../../src/store/documents/results.ts'
import { insertRevisions } from '../../../src/store/rates/record.ts'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../../support/directory.ts'
import { openShapes, type TestApp } from '../compat/support.ts'
import { asOtherProcess, send } from '../support.ts'
import type { Document, Operation } from './description.ts'
import { collectMessages, MESSAGES_FILE, shownMessages } from './messages.ts'

export type Sent = {
  id: string
  path: string
  operation: Operation
  status: number
  type: string
  text: string
}

const FILE = join(import.meta.dirname, '../../../src/http/openapi/answers.json')
const MOST_ITEMS = 2
const UUID = /\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/g // the id of a claim, a random value

/** Operations whose example has another status than 200, by contract. */
export const UNSENT: Readonly<Record<string, string>> = {
  session: 'a secret of the reader',
  delete_session: 'a session of the reader',
  get_session: 'a session of the reader',
  session_code: 'a code of the reader',
  session_ticket: 'a session of the reader',
  t_ticket: 'a ticket of the reader',
  u_link: 'a link of the reader',
  delete_documents_id: 'it would delete the document of the other examples',
  documents_id_finish: 'a claim of the reader',
  documents_id_extend: 'a claim of the reader',
  documents_id_release: 'a claim of the reader',
  documents_id_retry: 'a document that no worker has',
  compat_frankfurter_v2_currencies_csv: 'that service has no such form',
}

/** A server with rates, a directory and a document; its description has the examples. */
export async function openExamples(): Promise<{ app: TestApp; document: Document }> {
  const app = await openShapes()
  await fillDirectory(app)
  await post(app, CREATE, batch(pdf()))
  await asOtherProcess(app, async (db) => {
    await replaceResult(db, 1, '{"emisor":"3101123456","total":"11300.10"}')
    await insertRevisions(db, [
      {
        ...{ series_id: 1, rate_date: '2026-03-20', kind: 'correction', run_id: 1 },
        ...{ old_value: '500.01', new_value: '500.02', old_rounded_to: null, old_stored_at: null },
        replaced_at: '2026-03-21T12:00:00.000Z',
      },
    ])
  })
  const document = JSON.parse((await send(`${app.app.url}/openapi.json`)).body) as Document
  return { app, document }
}

/** The answers to the examples of all operations except `UNSENT`. */
export async function sendExamples({ app, document }: { app: TestApp; document: Document }): Promise<Sent[]> {
  const answers: Sent[] = []
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (operation.operationId in UNSENT) continue
      answers.push(await sendExample(app, path, method, operation))
    }
  }
  return answers
}

async function sendExample(app: TestApp, path: string, method: string, operation: Operation): Promise<Sent> {
  let address = path
  const query = new URLSearchParams()
  for (const { name, in: place, example } of operation.parameters as {
    name: string
    in: string
    example?: unknown
  }[]) {
    if (example === undefined) continue
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(String(example)))
    else query.set(name, String(example))
  }
  const headers: Record<string, string> = {}
  for (const scheme of operation.security.flatMap((one) => Object.keys(one))) {
    if (scheme === 'apiKey' || scheme === 'mcp') headers['x-api-key'] = app.key
    if (scheme === 'bearer') headers.authorization = `Bearer ${chooseToken(operation)}`
  }
  const contents = Object.entries(operation.requestBody?.content ?? {}) as [string, { example?: unknown }][]
  const [type, content] = contents.find(([, { example }]) => example !== undefined) ?? []
  let body: string | null = null
  if (method === 'post') {
    headers['content-type'] = type ?? 'text/plain'
    body =
      type === undefined
        ? 'Hola'
        : typeof content?.example === 'string'
          ? content.example
          : JSON.stringify(content?.example)
  }
  const url = `${app.app.url}${address}${query.size > 0 ? `?${query}` : ''}`
  const response = await fetch(url, { method: method.toUpperCase(), headers, body })
  return {
    ...{ id: operation.operationId, path, operation, status: response.status, text: await response.text() },
    type: (response.headers.get('content-type') ?? '').split(';', 1)[0] ?? '',
  }
}

function chooseToken({ operationId }: Operation): string {
  return operationId === 'documents_claim' ? TOKENS.work : TOKENS.all
}

/** An answer as the description has it; undefined if it differs between servers. */
export function shownAnswer({ type, text, operation }: Sent): { type: string; value: unknown } | undefined {
  if (operation.tags.includes('Server')) return undefined
  if (type === 'application/json') return { type, value: shorten(JSON.parse(text.replace(UUID, CLAIM_ID))) }
  if (operation.responses[200]?.content?.[type] === undefined) return undefined
  const isTable = type === 'text/csv' || type === 'application/x-ndjson'
  return {
    type,
    value: isTable
      ? `${text
          .split('\n')
          .slice(0, MOST_ITEMS + 1)
          .join('\n')}\n`
      : text,
  }
}

/** Shortens lists to two items, and tables to their first two currencies. */
function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map(shorten)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const isTable = entries.length > MOST_ITEMS && entries.every(([name]) => /^[A-Z]{3,6}$/.test(name))
  return Object.fromEntries(
    (isTable ? entries.slice(0, MOST_ITEMS) : entries).map(([name, one]) => [name, shorten(one)]),
  )
}

if (import.meta.main) {
  const messages = shownMessages(await collectMessages())
  writeFileSync(MESSAGES_FILE, `${JSON.stringify(messages, null, 1)}\n`) // first: the description reads them
  const answers = await sendExamples(await openExamples())
  const examples = answers.flatMap((exchange) => {
    const answer = exchange.status === 200 ? shownAnswer(exchange) : undefined
    return answer ? [[exchange.id, answer]] : []
  })
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(examples), null, 1)}\n`)
  process.exit(0)
}
