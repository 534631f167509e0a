// Uploads that arrive slowly: the time-out of a body is for clients that all but stop.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startTestApp } from '../support/app.ts'
import { fillDirectory, TOKENS } from '../support/directory.ts'
import { sampleDocument, UPLOAD_FORM_NAMES, UPLOAD_FORMS } from '../support/documents/ways.ts'
import { retryWhenStalled } from '../support/stalls.ts'

const PIECE = 16_384

for (const way of UPLOAD_FORM_NAMES) {
  test(`${way}: a client that is slow but steady is served`, async (t) => {
    const app = await startTestApp(t, { limits: { idleMs: 400 } })
    await fillDirectory(app)
    const { path, headers, body } = UPLOAD_FORMS[way]([sampleDocument('x'.repeat(8 * PIECE))])
    await retryWhenStalled(200, async () => {
      const client = request(app.app.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKENS.all}`, ...headers },
      })
      client.on('error', () => {})
      const answered = once(client, 'response')
      answered.catch(() => {})
      for (let at = 0; at < body.length; at += PIECE) {
        client.write(body.subarray(at, at + PIECE))
        await wait(100)
      }
      client.end()
      const [response] = await answered
      assert.equal(response.resume().statusCode, 200)
    })
  })
}
