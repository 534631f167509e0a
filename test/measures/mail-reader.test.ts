// Hostile mails: their documents or refusal, and the pauses of the main thread while another thread reads them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMailReader } from '../../src/domain/mail/reader.ts'
import { createMail } from '../support/documents/mails.ts'
import { HOSTILE_MAILS } from '../support/mail/hostile-mails.ts'
import { measurePauses } from '../support/stalls.ts'

const NEVER = new AbortController().signal
/** Longest pause of the main thread, in processor milliseconds. */
const LONGEST_PAUSE = 50

for (const [name, { create, expected }] of Object.entries(HOSTILE_MAILS)) {
  test(`a mail with ${name} is read or refused without a pause of the main thread`, async (t) => {
    const reader = openMailReader({ deadlineMs: 300_000 })
    t.after(() => reader.close())
    await reader.read(new Uint8Array(createMail([])), { ignore: [] }, NEVER) // starts the thread
    const raw = new Uint8Array(Buffer.from((await create()) as string))
    const readPause = measurePauses()
    const started = performance.now()
    const result = await reader.read(raw, { ignore: [] }, NEVER)
    const ms = performance.now() - started
    const pause = readPause()
    t.diagnostic(`longest pause ${pause.toFixed(0)} of ${ms.toFixed(0)} ms`)
    assert.deepEqual('refused' in result ? result.refused : result.parts.map((part) => part.name), expected)
    assert.ok(pause < LONGEST_PAUSE, `${pause} ms`)
  })
}
