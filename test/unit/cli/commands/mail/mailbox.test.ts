// The commands of mailboxes, as an operator types them.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  recordRefusedMail,
  recordRound,
  recordRoundFailure,
} from '../../../../../src/domain/mail/mailbox-changes.ts'
import { updateAgentActive } from '../../../../../src/store/directory/agents.ts'
import { insertLeftMail } from '../../../../../src/store/mail/left-mails.ts'
import { findMailbox, updateMailbox } from '../../../../../src/store/mail/mailboxes.ts'
import { insertMailMessage } from '../../../../../src/store/mail/messages.ts'
import { makeDirectory, runJson } from '../../../../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

const AT = '2026-03-24T12:00:00.000Z'
const SECRET = 'sesamo-abrete'
const ACCOUNT = ['--host', 'imap.example.com', '--user', 'f@example.com', '--agent', '12', '--owner', '31']

async function openDirectory(t: TestContext) {
  const home = temporaryDirectory(t)
  const dataDir = join(home, 'data')
  await makeDirectory(dataDir)
  const secret = join(home, 'secret')
  writeFileSync(secret, `${SECRET}\n`, { mode: 0o600 })
  const create = ['mailbox', 'create', 'facturas', ...ACCOUNT, '--password-file', secret]
  const runWords = async (...words: string[]) => {
    const { code, out, err } = await runCommand([...words, '--data-dir', dataDir])
    return `${code} ${code === 0 ? out : err}`
  }
  return { home, dataDir, secret, create, runWords }
}

test('`mailbox create` stores the path of a secret, and never the secret', async (t) => {
  const { dataDir, secret, create, runWords } = await openDirectory(t)
  assert.equal(await runWords(...create), '0 1\n')
  const db = temporaryDatabase(t, dataDir)
  const output = await runJson<Record<string, unknown>>(dataDir, 'mailbox', 'show', '1')
  const { created_at: _, ...facts } = output
  assert.deepEqual(facts, {
    ...{ id: 1, name: 'facturas', host: 'imap.example.com', port: 993, security: 'tls' },
    ...{ user_name: 'f@example.com', password_file: secret, oauth_file: null, folder: 'INBOX' },
    ...{ done: 'Procesados', rejected: 'Rechazados', company_id: 7, agent_id: 12, owner_id: 31 },
    ...{
      allow_from: [],
      ignore_names: [],
      by_tag: false,
      largest: 41_943_040,
      paused_at: null,
      pause_reason: null,
    },
    ...{
      last_round_at: null,
      last_success_at: null,
      failing_since: null,
      failure: null,
      failure_code: null,
      failures: 0,
    },
    ...{ reported_at: null, next_round_at: null, waiting: null, taken: 0, refused: 0, left_out: 0 },
    ...{ refusals: [], left: [] },
  })
  for (const name of readdirSync(dataDir).filter((one) => one.startsWith('cambista.db')))
    assert.equal(readFileSync(join(dataDir, name)).includes(SECRET), false, name)
  const second = await runJson<Record<string, unknown>>(
    dataDir,
    ...['mailbox', 'create', 'segundo', ...ACCOUNT, '--company', '7', '--oauth-file', secret],
    ...['--folder', 'Facturas', '--security', 'starttls', '--by-tag', '--largest', '1MiB'],
    ...['--allow-from', 'Example.com, ana@x.cr', '--ignore', 'Logo*.png, firma?.jpg'],
  )
  assert.deepEqual(
    [second.id, second.port, second.oauth_file, second.by_tag, second.largest, second.allow_from],
    [2, 143, secret, true, 1_048_576, ['example.com', 'ana@x.cr']],
  )
  const ignored = async () => (await findMailbox(db, 2))?.ignore_names
  assert.deepEqual(await ignored(), ['Logo*.png', 'firma?.jpg'])
  await runWords('mailbox', 'update', '2', '--ignore', 'none')
  assert.deepEqual(await ignored(), [])
})

test('`mailbox create` refuses wrong settings, and names the option', async (t) => {
  const { secret, create, runWords } = await openDirectory(t)
  const [, , , ...rest] = create
  for (const [words, message] of [
    [['--host', 'imaps://x'], /^2 .*--host must be the name or IP address of an IMAP server/],
    [['--host', 'a b'], /^2 .*--host must be/],
    [['--port', '0'], /^2 .*--port must be an integer from 1 to 65535/],
    [['--security', 'ssl'], /^2 .*--security must be one of tls, starttls, none/],
    [['--security', 'none'], /^2 .*--security none is for a server on this machine alone: use tls/],
    [['--folder', ' x'], /^2 .*--folder must be 1 to 255 characters/],
    [['--done', 'inbox'], /^2 .*--done must be another folder than --folder, which is INBOX/],
    [['--allow-from', 'ana'], /^2 .*--allow-from must be domains and addresses with commas/],
    [['--ignore', ''], /^2 .*--ignore must be at most 20 names of at most 100 characters/],
    [['--ignore', 'a,'], /^2 .*--ignore must be/],
    [['--ignore', 'a'.repeat(101)], /^2 .*--ignore must be/],
    [['--ignore', Array(21).fill('a').join()], /^2 .*--ignore must be/],
    [['--largest', '1GiB'], /^2 .*--largest must be a size from 1KiB to 100MiB/],
    [['--oauth-file', secret], /^2 .*--password-file and --oauth-file exclude one another/],
    [['--agent', '99'], /^1 .*there is no agent 99: see cambista agent list/],
    [['--owner', '99'], /^1 .*there is no owner 99: see cambista owner list/],
    [['--company', '9'], /^1 .*there is no company 9/],
  ] as const) {
    const others = rest.filter((word, at) => word !== words[0] && rest[at - 1] !== words[0])
    assert.match(await runWords('mailbox', 'create', 'facturas', ...others, ...words), message)
  }
  assert.match(await runWords('mailbox', 'create', '12', ...rest), /^2 .*NAME must not be digits alone/)
  const withoutSecret = await runWords('mailbox', 'create', 'facturas', ...ACCOUNT)
  assert.match(withoutSecret, /^2 .*give --password-file FILE, or --oauth-file FILE/)
  const local = rest.map((word) => (word === 'imap.example.com' ? '127.0.0.1' : word))
  assert.equal(await runWords('mailbox', 'create', 'local', ...local, '--security', 'none'), '0 1\n')
})

test('`mailbox create` refuses a secret that is missing, empty, or open to other users', async (t) => {
  const { home, secret, create, runWords } = await openDirectory(t)
  chmodSync(secret, 0o640)
  assert.match(
    await runWords(...create),
    /^1 .*--password-file .*\/secret can be opened by other users \(mode 0640\): chmod 600 /,
  )
  const withFile = (path: string) => runWords(...create.slice(0, -1), path)
  assert.match(await withFile(join(home, 'none')), /^1 .*cannot be read by the user of the server: ENOENT/)
  assert.match(await withFile(home), /^1 .*is not a file/)
  writeFileSync(join(home, 'empty'), '', { mode: 0o600 })
  assert.match(await withFile(join(home, 'empty')), /^1 .*is empty: write the secret into it/)
  assert.equal(await runWords('mailbox', 'list', '--json'), '0 []\n')
})

test('`mailbox create`, `update` and `test` refuse a refresh token that cannot be replaced', async (t) => {
  const { home, create, runWords } = await openDirectory(t)
  const file = join(home, 'oauth')
  const text = 'token_url=http://127.0.0.1:1/\nclient_id=a\nclient_secret=b\nscope=c\nrefresh_token=d\n'
  writeFileSync(file, `${text}grant=refresh_token\n`, { mode: 0o600 })
  mkdirSync(`${file}.check`) // in the way of a write
  const fault = `${file} has a refresh token that the server cannot replace (EISDIR: illegal operation on a directory, open '${file}.check'): see cambista manual mail\n`
  const withFile = [...create.slice(0, -2), '--oauth-file', file]
  assert.equal(await runWords(...withFile), `1 cambista: --oauth-file ${fault}`)
  assert.equal(await runWords(...create), '0 1\n')
  const update = ['mailbox', 'update', '1', '--oauth-file', file]
  assert.equal(await runWords(...update), `1 cambista: --oauth-file ${fault}`)
  rmdirSync(`${file}.check`)
  assert.match(await runWords(...update), /^0 /)
  assert.match(await runWords('mailbox', 'test', '1'), /^1 cambista: the token server cannot be reached/)
  assert.deepEqual(readdirSync(home).sort(), ['data', 'oauth', 'secret'])
  mkdirSync(`${file}.check`)
  assert.equal(await runWords('mailbox', 'test', '1'), `1 cambista: ${fault}`)
  writeFileSync(file, `${text}grant=client_credentials\n`)
  assert.match(await runWords(...update), /^0 /)
})

test('`mailbox update` changes the given settings alone', async (t) => {
  const { dataDir, secret, create, runWords } = await openDirectory(t)
  await runWords(...create, '--by-tag', '--allow-from', 'example.com')
  const db = temporaryDatabase(t, dataDir)
  await recordRoundFailure(db, 1, {
    now: new Date(AT),
    failure: 'the server refused the password',
    isRefused: true,
  })
  assert.match(await runWords('mailbox', 'update', '1'), /^2 .*give a setting to change: --host, --port/)
  const changes = ['--by-tag', 'no', '--allow-from', 'none', '--oauth-file', secret, '--name', 'otro']
  assert.equal(
    await runWords('mailbox', 'update', '1', ...changes),
    '0 mailbox 1 (otro) is changed; its next round is due now\n',
  )
  const row = await findMailbox(db, 1)
  assert.deepEqual(
    [row?.by_tag, row?.allow_from, row?.oauth_file, row?.password_file, row?.host, row?.next_round_at],
    [false, [], secret, null, 'imap.example.com', null],
  )
  assert.match(await runWords('mailbox', 'update', '9', '--port', '1'), /^1 .*there is no mailbox 9/)
  assert.match(await runWords('mailbox', 'update', '1', '--security', 'none'), /^2 .*--security none is for/)
})

test('`mailbox list` and `mailbox show` have the state of rounds and the refused mails', async (t) => {
  const { dataDir, create, runWords } = await openDirectory(t)
  await runWords(...create)
  const db = temporaryDatabase(t, dataDir)
  const state = async () => /(STATE\n.*FACT)?state +(.*)/.exec(await runWords('mailbox', 'show', '1'))?.[2]
  assert.equal(await state(), 'no round yet')
  await recordRound(db, 1, { now: new Date(AT), waiting: 2 })
  assert.equal(await state(), 'works')
  const place = { mailbox_id: 1, uidvalidity: 1, size: 52_428_800 }
  const refusal = { uidvalidity: 1, uid: 4711, size: 52_428_800, reason: 'too large', at: AT }
  const parts = [
    { name: '.DS_Store', reason: 'ignored' },
    { name: null, reason: 'empty' },
  ]
  await recordRefusedMail(db, { ...place, ...refusal, from_text: null, subject: null, parts: '[]' })
  await insertLeftMail(db, {
    ...{ ...place, uid: 4710, at: '2026-03-24T11:00:00.000Z', from_text: 'Ana <a@x.cr>', subject: 'Factura' },
    ...{ reason: null, parts: JSON.stringify(parts) },
  })
  assert.match(
    await runWords('mailbox', 'show', '1'),
    /mails +0 taken, 1 refused, 2 waiting\nparts left out +0\n\nMails that were refused, or .*, the last one first:\n2026-03-24T12:00:00.000Z {2}uid 4711 {2}50 MiB {2}too large\n2026-03-24T11:00:00.000Z {2}uid 4710 {2}50 MiB {2}kept {7}Ana <a@x.cr>; Factura; .DS_Store \(ignored\); a part without a name \(empty\)\n$/,
  )
  const output = await runJson<{ refusals: unknown; left: unknown }>(dataDir, 'mailbox', 'show', '1')
  const texts = { from: null, subject: null, parts: [] }
  assert.deepEqual(output.refusals, [refusal])
  assert.deepEqual(output.left, [
    { mailbox_id: 1, at: AT, ...texts, reason: 'too_large' },
    {
      mailbox_id: 1,
      at: '2026-03-24T11:00:00.000Z',
      from: 'Ana <a@x.cr>',
      subject: 'Factura',
      reason: null,
      parts,
    },
  ])
  await recordRoundFailure(db, 1, { now: new Date(AT), failure: 'no answer' })
  assert.equal(await state(), `fails since ${AT} (no answer)`)
  assert.match(
    await runWords('mailbox', 'list'),
    /1 +facturas +f@example.com +INBOX +7 +12 +2 +0 +1 +2026-03-24T12:00:00.000Z +fails since .* \(no answer\)\n$/,
  )
  assert.match(
    await runWords('mailbox', 'show', '9'),
    /^1 .*there is no mailbox 9: see cambista mailbox list/,
  )
})

test('`mailbox pause`, `mailbox resume` and `mailbox delete` change a mailbox', async (t) => {
  const { dataDir, create, runWords } = await openDirectory(t)
  await runWords(...create)
  const db = temporaryDatabase(t, dataDir)
  assert.equal(await runWords('mailbox', 'pause', '1'), '0 mailbox 1 (facturas) is paused\n')
  assert.match(await runWords('mailbox', 'list'), / paused since \d{4}-/)
  await updateMailbox(db, 1, { pause_reason: 'restore' })
  assert.match(await runWords('mailbox', 'list'), / paused by a restore: cambista mailbox resume 1\n/)
  const active = '0 mailbox 1 (facturas) is active; its next round is due now\n'
  assert.equal(await runWords('mailbox', 'resume', '1'), active)
  assert.equal((await findMailbox(db, 1))?.pause_reason, null)
  assert.equal(await runWords('mailbox', 'delete', '1'), '0 mailbox 1 is deleted; its documents stay\n')
  for (const name of ['pause', 'resume', 'delete', 'show'])
    assert.match(
      await runWords('mailbox', name, '1'),
      /^1 .*there is no mailbox 1: see cambista mailbox list/,
    )
  assert.equal(await runWords(...create), '0 2\n')
})

test('`mailbox forget` lets a mail in again', async (t) => {
  const { dataDir, create, runWords } = await openDirectory(t)
  await runWords(...create)
  const db = temporaryDatabase(t, dataDir)
  await insertMailMessage(db, { key: 'a'.repeat(64), mailbox_id: 1, uidvalidity: 1, uid: 4711, at: AT })
  assert.match(await runWords('mailbox', 'forget', '1', 'x'), /^2 .*UID must be the number of a mail/)
  assert.match(await runWords('mailbox', 'forget', '9', '4711'), /^1 .*there is no mailbox 9/)
  assert.match(await runWords('mailbox', 'forget', '1', '1'), /^1 .*mailbox 1 has taken no mail 1/)
  assert.match(await runWords('mailbox', 'forget', '1', '4711'), /^0 mail 4711 of mailbox 1 is forgotten: /)
  assert.deepEqual(await db.selectFrom('mail_messages').selectAll().execute(), [])
})

test('`directory import` moves neither the agent nor the owner of a mailbox to another company', async (t) => {
  const { home, create, runWords } = await openDirectory(t)
  await runWords(...create)
  await runWords('company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '8')
  const file = join(home, 'directory.csv')
  for (const [row, message] of [
    ['agent,12,Facturas,8', /company_id must stay 7: there is a mailbox for this agent/],
    ['owner,31,Ana Mora,8', /company_id must stay 7: there is a mailbox for this owner/],
  ] as const) {
    writeFileSync(file, `kind,id,name,company_id\n${row}\n`)
    assert.match(await runWords('directory', 'import', file), message)
  }
})

test('`mailbox test` names the reason for which a round would fail, and `doctor` the mailbox', async (t) => {
  const { dataDir, secret, create, runWords } = await openDirectory(t)
  const port = await closedPort()
  const local = ['--host', '127.0.0.1', '--port', String(port), '--security', 'none']
  await runWords(...create.with(create.indexOf('imap.example.com'), '127.0.0.1'), ...local.slice(2))
  assert.equal(
    await runWords('mailbox', 'test', '1'),
    `1 cambista: there is no connection to 127.0.0.1:${port} (ECONNREFUSED)\n`,
  )
  assert.match(await runWords('mailbox', 'test', '2'), /^1 cambista: there is no mailbox 2/)
  rmSync(secret)
  assert.match(
    await runWords('mailbox', 'test', '1'),
    /^1 cambista: the file of the secret cannot be read: ENOENT/,
  )
  const findings = async () => {
    const end = await runCommand(['doctor', '--data-dir', dataDir, '--json'])
    const report = JSON.parse(end.out) as { findings: { check: string; message: string }[] }
    return report.findings.flatMap(({ check, message }) => (check === 'mail' ? message : []))
  }
  assert.match((await findings()).join(), /^the secret of mailbox 1 cannot be read: ENOENT.*mailbox test 1/)
  writeFileSync(secret, SECRET)
  chmodSync(secret, 0o640)
  assert.deepEqual(await findings(), [
    `the secret of mailbox 1 can be opened by other users (mode 0640): chmod 600 ${secret}`,
  ])
  chmodSync(secret, 0o600)
  const db = temporaryDatabase(t, dataDir)
  const failing = { failing_since: AT, failure: 'the server refused the password' }
  await updateMailbox(db, 1, failing)
  await updateAgentActive(db, 12, false)
  assert.deepEqual(await findings(), [
    `mailbox 1 fails since ${AT} (the server refused the password): cambista mailbox test 1 tries it`,
    'the agent 12 of mailbox 1 is inactive: cambista mailbox test 1 tries it',
  ])
  await runWords('mailbox', 'pause', '1')
  assert.equal((await findings()).length, 1)
})

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
