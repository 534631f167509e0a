// Time between a commit and the end of a wait, and processor time of a request with thousands of faults.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApp, send, validationItems } from '../api/support.ts'
import { batch, CREATE, fillDirectory, pdf, post, read } from '../support/directory.ts'
import { measureCpuMs } from '../support/stalls.ts'
import { until } from '../support/terminal.ts'

const app = await openApp({ listen: { metrics: 'local' } })
await fillDirectory(app)

test('half of the waits end within 50 ms of the commit', async () => {
  const isWaiting = async () =>
    (await send(`${app.app.url}/metrics`)).body.includes('\ncambista_document_waits 1\n')
  const took: number[] = []
  for (let time = 0; time < 21; time++) {
    const answer = read(app, `/api/v1/documents?after=${time}&wait=30`).then(async (response) => {
      const end = performance.now()
      await response.arrayBuffer()
      return end
    })
    await until(isWaiting)
    assert.equal((await post(app, CREATE, batch(pdf()))).status, 200)
    const committed = performance.now() // the answer was sent, so the commit is earlier
    took.push((await answer) - committed)
  }
  const median = took.sort((one, other) => one - other)[10] ?? Number.NaN
  assert.ok(median < 50, `${median} ms`)
})

test('thousands of unknown parameters are rejected in a second of processor time', async () => {
  const names = Array.from({ length: 3000 }, (_, at) => `a${at.toString(36)}`)
  const took = await measureCpuMs(async () => {
    await validationItems(app, `/api/v1/convert?amount=1&from=USD&to=CRC&${names.join('&')}`)
  })
  assert.ok(took < 1000, `${took} ms`)
})
