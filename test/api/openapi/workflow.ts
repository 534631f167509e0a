// Examples that need the step before: the work on a document, and a session. A server of their own answers them.

import assert from 'node:assert/strict'
import { makeLoginLink } from '../../../src/domain/access/login-links.ts'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { CLAIM_ID, EXAMPLE_CODE, EXAMPLE_KEY } from '../../../src/http/openapi/examples.ts'
import { selectApiKeys } from '../../../src/store/access/api-keys.ts'
import type { TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../../support/directory.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess, openApp } from '../support.ts'
import type { Document } from './description.ts'
import { type RequestChanges, type Sent, sendExample } from './requests.ts'

export const WORKFLOW: readonly string[] = [
  ...['documents_id_extend', 'documents_id_release', 'documents_id_finish', 'documents_id_retry'],
  ...['delete_documents_id', 'session', 'get_session', 'session_ticket', 't_ticket', 'delete_session'],
  ...['session_code', 'u_link'],
]

/** Sends the examples of `WORKFLOW`, each in its turn. */
export async function sendWorkflow(document: Document): Promise<Sent[]> {
  const app = await openApp()
  await fillDirectory(app)
  await asOtherProcess(app, (db) =>
    db
      .updateTable('tokens')
      .set({ allow: 'documents:DELETE documents:RETRY' })
      .where('hash', '=', hashOfSecret(TOKENS.remove))
      .execute(),
  )
  const isRetryAllowed = async () => {
    const headers = { authorization: `Bearer ${TOKENS.remove}` }
    return (await post(app, '/api/v1/documents/9/retry', '', headers)).status !== 403
  }
  await until(isRetryAllowed)
  await app.sync({ from: '2026-03-23', to: '2026-03-24' })
  await post(app, CREATE, batch(pdf()))
  const answers: Sent[] = []
  const sendNext = async (id: string, changes: RequestChanges = {}) => {
    const answer = await sendExample(app, findOperation(document, id), changes)
    answers.push(answer)
    return answer
  }

  const texts = { [CLAIM_ID]: await claimDocument(app) }
  await sendNext('documents_id_extend', { texts })
  await sendNext('documents_id_release', { texts })
  await sendNext('documents_id_finish', { texts: { [CLAIM_ID]: await claimDocument(app) } })
  await sendNext('documents_id_retry')
  await sendNext('delete_documents_id')

  const session = await sendNext('session', { texts: { [EXAMPLE_KEY]: app.key } })
  const { page } = JSON.parse(session.text) as { page: string }
  const [cookie = ''] = (session.headers.get('set-cookie') ?? '').split(';', 1)
  const headers = { cookie, 'x-cambista-page': page }
  await sendNext('get_session', { headers })
  const { url } = JSON.parse((await sendNext('session_ticket', { headers })).text) as { url: string }
  await sendNext('t_ticket', { headers: { cookie }, texts: { [EXAMPLE_CODE]: url.replace('/t/', '') } })
  await sendNext('delete_session', { headers })
  await sendNext('session_code', { texts: { [EXAMPLE_CODE]: await createLoginCode(app) } })
  await sendNext('u_link', { texts: { [EXAMPLE_CODE]: await createUploadLink(app) } })
  return answers
}

async function claimDocument(app: TestApp): Promise<string> {
  const headers = { authorization: `Bearer ${TOKENS.work}` }
  const reply = await post(app, '/api/v1/documents/claim', { agent_id: 1, limit: 1 }, headers)
  const { documents } = (await reply.json()) as { documents: { claim_id: string }[] }
  return documents[0]?.claim_id ?? assert.fail('no document was claimed')
}

/** Creates a one-time link for the key of the test, and returns its code. */
async function createLoginCode(app: TestApp): Promise<string> {
  return asOtherProcess(app, async (db) => {
    const [key] = await selectApiKeys(db)
    return (await makeLoginLink(db, { keyId: key?.id, tokenId: undefined }, app.clock.read)).code
  })
}

/** Creates a link for the upload of a text, and returns its code. */
async function createUploadLink(app: TestApp): Promise<string> {
  const file = { company_id: 1, agent_id: 1, owner_id: 1, name: 'nota.txt', mimetype: 'text/plain' }
  const params = { name: 'upload_document', arguments: file }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const headers = { 'content-type': 'application/json', 'mcp-protocol-version': '2025-06-18' }
  const reply = await post(app, '/mcp', call, { ...headers, accept: 'application/json, text/event-stream' })
  const { result } = (await reply.json()) as { result: { structuredContent: { url: string } } }
  return new URL(result.structuredContent.url).pathname.replace('/u/', '')
}

function findOperation({ paths }: Document, id: string) {
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId === id) return { path, method, operation }
    }
  }
  return assert.fail(`there is no operation ${id}`)
}
