// The thread that reads mails: its start and end, hostile mails, time and memory, and pauses of the main thread.

import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type TestContext, test } from 'node:test'
import { type MailReader, type MailReaderLimits, openMailReader } from '../../../../src/domain/mail/reader.ts'
import { sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import { createMail, NL } from '../../../support/documents/mails.ts'
import { zipped } from '../../../support/rates/workbooks.ts'

const FE = { type: 'text/xml', disposition: 'attachment; filename=FE.xml', content: sampleInvoice() }
const NEVER = new AbortController().signal
const MULTIPART = `Subject: x${NL}Content-Type: multipart/mixed; boundary=B`
const PDF = `Content-Type: application/pdf; name=a.pdf${NL}`
const BASE64 = `Content-Transfer-Encoding: base64${NL}${NL}`
const LINE = `${Buffer.alloc(57, '%PDF').toString('base64')}${NL}`
/** Longest pause of the main thread, in milliseconds or as a share of the time of a mail. Others use the processor. */
const LONGEST_PAUSE = 150
const LARGEST_SHARE = 0.1

function open(t: TestContext, limits?: Partial<MailReaderLimits>): MailReader {
  const reader = openMailReader(limits)
  t.after(() => reader.close())
  return reader
}

/** Returns a mail each of whose lines is compared with 200 boundaries. */
function slowMail(): string {
  const levels = Array.from(
    { length: 200 },
    (_, at) => `--B${at}${NL}Content-Type: multipart/mixed; boundary=B${at + 1}${NL}${NL}`,
  )
  return `${MULTIPART}0${NL}${NL}${levels.join('')}${`--B${NL}`.repeat(4_000_000)}`
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

const HOSTILE: Record<string, { create(): string | Promise<Buffer>; expected: string[] | string }> = {
  '100,000 parts': {
    create: () =>
      `${MULTIPART}${NL}${NL}${`--B${NL}Content-Type: text/xml${NL}${NL}<a/>${NL}`.repeat(100_000)}--B--`,
    expected: 'too many parts',
  },
  'a depth of 5,000 parts': {
    create: () => {
      const levels = Array.from(
        { length: 5000 },
        (_, at) => `--B${at}${NL}Content-Type: multipart/mixed; boundary=B${at + 1}${NL}${NL}`,
      )
      return `${MULTIPART}0${NL}${NL}${levels.join('')}`
    },
    expected: 'unreadable',
  },
  'a depth of 5,000 attached messages': {
    create: () => `Content-Type: message/rfc822${NL}${NL}`.repeat(5000),
    expected: ['adjunto-1.eml'],
  },
  '5 MB of headers': {
    create: () => `${`X-Header: ${'h'.repeat(80)}${NL}`.repeat(60_000)}${NL}hola`,
    expected: 'unreadable',
  },
  '250 KB of commas in a header': {
    create: () => `To: ${','.repeat(250_000)}${NL}${PDF}${NL}x`,
    expected: ['a.pdf'],
  },
  'a header in 25,000 lines': {
    create: () => `To: a${`${NL} a`.repeat(25_000)}${NL}${PDF}${NL}x`,
    expected: 'unreadable',
  },
  'a zip bomb': {
    create: async () => {
      const bomb = await zipped({ 'FE.xml': sampleInvoice(), zeros: '0'.repeat(60_000_000) })
      return createMail([
        { type: 'application/zip', disposition: 'attachment; filename=a.zip', content: bomb },
      ])
    },
    expected: ['a.zip'],
  },
  'a zip with `../`': {
    create: async () => {
      const archive = await zipped({ '../../etc/FE.xml': sampleInvoice() })
      return createMail([
        { type: 'application/zip', disposition: 'attachment; filename=a.zip', content: archive },
      ])
    },
    expected: ['FE.xml'],
  },
  '25 MB in base64': { create: () => `${PDF}${BASE64}${LINE.repeat(320_000)}`, expected: ['a.pdf'] },
  '40 MB in lines of a character': {
    create: () => `${PDF}${NL}${'x\n'.repeat(20_000_000)}`,
    expected: ['a.pdf'],
  },
  '40 MB in base64 with padding in each line': {
    create: () => `${PDF}${BASE64}${'QQ==\n'.repeat(8_000_000)}`,
    expected: ['a.pdf'],
  },
  '40 MB in quoted-printable': {
    create: () => `${PDF}Content-Transfer-Encoding: quoted-printable${NL}${NL}${'=41=\n'.repeat(8_000_000)}`,
    expected: ['a.pdf'],
  },
  '30 MB of pictures that HTML names': {
    create: () =>
      `${MULTIPART}${NL}${NL}--B${NL}Content-Type: text/html${NL}${NL}${'cid:a '.repeat(5_000_000)}${NL}--B--`,
    expected: 'no documents',
  },
  '40 MB after its end': {
    create: () => `${MULTIPART}${NL}${NL}--B${NL}${PDF}${NL}x${NL}--B--${NL}${'x\n'.repeat(20_000_000)}`,
    expected: ['a.pdf'],
  },
  '20 MB that might be the ends of 200 parts': {
    create: slowMail,
    expected: 'no documents',
  },
}

for (const [name, { create, expected }] of Object.entries(HOSTILE)) {
  test(`a mail with ${name} does not pause the main thread`, async (t) => {
    const reader = open(t)
    assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'])
    const raw = new Uint8Array(Buffer.from((await create()) as string))
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const started = performance.now()
    const result = await reader.read(raw, NEVER)
    const ms = performance.now() - started
    delay.disable()
    const pause = delay.max / 1e6
    t.diagnostic(`longest pause ${pause.toFixed(0)} of ${ms.toFixed(0)} ms`)
    assert.deepEqual('refused' in result ? result.refused : result.parts.map((part) => part.name), expected)
    assert.ok(pause < Math.max(LONGEST_PAUSE, ms * LARGEST_SHARE), `${pause} ms`)
    assert.equal(raw.length, 0, 'the bytes were transferred')
    assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'], 'the next mail is read')
  })
}

test('a mail that takes longer than the deadline is unreadable, and the next one is read', async (t) => {
  const reader = open(t, { deadlineMs: 1500 })
  assert.deepEqual(await read(reader, createMail([FE])), ['FE.xml'])
  assert.equal(await read(reader, slowMail()), 'unreadable') // about 9 s
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
