// A server that is killed with SIGKILL at random moments of its rounds. The numbers of the folder change in between.
// Each part of each mail becomes one document, and each mail is moved.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { selectDocuments } from '../../../src/store/documents/documents.ts'
import { findMailbox, updateMailbox } from '../../../src/store/mail/mailboxes.ts'
import { findDatabaseFaults } from '../../../src/store/sqlite/database-copy.ts'
import { figure, scaled } from '../../faults/scale.ts'
import { createClave, sampleInvoice } from '../../support/documents/invoice-xml.ts'
import { createMail } from '../../support/documents/mails.ts'
import { startDovecot } from '../../support/mail/dovecot.ts'
import { type MailWorld, openMailWorld, startRound, untilRoundEnds } from '../../support/mail/mail-program.ts'
import { startRelay } from '../../support/mail/relay.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'

const KILLS = scaled({ short: 10, long: 500 })
const MAILS_EACH = 2
const MAILS_OF_ROUND = 200
const RENEWALS = 0.2
const RENEWALS_OF_UNMOVED = 0.7 // after a kill between a commit and its move
const AROUND_MOVES = 0.5 // kills between a commit and the move of its mail, or between the move and its record

/** Returns the parts of a mail, none of them in another mail. */
function createParts(number: number) {
  const clave = createClave('FacturaElectronica', number)
  return [
    { name: 'FE.xml', content: sampleInvoice({ clave }) },
    { name: 'FE.pdf', content: `%PDF-1.4 ${number} ${'x'.repeat(50_000)}` },
    { name: 'nota.txt', content: `nota ${number}` },
  ]
}

function createMailNumber(number: number): Buffer {
  const parts = createParts(number).map(({ name, content }) => ({
    disposition: `attachment; filename=${name}`,
    type: name.endsWith('.xml') ? 'text/xml' : 'application/octet-stream',
    content,
  }))
  return createMail(parts, { 'Message-ID': `<${number}@proveedor.example>` })
}

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')

test(`${KILLS} kills lose no part of a mail, and store none twice`, async (t) => {
  const random = createRandom(SEED)
  figure(t, 'seed', SEED)
  const dovecot = await startDovecot(t)
  const relay = await startRelay(t, dovecot.ports.plain)
  const world = await openMailWorld(t, dovecot, { port: relay.port })
  const { db, id } = world
  let mails = 0
  const deliver = async () => {
    for (let count = 0; count < MAILS_EACH; count += 1) await dovecot.deliver(createMailNumber(mails++))
  }
  const roundMs = await measureRound(t, world, deliver)
  const totals = { move: 0, moved: 0, renewals: 0 }
  let isUnmoved = false
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await deliver()
    if (random.chance(isUnmoved ? RENEWALS_OF_UNMOVED : RENEWALS)) {
      totals.renewals += 1
      await dovecot.renewNumbers()
    }
    const program = await startRound(t, world)
    const end = () => program.child.kill('SIGKILL')
    isUnmoved = false
    if (random.chance(AROUND_MOVES)) {
      const point = random.chance(0.5) ? 'move' : 'moved'
      relay.stopAt(point, end)
      await Promise.race([program.waitForExit(), wait(10 * roundMs)])
      isUnmoved = point === 'move' && program.child.signalCode !== null
      if (program.child.signalCode !== null) totals[point] += 1
    } else await wait(random.next() * roundMs * 1.2)
    relay.pass()
    end()
    await program.waitForExit()
  }
  const program = await startRound(t, world)
  // A round takes 200 mails, and killed rounds may have left more.
  for (let round = 0; round * MAILS_OF_ROUND <= mails; round += 1) {
    await untilRoundEnds(world)
    if (dovecot.count() === 0) break
    await updateMailbox(db, id, { next_round_at: null, last_round_at: null })
  }
  program.child.kill('SIGTERM')
  assert.equal(await program.waitForExit(), 0)

  const rows = await selectDocuments(db, { after: 0, limit: 10 * mails })
  const numbers = Array.from({ length: mails }, (_, number) => number)
  const expected = numbers.flatMap((number) =>
    createParts(number).map(({ name, content }) => `${name} ${sha256(content)}`),
  )
  assert.deepEqual(rows.map(({ name, sha256 }) => `${name} ${sha256}`).sort(), expected.sort())
  const movedHashes = dovecot.list('Procesados').map((mail) => sha256(mail))
  assert.deepEqual(movedHashes.sort(), numbers.map((number) => sha256(createMailNumber(number))).sort())
  assert.deepEqual(await findDatabaseFaults(db, { inPieces: false }), [])
  const { taken, failure } = (await findMailbox(db, id)) ?? {}
  assert.deepEqual([taken, failure, dovecot.count('Rechazados')], [mails, null, 0])
  figure(
    t,
    'mails, kills before a move, after it, renewed numbers',
    [mails, ...Object.values(totals)].join(' '),
  )
})

/** Milliseconds of a whole round, after its connection. */
async function measureRound(t: TestContext, world: MailWorld, deliver: () => Promise<void>): Promise<number> {
  await deliver()
  const program = await startRound(t, world)
  const start = performance.now()
  await untilRoundEnds(world)
  const ms = performance.now() - start
  figure(t, 'milliseconds of a round', Math.round(ms))
  program.child.kill('SIGKILL')
  await program.waitForExit()
  return ms
}
