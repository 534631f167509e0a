import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { selectHooks, updateHook } from '../../../../../src/store/hooks/hooks.ts'
import { makeDirectory, runJson } from '../../../../support/company.ts'
import { startReceiver } from '../../../../support/hooks/receiver.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

const HOOK_URL = 'https://agents.example.com/hook'
const CREATE = ['hook', 'create', '--url', HOOK_URL, '--event', 'document.created']

type Made = { id: number; secret: string }
type Listed = {
  id: number
  url: string
  events: string[]
  off_at: string | null
  readable: boolean
  waiting: number
}

test('`hook create` prints the secret once and stores it encrypted with hook.key', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  await makeDirectory(dataDir)
  const at = ['--data-dir', dataDir]
  assert.equal(existsSync(join(dataDir, 'hook.key')), false)
  const created = await runCommand([
    ...CREATE,
    '--event',
    'sync.failed,rates.published',
    '--agent',
    '12',
    ...at,
  ])
  assert.equal(created.code, 0, created.err)
  assert.match(created.out, /^whsec_[A-Za-z0-9+/]{43}=\n$/)
  assert.match(created.err, /^Hook 1, its secret is shown only now/)
  const secret = created.out.trim()
  const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64')
  assert.equal(bytes.length, 32)
  const { mode, size } = statSync(join(dataDir, 'hook.key'))
  assert.deepEqual([(mode & 0o777).toString(8), size], ['600', 32])
  for (const name of readdirSync(dataDir)) {
    const content = readFileSync(join(dataDir, name))
    assert.equal(
      content.includes(secret.slice(6)) || content.includes(bytes),
      false,
      `${name} holds the secret`,
    )
  }
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.startsWith('hook')),
    ['hook.key'],
  )

  const key = readFileSync(join(dataDir, 'hook.key'))
  const other = await runJson<Made>(dataDir, ...CREATE, '--company', '7')
  assert.deepEqual(readFileSync(join(dataDir, 'hook.key')), key, 'hook.key is unchanged')
  assert.equal(other.id, 2)
  const listed = await runCommand(['hook', 'list', ...at])
  assert.match(
    listed.out,
    /1 +https:\/\/agents.example.com\/hook +document.created rates.published sync.failed +any +12 /,
  )
  assert.match(
    listed.out,
    /2 +https:\/\/agents.example.com\/hook +document.created +7 +any +0 +0 +never +not told yet\n/,
  )
  const rows = await runJson<Listed[]>(dataDir, 'hook', 'list')
  assert.equal(JSON.stringify(rows).includes('secret'), false)

  assert.equal((await runCommand(['hook', 'delete', '1', ...at])).out, 'hook 1 is deleted\n')
  const again = await runCommand(['hook', 'delete', '1', ...at])
  assert.deepEqual([again.code, again.err], [1, 'cambista: there is no hook 1: see cambista hook list\n'])
})

test('`hook create` refuses a wrong address, event, company or agent', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  await makeDirectory(dataDir)
  await runJson(dataDir, 'company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '8')
  const createError = async (...words: string[]) => {
    const { code, err } = await runCommand(['hook', 'create', ...words, '--data-dir', dataDir])
    return `${code} ${err}`
  }
  const event = ['--event', 'document.created']
  for (const url of [
    'http://example.com/',
    'http://10.0.0.1/',
    'ftp://a/',
    'https://',
    'example.com',
    'http://127.0.0.1.example.com/',
  ]) {
    assert.match(
      await createError('--url', url, ...event),
      /^2 .*--url must be an https URL without user and password/,
      url,
    )
  }
  const withPassword = await createError('--url', 'https://ana:sesamo@example.com/', ...event)
  assert.match(withPassword, /^2 .*--url must be/)
  assert.doesNotMatch(withPassword, /sesamo/)
  assert.match(
    await createError('--url', HOOK_URL, '--event', 'x'),
    /^2 .*must be of document.created, document.finished, document.failed, rates.published/,
  )
  assert.match(
    await createError('--url', HOOK_URL),
    /^2 .*--event is missing: give one or more of document.created/,
  )
  const forRates = await createError('--url', HOOK_URL, '--event', 'sync.failed', '--company', '7')
  assert.match(forRates, /^2 .*--company and --agent are for --event document.created/)
  assert.match(await createError('--url', HOOK_URL, ...event, '--company', '9'), /^1 .*there is no company 9/)
  assert.match(await createError('--url', HOOK_URL, ...event, '--agent', '9'), /^1 .*there is no agent 9/)
  const otherCompany = await createError('--url', HOOK_URL, ...event, '--agent', '12', '--company', '8')
  assert.match(otherCompany, /^1 .*agent 12 is of company 7, not 8/)
  assert.deepEqual(await runJson(dataDir, 'hook', 'list'), [])
  for (const url of ['http://localhost:9000/', 'http://[::1]:1/', 'http://127.1.2.3/', 'https://10.0.0.1/']) {
    assert.match(await createError('--url', url, ...event), /^0 /, url)
  }
})

test('`hook create` refuses the 51st hook', async (t) => {
  const dataDir = temporaryDirectory(t)
  for (let at = 0; at < 50; at++) await runJson(dataDir, ...CREATE)
  const more = await runCommand([...CREATE, '--data-dir', dataDir])
  assert.deepEqual([more.code, more.err], [1, 'cambista: there are 50 hooks already: delete one\n'])
})

test('`hook test` prints the answer of the receiver, turns a hook on and makes its messages due', async (t) => {
  const dataDir = temporaryDirectory(t)
  const at = ['--data-dir', dataDir]
  const receiver = await startReceiver(t)
  const words = ['--url', `${receiver.url}?token=sesamo`, '--event', 'sync.failed']
  const { id, secret } = await runJson<Made>(dataDir, 'hook', 'create', ...words)
  const good = await runCommand(['hook', 'test', String(id), ...at])
  assert.match(good.out, /^hook 1: HTTP 204 after \d+ ms\n$/)
  assert.equal(good.code, 0)
  const { type, data } = receiver.verify(secret, receiver.received[0]) as { type: string; data: unknown }
  assert.deepEqual([type, data, receiver.received[0]?.path], ['test', { hook_id: 1 }, '/hook?token=sesamo'])

  receiver.answer = (response) => response.writeHead(500).end('sorry')
  const bad = await runCommand(['hook', 'test', '1', ...at])
  assert.deepEqual([bad.code, bad.err], [1, ''])
  assert.match(bad.out, /^hook 1: HTTP 500, after \d+ ms\n$/)

  const db = temporaryDatabase(t, dataDir)
  await updateHook(db, 1, { off_at: '2026-01-01T00:00:00.000Z', failure: 'HTTP 410' })
  const off = await runCommand(['hook', 'list', ...at])
  assert.match(off.out, /off since 2026-01-01T00:00:00.000Z \(HTTP 410\)/)
  assert.match(off.out, /\/hook\?… /)
  assert.doesNotMatch(off.out, /sesamo/)
  const row = { hook_id: 1, message_id: 'msg_1', type: 'sync.failed', body: '{}', created_at: 'then' }
  await db
    .insertInto('hook_messages')
    .values({ ...row, due_at: '2999-01-01T00:00:00.000Z' })
    .execute()
  receiver.answer = (response) => response.writeHead(200).end()
  assert.match(
    (await runCommand(['hook', 'test', '1', ...at])).out,
    /HTTP 200 after \d+ ms; it is on again\n$/,
  )
  assert.deepEqual(
    (await selectHooks(db)).map(({ off_at, failure }) => [off_at, failure]),
    [[null, null]],
  )
  const due = await db.selectFrom('hook_messages').select('due_at').executeTakeFirstOrThrow()
  assert.ok(due.due_at <= new Date().toISOString())

  await receiver.close()
  const none = await runJson<unknown>(dataDir, 'hook', 'test', '1').catch((error: Error) => error.message)
  assert.match(String(none), /hook test 1/)
  assert.match(
    (await runCommand(['hook', 'test', '1', ...at])).out,
    /^hook 1: there is no connection to 127\.0\.0\.1:\d+ \(ECONNREFUSED\), after/,
  )
  const unknown = await runCommand(['hook', 'test', '7', ...at])
  assert.deepEqual([unknown.code, unknown.err], [1, 'cambista: there is no hook 7: see cambista hook list\n'])
})

test('`hook rotate` signs with both secrets for --overlap, with 0 by the new one alone', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-03-24T12:00:00Z') })
  const dataDir = temporaryDirectory(t)
  const receiver = await startReceiver(t)
  const first = await runJson<Made>(
    dataDir,
    'hook',
    'create',
    '--url',
    receiver.url,
    '--event',
    'sync.failed',
  )
  const second = await runJson<Made & { former_ends_at: string }>(
    dataDir,
    'hook',
    'rotate',
    '1',
    '--overlap',
    '2h',
  )
  assert.equal(second.former_ends_at, '2026-03-24T14:00:00.000Z')
  await runJson(dataDir, 'hook', 'test', '1')
  for (const { secret } of [first, second]) receiver.verify(secret, receiver.received[0])
  const early = await runCommand(['hook', 'rotate', '1', '--data-dir', dataDir])
  const advice = 'wait until then, or give --overlap 0, after which the new secret alone signs'
  assert.deepEqual(
    [early.code, early.out, early.err],
    [1, '', `cambista: the former secret of hook 1 signs until ${second.former_ends_at}: ${advice}\n`],
  )
  await runJson(dataDir, 'hook', 'test', '1')
  for (const { secret } of [first, second]) receiver.verify(secret, receiver.received[1])
  const third = await runJson<Made>(dataDir, 'hook', 'rotate', '1', '--overlap', '0')
  await runJson(dataDir, 'hook', 'test', '1')
  receiver.verify(third.secret, receiver.received[2])
  for (const { secret } of [first, second])
    assert.throws(() => receiver.verify(secret, receiver.received[2]), /No matching signature/)
  await runJson(dataDir, 'hook', 'rotate', '1')
})

test('a missing or wrong hook.key is reported by list, test and doctor; `hook rotate` repairs it', async (t) => {
  const dataDir = temporaryDirectory(t)
  const at = ['--data-dir', dataDir]
  const receiver = await startReceiver(t)
  await runJson(dataDir, 'hook', 'create', '--url', receiver.url, '--event', 'sync.failed')
  const key = join(dataDir, 'hook.key')
  truncateSync(key, 31)
  const short = await runCommand(['hook', 'test', '1', ...at])
  assert.match(short.err, /hook.key has 31 bytes instead of 32: remove it, then give each hook a new secret/)
  const shortKey = await runCommand(['doctor', ...at])
  assert.match(shortKey.out, /FINDING {2}hooks: .*hook.key has 31 bytes instead of 32/)
  rmSync(key)
  assert.match(
    (await runCommand(['hook', 'list', ...at])).out,
    /its secret cannot be read: cambista hook rotate 1/,
  )
  const missingKey = await runCommand(['hook', 'test', '1', ...at])
  assert.deepEqual(
    [missingKey.code, missingKey.err],
    [1, 'cambista: the secret of hook 1 cannot be read: cambista hook rotate 1 gives it a new one\n'],
  )
  const doctor = await runCommand(['doctor', ...at])
  assert.match(
    doctor.out,
    /FINDING {2}hooks: the secret of hook 1 cannot be read.*: cambista hook rotate 1 gives it a new one/,
  )
  await runJson(dataDir, 'hook', 'create', '--url', receiver.url, '--event', 'sync.failed') // creates another hook.key
  assert.match(
    (await runCommand(['hook', 'list', ...at])).out,
    /its secret cannot be read: cambista hook rotate 1/,
  )
  const { secret } = await runJson<Made>(dataDir, 'hook', 'rotate', '1')
  await runJson(dataDir, 'hook', 'test', '1')
  receiver.verify(secret, receiver.received.at(-1))
  assert.doesNotMatch((await runCommand(['doctor', ...at])).out, /FINDING {2}hooks/)
})

test('`doctor` reports a hook that is off or fails, and a hook.key that others can read', async (t) => {
  const dataDir = temporaryDirectory(t)
  await runJson(dataDir, ...CREATE)
  await runJson(dataDir, ...CREATE)
  const db = temporaryDatabase(t, dataDir)
  await updateHook(db, 1, { off_at: '2026-01-01T00:00:00.000Z', failure: 'HTTP 410' })
  await updateHook(db, 2, { failing_since: '2026-01-02T00:00:00.000Z', failure: 'HTTP 500' })
  chmodSync(join(dataDir, 'hook.key'), 0o640)
  const { code, out } = await runCommand(['doctor', '--data-dir', dataDir])
  assert.equal(code, 1)
  assert.match(
    out,
    /hooks: hook 1 is off since 2026-01-01T00:00:00.000Z \(HTTP 410\): cambista hook test 1 tries it/,
  )
  assert.match(out, /hooks: hook 2 fails since 2026-01-02T00:00:00.000Z \(HTTP 500\)/)
  assert.match(out, /hook\.key has mode 640 instead of 600/)
})

test('`directory import` cannot move an agent that a hook names with its company', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  await runJson(dataDir, 'company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '8')
  await runJson(dataDir, ...CREATE, '--agent', '12', '--company', '7')
  const file = join(temporaryDirectory(t), 'move.json')
  writeFileSync(file, JSON.stringify({ agents: [{ id: 12, company_id: 8, name: 'Facturas' }] }))
  const move = () => runCommand(['directory', 'import', file, '--data-dir', dataDir])
  assert.match(
    (await move()).err,
    /company_id must stay 7: there is a hook for this agent in that company alone/,
  )
  await runJson(dataDir, 'hook', 'delete', '1')
  await runJson(dataDir, ...CREATE, '--agent', '12') // a hook without a company does not block the move
  assert.equal((await move()).code, 0)
})

test('`hook test` prints a sentence about a receiver without a connection', async (t) => {
  const dataDir = temporaryDirectory(t)
  for (const url of ['https://receiver.invalid/h', 'http://127.0.0.1:1/h'])
    await runJson(dataDir, 'hook', 'create', '--url', url, '--event', 'sync.failed')
  const tests = [1, 2].map((id) => runCommand(['hook', 'test', String(id), '--data-dir', dataDir]))
  const [unknown, refused] = await Promise.all(tests)
  assert.match(
    unknown?.out ?? '',
    /^hook 1: there is no connection to receiver\.invalid:443 \((ENOTFOUND|EAI_AGAIN)\), after \d+ ms\n$/,
  )
  assert.match(
    refused?.out ?? '',
    /^hook 2: there is no connection to 127\.0\.0\.1:1 \(ECONNREFUSED\), after \d+ ms\n$/,
  )
})

test('`hook deliveries` lists the ended messages, and `hook redeliver` queues them again', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  await runJson(dataDir, ...CREATE)
  await runJson(dataDir, ...CREATE)
  const db = temporaryDatabase(t, dataDir)
  const now = Date.now()
  const row = (hook_id: number, hoursAgo: number, failure: string | null) => ({
    ...{ hook_id, message_id: `msg_${hoursAgo}`, type: 'document.created', body: '{"n":1}' },
    ...{ created_at: '2026', tries: 8, ended_at: new Date(now - hoursAgo * 3_600_000).toISOString() },
    ...{ status: failure === null ? 200 : 503, failure },
  })
  const rows = [row(1, 30, 'HTTP 503'), row(1, 3, 'HTTP 503'), row(1, 2, null), row(2, 1, 'HTTP 503')]
  await db.insertInto('hook_deliveries').values(rows).execute()
  const run = (...words: string[]) => runCommand(['hook', ...words, '--data-dir', dataDir])
  const queuedIds = async () => {
    const waiting = await db.selectFrom('hook_messages').select('message_id').orderBy('id').execute()
    await db.deleteFrom('hook_messages').execute()
    return waiting.map(({ message_id }) => message_id)
  }

  const listed = (await run('deliveries', '--hook', '1')).out.trim().split('\n')
  assert.match(listed[0] ?? '', /^ID +HOOK +TYPE +MESSAGE +TRIES +ENDED +RESULT$/)
  assert.match(listed[1] ?? '', /^3 +1 +document.created +msg_2 +8 +\S+Z +delivered, HTTP 200$/)
  assert.match(listed[2] ?? '', /^2 +1 .* given up: HTTP 503$/)
  assert.equal(listed.length, 4)
  const failures = await runJson<{ id: number; body: string }[]>(dataDir, 'hook', 'deliveries', '--failed')
  assert.deepEqual(
    failures.map(({ id, body }) => [id, body]),
    [4, 2, 1].map((id) => [id, '{"n":1}']),
  )
  assert.match((await run('deliveries', '--hook', '9')).err, /there is no hook 9/)

  assert.deepEqual(await run('redeliver', '1').then(({ code, out }) => [code, out]), [
    0,
    '1 message is sent again\n',
  ])
  assert.match((await run('redeliver', '1')).out, /^no message is sent again: there is none, or it waits/)
  assert.deepEqual(await queuedIds(), ['msg_30'])
  assert.equal((await run('redeliver', '--since', '24h')).out, '3 messages are sent again\n')
  assert.deepEqual((await queuedIds()).sort(), ['msg_1', 'msg_2', 'msg_3'])
  await run('redeliver', '--since', '24h', '--hook', '1', '--failed')
  assert.deepEqual(await queuedIds(), ['msg_3'])
  await updateHook(db, 1, { off_at: '2026-01-01T00:00:00.000Z', failure: 'HTTP 410' })
  const waits = 'until cambista hook test 1 turns hook 1 on'
  assert.equal((await run('redeliver', '1')).out, `1 message waits ${waits}\n`)
  await queuedIds()
  const mixed = await run('redeliver', '--since', '24h')
  assert.equal(mixed.out, `1 message is sent again\n2 messages wait ${waits}\n`)
  await queuedIds()

  for (const [words, code, message] of [
    [['99'], 1, 'there is no delivery 99: see cambista hook deliveries'],
    [[], 2, 'give either the ID of a delivery or --since with a time such as 24h'],
    [['1', '--since', '24h'], 2, 'give either the ID of a delivery or --since with a time such as 24h'],
    [['1', '--failed'], 2, '--hook and --failed are for --since'],
    [['--since', '2026-01-01'], 2, '--since'],
    [['--since', '1h', '--hook', '9'], 1, 'there is no hook 9'],
  ] as const) {
    const { code: exitCode, err } = await run('redeliver', ...words)
    assert.equal(exitCode, code, words.join(' '))
    assert.ok(err.includes(message), err)
  }
  assert.deepEqual(await queuedIds(), [])
  await runJson(dataDir, 'hook', 'delete', '1')
  assert.deepEqual(
    (await runJson<{ id: number }[]>(dataDir, 'hook', 'deliveries')).map(({ id }) => id),
    [4],
  )
})
