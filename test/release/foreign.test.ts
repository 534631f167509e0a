// Drives the executable of the other machine kind under qemu. `npm run test:release` names the executables.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { startBank } from '../../src/demo/bank.ts'
import { selectDocuments } from '../../src/store/documents/documents.ts'
import { currentDay } from '../../src/values/dates.ts'
import { directory, run, serve } from '../e2e/executable.ts'
import { sampleInvoice } from '../support/documents/invoice-xml.ts'
import { createMail } from '../support/documents/mails.ts'
import { startDovecot } from '../support/mail/dovecot.ts'
import { openMailWorld } from '../support/mail/mail-program.ts'
import { until } from '../support/terminal.ts'

const { CAMBISTA_FOREIGN_EXECUTABLE: executable, CAMBISTA_FOREIGN_ARCH: arch } = process.env
if (!executable) throw new Error('CAMBISTA_FOREIGN_EXECUTABLE is not set: use npm run test:release')
const MACHINES: string = new URL('../../src/packaging/machines.mjs', import.meta.url).href
const { runnerWords }: { runnerWords(arch?: string): string[] | undefined } = await import(MACHINES)
const JANUARY = ['--from', '2026-01-05', '--to', '2026-01-16']
const PATHS = [
  '/api/v1/rates/latest?on=2026-01-16',
  '/api/v1/convert?amount=100&from=EUR&to=CRC&on=2026-01-16',
]

function foreignHow() {
  const under = runnerWords(arch)
  assert.ok(under, `this machine cannot run ${arch}: node build.mjs --missing`)
  return { executable: executable ?? '', under }
}

test(`the ${arch} executable syncs, serves, and answers rates as this machine's executable does`, async (t) => {
  const foreign = foreignHow()
  const dataDir = join(directory(t), 'data')
  const bank = await startBank({ today: () => currentDay(() => new Date()) })
  t.after(() => bank.close())
  const env = { CAMBISTA_BCCR_URL: bank.url, CAMBISTA_BCCR_PACE: '0' }
  const sync = await run(t, ['sync', ...JANUARY, '--data-dir', dataDir], { ...foreign, env })
  assert.equal(sync.code, 0, sync.err)
  const headers = {
    'x-api-key': (await run(t, ['key', 'create', 'erp', '--data-dir', dataDir], foreign)).out.trim(),
  }

  const answers = []
  for (const how of [foreign, {}]) {
    const server = await serve(t, dataDir, how)
    for (const path of PATHS) {
      const response = await fetch(`${server.url}${path}`, { headers })
      const body = await response.json()
      assert.equal(response.status, 200, JSON.stringify(body))
      answers.push(body)
    }
    assert.equal((await server.ended('SIGTERM')).code, 0)
  }
  assert.deepEqual(answers.slice(0, PATHS.length), answers.slice(PATHS.length))
  t.diagnostic(`${arch} answered ${JSON.stringify(answers[0])}`)
})

test(`the ${arch} executable reads a mail, which a thread of its own parses`, async (t) => {
  const parts = [
    { type: 'text/xml', disposition: 'attachment; filename=FE.xml', content: sampleInvoice() },
    {
      type: 'application/pdf',
      disposition: 'attachment; filename=FE.pdf',
      content: `%PDF-1.4 ${'ñ'.repeat(1e5)}`,
    },
  ]
  const dovecot = await startDovecot(t)
  await dovecot.deliver(createMail(parts))
  const { db, dataDir } = await openMailWorld(t, dovecot)
  const server = await serve(t, dataDir, foreignHow())
  await until(() => dovecot.count('Procesados') === 1)
  const documents = await selectDocuments(db, { after: 0, limit: 10 })
  assert.deepEqual(
    documents.map(({ name, sha256 }) => [name, sha256]),
    parts.map(({ disposition, content }) => [disposition.split('=')[1], sha256Hex(content)]),
  )
  assert.equal((await server.ended('SIGTERM')).code, 0)
})

function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
