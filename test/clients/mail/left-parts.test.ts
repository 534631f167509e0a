// Parts of mails that are no documents, and refused mails: the log, `mailbox show`, the status, and who may read them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { asOtherProcess } from '../../api/support.ts'
import { runJson } from '../../support/company.ts'
import { TOKENS } from '../../support/directory.ts'
import { signedData, uuencode } from '../../support/documents/containers.ts'
import { sampleInvoice } from '../../support/documents/invoice-xml.ts'
import { createMail, storedZip, type TestPart } from '../../support/documents/mails.ts'
import { startDovecot } from '../../support/mail/dovecot.ts'
import { type MailApp, startMailApp } from '../../support/mail/mail-app.ts'
import { insertTestMailbox } from '../../support/mail/mailboxes.ts'

type LeftMail = { mailbox_id: number; from: string; subject: string; reason: string | null; parts: unknown[] }

const READ_MS = 30_000
const INVOICE = Buffer.from(sampleInvoice())
const file = (name: string, content: Uint8Array | string, type = 'application/octet-stream'): TestPart => ({
  ...{ type, content },
  disposition: `attachment; filename="${name}"`,
})
const FE = file('FE.xml', INVOICE, 'text/xml')
const ZIP = storedZip({ 'FE.xml': INVOICE })
const BODY: TestPart = { type: 'text/plain', content: 'Adjunto la factura.' }

async function listLeft(app: MailApp, query = '', token: string = TOKENS.all) {
  const path = `/api/v1/mailboxes/left${query}`
  const response = await fetch(app.app.url + path, { headers: { authorization: `Bearer ${token}` } })
  return response.status === 200 ? ((await response.json()) as { mails: LeftMail[] }).mails : response.status
}

const lines = (app: MailApp, event: string) =>
  app.logLines
    .filter((line) => line.includes(event))
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('log, status and `mailbox show` have each part of a mail', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot, { ignore_names: 'firma*.png', largest: 60_000 })
  const zip = storedZip({ 'b/FE.xml': INVOICE, '.DS_Store': Buffer.from('x') })
  const parts = [
    BODY,
    file('a.zip', zip),
    file('firma-1.PNG', 'x'),
    file('vacío.pdf', ''),
    file('a.ics', 'x', 'text/calendar'),
  ]
  const send = (name: string, sent: TestPart[]) =>
    dovecot.deliver(createMail(sent, { Subject: `Factura ${name}`, 'Message-ID': `<${name}@a>` }))
  await send('1', parts)
  await app.runRound()
  await send('2', [FE, file('a.gz', gzipSync('x'))])
  await app.runRound()
  await send('3', [BODY, file('firma-2.png', 'x')])
  await app.runRound()
  await send('4', [FE, file('a.bin', Buffer.alloc(80_000))])
  const mailbox = await app.runRound()
  assert.deepEqual([mailbox.taken, mailbox.refused, mailbox.left_out], [2, 2, 3])
  const counts = lines(app, 'mail kept').map(({ documents, left, inline, bodies }) => [
    documents,
    left,
    inline,
    bodies,
  ])
  assert.deepEqual(counts, [
    [1, 3, 1, 1],
    [2, 0, 0, 0],
  ])
  assert.deepEqual(
    lines(app, 'mail refused').map(({ reason }) => reason),
    ['no documents', 'too large'],
  )
  const mail = { mailbox_id: app.mailboxId, from: 'Ana <ana@proveedor.example>' }
  const expected = [
    { ...mail, subject: 'Factura 4', reason: 'too_large', parts: [] },
    {
      ...mail,
      subject: 'Factura 3',
      reason: 'no_documents',
      parts: [{ name: 'firma-2.png', reason: 'ignored' }],
    },
    {
      ...{ ...mail, subject: 'Factura 1', reason: null },
      parts: [
        { name: 'firma-1.PNG', reason: 'ignored' },
        { name: 'vacío.pdf', reason: 'empty' },
        { name: '.DS_Store', reason: 'ignored' },
      ],
    },
  ]
  const listed = (await listLeft(app)) as (LeftMail & { at: string })[]
  assert.deepEqual(
    listed.map(({ at: _, ...one }) => one),
    expected,
  )
  const mailboxNow = await runJson<{ left: unknown }>(app.dataDir, 'mailbox', 'show', String(app.mailboxId))
  assert.deepEqual(mailboxNow.left, listed)
  const status = await app.json<{ mail: { left: number; refused: number }[] }>('/api/v1/status')
  assert.deepEqual(
    status.mail.map(({ left, refused }) => [left, refused]),
    [[3, 2]],
  )
  const documents = await app.documents()
  assert.deepEqual(
    documents.map(({ name, mail }) => [name, mail?.note]),
    [
      ['FE.xml', undefined],
      ['FE.xml', undefined],
      ['a.gz', 'no_xml'],
    ],
  )
  await runJson(app.dataDir, 'mailbox', 'delete', String(app.mailboxId))
  assert.deepEqual(await listLeft(app), [])
})

/** Mails as other programs write them, with the names of their documents and the numbers of other parts. */
const PROGRAMS: Record<string, { parts: TestPart[]; start?: string; names: string[]; others: number[] }> = {
  csv: {
    parts: [BODY, FE, { type: 'text/csv; name=detalle.csv', content: 'a;b' }],
    ...{ names: ['FE.xml', 'detalle.csv'], others: [0, 0, 1] },
  },
  text: {
    parts: [BODY, FE, { type: 'text/plain', disposition: 'inline; filename=nota.txt', content: 'nota' }],
    ...{ names: ['FE.xml', 'nota.txt'], others: [0, 0, 1] },
  },
  html: {
    parts: [BODY, FE, { type: 'text/html; name=factura.html', content: '<p>' }],
    ...{ names: ['FE.xml', 'factura.html'], others: [0, 0, 1] },
  },
  eml: {
    parts: [BODY, file('reenviado.eml', createMail([BODY, FE]))],
    ...{ names: ['FE.xml'], others: [0, 0, 2] },
  },
  signed: {
    parts: [BODY, file('smime.p7m', signedData(createMail([BODY, FE]), { isStream: true }))],
    ...{ names: ['FE.xml'], others: [0, 0, 2] },
  },
  gzip: { parts: [BODY, file('FE.xml.gz', gzipSync(INVOICE))], names: ['FE.xml'], others: [0, 0, 1] },
  'zip after other bytes': {
    parts: [BODY, file('a.zip', Buffer.concat([Buffer.from('MZ junk'), ZIP]))],
    ...{ names: ['FE.xml'], others: [0, 0, 1] },
  },
  'zip before other bytes': {
    parts: [BODY, file('a.zip', Buffer.concat([ZIP, Buffer.alloc(9)]))],
    ...{ names: ['FE.xml'], others: [0, 0, 1] },
  },
  logo: {
    parts: [
      { type: 'text/html', content: '<img src="cid:logo1">' },
      { type: 'image/png', disposition: 'inline; filename=a.png', id: '<logo1>', content: 'x' },
      FE,
    ],
    ...{ names: ['FE.xml'], others: [0, 1, 1] },
  },
  uuencode: {
    parts: [{ type: 'text/plain', content: `Adjunto:\r\n${uuencode('FE.xml', INVOICE)}` }],
    ...{ names: ['FE.xml'], others: [0, 0, 1] },
  },
  'empty line': { start: '\r\n', parts: [BODY, FE], names: ['FE.xml'], others: [0, 0, 1] },
}

test('mails of other programs become their documents', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  for (const [name, { parts, start = '' }] of Object.entries(PROGRAMS)) {
    const mail = createMail(parts, { 'Message-ID': `<${name}@a>` })
    await dovecot.deliver(Buffer.concat([Buffer.from(start), mail]))
  }
  const mailbox = await app.runRound()
  assert.deepEqual([mailbox.failure, mailbox.refused, dovecot.count()], [null, 0, 0])
  const byMail = Map.groupBy(await app.documents(), ({ mail }) => String(mail?.message_id))
  const rows = lines(app, 'mail kept')
  for (const [at, [name, { names, others }]] of Object.entries(PROGRAMS).entries()) {
    const documents = byMail.get(`<${name}@a>`) ?? []
    assert.deepEqual(
      documents.map((one) => one.name),
      names,
      name,
    )
    const invoice = documents.find((one) => one.name === 'FE.xml')?.invoice
    assert.equal(invoice?.kind, 'FacturaElectronica', name)
    const { documents: count, left, inline, bodies } = rows[at] ?? {}
    assert.deepEqual([count, left, inline, bodies], [names.length, ...others], name)
  }
})

test('`/mailboxes/left` lists the mailboxes that a token admits', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  await dovecot.deliver(createMail([BODY], { Subject: 'de 1' }))
  await app.runRound()
  const addMailbox = (values: { name: string; company_id: number; agent_id: number; owner_id: number }) =>
    asOtherProcess(app, async (db) => {
      const mailbox_id = await insertTestMailbox(db, { ...values, paused_at: '2026-03-24T12:00:00.000Z' })
      const mail = { mailbox_id, uidvalidity: 1, uid: 1, size: 9, at: '2026-03-24T12:00:00.000Z' }
      const texts = { from_text: null, subject: values.name, reason: 'sender', parts: '[]' }
      await db
        .insertInto('mail_left')
        .values({ ...mail, ...texts })
        .execute()
    })
  await addMailbox({ name: 'del agente 2', company_id: 1, agent_id: 2, owner_id: 1 })
  await addMailbox({ name: 'de otra', company_id: 2, agent_id: 3, owner_id: 2 })
  const subjects = async (query = '', token: string = TOKENS.read) => {
    const mails = await listLeft(app, query, token)
    return typeof mails === 'number' ? mails : mails.map(({ subject }) => subject).sort()
  }
  assert.deepEqual(await subjects(), ['de 1', 'de otra', 'del agente 2'])
  assert.deepEqual(await subjects('?company_id=2'), ['de otra'])
  assert.deepEqual(await subjects('?company_id=99'), [])
  assert.deepEqual(await subjects('', TOKENS.ofAgent), ['de 1'])
  assert.deepEqual(await subjects('?company_id=1', TOKENS.ofAgent), ['de 1'])
  assert.deepEqual(await subjects('', TOKENS.ofCompany), ['de otra'])
  assert.deepEqual(await subjects('?company_id=1', TOKENS.ofCompany), 404)
  assert.deepEqual(await subjects('?company_id=x'), 422)
  assert.deepEqual(await subjects('?agent_id=1'), 422)
  for (const token of [TOKENS.upload, TOKENS.agent, TOKENS.remove])
    assert.equal(await subjects('', token), 403)
})

test('mails marked as deleted stay, but unfinished moves end', async (t) => {
  const dovecot = await startDovecot(t, { capabilities: 'IMAP4rev1 UIDPLUS' })
  const app = await startMailApp(t, dovecot)
  await app.runRound() // makes the folders
  const acceptMoves = [dovecot.refuseMoves('Procesados'), dovecot.refuseMoves('Rechazados')]
  await dovecot.deliver(createMail([FE], { 'Message-ID': '<known@a>' }))
  await dovecot.deliver(createMail([BODY], { 'Message-ID': '<refused@a>' }))
  const first = await app.runRound()
  assert.deepEqual([first.taken, first.refused, first.waiting], [1, 1, 2])
  await dovecot.deliver(createMail([file('otra.xml', '<a/>')], { 'Message-ID': '<deleted@a>' }))
  assert.equal(await dovecot.markDeleted(), 3)
  for (const accept of acceptMoves) accept()
  const second = await app.runRound()
  assert.deepEqual([second.taken, second.refused, second.waiting, second.failure], [1, 1, 0, null])
  assert.deepEqual(
    (await app.documents()).map(({ name }) => name),
    ['FE.xml'],
  )
  assert.deepEqual([dovecot.count('Procesados'), dovecot.count('Rechazados')], [1, 1])
  assert.deepEqual(
    dovecot.list().map((mail) => /<(.*)@a>/.exec(String(mail))?.[1]),
    ['deleted'],
  )
})

test('a mail that takes too much time has whole containers', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  const { timeout } = AbortSignal
  let calls = 0
  // A start of the thread has a deadline, too. Late are the first read of the first mail, and both of the second.
  const late = new Set([2, 5, 7])
  t.mock.method(AbortSignal, 'timeout', (ms: number) => {
    return ms === READ_MS && late.has(++calls) ? AbortSignal.abort() : timeout.call(AbortSignal, ms)
  })
  await dovecot.deliver(createMail([FE, file('r.eml', createMail([FE]))]))
  await app.runRound()
  const documents = await app.documents()
  assert.deepEqual(
    documents.map(({ name, mail }) => [name, mail?.note]),
    [
      ['FE.xml', undefined],
      ['r.eml', 'over_limits'],
    ],
  )
  await dovecot.deliver(createMail([FE], { Subject: 'Lenta', 'Message-ID': '<2@a>' }))
  await app.runRound()
  const [left] = (await listLeft(app)) as LeftMail[]
  assert.deepEqual([left?.reason, left?.subject], ['unreadable', 'Lenta'])
})
