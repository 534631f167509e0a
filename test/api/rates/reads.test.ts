// Reads are answered during a long write transaction of the server. The dollar is read before the first request.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { postgres, startTestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read } from '../../support/directory.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess } from '../support.ts'

test('documents, agents, runs and readiness are read during a long upload', async (t: TestContext) => {
  const app = await startTestApp(t)
  await fillDirectory(app)
  assert.equal((await post(app, CREATE, batch(pdf()))).status, 200)
  let isUploaded = false
  const uploading = post(app, CREATE, batch(...Array.from({ length: 10_000 }, () => pdf()))).finally(() => {
    isUploaded = true
  })
  const statuses = new Set<number>()
  while (!isUploaded) {
    const [list, one, content, agents, runs, ready] = await Promise.all([
      read(app, '/api/v1/documents?order=desc&limit=1'),
      read(app, '/api/v1/documents/1'),
      read(app, '/api/v1/documents/1/content'),
      post(app, '/api/v1/agent/get_by_company', { company_id: 1, code: 'ACME' }),
      app.get('/api/v1/sync/runs'),
      fetch(`${app.app.url}/readyz`),
    ])
    assert.deepEqual(
      [list, one, content, agents, runs, ready].map(({ status }) => status),
      [200, 200, 200, 200, 200, 200],
    )
    const { documents } = (await list.json()) as { documents: { id: number }[] }
    statuses.add(documents[0]?.id ?? 0)
  }
  assert.equal((await uploading).status, 200)
  for (const id of statuses) assert.ok(id === 1 || id === 10_001, `${id}: half an upload was seen`)
})

test('a server reads the dollar before its first request', async (t) => {
  const before = await startTestApp(t)
  await before.sync()
  await before.app.close()
  const app = await startTestApp(t, { dataDir: before.dataDir })
  await until(() => app.logLines.join('').includes('"event":"the dollar is read ahead"'))
  await asOtherProcess(app, (db) => db.schema.alterTable('rates').renameTo('gone').execute())
  assert.equal((await app.get('/api/v1/rates/latest?base=USD&quote=CRC')).status, 200)
  // In a cluster a snapshot has all columns from the start.
  assert.equal((await app.get('/api/v1/rates/latest?base=EUR&quote=USD')).status, postgres ? 200 : 500)
})
