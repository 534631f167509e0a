// Mails as uploads: their documents, facts and records are stored together, once.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createWaiters } from '../../../../src/domain/documents/arrivals.ts'
import { createInvoiceTally } from '../../../../src/domain/documents/uploads/uploaded-files.ts'
import { pauseMailbox } from '../../../../src/domain/mail/mailbox-changes.ts'
import { createMailStore, type ReadMail } from '../../../../src/domain/mail/store-mail.ts'
import type { MailContents } from '../../../../src/formats/mail/mail.ts'
import { createSemaphore } from '../../../../src/runtime/semaphore.ts'
import { updateCompanySettings } from '../../../../src/store/directory/companies.ts'
import type { Lock } from '../../../../src/store/engine.ts'
import { findMailbox } from '../../../../src/store/mail/mailboxes.ts'
import { AGENT, blobHashes, COMPANY, makeDirectory, openTestBlobs } from '../../../support/company.ts'
import { createClave, sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import { insertTestMailbox } from '../../../support/mail/mailboxes.ts'
import { fixedClock, temporaryDirectory, temporaryEngine } from '../../../support/temporary.ts'

const LOCK: Lock = {
  check: async () => {},
  outlivesHolderMs: 0,
  lost: new AbortController().signal,
  release: async () => {},
}
const CLAVE = createClave('FacturaElectronica', 7)

async function open(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const { db } = await temporaryEngine(t, dataDir)
  const blobs = await openTestBlobs(dataDir)
  const id = await insertTestMailbox(db)
  const mailbox = await findMailbox(db, id)
  assert.ok(mailbox)
  let wakes = 0
  const store = createMailStore({
    ...{ db, blobs, clock: fixedClock().read, waiters: createWaiters(), minFree: 0 },
    wakeHooks: () => void wakes++,
    ...{ turns: createSemaphore(1), invoices: createInvoiceTally() },
  })
  const mail = (parts: Record<string, string>, more: Partial<MailContents> = {}, uid = 1): ReadMail => ({
    ...{ mailbox, agentId: AGENT, uidvalidity: 3, uid, receivedAt: '2026-03-24T11:00:00.000Z' },
    contents: {
      ...{ messageId: '<a@example.com>', from: 'ana@example.com', fromText: 'Ana', subject: 'Facturas' },
      ...{ recipients: [], ...more },
      parts: Object.entries(parts).map(([name, text]) => ({
        ...{ name, type: 'application/xml', bytes: new TextEncoder().encode(text) },
      })),
    },
  })
  const names = async () =>
    (
      await db
        .selectFrom('documents')
        .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
        .select('attachments.name')
        .orderBy('documents.id')
        .execute()
    ).map(({ name }) => name)
  return { db, blobs, id, store, mail, names, wakes: () => wakes }
}

test('the parts of a mail become documents with their mail, once', async (t) => {
  const { db, store, mail, names, wakes, blobs } = await open(t)
  const parts = {
    'factura.xml': sampleInvoice({ clave: CLAVE }),
    'otra.pdf': '%PDF',
    [`${CLAVE}.pdf`]: '%PDF-1.7',
  }
  const first = await store(mail(parts), LOCK)
  assert.deepEqual([first.isNew, first.count, wakes()], [true, 3, 1])
  const again = await store(mail(parts, { subject: 'Otro' }, 9), LOCK)
  assert.deepEqual([again.isNew, again.key, wakes()], [false, first.key, 1])
  assert.deepEqual(await names(), Object.keys(parts))
  const mails = await db.selectFrom('document_mail').selectAll().orderBy('document_id').execute()
  assert.deepEqual(
    mails.map(({ document_id: _, ...row }) => row),
    Array(3).fill({
      ...{ mailbox_id: 1, from_text: 'Ana', subject: 'Facturas', message_id: '<a@example.com>' },
      received_at: '2026-03-24T11:00:00.000Z',
    }),
  )
  const invoices = await db
    .selectFrom('invoices')
    .select(['source', 'clave'])
    .orderBy('document_id')
    .execute()
  assert.deepEqual(invoices, [
    { source: 'content', clave: CLAVE },
    { source: 'mail', clave: CLAVE },
    { source: 'name', clave: CLAVE },
  ])
  assert.equal((await blobHashes(blobs)).length, 3)
  const { taken } = await db.selectFrom('mailboxes').select('taken').executeTakeFirstOrThrow()
  assert.equal(taken, 1)
})

test('other parts, or another Message-ID, are another mail', async (t) => {
  const { store, mail, names } = await open(t)
  await store(mail({ 'a.txt': 'a' }), LOCK)
  assert.equal((await store(mail({ 'a.txt': 'b' }), LOCK)).isNew, true)
  assert.equal((await store(mail({ 'a.txt': 'a' }, { messageId: '<b@example.com>' }), LOCK)).isNew, true)
  assert.equal((await store(mail({ 'a.txt': 'a' }, { messageId: null }), LOCK)).isNew, true)
  assert.equal((await names()).length, 4)
})

test('two claves in a mail give the other files none', async (t) => {
  const { db, store, mail } = await open(t)
  const bill = (number: number) => sampleInvoice({ clave: createClave('FacturaElectronica', number) })
  await store(mail({ 'a.xml': bill(1), 'b.xml': bill(2), 'c.pdf': '%PDF' }), LOCK)
  const rows = await db.selectFrom('invoices').select('source').execute()
  assert.deepEqual(rows, [{ source: 'content' }, { source: 'content' }])
})

test('an invoice with a fault in a mail gives the other files no clave', async (t) => {
  const { db, store, mail } = await open(t)
  const xml = { 'a.xml': sampleInvoice(), 'b.xml': sampleInvoice({ rate: 'x' }) }
  await store(mail({ ...xml, 'a.pdf': '%PDF', 'b.pdf': '%PDF' }), LOCK)
  const rows = await db.selectFrom('invoices').select(['source', 'fault']).orderBy('document_id').execute()
  assert.deepEqual(rows, [
    { source: 'content', fault: null },
    { source: 'content', fault: 'TipoCambio is not an amount' },
  ])
})

test('the same mail twice at once is stored once', async (t) => {
  const { store, mail, names } = await open(t)
  const parts = { 'a.txt': 'a' }
  const results = await Promise.all([1, 2, 3].map((uid) => store(mail(parts, {}, uid), LOCK)))
  assert.equal(results.filter(({ isNew }) => isNew).length, 1)
  assert.deepEqual(await names(), ['a.txt'])
})

test('a full quota does not stop a mail whose parts are documents already', async (t) => {
  const { db, store, mail } = await open(t)
  const first = await store(mail({ 'a.txt': 'a' }), LOCK)
  await updateCompanySettings(db, COMPANY, { quota: 1 })
  const again = await store(mail({ 'a.txt': 'a' }, {}, 2), LOCK)
  assert.deepEqual([again.isNew, again.key], [false, first.key])
})

test('a full quota, a paused mailbox and a lost lock store nothing', async (t) => {
  const { db, blobs, id, store, mail, names } = await open(t)
  const expired = { ...LOCK, check: () => Promise.reject(new Error('the lock is lost')) }
  await assert.rejects(store(mail({ 'a.txt': 'a' }), expired), /the lock is lost/)
  await updateCompanySettings(db, COMPANY, { quota: 10 })
  await assert.rejects(store(mail({ 'a.txt': 'eleven bytes' }), LOCK), /The quota of 10 bytes/)
  await updateCompanySettings(db, COMPANY, { quota: null })
  await pauseMailbox(db, id, '2026-03-24T12:00:00.000Z')
  await assert.rejects(store(mail({ 'a.txt': 'a' }), LOCK), /mailbox 1 is paused/)
  assert.deepEqual(await names(), [])
  assert.deepEqual(await blobHashes(blobs), [])
  assert.equal((await db.selectFrom('mail_messages').selectAll().execute()).length, 0)
})
