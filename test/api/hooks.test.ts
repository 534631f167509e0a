// Hooks of a running server: uploads, syncs, commits of other processes, and their traces in logs and
// backups.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { WriteDb } from '../../src/store/tables.ts'
import { ofSqlite, startTestApp, type TestAppOptions, temporaryDirectory } from '../support/app.ts'
import { runJson } from '../support/company.ts'
import { batch, CREATE, fillDirectory, pdf, post } from '../support/directory.ts'
import { type Receiver, startReceiver } from '../support/hooks/receiver.ts'
import { runCommand, until } from '../support/terminal.ts'
import { asOtherProcess, send } from './support.ts'

type Made = { id: number; secret: string }

/** A server with a data directory, and a receiver with one hook. */
async function startWithHook(t: Parameters<typeof startTestApp>[0], options: TestAppOptions = {}) {
  const app = await startTestApp(t, { listen: { metrics: 'local' }, ...options })
  await fillDirectory(app)
  const receiver = await startReceiver(t)
  const events = ['--event', 'document.created,rates.published,sync.failed']
  const hook = await runJson<Made>(
    app.dataDir,
    'hook',
    'create',
    '--url',
    `${receiver.url}?key=sesamo`,
    ...events,
  )
  const upload = async (...texts: string[]) => {
    const response = await post(app, CREATE, batch(...texts.map((text) => pdf(text))))
    assert.equal(response.status, 200)
    const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
    return created_documents.map(({ id }) => id)
  }
  const metric = async (name: string) => {
    const { body } = await send(`${app.app.url}/metrics`)
    return Number(new RegExp(`^cambista_${name} (\\d+)$`, 'm').exec(body)?.[1])
  }
  return { app, receiver, hook, upload, metric }
}

/** Returns whether the end of this many attempts is recorded for each message. */
async function areTried(db: WriteDb, times: number): Promise<boolean> {
  const rows = await db.selectFrom('hook_messages').select('tries').execute()
  return rows.every(({ tries }) => tries === times)
}

const receivedTypes = ({ received }: Receiver) => received.map(({ body }) => body.type)
const arrives = (receiver: Receiver, count: number) => until(() => receiver.received.length >= count)

test('a hook made by another process receives uploads and syncs of the running server', async (t) => {
  const { app, receiver, upload, metric } = await startWithHook(t)
  const ids = await upload('one', 'two')
  await arrives(receiver, 1)
  const [first] = receiver.received
  assert.deepEqual(first?.body, {
    type: 'document.created',
    timestamp: app.clock.read().toISOString(),
    data: { company_id: 1, agent_id: 1, document_ids: ids },
  })
  await app.sync({ from: '2026-03-23', to: '2026-03-24' })
  await arrives(receiver, 2)
  assert.deepEqual(receiver.received[1]?.body.data, {
    ...{ provider: 'bccr', run_id: 1, from: '2026-03-23', to: '2026-03-24' },
    days: ['2026-03-23', '2026-03-24'],
  })
  await until(async () => (await metric('hook_messages_waiting')) === 0)
  assert.deepEqual([await metric('hooks_failing'), await metric('hook_messages_given_up')], [0, 0])
})

test('a rejected or repeated upload sends no second message', async (t) => {
  const { app, receiver, upload } = await startWithHook(t)
  const bad = await post(app, CREATE, batch(pdf('good'), { ...pdf(), base64: '!' }))
  assert.equal(bad.status, 400)
  const headers = { 'idempotency-key': 'one' }
  for (let turn = 0; turn < 2; turn++) await post(app, CREATE, batch(pdf('same')), headers)
  await upload('last')
  await arrives(receiver, 2)
  assert.deepEqual(receiver.received.flatMap(({ body }) => body.data.document_ids).sort(), [1, 2])
})

test('a failing receiver is in the metrics; after its repair `hook test` delivers everything', async (t) => {
  const { app, receiver, upload, metric } = await startWithHook(t, { now: '2100-01-01T12:00:00Z' })
  receiver.answer = (response) => response.writeHead(500).end()
  for (let at = 0; at < 5; at++) await upload(`text ${at}`)
  await arrives(receiver, 5)
  // The next attempt is 5 s after the record of the first one, which is later than its arrival.
  await until(() => asOtherProcess(app, (db) => areTried(db, 1)))
  assert.deepEqual([await metric('hooks_failing'), await metric('hook_messages_waiting')], [1, 5])
  app.clock.now = new Date(app.clock.now.getTime() + 5000)
  await until(() => asOtherProcess(app, (db) => areTried(db, 2))) // the next attempt is in a minute
  receiver.answer = (response) => response.writeHead(204).end()
  assert.equal((await runCommand(['hook', 'test', '1', '--data-dir', app.dataDir])).code, 0)
  // The command reads the clock of the machine or of the database, which is long before that of the server.
  await until(async () => (await metric('hook_messages_waiting')) === 0)
  assert.equal(await metric('hooks_failing'), 0)
})

test('messages that are queued at a restart are sent', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { app, receiver, upload } = await startWithHook(t, { dataDir })
  receiver.answer = () => {}
  const ids = await upload('one')
  await arrives(receiver, 1)
  await app.app.close()
  receiver.answer = (response) => response.writeHead(200).end()
  await startTestApp(t, { dataDir, clock: app.clock })
  await arrives(receiver, 2)
  assert.deepEqual(receiver.received[1]?.body.data.document_ids, ids)
  assert.equal(receiver.received[1]?.id, receiver.received[0]?.id)
})

test(
  'a secret is in no backup, log or error; a restored hook sends nothing until its secret is rotated',
  ofSqlite,
  async (t) => {
    const home = temporaryDirectory(t)
    const [dataDir, set] = [join(home, 'data'), join(home, 'set')]
    const { app, receiver, hook, upload } = await startWithHook(t, { dataDir })
    receiver.answer = (response) => response.writeHead(500).end()
    await upload('one')
    await arrives(receiver, 1)
    await until(() => app.logLines.join('').includes('"event":"hook fails"'))
    const backup = await runCommand(['backup', 'create', set, '--data-dir', dataDir])
    assert.equal(backup.code, 0, backup.err)
    await app.app.close()
    const plain = hook.secret.slice('whsec_'.length)
    const secrets = [plain, Buffer.from(plain, 'base64'), readFileSync(join(dataDir, 'hook.key'))]
    const files = readdirSync(set, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    assert.ok(files.some(({ name }) => name === 'cambista.db'))
    assert.equal(
      files.some(({ name }) => name === 'hook.key'),
      false,
    )
    for (const { parentPath, name } of files) {
      const content = readFileSync(join(parentPath, name))
      for (const secret of secrets) assert.equal(content.includes(secret), false, name)
    }
    const log = app.logLines.join('')
    for (const word of [plain, 'whsec_', 'sesamo'])
      assert.equal(log.includes(word), false, `the log has ${word}`)

    renameSync(dataDir, `${dataDir}.before`)
    const restored = await runCommand(['backup', 'restore', set, '--data-dir', dataDir])
    assert.equal(restored.code, 0, restored.err)
    receiver.answer = (response) => response.writeHead(200).end()
    const countBeforeRestore = receiver.received.length
    const again = await startTestApp(t, { dataDir, clock: app.clock, listen: { metrics: 'local' } })
    await until(() =>
      /"event":"hook fails".*its secret cannot be read.*cambista hook rotate 1/.test(again.logLines.join('')),
    )
    assert.match(
      (await runCommand(['hook', 'list', '--data-dir', dataDir])).out,
      /0 .*its secret cannot be read: cambista hook rotate 1/,
    )
    const response = await post(again, CREATE, batch(pdf('new')))
    assert.equal(response.status, 200)
    assert.equal(receiver.received.length, countBeforeRestore)
    const { secret } = await runJson<Made>(dataDir, 'hook', 'rotate', '1')
    await arrives(receiver, countBeforeRestore + 1)
    assert.deepEqual(receivedTypes(receiver).slice(countBeforeRestore), ['document.created'])
    assert.deepEqual(receiver.received.at(-1)?.body.data.document_ids, [1_000_002])
    assert.notEqual(secret, hook.secret)
  },
)
