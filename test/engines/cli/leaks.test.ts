// Real failures of a database at log level debug. No message names its user or password, and no answer to clients
// names its host.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startFakeBucket } from '../../support/bucket/fake-bucket.ts'
import { postgresAddress } from '../../support/postgres/database.ts'
import { queryOnce, startPostgres } from '../../support/postgres/server.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand, startCommand, until } from '../../support/terminal.ts'

const USER = 'hidden_role'
const PASSWORD = 'hidden@password'
const SECRETS = /hidden/i

/** A server that wants a password of this user, and its address with one. */
async function serverWithPassword(t: TestContext) {
  const server = await startPostgres()
  t.after(() => server.close())
  const dir = new URL(server.url.replace('@/', '@localhost/')).searchParams.get('host') ?? ''
  await queryOnce(server.url, `create role ${USER} login password '${PASSWORD}'`)
  await queryOnce(server.url, `create database inbox owner ${USER}`)
  writeFileSync(join(dir, 'data/pg_hba.conf'), 'local all cambista trust\nlocal all all scram-sha-256\n')
  await queryOnce(server.url, 'select pg_reload_conf()')
  const buildAddress = (password: string) =>
    `postgres://${USER}:${encodeURIComponent(password)}@/inbox?host=${dir}`
  return { server, dir, address: buildAddress(PASSWORD), buildAddress }
}

/** Address of a server that rejects TLS. */
async function addressWithoutTls(t: TestContext): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end('N')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  return `postgres://${USER}:hidden@127.0.0.1:${port}/inbox?sslmode=verify-full`
}

async function refusal(database: string, line = 'key list'): Promise<string> {
  const { code, out, err } = await runCommand(line.split(' '), { CAMBISTA_DATABASE: database })
  assert.deepEqual([code, out], [1, ''], err)
  assert.doesNotMatch(err, SECRETS)
  return err
}

test('a command that cannot open the database names the reason, and no user or password', async (t) => {
  const { buildAddress, dir } = await serverWithPassword(t)
  assert.match(await refusal(buildAddress('hidden2')), /inbox: the database refuses the user or the password/)
  const blobs = `--blobs ${temporaryDirectory(t)} --blobs-shared`
  for (const line of [
    `serve --port 0 --log-level debug ${blobs}`,
    'database upgrade',
    'sync',
    'document list',
  ]) {
    assert.match(await refusal(buildAddress('hidden2'), line), /refuses the user or the password/, line)
  }
  assert.match(
    await refusal(`postgres://hidden_other@/inbox?host=${dir}`),
    /inbox: the database asks for a password.*PGPASSFILE/,
  )
  assert.match(await refusal(`postgres://${USER}:hidden@nowhere.invalid/inbox`), /nowhere\.invalid/)
  const withoutTls = await addressWithoutTls(t)
  for (const line of ['key list', `serve --port 0 ${blobs}`]) {
    const output = await refusal(withoutTls, line)
    assert.match(output, /does not support SSL/)
    assert.doesNotMatch(output, /waiting/) // time does not mend it
  }
})

test('a server whose password is changed and whose database stops names no user or host to clients', async (t) => {
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
  await queryOnce(server.url, `alter role ${USER} password 'hidden3'`)
  await queryOnce(
    server.url,
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${USER}'`,
  )
  await until(() => /refuses the user or the password/.test(printed.err))
  await look()
  await server.stop()
  await look()
  stop()
  assert.equal((await ended).code, 0)
  const output = answers.join('\n')
  assert.match(output, /^503 \/api\/v1\/documents/m)
  assert.match(output, /^cambista_database_silent_seconds (?!0$)\S/m)
  assert.match(output, /^cambista_clock_offset_seconds -?0/m)
  assert.doesNotMatch(output, SECRETS)
  assert.ok(!output.includes(new URL(address.replace('@/', '@localhost/')).searchParams.get('host') ?? '-'))
  assert.doesNotMatch(printed.err, SECRETS)
  assert.doesNotMatch(printed.err, /cbk_|cbt_/)
})

test('a bucket that refuses its credentials is named with the reason, and they are not', async (t) => {
  const fakeBucket = await startFakeBucket(t)
  const { accessKeyId, secretAccessKey } = fakeBucket.credentials
  const database = await postgresAddress(temporaryDirectory(t))
  const CREDENTIALS = /PAPERKEY|fakeBucket-secret|hidden|signature=|credential=|aws4-hmac/i
  const env = {
    CAMBISTA_DATABASE: database,
    CAMBISTA_S3_ENDPOINT: fakeBucket.endpoint,
    CAMBISTA_S3_REGION: fakeBucket.region,
  }
  const words = ['serve', '--port', '0', '--no-scheduler', '--log-level', 'debug', '--blobs']
  process.env.AWS_EC2_METADATA_DISABLED = 'true' // disables the metadata address of cloud machines
  const asWhom = (id: string, secret: string) => {
    process.env.AWS_ACCESS_KEY_ID = id // variables that the bucket client reads by itself
    process.env.AWS_SECRET_ACCESS_KEY = secret
  }
  const { CAMBISTA_S3_REGION: _, ...nowhere } = env
  asWhom('', '')
  const noCredentials = await runCommand([...words, 's3://fakeBucket'], env)
  assert.match(noCredentials.err, /^cambista: the bucket fakeBucket .*neither AWS_ACCESS_KEY_ID/)
  asWhom(accessKeyId, secretAccessKey)
  const noRegion = await runCommand([...words, 's3://fakeBucket'], nowhere)
  assert.match(noRegion.err, /^cambista: the region of the bucket fakeBucket is missing: give --s3-region/)
  assert.deepEqual([noCredentials.code, noRegion.code], [1, 2])
  const none = await runCommand([...words, 's3://nowhere'], env)
  assert.equal(none.code, 1)
  assert.match(none.err, /nowhere.*NoSuchBucket/)
  asWhom(accessKeyId, 'hidden')
  const wrong = await runCommand([...words, 's3://fakeBucket/inbox'], env)
  assert.equal(wrong.code, 1)
  assert.match(wrong.err, /fakeBucket.*SignatureDoesNotMatch/)
  asWhom(accessKeyId, secretAccessKey)
  const { printed, stop, ended } = startCommand([...words, 's3://fakeBucket/inbox'], env)
  t.after(stop)
  await until(() => /listening url=\S+/.test(printed.err))
  const [, url = ''] = /listening url=(\S+)/.exec(printed.err) ?? []
  for (const line of [
    'company create --name A --code A --id 1',
    'owner create --name O --company 1 --id 1',
  ]) {
    assert.equal((await runCommand(line.split(' '), env)).code, 0)
  }
  assert.equal((await runCommand('agent create --company 1 --name L --id 1'.split(' '), env)).code, 0)
  const tokenResult = await runCommand(
    'token create e --allow documents:POST --allow documents:GET'.split(' '),
    env,
  )
  const headers = { authorization: `Bearer ${tokenResult.out.trim()}` }
  const target = `${url}/api/v1/documents?company_id=1&agent_id=1&owner_id=1&name=a.txt`
  const upload = async () => {
    const answer = await fetch(target, { method: 'POST', headers, body: 'Factura 1' })
    return `${answer.status} ${[...answer.headers].join(' ')} ${await answer.text()}`
  }
  await until(async () => (await upload()).startsWith('200'))
  const answers: string[] = []
  for (const fault of ['ExpiredToken', 'refuse', 'drop'] as const) {
    fakeBucket.faults = () => fault
    answers.push(await upload())
    const content = await fetch(`${url}/api/v1/documents/1/content`, { headers })
    answers.push(`${content.status} ${await content.text().catch(String)}`)
  }
  for (const answer of answers) assert.match(answer, /^503 /)
  assert.doesNotMatch(answers.join('\n'), CREDENTIALS)
  assert.ok(!answers.join('\n').includes(new URL(fakeBucket.endpoint).host))
  stop()
  assert.equal((await ended).code, 0)
  assert.match(printed.err, /ExpiredToken/)
  assert.doesNotMatch(none.err + wrong.err + printed.err, CREDENTIALS)
})
