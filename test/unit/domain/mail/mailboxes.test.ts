// Mailboxes as an operator sets them, and the state of their rounds.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  changeMailbox,
  createMailbox,
  dueMailboxes,
  forgetMail,
  pauseMailbox,
  recordRefusedMail,
  recordRound,
  recordRoundFailure,
  removeMailbox,
  requireSameMailbox,
  resumeMailbox,
} from '../../../../src/domain/mail/mailbox-changes.ts'
import { atomically } from '../../../../src/store/engine.ts'
import {
  addMailCounts,
  findMailbox,
  hasDueMailbox,
  type MailboxSettings,
  selectMailboxes,
  updateMailbox,
} from '../../../../src/store/mail/mailboxes.ts'
import { insertMailMessage } from '../../../../src/store/mail/messages.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { AGENT, COMPANY, makeDirectory, OWNER, runJson } from '../../../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

const AT = '2026-03-24T12:00:00.000Z'
const MINUTE_MS = 60_000
const SETTINGS: MailboxSettings = {
  ...{ name: 'facturas', host: 'imap.example.com', port: 993, security: 'tls', user_name: 'f@example.com' },
  ...{ password_file: '/secrets/facturas', oauth_file: null, folder: 'INBOX', done: 'Procesados' },
  ...{ rejected: 'Rechazados', company_id: COMPANY, agent_id: AGENT, owner_id: OWNER },
  ...{
    allow_from: ['example.com', 'ana@x.cr'],
    ignore_names: ['logo*.png', 'firma?.jpg'],
    by_tag: true,
    largest: 41_943_040,
  },
}

async function openDirectory(t: TestContext): Promise<WriteDb> {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  await runJson(dataDir, 'company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '8')
  await runJson(dataDir, 'agent', 'create', '--company', '8', '--name', 'Otro', '--id', '13')
  await runJson(dataDir, 'owner', 'create', '--company', '8', '--name', 'Otro', '--id', '32')
  return temporaryDatabase(t, dataDir)
}

test('`createMailbox` stores the settings, and no state of a round', async (t) => {
  const db = await openDirectory(t)
  const id = await createMailbox(db, SETTINGS, AT)
  assert.deepEqual(await findMailbox(db, id), {
    ...{ id, ...SETTINGS, created_at: AT, paused_at: null, pause_reason: null },
    ...{
      last_round_at: null,
      last_success_at: null,
      failing_since: null,
      failure: null,
      failure_code: null,
      failures: 0,
    },
    ...{ reported_at: null, next_round_at: null, waiting: null, taken: 0, refused: 0, left_out: 0 },
  })
  const open = { ...SETTINGS, name: 'open', folder: 'Open', allow_from: [], by_tag: false }
  const mailbox = await findMailbox(db, await createMailbox(db, open, AT))
  assert.deepEqual([mailbox?.allow_from, mailbox?.by_tag], [[], false])
})

test('`createMailbox` rejects a second name, parties of other companies and the 51st mailbox', async (t) => {
  const db = await openDirectory(t)
  await createMailbox(db, SETTINGS, AT)
  const create = (change: Partial<MailboxSettings>) =>
    createMailbox(db, { ...SETTINGS, name: 'b', folder: 'b', ...change }, AT)
  await assert.rejects(create({ name: 'facturas' }), /mailbox 1 has the name "facturas" already/)
  await assert.rejects(create({ folder: 'inbox' }), /mailbox 1 takes the mails of this folder already/)
  const elsewhere = await create({ name: 'otro puerto', folder: 'INBOX', port: 1993 })
  await assert.rejects(
    changeMailbox(db, elsewhere, { port: SETTINGS.port }),
    /mailbox 1 takes the mails of this folder/,
  )
  await removeMailbox(db, elsewhere, AT)
  await assert.rejects(create({ done: 'b' }), /--done must be another folder than --folder, which is b/)
  await assert.rejects(create({ security: 'none' }), /--security none is for a server on this machine alone/)
  await assert.rejects(create({ company_id: 9 }), /there is no company 9/)
  await assert.rejects(create({ agent_id: 99 }), /there is no agent 99/)
  await assert.rejects(create({ owner_id: 99 }), /there is no owner 99/)
  await assert.rejects(create({ agent_id: 13 }), /agent 13 is of company 8, not 7/)
  await assert.rejects(create({ owner_id: 32 }), /owner 32 is of company 8, not 7/)
  for (let at = 2; at <= 50; at++) await create({ name: `m${at}`, folder: `${at}` })
  await assert.rejects(create({}), /there are 50 mailboxes already: delete one/)
})

test('`changeMailbox` changes settings alone, and makes the next round due', async (t) => {
  const db = await openDirectory(t)
  const id = await createMailbox(db, SETTINGS, AT)
  await createMailbox(db, { ...SETTINGS, name: 'b', folder: 'b' }, AT)
  await recordRoundFailure(db, id, { now: new Date(AT), failure: 'the server refused the password' })
  const change = { password_file: null, oauth_file: '/secrets/oauth', by_tag: false, allow_from: [] }
  const mailbox = await changeMailbox(db, id, change)
  assert.deepEqual(await findMailbox(db, id), mailbox)
  assert.deepEqual(
    [mailbox?.oauth_file, mailbox?.password_file, mailbox?.by_tag, mailbox?.allow_from],
    ['/secrets/oauth', null, false, []],
  )
  assert.deepEqual([mailbox?.next_round_at, mailbox?.failures], [null, 1])
  assert.equal(await changeMailbox(db, 99, {}), undefined)
  assert.equal((await changeMailbox(db, id, { name: 'facturas' }))?.name, 'facturas')
  await assert.rejects(changeMailbox(db, id, { name: 'b' }), /mailbox 2 has the name "b" already/)
  await assert.rejects(changeMailbox(db, id, { company_id: 8 }), /agent 12 is of company 7, not 8/)
  const elsewhere = await changeMailbox(db, id, { company_id: 8, agent_id: 13, owner_id: 32 })
  assert.equal(elsewhere?.company_id, 8)
})

test('a mailbox is due unless it is paused or waits for its next round', async (t) => {
  const db = await openDirectory(t)
  const now = new Date(AT)
  const ids: number[] = []
  for (const name of ['a', 'b', 'c', 'd'])
    ids.push(await createMailbox(db, { ...SETTINGS, name, folder: name }, AT))
  const [a = 0, b = 0, c = 0, d = 0] = ids
  const due = async (after: number) =>
    dueMailboxes(await selectMailboxes(db), new Date(now.getTime() + after)).map(({ id }) => id)
  await recordRound(db, a, { now, waiting: 0 })
  await recordRoundFailure(db, b, { now, failure: 'no answer', isRefused: true })
  assert.equal((await pauseMailbox(db, c, AT))?.pause_reason, 'operator')
  assert.deepEqual(await due(0), [d])
  assert.deepEqual(await due(MINUTE_MS), [d, a])
  assert.deepEqual(await due(30 * MINUTE_MS), [d, a, b])
  assert.equal((await pauseMailbox(db, c, '2026-03-25T12:00:00.000Z'))?.paused_at, AT)
  assert.deepEqual((await resumeMailbox(db, c))?.paused_at, null)
  await resumeMailbox(db, b)
  assert.deepEqual((await due(0)).toSorted(), [b, c, d])
  assert.deepEqual([await pauseMailbox(db, 99, AT), await resumeMailbox(db, 99)], [undefined, undefined])
})

test('the round of a mailbox that an operator resumes during a failing round stays due', async (t) => {
  const db = await openDirectory(t)
  const id = await createMailbox(db, SETTINGS, AT)
  const failure = { now: new Date(AT), failure: 'the server refused the password', isRefused: true }
  await recordRoundFailure(db, id, failure)
  const { next_round_at: planned = null } = (await findMailbox(db, id)) ?? {}
  await pauseMailbox(db, id, AT)
  await resumeMailbox(db, id)
  assert.equal((await recordRoundFailure(db, id, { ...failure, planned })).nextRound, AT)
  const row = await findMailbox(db, id)
  assert.deepEqual([row?.next_round_at, row?.failures], [null, 2])
})

test('`recordRoundFailure` retries after 1, 2, 5, 10 and 30 minutes, and reports once a day', async (t) => {
  const db = await openDirectory(t)
  const id = await createMailbox(db, SETTINGS, AT)
  const fail = (now: Date) => recordRoundFailure(db, id, { now, failure: 'no answer' })
  let now = new Date(AT)
  const delays: number[] = []
  const reports: boolean[] = []
  for (let round = 0; round < 7; round++) {
    const { nextRound, reportNow } = await fail(now)
    delays.push((Date.parse(nextRound) - now.getTime()) / MINUTE_MS)
    reports.push(reportNow)
    now = new Date(nextRound)
  }
  assert.deepEqual(delays, [1, 2, 5, 10, 30, 30, 30])
  assert.deepEqual(reports, [true, ...Array(6).fill(false)])
  assert.equal((await fail(new Date('2026-03-25T05:59:00.000Z'))).reportNow, false, 'the same day here')
  assert.equal((await fail(new Date('2026-03-25T06:00:00.000Z'))).reportNow, true)
  const failing = await findMailbox(db, id)
  assert.deepEqual([failing?.failing_since, failing?.failure, failing?.failures], [AT, 'no answer', 9])
  assert.equal(await recordRound(db, id, { now, waiting: 3 }), AT)
  const works = await findMailbox(db, id)
  assert.deepEqual([works?.failing_since, works?.failure, works?.failures], [null, null, 0])
  assert.deepEqual([works?.waiting, works?.last_success_at], [3, now.toISOString()])
  assert.equal(await recordRound(db, id, { now, waiting: 0 }), null)
  assert.equal((await fail(now)).reportNow, true, 'a new failure')
})

test('`requireSameMailbox` ends the transaction of a mailbox that was paused, changed or deleted', async (t) => {
  const db = await openDirectory(t)
  const id = await createMailbox(db, SETTINGS, AT)
  const mailbox = await findMailbox(db, id)
  assert.ok(mailbox)
  const check = () => atomically(db, (trx) => requireSameMailbox(trx, mailbox))
  await check()
  await changeMailbox(db, id, { folder: 'Otra' })
  await assert.rejects(check(), /mailbox 1 is changed/)
  await changeMailbox(db, id, { folder: mailbox.folder })
  await check()
  await pauseMailbox(db, id, AT)
  await assert.rejects(check(), /mailbox 1 is paused/)
  await removeMailbox(db, id, AT)
  await assert.rejects(check(), /mailbox 1 is deleted/)
})

test('a mailbox is due whose next round is later than any pause: the clock was set back', async (t) => {
  const db = await openDirectory(t)
  const id = await createMailbox(db, SETTINGS, AT)
  const now = new Date(AT)
  const isDue = async (minutes: number) => {
    const next_round_at = new Date(now.getTime() + minutes * 60_000).toISOString()
    await updateMailbox(db, id, { next_round_at })
    const due = dueMailboxes(await selectMailboxes(db), now)
    assert.equal(await hasDueMailbox(db, now), due.length === 1)
    return due.length === 1
  }
  for (const [minutes, expected] of [
    [-1, true],
    [0, true],
    [1, false],
    [30, false],
    [32, true],
    [3_000_000, true],
  ] as const)
    assert.equal(await isDue(minutes), expected, String(minutes))
})

test('`removeMailbox` deletes what is known of its mails, and frees its name', async (t) => {
  const db = await openDirectory(t)
  const id = await createMailbox(db, SETTINGS, AT)
  await insertMailMessage(db, { key: 'a'.repeat(64), mailbox_id: id, uidvalidity: 1, uid: 1, at: AT })
  const refusal = {
    ...{ mailbox_id: id, uidvalidity: 1, uid: 2, size: 1, reason: 'sender', at: AT },
    ...{ from_text: 'Ana', subject: null, parts: '[]' },
  }
  assert.deepEqual(
    [await recordRefusedMail(db, refusal), await recordRefusedMail(db, refusal)],
    [true, false],
  )
  await addMailCounts(db, id, { taken: 2, left_out: 3 })
  const counted = await findMailbox(db, id)
  assert.deepEqual([counted?.taken, counted?.refused, counted?.left_out], [2, 1, 3])
  assert.equal(await removeMailbox(db, id, AT), true)
  assert.equal(await removeMailbox(db, id, AT), false)
  for (const table of ['mail_messages', 'mail_left'] as const)
    assert.deepEqual(await db.selectFrom(table).selectAll().execute(), [])
  assert.deepEqual([await findMailbox(db, id), await selectMailboxes(db)], [undefined, []])
  assert.equal(await createMailbox(db, SETTINGS, AT), id + 1)
})

test('`forgetMail` forgets a mail by the number that the log had', async (t) => {
  const db = await openDirectory(t)
  const id = await createMailbox(db, SETTINGS, AT)
  await insertMailMessage(db, { key: 'a'.repeat(64), mailbox_id: id, uidvalidity: 1, uid: 7, at: AT })
  await assert.rejects(forgetMail(db, id, 8), /mailbox 1 has taken no mail 8: UID is the number/)
  assert.equal(await forgetMail(db, 99, 7), undefined)
  assert.equal((await forgetMail(db, id, 7))?.key, 'a'.repeat(64))
  await assert.rejects(forgetMail(db, id, 7), /has taken no mail 7/)
})
