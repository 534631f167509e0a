// A program with a mailbox on dovecot, started anew for each round.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Insertable } from 'kysely'
import { findMailbox, updateMailbox } from '../../../src/store/mail/mailboxes.ts'
import type { Tables, WriteDb } from '../../../src/store/tables.ts'
import { PROGRAM } from '../../faults/scale.ts'
import { makeDirectory } from '../company.ts'
import { type Program, startProgram } from '../program.ts'
import { openTestDatabase, temporaryDirectory } from '../temporary.ts'
import { until } from '../terminal.ts'
import { type Dovecot, PASSWORD } from './dovecot.ts'
import { mailboxPlace } from './mail-app.ts'
import { insertTestMailbox, writeSecret } from './mailboxes.ts'

/** `id`: of the mailbox. */
export type MailWorld = { dovecot: Dovecot; db: WriteDb; dataDir: string; id: number }

const ENV = {
  CAMBISTA_BCCR_URL: 'http://127.0.0.1:1',
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../node_modules/.cache/node'), // halves the start
}

/** Makes a data directory with a mailbox. */
export async function openMailWorld(
  t: TestContext,
  dovecot: Dovecot,
  change: Partial<Insertable<Tables['mailboxes']>> = {},
): Promise<MailWorld> {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = openTestDatabase(dataDir)
  t.after(() => db.destroy())
  const place = { ...mailboxPlace(dovecot), password_file: writeSecret(t, PASSWORD), ...change }
  return { dovecot, db, dataDir, id: await insertTestMailbox(db, place) }
}

/** Starts a server with a round that is due. Returns when the round is connected. */
export async function startRound(t: TestContext, { dovecot, db, dataDir, id }: MailWorld): Promise<Program> {
  await until(() => dovecot.countConnections() === 0)
  await updateMailbox(db, id, { next_round_at: null, last_round_at: null, failures: 0 })
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir]
  const program = startProgram(t, words, ENV, PROGRAM)
  const hasEnded = () => program.child.exitCode !== null
  await until(() => dovecot.countConnections() > 0 || hasEnded())
  assert.equal(hasEnded(), false, program.printed.err)
  return program
}

/** Waits until a round has ended. */
export async function untilRoundEnds({ db, id }: MailWorld): Promise<void> {
  await until(async () => (await findMailbox(db, id))?.last_round_at !== null)
}
