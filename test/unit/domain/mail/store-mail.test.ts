// Mails as uploads: their documents, facts and records are stored together, once.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createWaiters } from '../../../../src/domain/documents/arrivals.ts'
import { createInvoiceTally } from '../../../../src/domain/documents/uploads/uploaded-files.ts'
import { createHook } from '../../../../src/domain/hooks/hook-changes.ts'
import { mailKey } from '../../../../src/domain/mail/mail-key.ts'
import { pauseMailbox } from '../../../../src/domain/mail/mailbox-changes.ts'
import { createMailStore, type ReadMail } from '../../../../src/domain/mail/store-mail.ts'
import type { MailContents } from '../../../../src/formats/mail/mail.ts'
import { createSemaphore } from '../../../../src/runtime/semaphore.ts'
import { updateCompanySettings } from '../../../../src/store/directory/companies.ts'
import type { Arrival, Lock } from '../../../../src/store/engine.ts'
import { findMailbox, updateMailbox } from '../../../../src/store/mail/mailboxes.ts'
import { selectMailsByKey } from '../../../../src/store/mail/messages.ts'
import { AGENT, blobHashes, COMPANY, makeDirectory, openTestBlobs } from '../../../support/company.ts'
import { createClave, sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import { insertTestMailbox } from '../../../support/mail/mailboxes.ts'
import { fixedClock, refuseRows, temporaryDirectory, temporaryEngine } from '../../../support/temporary.ts'

const LOCK: Lock = {
  check: async () => {},
  outlivesHolderMs: 0,
  lost: new AbortController().signal,
  release: async () => {},
}
const SHA256_OF_A = hash('sha256', 'a')
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
  const arrivals: number[] = []
  const waiters = { ...createWaiters(), announce: ({ agentId }: Arrival) => void arrivals.push(agentId) }
  const store = createMailStore({
    ...{ db, blobs, clock: fixedClock().read, waiters, minFree: 0 },
    wakeHooks: () => void wakes++,
    ...{ turns: createSemaphore(1), invoices: createInvoiceTally() },
  })
  const mail = (parts: Record<string, string>, more: Partial<MailContents> = {}, uid = 1): ReadMail => ({
    ...{ mailbox, tagAgents: [], uidvalidity: 3, uid, size: 900, receivedAt: '2026-03-24T11:00:00.000Z' },
    contents: {
      ...{ messageId: '<a@example.com>', from: 'ana@example.com', fromText: 'Ana', subject: 'Facturas' },
      ...{ recipients: [], left: [], inline: 0, bodies: 1, ...more },
      parts: Object.entries(parts).map(([name, text]) => ({
        ...{ name, type: 'application/xml', bytes: new TextEncoder().encode(text) },
        note: name.startsWith('otra') ? 'damaged' : null,
      })),
    },
  })
  /** Adds agents, as inactive if `active` is 0. */
  const addAgents = async (ids: readonly number[], active = 1) => {
    const agent = { company_id: COMPANY, description: '', active, created_at: '2026-03-01T12:00:00.000Z' }
    const rows = ids.map((id) => ({ ...agent, id, name: `Agent ${id}` }))
    await db.insertInto('agents').values(rows).execute()
  }
  const agents = async () =>
    (await db.selectFrom('documents').select('agent_id').orderBy('id').execute()).map((row) => row.agent_id)
  /** Sets `--by-tag`. Returns mails with the tags of agents. */
  const startTags = async () => {
    await updateMailbox(db, id, { by_tag: true })
    return (parts: Record<string, string>, tagAgents: readonly number[]): ReadMail => ({
      ...{ ...mail(parts), tagAgents },
      mailbox: { ...mailbox, by_tag: true },
    })
  }
  const names = async () =>
    (
      await db
        .selectFrom('documents')
        .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
        .select('attachments.name')
        .orderBy('documents.id')
        .execute()
    ).map(({ name }) => name)
  return { db, blobs, id, arrivals, startTags, store, mail, addAgents, agents, names, wakes: () => wakes }
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
  assert.deepEqual([again.isNew, again.keys, wakes()], [false, first.keys, 1])
  assert.deepEqual(await names(), Object.keys(parts))
  const mails = await db.selectFrom('document_mail').selectAll().orderBy('document_id').execute()
  assert.deepEqual(
    mails.map(({ document_id: _, ...row }) => row),
    [null, 'damaged', null].map((note) => ({
      ...{ mailbox_id: 1, from_text: 'Ana', subject: 'Facturas', message_id: '<a@example.com>', note },
      received_at: '2026-03-24T11:00:00.000Z',
    })),
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
  assert.deepEqual([again.isNew, again.keys], [false, first.keys])
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

test('each agent of a mail gets an upload with its hook messages, and a blob is stored once', async (t) => {
  const { db, blobs, arrivals, store, startTags, addAgents, agents, names } = await open(t)
  await addAgents([13, 14])
  const hook = { url: 'https://example.com/', company_id: null, agent_id: null }
  await createHook(db, Buffer.alloc(32), { ...hook, events: ['document.created'] }, 'then')
  const tagMail = await startTags()
  const tags = [14, AGENT, 13]
  const first = await store(tagMail({ 'a.txt': 'a', 'b.txt': 'a' }, tags), LOCK)
  assert.deepEqual([first.isNew, first.isKnown, first.count, first.firstId], [true, false, 6, 1])
  assert.deepEqual(await agents(), [14, 14, AGENT, AGENT, 13, 13])
  assert.deepEqual(await names(), Array(3).fill(['a.txt', 'b.txt']).flat())
  assert.equal((await blobHashes(blobs)).length, 1)
  const { used } = await db.selectFrom('companies').select('used').executeTakeFirstOrThrow()
  const { taken } = await db.selectFrom('mailboxes').select('taken').executeTakeFirstOrThrow()
  assert.deepEqual([used, taken], [6, 1])
  assert.equal((await db.selectFrom('document_mail').selectAll().execute()).length, 6)
  const messages = await db.selectFrom('hook_messages').select('body').orderBy('id').execute()
  const agentIds = messages.map(({ body }) => JSON.parse(body).data.agent_id)
  assert.deepEqual([agentIds, arrivals], [tags, tags])
})

test('a quota counts a mail for each of its agents', async (t) => {
  const { db, blobs, store, startTags, addAgents, names } = await open(t)
  await addAgents([13])
  const tagMail = await startTags()
  const tags = [AGENT, 13]
  await updateCompanySettings(db, COMPANY, { quota: 5 })
  await assert.rejects(store(tagMail({ 'a.txt': 'abc' }, tags), LOCK), /The quota of 5 bytes/)
  assert.deepEqual([await names(), await blobHashes(blobs)], [[], []])
  await updateCompanySettings(db, COMPANY, { quota: 6 })
  assert.equal((await store(tagMail({ 'a.txt': 'abc' }, tags), LOCK)).count, 2)
})

test('a mail reaches all its agents or none', async (t) => {
  const { db, blobs, store, startTags, addAgents, names } = await open(t)
  await addAgents([13], 0)
  const tagMail = await startTags()
  const tags = [AGENT, 13]
  await assert.rejects(store(tagMail({ 'a.txt': 'a' }, tags), LOCK), /Agent not found/)
  await db.updateTable('agents').set({ active: 1 }).execute()
  await refuseRows(db, 'document_mail')
  await assert.rejects(store(tagMail({ 'a.txt': 'a' }, tags), LOCK))
  assert.deepEqual([await names(), await blobHashes(blobs)], [[], []])
  assert.deepEqual(await db.selectFrom('mail_messages').selectAll().execute(), [])
})

test('a mail that 1.0.0 took, or from before --by-tag, is known for every agent', async (t) => {
  const { store, mail, startTags, addAgents, agents } = await open(t)
  await addAgents([13])
  const { keys } = await store(mail({ 'a.txt': 'a' }), LOCK)
  assert.deepEqual(keys, [mailKey(1, '<a@example.com>', [SHA256_OF_A])])
  const tagMail = await startTags()
  for (const tagAgents of [[], [AGENT], [13]]) {
    const again = await store(tagMail({ 'a.txt': 'a' }, tagAgents), LOCK)
    assert.deepEqual([again.isNew, again.isKnown], [false, true])
  }
  assert.deepEqual(await agents(), [AGENT])
})

test('a mail by tag has a row with the key of 1.0.0, and is known without --by-tag', async (t) => {
  const { db, id, store, mail, startTags, addAgents, agents } = await open(t)
  await addAgents([13])
  const tagMail = await startTags()
  const tags = [13]
  await store(tagMail({ 'a.txt': 'a' }, tags), LOCK)
  const [row] = await selectMailsByKey(db, [mailKey(1, '<a@example.com>', [SHA256_OF_A])])
  assert.ok(row)
  await updateMailbox(db, id, { by_tag: false })
  assert.equal((await store(mail({ 'a.txt': 'a' }), LOCK)).isNew, false)
  assert.deepEqual(await agents(), [13])
})
