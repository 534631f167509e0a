// Rows of mails: known mails, refused mails, and the mail of a document.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { removeDocuments } from '../../../../src/domain/documents/removal.ts'
import { selectDocuments } from '../../../../src/store/documents/documents.ts'
import { atomically } from '../../../../src/store/engine.ts'
import { insertDocumentMail, selectDocumentMail } from '../../../../src/store/mail/document-mail.ts'
import { insertLeftMail, selectLeftMails } from '../../../../src/store/mail/left-mails.ts'
import {
  addMoveFailure,
  deleteMailMessage,
  insertMailMessage,
  selectMailMessages,
  selectMailsByKey,
  updateMailMoved,
  updateMailSeen,
} from '../../../../src/store/mail/messages.ts'
import { ANA, makeDirectory, openTestBlobs, storeTexts } from '../../../support/company.ts'
import { insertTestMailbox } from '../../../support/mail/mailboxes.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

const AT = '2026-03-24T12:00:00.000Z'
const LATER = '2026-03-25T12:00:00.000Z'
const [KEY, OTHER_KEY] = ['a', 'b'].map((digit) => digit.repeat(64)) as [string, string]

async function openMailbox(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = temporaryDatabase(t, dataDir)
  return { db, dataDir, mailbox_id: await insertTestMailbox(db) }
}

test('`insertMailMessage` returns false for a key that exists, and changes nothing', async (t) => {
  const { db, mailbox_id } = await openMailbox(t)
  const place = { mailbox_id, uidvalidity: 5, uid: 11 }
  assert.equal((await selectMailsByKey(db, [KEY]))[0], undefined)
  const insert = (uid: number) =>
    atomically(db, (trx) => insertMailMessage(trx, { key: KEY, ...place, uid, at: AT }))
  assert.equal(await insert(11), true)
  const row = { key: KEY, ...place, taken_uid: 11, taken_at: AT, last_seen_at: AT }
  const expected = { ...row, moved_at: null, move_failures: 0 }
  assert.deepEqual((await selectMailsByKey(db, [KEY]))[0], expected)
  assert.equal(await insert(12), false)
  assert.deepEqual((await selectMailsByKey(db, [KEY]))[0], expected)
})

test('a rollback of the documents of a mail forgets the mail', async (t) => {
  const { db, mailbox_id } = await openMailbox(t)
  const failing = atomically(db, async (trx) => {
    await insertMailMessage(trx, { key: KEY, mailbox_id, uidvalidity: 5, uid: 11, at: AT })
    throw new Error('the disk is full')
  })
  await assert.rejects(failing, /disk is full/)
  assert.equal((await selectMailsByKey(db, [KEY]))[0], undefined)
})

test('`selectMailMessages` returns the known mails of a folder by their present number', async (t) => {
  const { db, mailbox_id } = await openMailbox(t)
  const other = await insertTestMailbox(db, { name: 'other' })
  const insert = (key: string, mailbox: number, uid: number) =>
    insertMailMessage(db, { key, mailbox_id: mailbox, uidvalidity: 5, uid, at: AT })
  await insert(KEY, mailbox_id, 11)
  await insert(OTHER_KEY, other, 12)
  const uids = async (uidvalidity: number) => {
    const all = Array.from({ length: 1200 }, (_, at) => at)
    return [...(await selectMailMessages(db, { mailbox_id, uidvalidity }, all)).keys()]
  }
  assert.deepEqual(await uids(5), [11])
  await updateMailSeen(db, [KEY], { uidvalidity: 6, uid: 900, at: LATER })
  assert.deepEqual([await uids(5), await uids(6)], [[], [900]])
  const row = (await selectMailsByKey(db, [KEY]))[0]
  assert.deepEqual([row?.taken_uid, row?.last_seen_at], [11, LATER])
})

test('failed moves of a mail are counted until it has left its folder', async (t) => {
  const { db, mailbox_id } = await openMailbox(t)
  await insertMailMessage(db, { key: KEY, mailbox_id, uidvalidity: 5, uid: 11, at: AT })
  assert.deepEqual([await addMoveFailure(db, [KEY]), await addMoveFailure(db, [KEY])], [1, 2])
  assert.equal(await addMoveFailure(db, [OTHER_KEY]), 0)
  await updateMailMoved(db, [KEY], LATER)
  const row = (await selectMailsByKey(db, [KEY]))[0]
  assert.deepEqual([row?.move_failures, row?.moved_at], [0, LATER])
})

test('`deleteMailMessage` deletes the mail that was taken last with a number, of this mailbox alone', async (t) => {
  const { db, mailbox_id } = await openMailbox(t)
  const other = await insertTestMailbox(db, { name: 'other' })
  const rows = [
    { key: KEY, mailbox_id, uidvalidity: 5, uid: 11, at: AT },
    { key: OTHER_KEY, mailbox_id, uidvalidity: 6, uid: 11, at: LATER },
    { key: 'c'.repeat(64), mailbox_id: other, uidvalidity: 6, uid: 11, at: LATER },
  ]
  for (const row of rows) await insertMailMessage(db, row)
  await updateMailSeen(db, [OTHER_KEY], { uidvalidity: 7, uid: 1, at: LATER })
  assert.equal((await deleteMailMessage(db, mailbox_id, 11))?.key, OTHER_KEY)
  assert.equal((await deleteMailMessage(db, mailbox_id, 11))?.key, KEY)
  assert.equal(await deleteMailMessage(db, mailbox_id, 11), undefined)
  assert.equal((await db.selectFrom('mail_messages').selectAll().execute()).length, 1)
})

test('the rows of a mail of several agents change together, and are deleted together', async (t) => {
  const { db, mailbox_id } = await openMailbox(t)
  const place = { mailbox_id, uidvalidity: 5, uid: 11, at: AT }
  const third = 'c'.repeat(64)
  await insertMailMessage(db, { key: KEY, ...place, taken_uid: 0 })
  await insertMailMessage(db, { key: OTHER_KEY, ...place })
  await insertMailMessage(db, { key: third, ...place, uid: 12 })
  const messages = await selectMailMessages(db, { mailbox_id, uidvalidity: 5 }, [11, 12])
  assert.deepEqual([...messages].toSorted(), [
    [11, [KEY, OTHER_KEY]],
    [12, [third]],
  ])
  await updateMailSeen(db, [KEY, OTHER_KEY], { uidvalidity: 6, uid: 3, at: LATER })
  assert.equal(await addMoveFailure(db, [KEY, OTHER_KEY, 'd'.repeat(64)]), 1)
  assert.equal((await deleteMailMessage(db, mailbox_id, 11))?.uid, 3)
  const rows = await db.selectFrom('mail_messages').select(['key', 'move_failures']).execute()
  assert.deepEqual(rows, [{ key: third, move_failures: 0 }])
})

test('`insertLeftMail` records a mail once, and the last 20 of a mailbox', async (t) => {
  const { db, mailbox_id } = await openMailbox(t)
  const other = await insertTestMailbox(db, { name: 'other' })
  const refuse = (mailbox: number, uid: number, facts: { reason?: string | null; parts?: string } = {}) =>
    atomically(db, (trx) =>
      insertLeftMail(trx, {
        ...{ mailbox_id: mailbox, uidvalidity: 5, uid, size: 900, reason: uid % 2 ? 'sender' : null },
        ...{ from_text: null, subject: 'Factura', parts: '[]' },
        at: new Date(Date.parse(AT) + uid * 1000).toISOString(),
        ...facts,
      }),
    )
  assert.equal(await refuse(other, 1), true)
  for (let uid = 1; uid <= 22; uid++) assert.equal(await refuse(mailbox_id, uid), true)
  assert.equal(await refuse(mailbox_id, 21), false)
  const parts = JSON.stringify([{ name: 'a.pdf', reason: 'empty' }])
  const rows = async () => (await selectLeftMails(db, [mailbox_id])).filter(({ uid }) => uid > 20)
  for (const facts of [{ reason: null }, { reason: null, parts }, { reason: 'too large' }]) {
    assert.equal(await refuse(mailbox_id, 21, facts), true)
    const [last, renewed] = (await rows()).map(({ reason, parts }) => ({ reason, parts }))
    assert.deepEqual(
      [last, renewed],
      [
        { reason: null, parts: '[]' },
        { parts: '[]', ...facts },
      ],
    )
  }
  const uids = async (mailbox: number) => (await selectLeftMails(db, [mailbox])).map(({ uid }) => uid)
  assert.deepEqual(
    await uids(mailbox_id),
    Array.from({ length: 20 }, (_, at) => 22 - at),
  )
  assert.deepEqual(await uids(other), [1])
})

test('the mail of a document is deleted with the document', async (t) => {
  const { db, dataDir, mailbox_id } = await openMailbox(t)
  const blobs = await openTestBlobs(dataDir)
  const [first = 0, second = 0, third = 0] = await storeTexts(db, blobs, ['a', 'b', 'c'])
  const mail = {
    ...{ mailbox_id, from_text: 'Ana <ana@example.com>', subject: 'Factura', received_at: AT },
    ...{ message_id: '<1@example.com>', note: null },
  }
  const rows = [first, second].map((document_id) => ({ document_id, ...mail }))
  await atomically(db, (trx) => insertDocumentMail(trx, rows))
  const mails = await selectDocumentMail(db, [first, second, third])
  assert.deepEqual([...mails.keys()].toSorted(), [first, second])
  assert.deepEqual(mails.get(first), { document_id: first, ...mail })
  assert.deepEqual(await selectDocumentMail(db, []), new Map())
  await removeDocuments(db, blobs, await selectDocuments(db, { id: first, limit: 1 }), ANA, () => undefined)
  assert.deepEqual([...(await selectDocumentMail(db, [first, second])).keys()], [second])
})
