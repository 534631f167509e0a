// Headers of a hook, and hooks over plain HTTP in a private network.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { updateHook } from '../../../../../src/store/hooks/hooks.ts'
import { makeDirectory, runJson } from '../../../../support/company.ts'
import { openHookQueue } from '../../../../support/hooks/queue.ts'
import { startReceiver } from '../../../../support/hooks/receiver.ts'
import { emptyOlderSchema } from '../../../../support/older-schema.ts'
import { ofSqlite, temporaryDatabase, temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

const EVENT = ['--event', 'sync.failed']
const SECRET = 'sesamo-9182'

type Listed = { id: number; headers: Record<string, string | null>; allow_http: number; readable: boolean }

async function openDirectory(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const run = async (...words: string[]) => {
    const { code, out, err } = await runCommand([...words, '--data-dir', dataDir])
    return `${code} ${out}${err}`
  }
  const headerFile = (text: string) => {
    const file = join(temporaryDirectory(t), 'headers')
    writeFileSync(file, text)
    return file
  }
  return { dataDir, run, headerFile, list: () => runJson<Listed[]>(dataDir, 'hook', 'list') }
}

test('a hook sends its headers, and nothing shows the value of a secret one', async (t) => {
  const { run, headerFile, list } = await openDirectory(t)
  const receiver = await startReceiver(t)
  const file = headerFile(`\uFEFFAuthorization: Bearer ${SECRET}\r\n\r\nX-Tenant:\t${SECRET}2 \r\n`)
  const create = ['hook', 'create', '--url', receiver.url, ...EVENT, '--header-file', file]
  const creation = await run(...create, '--header', 'X-Company: a, b: 7', '--header', 'X-Kind: caja')
  assert.match(creation, /^0 whsec_/)
  assert.match(await run('hook', 'test', '1'), /^0 hook 1: HTTP 204/)
  const headers = receiver.received[0]?.headers ?? {}
  assert.equal(headers.authorization, `Bearer ${SECRET}`)
  assert.deepEqual(
    [headers['x-tenant'], headers['x-company'], headers['x-kind']],
    [`${SECRET}2`, 'a, b: 7', 'caja'],
  )
  assert.deepEqual(
    (await list()).map((hook) => hook.headers),
    [{ 'X-Company': 'a, b: 7', 'X-Kind': 'caja', Authorization: null, 'X-Tenant': null }],
  )
  const table = await run('hook', 'list')
  assert.match(table, /X-Company X-Kind Authorization X-Tenant/)
  const json = JSON.stringify(await list())
  for (const text of [creation, table, json, await run('doctor')])
    assert.doesNotMatch(text, new RegExp(SECRET))
})

test('the values of secret headers are in no file', ofSqlite, async (t) => {
  const { dataDir, run, headerFile } = await openDirectory(t)
  const file = headerFile(`X-Key: ${SECRET}`)
  await run('hook', 'create', '--url', 'https://a.example/', ...EVENT, '--header-file', file)
  for (const name of readdirSync(dataDir).filter((one) => one.startsWith('cambista.db')))
    assert.equal(readFileSync(join(dataDir, name)).includes(SECRET), false, name)
})

test('`hook create` refuses wrong headers without their values', async (t) => {
  const { run, headerFile, list } = await openDirectory(t)
  const create = (...words: string[]) =>
    run('hook', 'create', '--url', 'https://a.example/', ...EVENT, ...words)
  const malformed = [SECRET, `: ${SECRET}`, `X Y: ${SECRET}`, 'X-Key:', 'X-Key: ', `X-Key : ${SECRET}`]
  for (const text of [
    ...malformed,
    `X-Key: ${SECRET}ñ`,
    `X-Key: ${SECRET}\nX: 1`,
    `X: ${'a'.repeat(4001)}`,
  ]) {
    const error = await create('--header', text)
    assert.match(error, /^2 cambista: --header must be 'Name: value', at most 4000 printable ASCII/, text)
    assert.doesNotMatch(error, new RegExp(SECRET))
  }
  for (const name of [
    ...[
      'Host',
      'content-type',
      'Content-Length',
      'User-Agent',
      'connection',
      'WEBHOOK-ID',
      'webhook-signature',
    ],
    ...['webhook-timestamp', 'Transfer-Encoding', 'Proxy-Authorization', 'Expect', 'Upgrade'],
  ])
    assert.match(
      await create('--header', `${name}: ${SECRET}`),
      new RegExp(`^2 cambista: --header must not be ${name}, which the server sends itself\n`),
    )
  const repeated = await create('--header', 'x-key: 1', '--header-file', headerFile(`X-Key: ${SECRET}`))
  assert.match(repeated, /^2 cambista: line 1 of --header-file repeats X-Key: give each header once/)
  const wrongLine = await create('--header-file', headerFile(`X-Key: 1\n# ${SECRET}\n`))
  assert.match(wrongLine, /^2 cambista: line 2 of --header-file must be 'Name: value'/)
  assert.doesNotMatch(repeated + wrongLine, new RegExp(SECRET))
  assert.match(await create('--header-file', headerFile('\n')), /^2 cambista: there is no header in /)
  assert.match(
    await create('--header-file', '/nonexistent'),
    /^1 cambista: cannot read the headers of the hook/,
  )
  const many = (count: number) => Array.from({ length: count }, (_, at) => `X-${at}: ${at}`)
  const flags = many(5).flatMap((text) => ['--header', text])
  const others = many(11).slice(5).join('\n')
  assert.match(
    await create(...flags, '--header-file', headerFile(others)),
    /^2 cambista: a hook has at most 10 headers, and 11 are given/,
  )
  assert.deepEqual(await list(), [])
  assert.match(await create(...flags, '--header-file', headerFile(many(10).slice(5).join('\n'))), /^0 /)
})

test('after a lost key `hook rotate` needs the secret headers again', async (t) => {
  const queue = await openHookQueue(t)
  const { dataDir, db } = queue
  const receiver = await startReceiver(t)
  const file = join(temporaryDirectory(t), 'headers')
  writeFileSync(file, `X-Key: ${SECRET}`)
  const words = ['--url', receiver.url, '--event', 'document.created', '--header-file', file]
  await runJson(dataDir, 'hook', 'create', ...words, '--header', 'X-Kind: caja')
  await queue.queueDocuments(41)
  await queue.hooks.idle()
  assert.equal(receiver.received[0]?.headers['x-key'], SECRET)
  await updateHook(db, 1, { secret: Buffer.alloc(60), secret_headers: Buffer.alloc(60) })
  const rotate = (...more: string[]) => runCommand(['hook', 'rotate', '1', '--data-dir', dataDir, ...more])
  const refused = await rotate()
  assert.equal(
    refused.err,
    'cambista: the secret headers of hook 1 cannot be read: give them again, with --header-file FILE\n',
  )
  writeFileSync(file, `X-Key: ${SECRET}3`)
  assert.equal((await rotate('--header-file', file)).code, 0)
  await queue.queueDocuments(42)
  await queue.hooks.idle()
  const headers = receiver.received.at(-1)?.headers ?? {}
  assert.deepEqual([headers['x-key'], headers['x-kind']], [`${SECRET}3`, 'caja'])
  assert.equal((await rotate('--overlap', '0')).code, 0)
  assert.doesNotMatch(queue.logLines.join(), new RegExp(SECRET))
})

test('a hook of 1.0.0 has no headers after the upgrade', ofSqlite, async (t) => {
  const dataDir = temporaryDirectory(t)
  const db = emptyOlderSchema(dataDir, 25)
  const values = `'https://a.example/', 'sync.failed', x'00', '2026-01-01T00:00:00.000Z'`
  db.exec(`insert into hooks (url, events, secret, created_at) values (${values})`)
  db.close()
  const [hook] = await runJson<Listed[]>(dataDir, 'hook', 'list')
  assert.deepEqual([hook?.headers, hook?.allow_http], [{}, 0])
})

test('`hook create --allow-http` admits names and private addresses, and no public one', async (t) => {
  const { run, list } = await openDirectory(t)
  const create = (url: string, ...words: string[]) => run('hook', 'create', '--url', url, ...EVENT, ...words)
  const hosts = ['10.0.0.5', '192.168.1.5:8080', '[fd00::5]', 'erp.lan', '127.0.0.1:9000', 'localhost']
  for (const host of hosts) assert.match(await create(`http://${host}/`, '--allow-http'), /^0 /, host)
  for (const host of hosts.slice(0, 4))
    assert.match(
      await create(`http://${host}/`),
      /^2 cambista: --url must be an https URL .* with --allow-http/,
      host,
    )
  for (const host of ['8.8.8.8', '169.254.169.254', '0x08080808', '[fe80::1]', '224.0.0.1', '0.0.0.0'])
    assert.match(
      await create(`http://${host}/`, '--allow-http'),
      /^2 cambista: --url must be https: .* is in no private network/,
      host,
    )
  assert.match(
    await create('https://erp.lan/', '--allow-http'),
    /^2 cambista: --url must be an http URL, or leave out/,
  )
  assert.match(
    await create('http://ana:sesamo@erp.lan/', '--allow-http'),
    /^2 .*--url must be an https URL without/,
  )
  assert.deepEqual(
    (await list()).map((hook) => hook.allow_http),
    hosts.map(() => 1),
  )
})

test('a hook of `--allow-http` is checked at each connection, and uses no proxy', async (t) => {
  const { dataDir, run } = await openDirectory(t)
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  const url = `http://localhost:${port}/hook`
  await run('hook', 'create', '--url', url, ...EVENT, '--allow-http')
  const proxy = { http_proxy: 'http://127.0.0.1:1', https_proxy: 'http://127.0.0.1:1' }
  const words = ['hook', 'test', '1', '--data-dir', dataDir]
  assert.match((await runCommand(words, proxy)).out, /^hook 1: HTTP 204/)
  const db = temporaryDatabase(t, dataDir)
  const publicAddress = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.scopeid)?.address
  for (const address of ['8.8.8.8', '169.254.169.254', ...(publicAddress ? [`[${publicAddress}]`] : [])]) {
    await db
      .updateTable('hooks')
      .set({ url: `http://${address}:${port}/` })
      .execute()
    const { code, out } = await runCommand(words)
    assert.equal(code, 1)
    assert.match(
      out,
      /^hook 1: its address .* is in no private network \(RFC 1918, fc00::\/7\), after \d+ ms\n$/,
    )
  }
  await db.updateTable('hooks').set({ url: 'http://no-such-name.invalid/' }).execute()
  assert.match(
    (await runCommand(words)).out,
    /^hook 1: there is no connection to .*\((ENOTFOUND|EAI_AGAIN)\)/,
  )
})
