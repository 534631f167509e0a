// Searches all output and files of a run for secrets, after every kind of error: keys, tokens, the bank's token, and
// the bytes of documents.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { exchange, send } from '../../api/support.ts'
import { type Program, startProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { type CommandEnd, runCommand, until } from '../../support/terminal.ts'
import { figure, LONG, PROGRAM, scaled } from '../scale.ts'

const BANK_TOKEN = 'eyJhbGciOiJIUzI1NiJ9.ban6-70ken-4711-s3cre7.s1gna7ure'
const MARK = 'Factura-S3creta-'
const CREATE = '/api/v1/documents/create'

type Workspace = { home: string; dataDir: string; backups: string; temporary: string; tokenFile: string }
/** Secrets by name; each may appear only where it is issued. */
type Secrets = Record<string, string>

for (const format of ['text', 'json'] as const) {
  test(`output, log as ${format} and files of a run contain no secret`, async (t) => {
    const workspace = createWorkspace(t)
    const bank = await startEchoBank(t)
    const options = ['--data-dir', workspace.dataDir]
    const secrets: Secrets = { 'bank token': BANK_TOKEN }
    const outputs: string[] = []
    const command = async (...words: string[]) => {
      const result = await run(t, workspace, [...words, ...options])
      outputs.push(result.out, result.err)
      return result
    }
    // A new secret is printed once, and nowhere else.
    const createSecret = async (...words: string[]) => {
      const { out, err } = await run(t, workspace, [...words, ...options])
      outputs.push(err)
      return out.trim()
    }
    secrets.key = await createSecret('key', 'create', 'erp')
    secrets['revoked key'] = await createSecret('key', 'create', 'old')
    await command('key', 'revoke', '2')
    await command('company', 'create', '--name', 'Acme S.A.', '--code', 'ACME', '--id', '1')
    await command('owner', 'create', '--name', 'Ana', '--company', '1', '--id', '1')
    await command('agent', 'create', '--name', 'Lector', '--company', '1', '--id', '1')
    const allow = ['--allow', 'documents:POST', '--allow', 'documents:GET', '--allow', 'agent:POST']
    secrets.token = await createSecret('token', 'create', 'erp', ...allow, '--company', '1')
    for (const words of [['key', 'list'], ['token', 'list'], ['directory', 'export'], ['doctor']]) {
      await command(...words)
    }
    for (const words of [
      ['key', 'list'],
      ['token', 'list'],
    ])
      await command(...words, '--json')
    const bankOptions = ['--bccr-url', bank.url, '--bccr-pace', '0', '--bccr-token-file', workspace.tokenFile]
    const serveOptions = [
      '--metrics',
      '--max-body',
      '2000000',
      '--min-free',
      '0',
      '--backfill-from',
      '2026-11-01',
    ]
    const logOptions = ['--log-level', 'debug', '--log-format', format]
    const program = start(t, workspace, [
      'serve',
      '--port',
      '0',
      ...options,
      ...bankOptions,
      ...serveOptions,
      ...logOptions,
    ])
    const listening = await program.waitForOutput(
      format === 'json' ? /"url":"([^"]+)"/ : / listening url=(\S+)/,
    )
    const url = listening[1] ?? ''
    for (const file of ['cmdline', 'environ']) {
      outputs.push(readFileSync(`/proc/${program.child.pid}/${file}`, 'utf8'))
    }
    assert.ok(outputs.at(-2)?.includes('serve'))

    const body = Buffer.from(Array.from({ length: 20_000 }, (_, at) => `${MARK}${at}\n`).join(''))
    const uploadReply = await upload(url, secrets.token ?? '', body)
    assert.equal(uploadReply.status, 200, await uploadReply.clone().text())
    outputs.push(await uploadReply.text())
    for (let round = 0; round < scaled({ short: 1, long: 10 }); round++) {
      outputs.push(...(await wrongRequests(url, secrets, body)))
    }
    await until(() => bank.asked() >= 2)
    await until(async () => (await fetchRuns(url, secrets.key ?? '')).some((run) => run.finished_at !== null))
    outputs.push(JSON.stringify(await fetchRuns(url, secrets.key ?? '')))
    assert.match(outputs.at(-1) ?? '', /no: Bearer \*\*\*/, 'the bank did not echo the token')
    outputs.push((await send(`${url}/metrics`)).body)
    assert.match(outputs.at(-1) ?? '', /cambista_/)
    for (const env of [{ CAMBISTA_BCCR_TOKEN: BANK_TOKEN }, undefined]) {
      const from = ['--bccr-url', bank.url, '--bccr-pace', '0', '--from', '2026-11-02', '--to', '2026-11-03']
      const file = env ? [] : ['--bccr-token-file', workspace.tokenFile]
      const result = await run(t, workspace, ['sync', ...from, ...file, ...options], env)
      outputs.push(result.out, result.err)
    }
    assert.ok(bank.shown() > 0, 'the bank never received the token')
    await command('backup', 'create', workspace.backups)
    await command('backup', 'verify', workspace.backups)
    const openFiles = listFiles(workspace.home) // with -wal and -shm of the running server
    assert.ok(openFiles.some((path) => path.endsWith('.db-wal')))
    searchSecrets(openFiles, secrets, body, workspace)
    program.child.kill('SIGTERM')
    assert.equal(await program.waitForExit(), 0, program.printed.err)
    outputs.push(program.printed.out, program.printed.err)
    assert.match(program.printed.err, /401/)
    figure(t, 'bytes of answers, messages and logs', outputs.join('').length)

    const files = listFiles(workspace.home)
    searchSecrets(files, secrets, body, workspace)
    figure(t, 'files', files.length)
    for (const [name, secret] of Object.entries(secrets)) {
      for (const text of outputs) {
        for (const encoding of encodings(secret))
          assert.ok(!text.includes(encoding), `${name} in: ${text.slice(0, 2000)}`)
      }
    }
    for (const text of outputs) {
      for (const encoding of [MARK, ...encodings(MARK + 7)])
        assert.ok(!text.includes(encoding), `content in: ${text}`)
    }
    assert.deepEqual(readdirSync(workspace.temporary), [], 'left in the temporary directory')
    assert.deepEqual(readdirSync(join(workspace.dataDir, 'blobs', 'tmp')), [], 'left of uploads')
    assert.ok(
      !listFiles(workspace.home).some((path) =>
        /(^|\/)(core|vgcore)\b|\.heapsnapshot$|report\.\d/.test(path),
      ),
    )
  })
}

test('the search finds a name in the database and a document outside the blobs', async (t) => {
  const workspace = createWorkspace(t)
  await run(t, workspace, [
    'company',
    'create',
    '--name',
    'Marcada',
    '--code',
    'X',
    '--data-dir',
    workspace.dataDir,
  ])
  const [database] = listFiles(workspace.dataDir).filter((path) => path.endsWith('.db'))
  assert.ok(encodings('Marcada').some((encoding) => readFileSync(database ?? '').includes(encoding)))
  assert.throws(
    () => searchSecrets(listFiles(workspace.home), { name: 'Marcada' }, Buffer.from('x'), workspace),
    /name/,
  )
  writeFileSync(join(workspace.temporary, 'left'), `${MARK}7\n`)
  assert.throws(
    () => searchSecrets(listFiles(workspace.home), {}, Buffer.from(`${MARK}7\n`), workspace),
    /left/,
  )
})

test('no command accepts a secret as an argument, which ps would show', async (t) => {
  const workspace = createWorkspace(t)
  const { out } = await run(t, workspace, ['serve', '--help'])
  assert.match(out, /--bccr-token-file FILE/)
  for (const flag of ['--bccr-token', '--token', '--key', '--api-key']) {
    const { code, err } = await run(t, workspace, [
      'serve',
      flag,
      BANK_TOKEN,
      '--data-dir',
      workspace.dataDir,
    ])
    assert.equal(code, 2)
    assert.ok(!err.includes(BANK_TOKEN), err)
  }
})

test('SIGUSR1 opens no debugger, which would expose all memory to local users', async (t) => {
  const workspace = createWorkspace(t)
  const words = ['serve', '--no-scheduler', '--port', '0', '--data-dir', workspace.dataDir]
  const program = start(t, workspace, words)
  const [, url = ''] = await program.waitForOutput(/ listening url=(\S+)/)
  program.child.kill('SIGUSR1')
  await wait(300)
  assert.equal((await send(`${url}/healthz`)).status, 200)
  program.child.kill('SIGTERM')
  assert.equal(await program.waitForExit(), 0)
  assert.doesNotMatch(program.printed.err, /[Dd]ebugger|ws:/)
})

test('the service unit forbids core files and open file modes', async (t) => {
  const { out } = await run(t, createWorkspace(t), ['service', 'print'])
  assert.match(out, /^LimitCORE=0$/m)
  assert.match(out, /^UMask=0077$/m)
  assert.match(out, /^LoadCredential=bccr-token:/m)
})

/** Sends every kind of invalid request. Returns the answers. */
async function wrongRequests(
  url: string,
  { key = '', token = '', ...more }: Secrets,
  body: Buffer,
): Promise<string[]> {
  const answers: string[] = []
  const sendRequest = async (
    path: string,
    method: string,
    headers: Record<string, string>,
    requestBody?: string | Buffer,
  ) => {
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(requestBody !== undefined && { body: requestBody as string }),
    })
    answers.push(`${answer.status}\n${JSON.stringify([...answer.headers])}\n${await answer.text()}`)
    return answer.status
  }
  const bearer = { authorization: `Bearer ${token}` }
  const rates = '/api/v1/rates/latest'
  const expected: [number, Promise<number>][] = [
    [401, sendRequest(`${rates}?api_key=${key}&X-API-Key=${key}`, 'GET', {})],
    [401, sendRequest(rates, 'GET', { 'x-api-key': more['revoked key'] ?? '' })],
    [401, sendRequest(rates, 'GET', { 'x-api-key': `${key}x` })],
    [401, sendRequest(rates, 'GET', { 'x-api-key': token })],
    [401, sendRequest(CREATE, 'POST', { authorization: `Bearer ${key}` }, '{}')],
    [401, sendRequest(CREATE, 'POST', { authorization: `Basic ${token}` }, '{}')],
    [404, sendRequest(`/api/v1/${key}`, 'GET', { 'x-api-key': key })],
    [405, sendRequest(rates, 'DELETE', { 'x-api-key': key })],
    [422, sendRequest('/api/v1/convert?amount=x&from=1&to=', 'GET', { 'x-api-key': key })],
    [422, sendRequest('/api/v1/documents?limit=0', 'GET', bearer)],
    [404, sendRequest('/api/v1/documents/999', 'GET', bearer)],
    [416, sendRequest('/api/v1/documents/1/content', 'GET', { ...bearer, range: 'bytes=9999999-' })],
    [
      400,
      sendRequest(
        CREATE,
        'POST',
        bearer,
        `{"owner_id":1,"documents":[{"base64":"${body.toString('base64')}"`,
      ),
    ],
    [400, sendRequest(CREATE, 'POST', bearer, body)],
    [400, sendRequest(CREATE, 'POST', bearer, batchJson(`${body.toString('base64')}!`))],
    [400, sendRequest(CREATE, 'POST', bearer, batchJson(body.toString('base64'), { mimetype: 'none' }))],
    [404, sendRequest(CREATE, 'POST', bearer, batchJson(body.toString('base64'), {}, 99))],
    [413, sendRequest(CREATE, 'POST', bearer, batchJson(body.toString('base64').repeat(4)))],
    [400, sendRequest('/api/v1/agent/get_by_company', 'POST', bearer, body.subarray(0, 2000))],
    [413, sendRequest('/api/v1/agent/get_by_company', 'POST', bearer, body)],
  ]
  for (const [at, [status, answer]] of expected.entries()) assert.equal(await answer, status, `request ${at}`)
  for (const [head, status] of [
    [`GET ${rates} HTTP/9.9\r\nX-API-Key: ${key}`, 400],
    [`G@T ${rates} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}`, 400],
    [`GET ${rates} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nbad header ${token}`, 400],
    [`GET ${rates} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key.repeat(2000)}`, 431],
    [`POST ${CREATE} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: x`, 400],
    [
      `POST ${CREATE} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nTransfer-Encoding: chunked\r\n\r\n${MARK}`,
      400,
    ],
  ] as const) {
    const answer = await exchange(url, `${head}\r\n\r\n`)
    assert.equal(answer.status, status, head.slice(0, 80))
    answers.push(JSON.stringify(answer))
  }
  return answers
}

function batchJson(base64: string, facts: object = {}, agent_id = 1): string {
  const document = { name: 'a.txt', mimetype: 'text/plain', base64, ...facts }
  return JSON.stringify({ owner_id: 1, company_id: 1, agent_id, documents: [document] })
}

function upload(url: string, token: string, body: Buffer): Promise<Response> {
  const headers = { authorization: `Bearer ${token}` }
  return fetch(url + CREATE, { method: 'POST', headers, body: batchJson(body.toString('base64')) })
}

async function fetchRuns(
  url: string,
  key: string,
): Promise<{ finished_at: string | null; message: string | null }[]> {
  const response = await fetch(`${url}/api/v1/sync/runs`, { headers: { 'x-api-key': key } })
  return (await response.json()) as { finished_at: string | null; message: string | null }[]
}

/**
 * Checks that files contain no secret, but the token file, and no document outside the blobs. @throws with the
 * file name
 */
function searchSecrets(files: readonly string[], secrets: Secrets, body: Buffer, workspace: Workspace): void {
  const content = [
    body.subarray(0, 60),
    Buffer.from(MARK),
    Buffer.from(body.subarray(0, 60).toString('base64')),
  ]
  for (const path of files.filter((one) => one !== workspace.tokenFile && existsSync(one))) {
    const bytes = readFileSync(path)
    for (const [name, secret] of Object.entries(secrets)) {
      for (const encoding of encodings(secret)) assert.ok(!bytes.includes(encoding), `${name} in ${path}`)
    }
    if (path.includes('/blobs/')) continue
    for (const encoding of content) assert.ok(!bytes.includes(encoding), `content in ${path}`)
  }
}

/** Encodings of a text: plain, base64 at each offset, hexadecimal, URL, UTF-16. */
function encodings(text: string): string[] {
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.from(text.slice(offset)).toString('base64').replace(/=+$/, '').slice(0, -1),
  )
  const utf16 = Buffer.from(text, 'utf16le').toString('latin1')
  return [text, ...base64, Buffer.from(text).toString('hex'), encodeURIComponent(text), utf16]
}

function listFiles(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => existsSync(path) && statSync(path).isFile())
}

function createWorkspace(t: TestContext): Workspace {
  const home = temporaryDirectory(t)
  const temporary = join(home, 'tmp')
  mkdirSync(temporary)
  const tokenFile = join(home, 'bccr-token')
  writeFileSync(tokenFile, `${BANK_TOKEN}\n`, { mode: 0o600 })
  return { home, temporary, tokenFile, dataDir: join(home, 'data'), backups: join(home, 'backups') }
}

function start(
  t: TestContext,
  workspace: Workspace,
  words: string[],
  env: Record<string, string> = {},
): Program {
  return startProgram(t, words, { TMPDIR: workspace.temporary, ...env }, PROGRAM)
}

/** Runs a command to its end: of the built program, or in this process, which starts faster. */
async function run(
  t: TestContext,
  workspace: Workspace,
  words: string[],
  env?: Record<string, string>,
): Promise<CommandEnd> {
  if (!LONG) return runCommand(words, env)
  const program = start(t, workspace, words, env)
  return { code: Number(await program.waitForExit()), ...program.printed }
}

/** A bank that returns the request in its answers, in four ways. */
async function startEchoBank(t: TestContext) {
  let requests = 0
  let tokenRequests = 0
  const server = createServer((request: IncomingMessage, response) => {
    const { authorization = '' } = request.headers
    if (authorization.includes(BANK_TOKEN)) tokenRequests++
    const way = requests++ % 4
    const echo = JSON.stringify({
      CodigoError: '400',
      Mensaje: `no: ${authorization}`,
      headers: request.headers,
    })
    if (way === 0) response.writeHead(400).end(echo)
    else if (way === 1) response.writeHead(302, { location: `/x?token=${authorization}` }).end(echo)
    else if (way === 2) response.writeHead(200, { 'content-type': 'application/json' }).end(echo)
    else response.writeHead(200, { 'content-type': 'text/html' }).end(`<pre>${authorization} ${echo}</pre>`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, asked: () => requests, shown: () => tokenRequests }
}
