// The thread that reads mails: its start and end, time, and hostile mails. Mails of 20 MB and more are in
// test/measures/mail-reader.test.ts.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type MailReader, type MailReaderLimits, openMailReader } from '../../../../src/domain/mail/reader.ts'
import { sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import { createMail } from '../../../support/documents/mails.ts'
import { HOSTILE_MAILS, slowMail } from '../../../support/mail/hostile-mails.ts'
import { until } from '../../../support/terminal.ts'

const FE = { type: 'text/xml', disposition: 'attachment; filename=FE.xml', content: sampleInvoice() }
const NEVER = new AbortController().signal
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
  const result = await reader.read(new Uint8Array(Buffer.from(mail as string)), { ignore: [] }, signal)
  return 'refused' in result ? result.refused : result.parts.map(({ name }) => name)
}

const SMALL = Object.entries(HOSTILE_MAILS).filter(([name]) => !/\d\d MB/.test(name))

for (const [name, { create, expected }] of SMALL) {
  test(`a mail with ${name} is read or refused, and the next one is read`, async (t) => {
    const reader = open(t, { deadlineMs: PATIENCE_MS })
    const raw = new Uint8Array(Buffer.from((await create()) as string))
    const result = await reader.read(raw, { ignore: [] }, NEVER)
    assert.deepEqual('refused' in result ? result.refused : result.parts.map((part) => part.name), expected)
    assert.equal(raw.length, 0, 'the bytes were transferred')
    assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'], 'the next mail is read')
  })
}

test('a mail that takes longer than the deadline is unreadable, and the next one is read', async (t) => {
  const reader = open(t, { deadlineMs: PATIENCE_MS })
  assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'])
  const { mock } = t.mock.method(AbortSignal, 'timeout', () => AbortSignal.abort())
  assert.equal(await read(reader, slowMail()), 'unreadable') // its thread would take about 9 s
  assert.deepEqual(
    mock.calls.map((call) => call.arguments),
    [[PATIENCE_MS]],
  )
  mock.restore()
  assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'])
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
  const result = await open(t).read(whole.subarray(0, mail.length), { ignore: [] }, NEVER)
  assert.ok('parts' in result)
  assert.equal(whole.length, mail.length + 3)
})

test('the thread ends when it is idle, and starts again', async (t) => {
  const reader = open(t, { idleMs: 50 })
  const countThreads = () => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length
  const before = countThreads()
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'])
    await until(() => countThreads() <= before)
  }
})

test('an aborted signal ends the thread and rejects with its reason', async (t) => {
  const reader = open(t)
  const abort = new AbortController()
  assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'])
  onNextMail(t, () => abort.abort(new Error('lease lost')))
  await assert.rejects(read(reader, slowMail(), abort.signal), /lease lost/)
  await assert.rejects(read(reader, createMail([FE]), abort.signal), /lease lost/)
  assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'])
})

test('close rejects the mail that is being read, and later ones', async (t) => {
  const reader = openMailReader()
  assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'])
  onNextMail(t, () => void reader.close())
  await assert.rejects(read(reader, slowMail()), { code: 'unavailable' })
  await assert.rejects(read(reader, createMail([FE])), { code: 'unavailable' })
})

test('a thread that does not start is an error, and no reason to refuse the mail', async (t) => {
  t.mock.method(AbortSignal, 'timeout', () => AbortSignal.abort())
  await assert.rejects(read(open(t), createMail([FE])), { code: 'failed' })
})

/** Calls back when the running thread has received the next mail and its deadline begins. */
function onNextMail(t: TestContext, callBack: () => void): void {
  const { timeout } = AbortSignal
  const begin = (ms: number) => {
    queueMicrotask(callBack)
    return timeout(ms)
  }
  t.mock.method(AbortSignal, 'timeout', begin, { times: 1 })
}
