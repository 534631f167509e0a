// Mailboxes of several nodes. The node that takes its mails is stopped for longer than its lease. The node resumes
// after the other one has taken them, and each mail becomes documents once.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMailbox } from '../../../src/domain/mail/mailbox-changes.ts'
import type { MailboxSettings } from '../../../src/store/mail/mailboxes.ts'
import { findLeaseHolder } from '../../../src/store/postgres/lease.ts'
import { figure, scaled } from '../../faults/scale.ts'
import { fillDatabase } from '../../support/directory.ts'
import { createMail } from '../../support/documents/mails.ts'
import { PASSWORD, startDovecot } from '../../support/mail/dovecot.ts'
import { mailboxPlace } from '../../support/mail/mail-app.ts'
import { insertTestMailbox, writeSecret } from '../../support/mail/mailboxes.ts'
import { openCluster } from '../../support/postgres/nodes.ts'
import { until } from '../../support/terminal.ts'

const MAILS = 120
const TIMES = scaled({ short: 1, long: 10 })
const WITHIN_MS = 120_000
const MAX_LATE = 5 // rounds in which this process stalled, and the node took all mails before it was stopped

test(`the node of a mailbox is stopped past its lease ${TIMES} times, and no mail is taken twice`, async (t) => {
  const dovecot = await startDovecot(t)
  const { db, dataDir, start } = await openCluster(t)
  await fillDatabase(dataDir)
  const nodes = [await start(), await start()]
  const mailbox = {
    ...{ ...mailboxPlace(dovecot), company_id: 1, agent_id: 1, owner_id: 1 },
    password_file: writeSecret(t, PASSWORD),
  }
  await insertTestMailbox(db, mailbox)
  const count = async () => {
    const query = db.selectFrom('document_mail').select((of) => of.fn.countAll<number>().as('count'))
    return (await query.executeTakeFirstOrThrow()).count
  }
  const findHolder = async () => {
    const words = await findLeaseHolder(db, 'mail')
    return nodes.find(({ child }) => words?.includes(`pid ${child.pid},`))
  }
  const counts: number[] = []
  let delivered = 0
  let stops = 0
  while (stops < TIMES) {
    const round = counts.length + 1
    assert.ok(round <= TIMES + MAX_LATE, 'the node is stopped before it has taken all mails')
    for (let number = 0; number < MAILS; number++) await dovecot.deliver(numberedMail(round, number))
    await db.updateTable('mailboxes').set({ next_round_at: null }).execute()
    const before = delivered
    delivered += MAILS
    await until(async () => (await count()) > before, WITHIN_MS)
    const holder = await findHolder()
    assert.ok(holder)
    holder.child.kill('SIGSTOP')
    counts.push((await count()) - before)
    if ((await count()) < delivered) stops += 1
    await until(async () => (await count()) >= delivered, WITHIN_MS)
    await until(async () => ![undefined, holder].includes(await findHolder()), WITHIN_MS)
    holder.child.kill('SIGCONT')
    await until(() => dovecot.count() === 0, WITHIN_MS)
  }
  figure(t, 'documents when the node was stopped', counts.join(' '))
  const rows = await db.selectFrom('attachments').select('name').execute()
  const names = new Set(rows.map(({ name }) => name))
  assert.deepEqual([rows.length, names.size], [delivered, delivered])
  assert.equal(dovecot.count('Rechazados'), 0)
})

test('two nodes that create the same mailbox at once make one', async (t) => {
  const { db, dataDir } = await openCluster(t)
  await fillDatabase(dataDir)
  const settings: MailboxSettings = {
    ...{ name: 'facturas', host: 'imap.example.com', port: 993, security: 'tls', user_name: 'f@example.com' },
    ...{ password_file: '/secrets/facturas', oauth_file: null, folder: 'INBOX', done: 'Procesados' },
    ...{ rejected: 'Rechazados', company_id: 1, agent_id: 1, owner_id: 1 },
    ...{ allow_from: [], ignore_names: [], by_tag: false, largest: 41_943_040 },
  }
  const ends = await Promise.allSettled(
    Array.from({ length: 8 }, (_, number) =>
      createMailbox(db, { ...settings, name: `facturas ${number}` }, '2026-03-24T12:00:00.000Z'),
    ),
  )
  const refusals = ends.flatMap((end) => (end.status === 'rejected' ? String(end.reason) : []))
  assert.deepEqual(refusals, Array(7).fill('AppError: mailbox 1 takes the mails of this folder already'))
})

function numberedMail(round: number, number: number): Buffer {
  const name = `${round}-${number}.txt`
  const part = { type: 'text/plain', disposition: `attachment; filename=${name}`, content: name }
  return createMail([part], { 'Message-ID': `<${name}@a>` })
}
