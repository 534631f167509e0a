// --by-tag: the tags of a mail's addresses choose its agents, and each of them gets the documents once.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { findMailbox } from '../../../src/store/mail/mailboxes.ts'
import { asOtherProcess } from '../../api/support.ts'
import { COMPANY, runJson } from '../../support/company.ts'
import { createMail } from '../../support/documents/mails.ts'
import { type Dovecot, startDovecot } from '../../support/mail/dovecot.ts'
import { type MailApp, startMailApp } from '../../support/mail/mail-app.ts'
import { openMailWorld, startRound, untilRoundEnds } from '../../support/mail/mail-program.ts'
import { startRelay } from '../../support/mail/relay.ts'

const AGENTS = Array.from({ length: 12 }, (_, at) => 11 + at)
const INACTIVE = 40

async function openTags(t: TestContext): Promise<{ dovecot: Dovecot; app: MailApp }> {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot, { by_tag: 1 }, { listen: { metrics: 'local' } })
  const agent = { company_id: 1, description: '', active: 1, created_at: '2026-03-01' }
  const rows = AGENTS.map((id) => ({ ...agent, id, name: `Agent ${id}` }))
  await asOtherProcess(app, async (db) => {
    await db.insertInto('agents').values(rows).execute()
    await db
      .insertInto('agents')
      .values({ ...agent, id: INACTIVE, name: 'Off', active: 0 })
      .execute()
  })
  return { dovecot, app }
}

const address = (tag: number | string) => `facturas+${tag}@acme.example`

/** A mail with one document, `text`. */
const tagMail = (text: string, headers: Record<string, string>) =>
  createMail([{ type: 'text/plain', disposition: 'attachment; filename=a.txt', content: text }], {
    'Message-ID': `<${text}@a>`,
    ...headers,
  })

/** Agents of the documents of each mail, in the order of the documents. */
async function agentsByMail(app: MailApp): Promise<Record<string, number[]>> {
  const byMail = Map.groupBy(await app.documents(), ({ mail }) => String(mail?.message_id))
  return Object.fromEntries(
    Array.from(byMail, ([id, documents]) => [id.slice(1, -3), documents.map(({ agent_id }) => agent_id)]),
  )
}

const logged = (app: MailApp, event: string) =>
  app.logLines.flatMap((line) => (line.includes(`"${event}"`) ? [JSON.parse(line)] : []))

const countKnown = async (app: MailApp) =>
  /outcome="known"} (\d+)/.exec(await (await fetch(`${app.app.url}/metrics`)).text())?.[1]

test('a mail with the tags of two agents reaches both, and is counted once', async (t) => {
  const { dovecot, app } = await openTags(t)
  await dovecot.deliver(tagMail('to', { To: `${address(12)}, ${address(13)}` }))
  const headers = { 'Delivered-To': address(14), 'X-Original-To': address(15), To: address(16) }
  await dovecot.deliver(tagMail('headers', { ...headers, Cc: `${address(14)}, ${address(17)}` }))
  const { taken, waiting, failure } = await app.runRound()
  assert.deepEqual(await agentsByMail(app), { to: [12, 13], headers: [14, 15, 16, 17] })
  assert.deepEqual([taken, waiting, failure, dovecot.count('Procesados')], [2, 0, null, 2])
  assert.deepEqual(
    logged(app, 'mail kept').map(({ documents }) => documents),
    [2, 4],
  )
})

test('the first 10 active agents of the company get a mail, and other tags none', async (t) => {
  const { dovecot, app } = await openTags(t)
  const others = [INACTIVE, 3, 99, 999_999_999_999_999] // inactive, of another company, absent
  const tags = [...others, ...AGENTS.toReversed()]
  await dovecot.deliver(tagMail('many', { To: tags.map(address).join(', ') }))
  await dovecot.deliver(tagMail('none', { To: others.map(address).join(', ') }))
  await app.runRound()
  assert.deepEqual(await agentsByMail(app), { many: AGENTS.toReversed().slice(0, 10), none: [1] })
})

test('a copy of a mail for each recipient reaches each agent once, and known ones are counted', async (t) => {
  const { dovecot, app } = await openTags(t)
  const copies = ['+12', '', '+13', '+12', '', '+1']
  for (const tag of copies)
    await dovecot.deliver(tagMail('copy', { 'Delivered-To': `facturas${tag}@acme.example` }))
  const mailbox = await app.runRound()
  assert.deepEqual(await agentsByMail(app), { copy: [12, 1, 13] })
  assert.deepEqual([mailbox.taken, mailbox.waiting, dovecot.count('Procesados')], [3, 0, 6])
  assert.deepEqual(
    logged(app, 'mail known').map(({ level, mailbox, uid }) => [level, mailbox, uid]),
    [4, 5, 6].map((uid) => ['info', 1, uid]),
  )
  assert.equal(await countKnown(app), '3')
})

test('a second copy with one more tag reaches that agent alone', async (t) => {
  const { dovecot, app } = await openTags(t)
  await dovecot.deliver(tagMail('more', { To: address(12) }))
  await dovecot.deliver(tagMail('more', { To: address(12), 'Delivered-To': address(13) }))
  const { taken } = await app.runRound()
  assert.deepEqual(await agentsByMail(app), { more: [12, 13] })
  assert.deepEqual([taken, dovecot.count(), await countKnown(app)], [2, 0, '0'])
})

test('an unmoved mail of several agents stays once, also with new numbers and another --agent', async (t) => {
  const { dovecot, app } = await openTags(t)
  await app.runRound()
  const acceptMoves = dovecot.refuseMoves('Procesados')
  await dovecot.deliver(tagMail('two', { To: `${address(12)}, ${address(13)}` }))
  await dovecot.deliver(tagMail('own', {}))
  await dovecot.deliver(tagMail('first', { To: address(1) }))
  await app.runRound()
  await dovecot.renewNumbers()
  await app.changeMailbox({ agent_id: 14 })
  await app.runRound()
  const { failure } = await app.runRound()
  assert.equal(failure, 'mails of documents cannot be moved out of the folder')
  const rows = await asOtherProcess(app, (db) => db.selectFrom('mail_messages').selectAll().execute())
  const newest = Math.max(...rows.map(({ uidvalidity }) => uidvalidity))
  const current = rows.filter(({ uidvalidity }) => uidvalidity === newest)
  assert.deepEqual([current.length, new Set(current.map((row) => row.move_failures))], [7, new Set([3])])
  acceptMoves()
  const { taken, waiting } = await app.runRound()
  assert.deepEqual(await agentsByMail(app), { two: [12, 13], own: [1], first: [1] })
  assert.deepEqual([taken, waiting, dovecot.count('Procesados')], [3, 0, 3])
})

test('a kill between the commit and the move of a mail gives no agent a document twice', async (t) => {
  const dovecot = await startDovecot(t)
  const relay = await startRelay(t, dovecot.ports.plain)
  const world = await openMailWorld(t, dovecot, { port: relay.port, by_tag: 1 })
  const agent = { company_id: COMPANY, name: 'Trece', description: '', active: 1, created_at: '2026-03-01' }
  await world.db
    .insertInto('agents')
    .values({ ...agent, id: 13 })
    .execute()
  await dovecot.deliver(tagMail('kill', { To: `${address(13)}, ${address(12)}` }))
  const first = await startRound(t, world)
  relay.stopAt('move', () => first.child.kill('SIGKILL'))
  await first.waitForExit()
  assert.deepEqual([first.child.signalCode, dovecot.count()], ['SIGKILL', 1])
  relay.pass()
  await dovecot.renewNumbers()
  const second = await startRound(t, world)
  await untilRoundEnds(world)
  second.child.kill('SIGTERM')
  await second.waitForExit()
  const rows = await world.db.selectFrom('documents').select('agent_id').orderBy('id').execute()
  assert.deepEqual(
    rows.map(({ agent_id }) => agent_id),
    [13, 12],
  )
  const { taken } = (await findMailbox(world.db, world.id)) ?? {}
  assert.deepEqual([taken, dovecot.count(), dovecot.count('Procesados')], [1, 0, 1])
})

test('`mailbox forget` lets a mail reach all its agents again', async (t) => {
  const { dovecot, app } = await openTags(t)
  const mail = tagMail('again', { To: `${address(12)}, ${address(13)}` })
  await dovecot.deliver(mail)
  await app.runRound()
  const [{ uid }] = logged(app, 'mail kept')
  await runJson(app.dataDir, 'mailbox', 'forget', '1', String(uid))
  assert.deepEqual(
    await asOtherProcess(app, (db) => db.selectFrom('mail_messages').selectAll().execute()),
    [],
  )
  await dovecot.deliver(mail)
  await app.runRound()
  assert.deepEqual(await agentsByMail(app), { again: [12, 13, 12, 13] })
})
