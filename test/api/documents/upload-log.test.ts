// Each upload is logged by the result of its documents (decisions#body).

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS, tokenName } from '../../support/directory.ts'
import { until } from '../../support/terminal.ts'

async function open(t: TestContext): Promise<TestApp> {
  const app = await startTestApp(t)
  await fillDirectory(app)
  return app
}

let markers = 0

/**
 * The lines of an event, without fields that change at each run. The server writes lines after its answer, and those of
 * a later request after them.
 */
async function readLines(app: TestApp, event: string, least = 0): Promise<Record<string, unknown>[]> {
  const lines = () =>
    app.logLines
      .flatMap((text) => text.trimEnd().split('\n'))
      .map((line) => JSON.parse(line))
      .filter((line) => line.event === event)
  if (least > 0) await until(() => lines().length >= least)
  const marker = `marker-${++markers}`
  await app.get('/api/v1/providers', { 'x-request-id': marker })
  await until(() => app.logLines.some((text) => text.includes(marker)))
  return lines().map(({ time: _, event: __, ...line }) => line)
}

const ID = { 'x-request-id': 'upload-1' }
const by = { id: 'upload-1', agent: 1, company: 1, token: tokenName(TOKENS.all) }

test('an upload has one line with its ids, and at debug one for each document', async (t) => {
  const app = await open(t)
  await post(app, CREATE, batch(pdf('uno', 'a.pdf'), pdf('dos', 'b.pdf'), pdf('uno', 'c.pdf')), ID)
  assert.deepEqual(await readLines(app, 'documents created', 1), [
    { level: 'info', ...by, first: 1, last: 3, count: 3 },
  ])
  const documents = await readLines(app, 'document created', 3)
  assert.deepEqual(
    documents.map(({ level, id, document, name, size }) => [level, id, document, name, size]),
    [
      ['debug', 'upload-1', 1, 'a.pdf', 3],
      ['debug', 'upload-1', 2, 'b.pdf', 3],
      ['debug', 'upload-1', 3, 'c.pdf', 3],
    ],
  )
  assert.equal(documents[0]?.sha256, documents[2]?.sha256)
  await post(app, CREATE, batch(pdf()), ID)
  assert.deepEqual((await readLines(app, 'documents created', 2))[1], {
    level: 'info',
    ...by,
    first: 4,
    last: 4,
    count: 1,
  })
})

test('a rejected upload has one line with the reason, the count and the first bad documents', async (t) => {
  const app = await open(t)
  const bad = Array.from({ length: 30 }, () => [pdf(), {}]).flat()
  await post(app, CREATE, batch(...bad), ID)
  const indices = Array.from({ length: 20 }, (_, at) => 2 * at + 1).join(',')
  const refused = { level: 'warn', id: 'upload-1', token: tokenName(TOKENS.all) }
  assert.deepEqual(await readLines(app, 'upload refused', 1), [
    { ...refused, reason: 'Invalid documents', count: 60, bad: 30, indices },
  ])
  const documents = await readLines(app, 'document refused', 30)
  assert.deepEqual(
    [documents.length, documents[29]],
    [30, { level: 'debug', id: 'upload-1', index: 59, field: 'name', reason: 'name is missing' }],
  )
  let refusals = 1
  for (const [body, reason, count] of [
    ['{"documents":[{},', 'Request body must be valid JSON: unexpected end at byte 17', 1],
    [{}, 'Fields owner_id, company_id, agent_id, documents are required', 0],
    [{ ...batch(pdf()), agent_id: 99 }, 'Agent not found', 1],
  ] as const) {
    await post(app, CREATE, body, ID)
    refusals += 1
    const lines = await readLines(app, 'upload refused', refusals)
    const { bad: _, indices: __, ...line } = lines.at(-1) ?? {}
    assert.deepEqual(line, { ...refused, reason, count })
  }
  assert.deepEqual(await readLines(app, 'documents created'), [])
})

test('a repeated upload is logged as having made nothing', async (t) => {
  const app = await open(t)
  for (let time = 0; time < 2; time++)
    await post(app, CREATE, batch(pdf()), { ...ID, 'idempotency-key': 'a' })
  assert.equal((await readLines(app, 'documents created', 1)).length, 1)
  assert.deepEqual(await readLines(app, 'upload repeated', 1), [
    { level: 'info', ...by, first: 1, last: 1, count: 1 },
  ])
})

test('a request without access is not logged as an upload', async (t) => {
  const app = await open(t)
  await post(app, CREATE, batch(pdf()), { authorization: 'Bearer no' })
  assert.deepEqual(await readLines(app, 'upload refused'), [])
})
