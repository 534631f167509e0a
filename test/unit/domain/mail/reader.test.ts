// The thread that reads mails: its start and end, hostile mails, time and memory, and pauses of the main thread.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type MailReader, type MailReaderLimits, openMailReader } from '../../../../src/domain/mail/reader.ts'
import type { AppError } from '../../../../src/runtime/errors.ts'
import { sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import { createMail, NL } from '../../../support/documents/mails.ts'
import { HOSTILE_MAILS, slowMail } from '../../../support/mail/hostile-mails.ts'
import { measurePauses } from '../../../support/stalls.ts'

const FE = { type: 'text/xml', disposition: 'attachment; filename=FE.xml', content: sampleInvoice() }
const NEVER = new AbortController().signal
const PDF = `Content-Type: application/pdf; name=a.pdf${NL}`
const BASE64 = `Content-Transfer-Encoding: base64${NL}${NL}`
const LINE = `${Buffer.alloc(57, '%PDF').toString('base64')}${NL}`
/** Longest pause of the main thread, in processor milliseconds. */
const LONGEST_PAUSE = 50
/** The default deadline would decide on a busy machine. */
const PATIENCE_MS = 300_000

function open(t: TestContext, limits?: Partial<MailReaderLimits>): MailReader {
  const reader = openMailReader(limits)
  t.after(() => reader.close())
  return reader
}

/** Returns the names of the documents, or the reason of the refusal. */
async function read(
  reader: MailReader,
  mail: string | Uint8Array,
  signal = NEVER,
): Promise<string[] | string> {
  const result = await reader.read(new Uint8Array(Buffer.from(mail as string)), signal)
  return 'refused' in result ? result.refused : result.parts.map(({ name }) => name)
}

for (const [name, { create, expected }] of Object.entries(HOSTILE_MAILS)) {
  test(`a mail with ${name} does not pause the main thread`, async (t) => {
    const reader = open(t, { deadlineMs: PATIENCE_MS })
    assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'])
    const raw = new Uint8Array(Buffer.from((await create()) as string))
    const readPause = measurePauses()
    const started = performance.now()
    const result = await reader.read(raw, NEVER)
    const ms = performance.now() - started
    const pause = readPause()
    t.diagnostic(`longest pause ${pause.toFixed(0)} of ${ms.toFixed(0)} ms`)
    assert.deepEqual('refused' in result ? result.refused : result.parts.map((part) => part.name), expected)
    assert.ok(pause < LONGEST_PAUSE, `${pause} ms`)
    assert.equal(raw.length, 0, 'the bytes were transferred')
    assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'], 'the next mail is read')
  })
}

test('a mail that takes longer than the deadline is unreadable, and the next one is read', async (t) => {
  // On a busy machine the thread may start, or read a short mail, after the deadline. Rounds go on until none did.
  for (let roundsLeft = 20; ; roundsLeft--) {
    const reader = open(t, { deadlineMs: 1500 })
    const results: unknown[] = []
    for (const mail of [createMail([FE]), slowMail(), createMail([FE])]) // the slow one takes about 9 s
      results.push(await read(reader, mail).catch(({ code }: AppError) => code))
    await reader.close()
    const [first, slow, next] = results
    const isLate = slow === 'failed' || [first, next].some((one) => one === 'failed' || one === 'unreadable')
    if (isLate && roundsLeft > 0) continue
    return assert.deepEqual(results, [['FE.xml'], 'unreadable', ['FE.xml']])
  }
})

test('mails are read one at a time, and each has its own documents', async (t) => {
  const reader = open(t)
  const names = Array.from({ length: 20 }, (_, at) => `${at}.xml`)
  const mails = names.map((name) => createMail([{ ...FE, disposition: `attachment; filename=${name}` }]))
  const results = await Promise.all(mails.map((mail) => read(reader, mail)))
  assert.deepEqual(results.flat(), names)
})

test('a part of a larger buffer is copied, and the buffer stays', async (t) => {
  const mail = createMail([FE])
  const whole = new Uint8Array([...mail, 1, 2, 3])
  const result = await open(t).read(whole.subarray(0, mail.length), NEVER)
  assert.ok('parts' in result)
  assert.equal(whole.length, mail.length + 3)
})

test('the thread ends when it is idle, and starts again', async (t) => {
  const reader = open(t, { idleMs: 50 })
  const countThreads = () => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length
  const before = countThreads()
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'])
    while (countThreads() > before) await new Promise((resolve) => setTimeout(resolve, 20))
  }
})

test('an aborted signal ends the thread and rejects with its reason', async (t) => {
  const reader = open(t)
  const abort = new AbortController()
  const reading = read(reader, `${PDF}${BASE64}${LINE.repeat(320_000)}`, abort.signal)
  setTimeout(() => abort.abort(new Error('lease lost')), 50)
  await assert.rejects(reading, /lease lost/)
  await assert.rejects(read(reader, createMail([FE]), abort.signal), /lease lost/)
  assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'])
})

test('close rejects the mail that is being read, and later ones', async () => {
  const reader = openMailReader()
  const reading = read(reader, `${PDF}${BASE64}${LINE.repeat(320_000)}`)
  setTimeout(() => reader.close(), 50)
  await assert.rejects(reading, { code: 'unavailable' })
  await assert.rejects(read(reader, createMail([FE])), { code: 'unavailable' })
})

test('a thread that does not start is an error, and no reason to refuse the mail', async (t) => {
  await assert.rejects(read(open(t, { deadlineMs: 1 }), createMail([FE])), { code: 'failed' })
})
