// Connections of a mailbox to dovecot: encryption, passwords, access tokens, and the sentence of each failure.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { Insertable } from 'kysely'
import type { Tables } from '../../../src/store/tables.ts'
import { makeDirectory } from '../../support/company.ts'
import { createMail, type TestPart } from '../../support/documents/mails.ts'
import { CERTIFICATE, type Dovecot, PASSWORD, startDovecot } from '../../support/mail/dovecot.ts'
import { mailboxPlace, startMailApp } from '../../support/mail/mail-app.ts'
import { insertTestMailbox, writeSecret } from '../../support/mail/mailboxes.ts'
import { startRelay } from '../../support/mail/relay.ts'
import { CLIENT, startTokenServer, type TokenServer } from '../../support/mail/token-server.ts'
import { startProgram } from '../../support/program.ts'
import { startForwardProxy } from '../../support/sources/forward-proxy.ts'
import { openTestDatabase, temporaryDirectory } from '../../support/temporary.ts'
import { runCommand, until } from '../../support/terminal.ts'

const NOTE: TestPart = { disposition: 'attachment; filename=nota.txt', type: 'text/plain', content: 'nota' }
const UNTRUSTED = 'its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)'

type Change = Partial<Insertable<Tables['mailboxes']>>

/** A data directory with a mailbox of these settings; returns the words of `mailbox test`. */
async function createMailbox(t: TestContext, dovecot: Dovecot, change: Change = {}): Promise<string[]> {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = openTestDatabase(dataDir)
  const login = { ...mailboxPlace(dovecot), password_file: writeSecret(t, PASSWORD) }
  const id = await insertTestMailbox(db, { ...login, ...change })
  await db.destroy()
  return ['mailbox', 'test', String(id), '--data-dir', dataDir]
}

async function examine(t: TestContext, dovecot: Dovecot, change: Change = {}) {
  const { code, out, err } = await runCommand(await createMailbox(t, dovecot, change))
  return { code, out, err: err.replace(/^cambista: /, '').trim() }
}

function tokenFile(t: TestContext, { tokenUrl }: TokenServer, change: Record<string, string> = {}): string {
  const settings = {
    ...{ token_url: tokenUrl, client_id: CLIENT.id, client_secret: CLIENT.secret },
    ...{ scope: 'https://outlook.office365.com/.default', grant: 'client_credentials', ...change },
  }
  const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}`)
  return writeSecret(t, lines.join('\n'))
}

test('`mailbox test` shows the server and changes nothing there', async (t) => {
  const dovecot = await startDovecot(t)
  await dovecot.deliver(createMail([NOTE]))
  const { code, out, err } = await examine(t, dovecot)
  assert.deepEqual([code, err], [0, ''])
  assert.match(out, /INBOX: 1 mails? waits?/)
  assert.match(out, /moves by +MOVE/)
  assert.deepEqual([dovecot.count(), dovecot.count('Procesados')], [1, 0])
})

test('`mailbox test` names the cause of each failure, and exits with 1', async (t) => {
  const dovecot = await startDovecot(t)
  const failure = async (change: Change) => {
    const { code, err } = await examine(t, dovecot, change)
    assert.equal(code, 1)
    return err
  }
  const { tls, plain } = dovecot.ports
  const wrongPassword = { password_file: writeSecret(t, 'otra') }
  assert.equal(await failure(wrongPassword), 'the server refused the password')
  for (const change of [{ port: tls, security: 'tls' } as const, { security: 'starttls' } as const])
    assert.ok((await failure(change)).startsWith(UNTRUSTED))
  assert.equal(await failure({ folder: 'Facturas' }), 'there is no folder Facturas: it has INBOX')
  const missing = '/nonexistent/secret'
  assert.match(await failure({ password_file: missing }), /^the file of the secret cannot be read: /)
  await dovecot.restart({ capabilities: 'IMAP4rev1' })
  assert.equal(await failure({}), 'it knows neither MOVE nor UIDPLUS')
  await dovecot.stop()
  assert.equal(await failure({}), `there is no connection to 127.0.0.1:${plain} (ECONNREFUSED)`)
})

test('NODE_EXTRA_CA_CERTS adds an authority, for TLS and STARTTLS', async (t) => {
  const dovecot = await startDovecot(t)
  const settings = [{ port: dovecot.ports.tls, security: 'tls' }, { security: 'starttls' }] as const
  const programs = await Promise.all(
    settings.map(async (change) => {
      const words = await createMailbox(t, dovecot, change)
      const program = startProgram(t, words, { NODE_EXTRA_CA_CERTS: CERTIFICATE })
      return [await program.waitForExit(), program.printed.err]
    }),
  )
  for (const [code, err] of programs) assert.equal(code, 0, String(err))
})

test('a mailbox is examined by CONNECT through the proxy of `https_proxy`', async (t) => {
  const dovecot = await startDovecot(t)
  await dovecot.deliver(createMail([NOTE]))
  const { plain, tls } = dovecot.ports
  const hosts = { 'imap.test:143': plain, 'imap.test:993': tls }
  const proxy = await startForwardProxy(t, hosts, { requiresPassword: true })
  const words = await createMailbox(t, dovecot, { host: 'imap.test', port: 143 })
  const { code, out, err } = await runCommand(words, { https_proxy: proxy.urlWithPassword })
  assert.deepEqual([code, err], [0, ''])
  assert.match(out, /INBOX: 1 mails? waits?/)
  const tlsWords = await createMailbox(t, dovecot, { host: 'imap.test', port: 993, security: 'tls' })
  const untrusted = await runCommand(tlsWords, { https_proxy: proxy.urlWithPassword })
  assert.ok(untrusted.err.includes(UNTRUSTED), untrusted.err)
  assert.deepEqual(proxy.requests, Object.keys(hosts))
  const refused = await runCommand(words, { https_proxy: proxy.url })
  assert.equal(refused.err, `cambista: the proxy ${proxy.url} answered HTTP 407\n`)
})

test('a refused password delays the next round by 30 minutes, and other failures by a minute', async (t) => {
  const dovecot = await startDovecot(t)
  const wrong = writeSecret(t, 'otra')
  const app = await startMailApp(t, dovecot, { password_file: wrong })
  const minutes = (instant: string | null) => (Date.parse(instant ?? '') - app.clock.now.getTime()) / 60_000
  const refused = await app.runRound()
  assert.deepEqual([refused.failure, minutes(refused.next_round_at)], ['the server refused the password', 30])
  await app.changeMailbox({ password_file: writeSecret(t, PASSWORD), failures: 0, failing_since: null })
  await dovecot.stop()
  for (const delay of [1, 2, 5, 10, 30, 30])
    assert.equal(minutes((await app.runRound()).next_round_at), delay)
  await dovecot.restart()
  const healthy = await app.runRound()
  assert.deepEqual([healthy.failure, healthy.failures, healthy.failing_since], [null, 0, null])
  await until(() => app.logLines.some((line) => line.includes('mailbox works again'))) // logged after the commit
})

test('a folder that is deleted is a failure that names the others', async (t) => {
  const dovecot = await startDovecot(t)
  const app = await startMailApp(t, dovecot)
  await app.runRound()
  await app.changeMailbox({ folder: 'Procesados', done: 'Hechos' })
  assert.equal((await app.runRound()).failure, null)
  await dovecot.removeFolder('Procesados')
  assert.equal(
    (await app.runRound()).failure,
    'there is no folder Procesados: it has INBOX, Hechos, Rechazados',
  )
})

test('a server killed within a download leaves the mail, which the next round takes', async (t) => {
  const dovecot = await startDovecot(t)
  const large = { ...NOTE, content: Buffer.alloc(12 * 2 ** 20, 'abc') }
  await dovecot.deliver(createMail([large]))
  const relay = await startRelay(t, dovecot.ports.plain)
  let kills = 0
  relay.stopAt('download', () => {
    kills += dovecot.killConnections()
  })
  const app = await startMailApp(t, dovecot, { port: relay.port })
  const broken = await app.runRound()
  assert.deepEqual([broken.failure, broken.taken, dovecot.count()], ['the connection ended', 0, 1])
  assert.equal(kills, 1)
  const whole = await app.runRound()
  assert.deepEqual([whole.failure, whole.taken, dovecot.count()], [null, 1, 0])
  assert.deepEqual(
    (await app.documents()).map(({ size }) => size),
    [12 * 2 ** 20],
  )
})

test('an access token opens a mailbox for several rounds, and is replaced once it is refused', async (t) => {
  const tokens = await startTokenServer(t)
  const dovecot = await startDovecot(t, { introspectionUrl: tokens.introspectionUrl })
  const login = { password_file: null, oauth_file: tokenFile(t, tokens) }
  const app = await startMailApp(t, dovecot, login)
  await dovecot.deliver(createMail([NOTE]))
  assert.deepEqual([(await app.runRound()).failure, dovecot.count()], [null, 0])
  assert.deepEqual((await app.runRound()).failure, null)
  assert.equal(tokens.requests.length, 1)
  assert.deepEqual(tokens.requests[0], {
    ...{ grant_type: 'client_credentials', client_id: CLIENT.id, client_secret: CLIENT.secret },
    scope: 'https://outlook.office365.com/.default',
  })
  tokens.revoke()
  assert.equal((await app.runRound()).failure, 'the server refused the token')
  assert.equal((await app.runRound()).failure, null, 'a refused token is replaced')
})

test('a new refresh token replaces the former one in its file', async (t) => {
  const tokens = await startTokenServer(t, { lifeS: 1 })
  const dovecot = await startDovecot(t, { introspectionUrl: tokens.introspectionUrl })
  const oauth_file = tokenFile(t, tokens, { grant: 'refresh_token', refresh_token: tokens.refreshToken() })
  const app = await startMailApp(t, dovecot, { password_file: null, oauth_file })
  for (let round = 1; round <= 3; round += 1) {
    assert.equal((await app.runRound()).failure, null)
    assert.equal(tokens.requests.length, round)
    const text = readFileSync(oauth_file, 'utf8')
    assert.ok(text.includes(`\nrefresh_token=refresco-${round}\n`), text)
  }
})

test('a token server that refuses the client is named by its answer', async (t) => {
  const tokens = await startTokenServer(t)
  const dovecot = await startDovecot(t, { introspectionUrl: tokens.introspectionUrl })
  const oauth_file = tokenFile(t, tokens, { client_secret: 'otro' })
  const { code, err } = await examine(t, dovecot, { password_file: null, oauth_file })
  assert.deepEqual([code, err], [1, 'the token server answered 401 invalid_client'])
})
