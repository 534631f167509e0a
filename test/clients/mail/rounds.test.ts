// Rounds of a mailbox against dovecot: each mail becomes documents once, whatever the server of mails does.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { asOtherProcess } from '../../api/support.ts'
import { runJson } from '../../support/company.ts'
import { post, TOKENS } from '../../support/directory.ts'
import { createClave, CLAVE as SAMPLE_CLAVE, sampleInvoice } from '../../support/documents/invoice-xml.ts'
import { createMail, type TestPart } from '../../support/documents/mails.ts'
import { startDovecot } from '../../support/mail/dovecot.ts'
import { type MailApp, startMailApp } from '../../support/mail/mail-app.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/mails')
const CLAVE = '50624032600310112345600100001010000000042112345678'
const DAY_MINUTES = 1440
const FE: TestPart = {
  type: 'text/xml',
  disposition: 'attachment; filename=FE.xml',
  content: sampleInvoice(),
}

const note = (text: string): TestPart => ({
  type: 'text/plain',
  disposition: 'attachment; filename=nota.txt',
  content: text,
})

// Documents of each example: name, type, and kind of invoice or source of the clave. A string is the reason of a refusal.
// Invoice and answer of two examples have different claves.
const EXAMPLES: Record<string, string | string[]> = {
  'empty.eml': 'no documents',
  'forwarded-as-attachment.eml': ['FE.xml application/octet-stream FacturaElectronica'],
  'inline-logo.eml': ['FE.xml application/xml FacturaElectronica'],
  'name-encoded-word.eml': ['Factura electrónica.xml application/xml FacturaElectronica'],
  'name-path.eml': ['FE.xml text/xml FacturaElectronica'],
  'name-rfc2231-latin1.eml': ['Factura electrónica larga.xml text/xml FacturaElectronica'],
  'named-as-the-annex-says.eml': [
    `${CLAVE}.xml text/xml FacturaElectronica`,
    `${CLAVE}.pdf application/pdf name`,
    `${CLAVE}_respuesta.xml application/xml MensajeHacienda`,
  ],
  'names-of-their-own.eml': [
    'FE-2.xml text/xml FacturaElectronica',
    'Factura N° 2.pdf application/pdf none',
    'respuesta.xml application/xml MensajeHacienda',
  ],
  'no-message-id.eml': [
    'FE-11.xml text/xml FacturaElectronica',
    'Factura N° 11.pdf application/pdf none',
    'respuesta.xml application/xml MensajeHacienda',
  ],
  'winmail.eml': 'winmail.dat',
  'zip.eml': ['FE.xml application/xml FacturaElectronica', 'FE.pdf application/pdf mail'],
}

const names = async (app: MailApp) => (await app.documents()).map(({ name }) => name)

const showMailbox = (app: MailApp) =>
  runJson<{ refusals: { reason: string }[] }>(app.dataDir, 'mailbox', 'show', String(app.mailboxId))

/** Does what a worker does: claims, finishes and deletes all documents. */
async function workAndDelete(app: MailApp): Promise<void> {
  const headers = { authorization: `Bearer ${TOKENS.work}` }
  const claim = await post(app, '/api/v1/documents/claim', { agent_id: 1, limit: 50 }, headers)
  const { documents } = (await claim.json()) as { documents: { id: number; claim_id: string }[] }
  for (const { id, claim_id } of documents) {
    const path = `/api/v1/documents/${id}`
    const finish = await post(app, `${path}/finish`, { claim_id, outcome: 'done' }, headers)
    assert.equal(finish.status, 200)
    const deletion = { method: 'DELETE', headers: { authorization: `Bearer ${TOKENS.remove}` } }
    assert.equal((await fetch(app.app.url + path, deletion)).status, 200)
  }
  assert.deepEqual(await names(app), [])
}

test('each example becomes its documents, or is refused with its reason', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  const files = readdirSync(FIXTURES).sort()
  assert.deepEqual(files, Object.keys(EXAMPLES))
  const bytes = new Map(files.map((file) => [file, readFileSync(join(FIXTURES, file))]))
  for (const file of files) await dovecot.deliver(bytes.get(file) as Buffer)
  const mailbox = await app.runRound()
  assert.deepEqual(
    [mailbox.failure, mailbox.waiting, mailbox.taken, mailbox.refused, dovecot.count()],
    [null, 0, 9, 2, 0],
  )
  const documents = await app.documents()
  const described = Map.groupBy(documents, ({ mail }) => String(mail?.message_id ?? 'none'))
  for (const [file, expected] of Object.entries(EXAMPLES)) {
    if (typeof expected === 'string') continue
    const id = /^Message-ID: (.*?)\r?$/im.exec(String(bytes.get(file)))?.[1] ?? 'none'
    const lines = described.get(id)?.map(({ name, mimetype, invoice }) => {
      const { kind, from } = invoice ?? {}
      return [name, mimetype, from === 'content' ? kind : (from ?? 'none')].join(' ')
    })
    assert.deepEqual(lines, expected, file)
  }
  const expectedMails = { Procesados: true, Rechazados: false }
  for (const [folder, isTaken] of Object.entries(expectedMails)) {
    const originals = files.filter((file) => Array.isArray(EXAMPLES[file]) === isTaken)
    const expected = originals.map((file) => bytes.get(file)?.toString('base64')).sort()
    assert.deepEqual(
      dovecot
        .list(folder)
        .map((one) => one.toString('base64'))
        .sort(),
      expected,
      folder,
    )
    assert.ok(
      dovecot.files(folder).every((path) => !/:2,.*[A-Z]/.test(path)),
      'no mail is marked',
    )
  }
  const [first] = documents
  assert.equal(first?.created_by, 'mail:facturas')
  const { refusals } = await showMailbox(app)
  assert.deepEqual(refusals.map(({ reason }) => reason).sort(), ['no documents', 'winmail.dat'])
})

test('files without a clave of their own have that of the only invoice in their mail', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  await dovecot.deliver(createMail([FE, note('una')], { 'Message-ID': '<una@a>' }))
  const other = { ...FE, content: sampleInvoice({ clave: createClave('FacturaElectronica', 44) }) }
  await dovecot.deliver(createMail([FE, other, note('dos')], { 'Message-ID': '<dos@a>' }))
  await app.runRound()
  const notes = (await app.documents()).filter(({ name }) => name === 'nota.txt')
  assert.deepEqual(
    notes.map(({ invoice }) => invoice),
    [{ clave: SAMPLE_CLAVE, from: 'mail' }, undefined],
  )
})

test('a mail that is delivered twice becomes documents once, and both copies are moved', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  const mail = createMail([FE, note('a')])
  await dovecot.deliver(mail)
  await dovecot.deliver(mail)
  await app.runRound()
  await dovecot.deliver(mail)
  const mailbox = await app.runRound()
  assert.deepEqual(await names(app), ['FE.xml', 'nota.txt'])
  assert.deepEqual([mailbox.taken, dovecot.count(), dovecot.count('Procesados')], [1, 0, 3])
})

test('the same parts under another Message-ID become documents, and so do other parts under the same', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  await dovecot.deliver(createMail([note('a')], { 'Message-ID': '<1@a>' }))
  await dovecot.deliver(createMail([note('a')], { 'Message-ID': '<2@a>' }))
  await dovecot.deliver(createMail([note('b')], { 'Message-ID': '<1@a>' }))
  const { taken } = await app.runRound()
  assert.equal(taken, 3)
  assert.equal((await names(app)).length, 3)
})

test('mails that cannot be moved for days stay documents once, even if a worker deletes them', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  await app.runRound() // makes the folders
  const acceptMoves = dovecot.refuseMoves('Procesados')
  for (const text of ['a', 'b', 'c'])
    await dovecot.deliver(createMail([FE, note(text)], { 'Message-ID': `<${text}@a>` }))
  const failures: (string | null)[] = []
  for (let day = 1; day <= 4; day += 1) {
    const { failure, waiting } = await app.runRound(DAY_MINUTES)
    failures.push(failure)
    assert.ok(waiting === 3 || failure !== null)
    if (day === 1) {
      assert.equal((await names(app)).length, 6)
      await workAndDelete(app)
    } else assert.deepEqual(await names(app), [], `day ${day}`)
    if (day === 2) await dovecot.renewNumbers()
  }
  const stuck = 'mails of documents cannot be moved out of the folder'
  assert.deepEqual(failures, [null, null, stuck, stuck])
  assert.equal(dovecot.count(), 3)
  await dovecot.deliver(createMail([note('nueva')], { 'Message-ID': '<nueva@a>' }))
  await app.runRound(DAY_MINUTES)
  assert.deepEqual(await names(app), ['nota.txt'], 'other mails are taken meanwhile')
  acceptMoves()
  const { failure, waiting, taken } = await app.runRound()
  assert.deepEqual([failure, waiting, taken], [null, 0, 4])
  assert.deepEqual([dovecot.count(), dovecot.count('Procesados')], [0, 4])
  assert.deepEqual(await names(app), ['nota.txt'])
})

test('a folder with new numbers gives no document twice', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  await app.runRound()
  const acceptMoves = dovecot.refuseMoves('Procesados')
  for (let number = 0; number < 5; number += 1)
    await dovecot.deliver(createMail([note(`n${number}`)], { 'Message-ID': `<${number}@a>` }))
  await app.runRound()
  await dovecot.renewNumbers()
  acceptMoves()
  await dovecot.deliver(createMail([note('nueva')], { 'Message-ID': '<nueva@a>' }))
  const mailbox = await app.runRound()
  assert.deepEqual([mailbox.failure, mailbox.taken, mailbox.waiting], [null, 6, 0])
  assert.equal((await names(app)).length, 6)
})

test('`mailbox forget` lets a mail become documents again', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  const mail = createMail([note('a')])
  await dovecot.deliver(mail)
  await app.runRound()
  const line = app.logLines.find((one) => one.includes('mail kept')) ?? '{}'
  const { uid } = JSON.parse(line) as { uid: number }
  await runJson(app.dataDir, 'mailbox', 'forget', String(app.mailboxId), String(uid))
  await dovecot.deliver(mail)
  await app.runRound()
  assert.deepEqual(await names(app), ['nota.txt', 'nota.txt'])
})

test('mails without MOVE are copied, and only these are removed', async (t) => {
  const dovecot = await startDovecot(t, { capabilities: 'IMAP4rev1 UIDPLUS' })
  const app = await startMailApp(t, dovecot)
  await dovecot.deliver(createMail([note('a')]))
  await dovecot.deliver(createMail([note('b')]))
  const { failure, taken } = await app.runRound()
  assert.deepEqual([failure, taken, dovecot.count(), dovecot.count('Procesados')], [null, 2, 0, 2])
})

test('a mail is not moved into its own folder', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot, { done: 'inbox' })
  await dovecot.deliver(createMail([FE]))
  const { failure, failure_code } = await app.runRound()
  assert.equal(failure, 'mails would be moved into their own folder (INBOX)')
  assert.equal(failure_code, 'same_folder')
  assert.deepEqual([await names(app), dovecot.count()], [[], 1])
})

test('a server without MOVE and UIDPLUS is left alone', async (t) => {
  const dovecot = await startDovecot(t, { capabilities: 'IMAP4rev1' })
  const app = await startMailApp(t, dovecot)
  await dovecot.deliver(createMail([note('a')]))
  const { failure } = await app.runRound()
  assert.equal(failure, 'it knows neither MOVE nor UIDPLUS')
  assert.deepEqual([dovecot.count(), await names(app)], [1, []])
  await dovecot.restart()
  assert.deepEqual([(await app.runRound()).failure, await names(app)], [null, ['nota.txt']])
})

test('--allow-from refuses other senders, and --largest larger mails', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot, { allow_from: 'proveedor.example,eva@x.cr', largest: 4096 })
  const from = (sender: string, text = sender) =>
    dovecot.deliver(createMail([note(text)], { From: sender, 'Message-ID': `<${sender}@a>` }))
  await from('Ana <ana@proveedor.example>')
  await from('EVA@X.CR')
  await from('otra@x.cr')
  await from('ana@proveedor.example.evil.example')
  await from('ana@sub.proveedor.example', 'x'.repeat(5000))
  const mailbox = await app.runRound()
  assert.deepEqual([mailbox.taken, mailbox.refused, mailbox.failure], [2, 3, null])
  const { refusals } = await showMailbox(app)
  assert.deepEqual(refusals.map(({ reason }) => reason).sort(), ['sender', 'sender', 'too large'])
  assert.deepEqual([dovecot.count('Procesados'), dovecot.count('Rechazados')], [2, 3])
})

test('--by-tag chooses an active agent of the company', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot, { by_tag: 1 })
  await asOtherProcess(app, (db) =>
    db
      .insertInto('agents')
      .values({ id: 12, company_id: 1, name: 'Doce', description: '', active: 1, created_at: '2026-03-01' })
      .execute(),
  )
  const tags = { 12: 12, 2: 1, 3: 1, 99: 1 } // inactive, of another company, absent
  for (const tag of Object.keys(tags))
    await dovecot.deliver(
      createMail([note(tag)], { To: `facturas+${tag}@acme.example`, 'Message-ID': `<${tag}@a>` }),
    )
  await dovecot.deliver(createMail([note('cc')], { Cc: 'x+12@acme.example', 'Message-ID': '<cc@a>' }))
  await app.runRound()
  const agents = Object.fromEntries(
    (await app.documents()).map(({ agent_id, mail }) => [String(mail?.message_id), agent_id]),
  )
  assert.deepEqual(agents, { '<12@a>': 12, '<2@a>': 1, '<3@a>': 1, '<99@a>': 1, '<cc@a>': 12 })
})

test('a used-up quota and an inactive agent leave the mail, and later rounds take it', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  const setQuota = (quota: number | null) =>
    asOtherProcess(app, (db) => db.updateTable('companies').set({ quota }).where('id', '=', 1).execute())
  const setActive = (active: number) =>
    asOtherProcess(app, (db) => db.updateTable('agents').set({ active }).where('id', '=', 1).execute())
  await dovecot.deliver(createMail([FE]))
  await setQuota(100)
  assert.equal((await app.runRound()).failure, 'the quota of the company is used up')
  await setQuota(null)
  await setActive(0)
  assert.match((await app.runRound()).failure ?? '', /^its agent is inactive/)
  assert.deepEqual([dovecot.count(), await names(app)], [1, []])
  await setActive(1)
  const mailbox = await app.runRound()
  assert.deepEqual([mailbox.failure, mailbox.taken, mailbox.failures, dovecot.count()], [null, 1, 0, 0])
})

test('a disk without room leaves the mail', async (t) => {
  const dovecot = await startDovecot(t)
  const limits = { minFree: Number.MAX_SAFE_INTEGER }
  const app = await startMailApp(t, dovecot, {}, { limits })
  await dovecot.deliver(createMail([FE]))
  const { failure } = await app.runRound()
  assert.deepEqual([failure, dovecot.count(), await names(app)], ['the disk is full', 1, []])
})

test('refused mails that cannot be moved are recorded once', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  await app.runRound()
  const acceptMoves = dovecot.refuseMoves('Rechazados')
  await dovecot.deliver(createMail([]))
  await app.runRound()
  const { refused } = await app.runRound()
  assert.deepEqual([refused, dovecot.count()], [1, 1])
  acceptMoves()
  await app.runRound()
  assert.deepEqual([dovecot.count(), dovecot.count('Rechazados')], [0, 1])
})
