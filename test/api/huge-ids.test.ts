// Ids that no row can have, on each path and in each parameter and field. Clients see ids that do not exist,
// whatever the integers of the engine.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../support/directory.ts'
import { openApp } from './support.ts'

const HUGE = [
  2 ** 53,
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '9'.repeat(60),
  `-${'9'.repeat(40)}`,
]
const work = { authorization: `Bearer ${TOKENS.work}` }

const app = await openApp()
await fillDirectory(app)
await app.sync({ from: '2026-03-20', to: '2026-03-24' })
assert.equal((await post(app, CREATE, batch(pdf('one')))).status, 200)

for (const id of HUGE) {
  test(`${id} is a 404 in paths, and matches nothing in parameters`, async () => {
    await expect(404, [
      app.get(`/api/v1/series/${id}/history`),
      read(app, `/api/v1/documents/${id}`),
      read(app, `/api/v1/documents/${id}/content`),
      read(app, `/api/v1/companies/${id}`),
      fetch(`${app.app.url}/api/v1/documents/${id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${TOKENS.remove}` },
      }),
      post(app, `/api/v1/documents/${id}/finish`, { claim_id: 'x', outcome: 'done' }, work),
    ])
    const ways = ['company_id', 'agent_id', 'owner_id'].map((name) => {
      const ids = new URLSearchParams({ company_id: '1', agent_id: '1', owner_id: '1', [name]: String(id) })
      return post(app, `/api/v1/documents?${ids}&name=x`, 'x', { 'content-type': 'text/plain' })
    })
    await expect(422, ways)
    const lists = [
      app.get(`/api/v1/revisions?series_id=${id}`),
      read(app, `/api/v1/documents?company_id=${id}`),
      read(app, `/api/v1/documents?agent_id=${id}`),
    ]
    await expect(200, lists)
    await expect(
      [200, 422],
      [read(app, `/api/v1/documents?after=${id}`), read(app, `/api/v1/documents?limit=${id}`)],
    )
  })

  test(`${id} in bodies is rejected, or matches nothing`, async () => {
    const jsonBody = (field: string, rest: object) =>
      `{${JSON.stringify(rest).slice(1, -1)},"${field}":${id}}`
    const { company_id, agent_id, owner_id, documents } = batch(pdf('two')) as Record<string, unknown>
    await expect(
      [400, 404, 422],
      [
        post(app, CREATE, jsonBody('company_id', { agent_id, owner_id, documents })),
        post(app, CREATE, jsonBody('agent_id', { company_id, owner_id, documents })),
        post(app, CREATE, jsonBody('owner_id', { company_id, agent_id, documents })),
        post(app, '/api/v1/documents/claim', jsonBody('agent_id', { limit: 1, lease_seconds: 60 }), work),
        post(app, '/api/v1/documents/claim', jsonBody('limit', { agent_id: 1, lease_seconds: 60 }), work),
        post(app, '/api/v1/agent/list', jsonBody('company_id', { x: 1 })),
      ],
    )
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
    for (const [name, field] of [
      ['read_document', 'id'],
      ['rate_for_document', 'document_id'],
      ['list_documents', 'agent_id'],
      ['list_documents', 'after'],
    ] as const) {
      const body = JSON.stringify({ ...call, params: { name, arguments: { [field]: 'HERE' } } }).replace(
        '"HERE"',
        String(id),
      )
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
      const answer = await post(app, '/mcp', body, headers)
      assert.ok(answer.status < 500, `${name}: ${answer.status} ${await answer.text()}`)
    }
    assert.doesNotMatch(app.logLines.join(''), /request failed|tool failed/)
  })
}

async function expect(allowed: number | number[], responses: Promise<Response>[]): Promise<void> {
  for (const answer of await Promise.all(responses)) {
    const body = await answer.text()
    assert.ok([allowed].flat().includes(answer.status), `${answer.url}: ${answer.status} ${body}`)
  }
}
