// Words of strangers are in no log line at debug. Secrets are in no log line, database, backup or list of processes.

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { asOtherProcess } from '../../api/support.ts'
import { makeDirectory } from '../../support/company.ts'
import { sampleInvoice } from '../../support/documents/invoice-xml.ts'
import { createMail } from '../../support/documents/mails.ts'
import { PASSWORD, startDovecot, USER } from '../../support/mail/dovecot.ts'
import { mailboxPlace, startMailApp } from '../../support/mail/mail-app.ts'
import { insertTestMailbox, writeSecret } from '../../support/mail/mailboxes.ts'
import { CLIENT, startTokenServer } from '../../support/mail/token-server.ts'
import { startProgram } from '../../support/program.ts'
import { openTestDatabase, temporaryDirectory } from '../../support/temporary.ts'
import { runCommand, until } from '../../support/terminal.ts'

const STRANGER = {
  From: 'Prov Desconocido <prov@desconocido.example>',
  Subject: 'Asunto-muy-propio',
  To: 'caja@destino.example',
  'Message-ID': '<identidad-propia@desconocido.example>',
}
const PART = {
  type: 'text/xml',
  disposition: 'attachment; filename=nombre-propio.xml',
  content: sampleInvoice(),
}
/** Texts of the mails below, of their invoice and of the account. */
const PRIVATE = [
  ...[
    'Desconocido',
    'desconocido.example',
    'Asunto-muy',
    'destino.example',
    'identidad-propia',
    'nombre-propio',
  ],
  ...['506240326', 'Ferreter', '3101123456', '3101654321', 'Acme S.A.', USER],
]
const SECRETS = [PASSWORD, CLIENT.secret, 'ficha-de-acceso', 'refresco-']

test('no word of a mail and no secret is in the log, at debug', async (t) => {
  const tokens = await startTokenServer(t)
  const dovecot = await startDovecot(t, { introspectionUrl: tokens.introspectionUrl })
  const app = await startMailApp(t, dovecot)
  const garbage = Buffer.from(`From: ${STRANGER.From}\r\nSubject: ${STRANGER.Subject}\r\n\r\nx`)
  const deliver = async () => {
    for (const mail of [createMail([PART], STRANGER), garbage]) await dovecot.deliver(mail)
  }
  await deliver()
  await app.runRound()
  assert.deepEqual((await app.documents()).length, 1)
  const acceptMoves = dovecot.refuseMoves('Procesados')
  await deliver()
  for (let round = 0; round < 4; round += 1) await app.runRound()
  acceptMoves()
  await app.changeMailbox({ password_file: writeSecret(t, 'otra-clave-8821') })
  await app.runRound()
  const login = (secret: string) =>
    writeSecret(
      t,
      [
        ...[`token_url=${tokens.tokenUrl}`, `client_id=${CLIENT.id}`, `client_secret=${secret}`],
        ...['scope=x', 'grant=refresh_token', `refresh_token=${tokens.refreshToken()}`],
      ].join('\n'),
    )
  await app.changeMailbox({ password_file: null, oauth_file: login('otro-secreto-5512') })
  await app.runRound()
  await app.changeMailbox({ oauth_file: login(CLIENT.secret) })
  assert.equal((await app.runRound()).failure, null)
  await dovecot.stop()
  await app.runRound()
  const log = app.logLines.join('')
  for (const line of ['mail kept', 'mail refused', 'mailbox fails', 'mailbox works again'])
    assert.ok(log.includes(line), line)
  for (const text of [...PRIVATE, ...SECRETS, 'otra-clave-8821', 'otro-secreto-5512'])
    assert.ok(!log.toLowerCase().includes(text.toLowerCase()), text)

  const set = join(temporaryDirectory(t), 'backup')
  const backup = await runCommand(['backup', 'create', set, '--data-dir', app.dataDir])
  assert.equal(backup.code, 0, backup.err)
  const files = [app.dataDir, set].flatMap((dir) => listFiles(dir))
  assert.ok(files.length > 4)
  for (const file of files)
    for (const secret of SECRETS) assert.ok(!readFileSync(file).includes(secret), `${secret} in ${file}`)
  const rows = await asOtherProcess(app, (db) => db.selectFrom('mail_messages').selectAll().execute())
  assert.equal(rows.length, 1)
  for (const text of PRIVATE) assert.ok(!JSON.stringify(rows).includes(text), text)
})

test('no secret is in the arguments or the environment of a server', async (t) => {
  const dovecot = await startDovecot(t)
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = openTestDatabase(dataDir)
  t.after(() => db.destroy())
  await insertTestMailbox(db, { ...mailboxPlace(dovecot), password_file: writeSecret(t, PASSWORD) })
  await dovecot.deliver(createMail([PART], STRANGER))
  const words = ['serve', '--port', '0', '--no-scheduler', '--log-level', 'debug', '--data-dir', dataDir]
  const program = startProgram(t, words, { CAMBISTA_BCCR_URL: 'http://127.0.0.1:1' })
  await until(() => dovecot.count('Procesados') === 1)
  for (const name of ['cmdline', 'environ'])
    assert.ok(!readFileSync(`/proc/${program.child.pid}/${name}`).includes(PASSWORD), name)
  program.child.kill('SIGTERM')
  assert.equal(await program.waitForExit(), 0)
  for (const text of [...PRIVATE, PASSWORD])
    assert.ok(!(program.printed.out + program.printed.err).includes(text), text)
})

function listFiles(dir: string): string[] {
  const paths = globSync('**/*', { cwd: dir }).map((name) => join(dir, name))
  return paths.filter((path) => existsSync(path) && statSync(path).isFile())
}
