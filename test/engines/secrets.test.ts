// Real failures of a database, at the level debug: what is said of them names neither its user nor a password, and what
// clients are answered does not name its host either.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ask, startPostgres } from '../support/postgres/server.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { runCommand, startCommand, until } from '../support/terminal.ts'

const USER = 'hidden_role'
const PASSWORD = 'hidden@password'
const SECRETS = /hidden/i

/** A server that wants a password of this user, and its address with one. */
async function serverWithPassword(t: TestContext) {
  const server = await startPostgres()
  t.after(() => server.close())
  const dir = new URL(server.url.replace('@/', '@localhost/')).searchParams.get('host') ?? ''
  await ask(server.url, `create role ${USER} login password '${PASSWORD}'`)
  await ask(server.url, `create database inbox owner ${USER}`)
  writeFileSync(join(dir, 'data/pg_hba.conf'), 'local all cambista trust\nlocal all all scram-sha-256\n')
  await ask(server.url, 'select pg_reload_conf()')
  const addressWith = (password: string) =>
    `postgres://${USER}:${encodeURIComponent(password)}@/inbox?host=${dir}`
  return { server, dir, address: addressWith(PASSWORD), addressWith }
}

/** An address where a server says that it speaks no TLS. */
async function addressWithoutTls(t: TestContext): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end('N')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  return `postgres://${USER}:hidden@127.0.0.1:${port}/inbox?sslmode=verify-full`
}

async function refusal(database: string): Promise<string> {
  const { code, out, err } = await runCommand(['key', 'list'], { CAMBISTA_DATABASE: database })
  assert.deepEqual([code, out], [1, ''], err)
  assert.doesNotMatch(err, SECRETS)
  return err
}

test('a command says why it cannot open the database, and not as whom', async (t) => {
  const { addressWith, dir } = await serverWithPassword(t)
  assert.match(await refusal(addressWith('hidden2')), /inbox: the database refuses the user or the password/)
  assert.match(
    await refusal(`postgres://hidden_other@/inbox?host=${dir}`),
    /inbox: the database asks for a password.*PGPASSFILE/,
  )
  assert.match(await refusal(`postgres://${USER}:hidden@nowhere.invalid/inbox`), /nowhere\.invalid/)
  assert.match(await refusal(await addressWithoutTls(t)), /does not support SSL/)
})

test('a server whose database changes the password, and is gone, says neither whose nor where to clients', async (t) => {
  const { server, address } = await serverWithPassword(t)
  const dir = temporaryDirectory(t)
  const env = { CAMBISTA_DATABASE: address, CAMBISTA_BLOBS: dir, CAMBISTA_BLOBS_SHARED: '1' }
  const key = (await runCommand(['key', 'create', 'erp'], env)).out.trim()
  const words = ['serve', '--port', '0', '--no-scheduler', '--log-level', 'debug', '--metrics']
  const { printed, stop, ended } = startCommand(words, env)
  t.after(stop)
  await until(() => /listening url=\S+/.test(printed.err))
  const [, url = ''] = /listening url=(\S+)/.exec(printed.err) ?? []
  const token = (await runCommand(['token', 'create', 'scans', '--allow', 'documents:GET'], env)).out.trim()
  const headers = { 'x-api-key': key, authorization: `Bearer ${token}` }
  const paths = ['/healthz', '/readyz', '/openapi.json', '/metrics', '/api/v1/status', '/api/v1/health']
  const answers: string[] = []
  const look = async () => {
    for (const path of [...paths, '/api/v1/rates/latest', '/api/v1/documents', '/api/v1/sync/runs']) {
      const answer = await fetch(url + path, { headers })
      answers.push(`${answer.status} ${path} ${[...answer.headers].join(' ')} ${await answer.text()}`)
    }
  }
  await look()
  await ask(server.url, `alter role ${USER} password 'hidden3'`)
  await ask(server.url, `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${USER}'`)
  await until(() => /refuses the user or the password/.test(printed.err))
  await look()
  await server.stop()
  await look()
  stop()
  assert.equal((await ended).code, 0)
  const said = answers.join('\n')
  assert.match(said, /^503 \/api\/v1\/documents/m)
  assert.doesNotMatch(said, SECRETS)
  assert.ok(!said.includes(new URL(address.replace('@/', '@localhost/')).searchParams.get('host') ?? '-'))
  assert.doesNotMatch(printed.err, SECRETS)
  assert.doesNotMatch(printed.err, /cbk_|cbt_/)
})
