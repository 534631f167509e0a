// The options of several nodes, from command lines to the database and the folder that they name.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { run } from '../../../src/main.ts'
import { parseAddress } from '../../../src/store/postgres/address.ts'
import { startReceiver } from '../../support/hooks/receiver.ts'
import { postgresAddress } from '../../support/postgres/database.ts'
import { createPostgresSchema } from '../../support/postgres/server.ts'
import { TEST_PROVIDERS } from '../../support/providers.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand, startCommand, until } from '../../support/terminal.ts'

type Node = { url: string; printed: { err: string } }

async function openNodes(t: TestContext) {
  const dir = temporaryDirectory(t)
  const database = await postgresAddress(dir)
  const contents = join(dir, 'contents')
  const env = { CAMBISTA_DATABASE: database, CAMBISTA_BLOBS: contents, CAMBISTA_BLOBS_SHARED: '1', HOME: dir }
  const start = async (...more: string[]): Promise<Node> => {
    const { printed, stop, ended } = startCommand(['serve', '--port', '0', '--no-scheduler', ...more], env)
    t.after(async () => {
      stop()
      assert.equal((await ended).code, 0)
    })
    await until(() => /listening url=\S+/.test(printed.err))
    return { url: /listening url=(\S+)/.exec(printed.err)?.[1] ?? '', printed }
  }
  const runOk = async (...words: string[]) => {
    const { code, out, err } = await runCommand(words, env)
    assert.equal(code, 0, err)
    return out.trim()
  }
  return { dir, database, contents, env, start, runOk }
}

test('two nodes and commands work on one database and one folder, and no data directory is made', async (t) => {
  const nodes = await openNodes(t)
  const { start, runOk, contents } = nodes
  const [one, other] = [await start(), await start('--data-dir', join(nodes.dir, 'data'))]
  await runOk('company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '1')
  await runOk('owner', 'create', '--name', 'Ana', '--company', '1', '--id', '1')
  await runOk('agent', 'create', '--company', '1', '--name', 'Lector', '--id', '1')
  const token = await runOk('token', 'create', 'erp', '--allow', 'documents:POST', '--allow', 'documents:GET')
  const authorization = `Bearer ${token}`
  const upload = `${one.url}/api/v1/documents?company_id=1&agent_id=1&owner_id=1&name=factura.txt`
  await until(async () => {
    const answer = await fetch(upload, { method: 'POST', headers: { authorization }, body: 'Factura 1' })
    return answer.status === 200
  })
  const listed = () => fetch(`${other.url}/api/v1/documents`, { headers: { authorization } })
  await until(async () => (await listed()).status === 200)
  const list = await listed()
  const [first] = ((await list.json()) as { documents: { id: number }[] }).documents
  assert.ok(first)
  const content = await fetch(`${other.url}/api/v1/documents/${first.id}/content`, {
    headers: { authorization },
  })
  assert.equal(await content.text(), 'Factura 1')
  assert.equal(await runOk('document', 'export', String(first.id)), 'Factura 1')
  assert.ok(readdirSync(contents).includes('tmp'))
  assert.equal(existsSync(join(nodes.dir, 'data')), false)
  assert.equal(existsSync('cambista-data'), false)
})

test('commands that change data print the database without user and password', async (t) => {
  const { env, database } = await openNodes(t)
  const output: string[] = []
  const stop = new AbortController().signal
  const terminal = {
    env,
    providers: TEST_PROVIDERS,
    out() {},
    err: (text: string) => output.push(text),
    interactive: false,
    stop,
  }
  assert.equal(await run(['key', 'create', 'erp'], terminal), 0)
  assert.ok(output.includes(`database: ${parseAddress(database).name}\n`), output.join(''))
})

test('MCP without a server reads the database, and a link to the page needs its address', async (t) => {
  const { env, runOk } = await openNodes(t)
  await runOk('key', 'create', 'erp')
  const call = { name: 'list_series', arguments: {} }
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
  const output: string[] = []
  const terminal = {
    ...{ env, providers: TEST_PROVIDERS, interactive: false, stop: new AbortController().signal },
    out: (text: string | Uint8Array) => output.push(String(text)),
    err: (text: string) => output.push(text),
    input: () => Readable.from([`${JSON.stringify(request)}\n`]),
  }
  assert.equal(await run(['mcp'], terminal), 0)
  assert.match(output.join(''), /bccr/)
  const link = await runCommand(['web', '--key', 'erp'], env)
  assert.deepEqual([link.code, link.out], [2, ''])
  assert.match(link.err, /with --database give --url/)
  assert.match(
    await runOk('web', '--key', 'erp', '--url', 'https://rates.example'),
    /^https:\/\/rates.example\/#login=/,
  )
})

test('--no-migrate makes no tables, as commands that only look, and serves where they are', async (t) => {
  const { start } = await openNodes(t)
  await start('--no-migrate')
  const empty = await createPostgresSchema()
  const words = ['serve', '--port', '0', '--no-migrate', '--blobs', temporaryDirectory(t), '--blobs-shared']
  const { code, err } = await runCommand(words, { CAMBISTA_DATABASE: empty })
  assert.equal(code, 1)
  assert.match(err, /run cambista database upgrade, or cambista serve without --no-migrate/)
  const list = await runCommand(['key', 'list'], { CAMBISTA_DATABASE: empty })
  assert.equal(list.code, 1)
  assert.match(list.err, /run cambista database upgrade/)
})

test('SIGHUP reads the key of hooks again, and a bad file leaves the one before', async (t) => {
  const { dir, start, runOk } = await openNodes(t)
  const receiver = await startReceiver(t)
  const file = join(dir, 'hook-key')
  const [key, other] = ['a', 'b'].map((digit) => digit.repeat(64))
  writeFileSync(file, `${key}`)
  const ofHooks = ['--hook-key-file', file]
  await runOk('hook', 'create', '--url', receiver.url, '--event', 'document.created', ...ofHooks)
  writeFileSync(file, `${other}`)
  const { url, printed } = await start(...ofHooks)
  const reload = async (text: string) => {
    writeFileSync(file, text)
    const { length } = printed.err
    process.emit('SIGHUP')
    await until(() => printed.err.slice(length).includes(' reloaded '))
    return printed.err.slice(length)
  }
  assert.ok((await reload(key ?? '')).includes(`reloaded changed=${file}`))
  assert.match(await reload('short'), /not reloaded: the value before stays reason="there is no key in /)
  assert.match(await reload(`${key}\r\n`), /reloaded changed=nothing/)
  assert.ok(!printed.err.includes(key ?? ''))
  await runOk('company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '1')
  await runOk('owner', 'create', '--name', 'Ana', '--company', '1', '--id', '1')
  await runOk('agent', 'create', '--company', '1', '--name', 'Lector', '--id', '1')
  const authorization = `Bearer ${await runOk('token', 'create', 'erp', '--allow', 'documents:POST')}`
  const upload = `${url}/api/v1/documents?company_id=1&agent_id=1&owner_id=1&name=factura.txt`
  await until(async () => {
    const answer = await fetch(upload, { method: 'POST', headers: { authorization }, body: 'Factura 1' })
    return answer.status === 200
  })
  await until(() => receiver.received.length === 1) // with the key that the server read at its start nothing comes
})
