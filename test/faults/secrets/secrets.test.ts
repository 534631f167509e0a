// Where a secret must not be: keys, tokens, the bank's token and the bytes of documents are sought in everything
// that a run of the program leaves behind, after everything has gone wrong that can.

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

type Place = { home: string; dataDir: string; backups: string; temporary: string; tokenFile: string }
/** A name and a text that may be nowhere but where it is given out. */
type Secrets = Record<string, string>

for (const format of ['text', 'json'] as const) {
  test(`no secret is in what a run leaves behind, with the log as ${format}`, async (t) => {
    const place = placeFor(t)
    const bank = await startRudeBank(t)
    const options = ['--data-dir', place.dataDir]
    const secrets: Secrets = { 'bank token': BANK_TOKEN }
    const told: string[] = []
    const command = async (...words: string[]) => {
      const ended = await run(t, place, [...words, ...options])
      told.push(ended.out, ended.err)
      return ended
    }
    // What is made is printed once, and by nothing else.
    const make = async (...words: string[]) => {
      const { out, err } = await run(t, place, [...words, ...options])
      told.push(err)
      return out.trim()
    }
    secrets.key = await make('key', 'create', 'erp')
    secrets['revoked key'] = await make('key', 'create', 'old')
    await command('key', 'revoke', '2')
    await command('company', 'create', '--name', 'Acme S.A.', '--code', 'ACME', '--id', '1')
    await command('owner', 'create', '--name', 'Ana', '--company', '1', '--id', '1')
    await command('agent', 'create', '--name', 'Lector', '--company', '1', '--id', '1')
    const allow = ['--allow', 'documents:POST', '--allow', 'documents:GET', '--allow', 'agent:POST']
    secrets.token = await make('token', 'create', 'erp', ...allow, '--company', '1')
    for (const words of [['key', 'list'], ['token', 'list'], ['directory', 'export'], ['doctor']]) {
      await command(...words)
    }
    for (const words of [
      ['key', 'list'],
      ['token', 'list'],
    ])
      await command(...words, '--json')
    const banking = ['--bccr-url', bank.url, '--bccr-pace', '0', '--bccr-token-file', place.tokenFile]
    const more = ['--metrics', '--max-body', '2000000', '--min-free', '0', '--backfill-from', '2026-11-01']
    const log = ['--log-level', 'debug', '--log-format', format]
    const program = start(t, place, ['serve', '--port', '0', ...options, ...banking, ...more, ...log])
    const said = await program.says(format === 'json' ? /"url":"([^"]+)"/ : / listening url=(\S+)/)
    const url = said[1] ?? ''
    for (const file of ['cmdline', 'environ']) {
      told.push(readFileSync(`/proc/${program.child.pid}/${file}`, 'utf8'))
    }
    assert.ok(told.at(-2)?.includes('serve'))

    const body = Buffer.from(Array.from({ length: 20_000 }, (_, at) => `${MARK}${at}\n`).join(''))
    const kept = await upload(url, secrets.token ?? '', body)
    assert.equal(kept.status, 200, await kept.clone().text())
    told.push(await kept.text())
    for (let round = 0; round < scaled({ short: 1, long: 10 }); round++) {
      told.push(...(await wrongRequests(url, secrets, body)))
    }
    await until(() => bank.asked() >= 2)
    await until(async () => (await runsAt(url, secrets.key ?? '')).some((run) => run.finished_at !== null))
    told.push(JSON.stringify(await runsAt(url, secrets.key ?? '')))
    assert.match(told.at(-1) ?? '', /no: Bearer \*\*\*/, 'the bank said nothing back')
    told.push((await send(`${url}/metrics`)).body)
    assert.match(told.at(-1) ?? '', /cambista_/)
    for (const env of [{ CAMBISTA_BCCR_TOKEN: BANK_TOKEN }, undefined]) {
      const from = ['--bccr-url', bank.url, '--bccr-pace', '0', '--from', '2026-11-02', '--to', '2026-11-03']
      const file = env ? [] : ['--bccr-token-file', place.tokenFile]
      const ended = await run(t, place, ['sync', ...from, ...file, ...options], env)
      told.push(ended.out, ended.err)
    }
    assert.ok(bank.shown() > 0, 'the bank never showed the token')
    await command('backup', 'create', place.backups)
    await command('backup', 'verify', place.backups)
    const open = filesBelow(place.home) // with -wal and -shm of the running server
    assert.ok(open.some((path) => path.endsWith('.db-wal')))
    search(open, secrets, body, place)
    program.child.kill('SIGTERM')
    assert.equal(await program.ended(), 0, program.printed.err)
    told.push(program.printed.out, program.printed.err)
    assert.match(program.printed.err, /401/)
    figure(t, 'bytes of answers, messages and logs', told.join('').length)

    const files = filesBelow(place.home)
    search(files, secrets, body, place)
    figure(t, 'files', files.length)
    for (const [name, secret] of Object.entries(secrets)) {
      for (const text of told) {
        for (const form of formsOf(secret))
          assert.ok(!text.includes(form), `${name} in: ${text.slice(0, 2000)}`)
      }
    }
    for (const text of told) {
      for (const form of [MARK, ...formsOf(MARK + 7)]) assert.ok(!text.includes(form), `content in: ${text}`)
    }
    assert.deepEqual(readdirSync(place.temporary), [], 'left in the temporary directory')
    assert.deepEqual(readdirSync(join(place.dataDir, 'blobs', 'tmp')), [], 'left of uploads')
    assert.ok(
      !filesBelow(place.home).some((path) => /(^|\/)(core|vgcore)\b|\.heapsnapshot$|report\.\d/.test(path)),
    )
  })
}

test('the search finds what is there: a name in the database, a content among the blobs', async (t) => {
  const place = placeFor(t)
  await run(t, place, ['company', 'create', '--name', 'Marcada', '--code', 'X', '--data-dir', place.dataDir])
  const [database] = filesBelow(place.dataDir).filter((path) => path.endsWith('.db'))
  assert.ok(formsOf('Marcada').some((form) => readFileSync(database ?? '').includes(form)))
  assert.throws(() => search(filesBelow(place.home), { name: 'Marcada' }, Buffer.from('x'), place), /name/)
  writeFileSync(join(place.temporary, 'left'), `${MARK}7\n`)
  assert.throws(() => search(filesBelow(place.home), {}, Buffer.from(`${MARK}7\n`), place), /left/)
})

test('no command takes a secret as a word, which ps would show', async (t) => {
  const place = placeFor(t)
  const { out } = await run(t, place, ['serve', '--help'])
  assert.match(out, /--bccr-token-file FILE/)
  for (const flag of ['--bccr-token', '--token', '--key', '--api-key']) {
    const { code, err } = await run(t, place, ['serve', flag, BANK_TOKEN, '--data-dir', place.dataDir])
    assert.equal(code, 2)
    assert.ok(!err.includes(BANK_TOKEN), err)
  }
})

test('no signal opens a debugger, through which whoever is on the machine would read all of it', async (t) => {
  const place = placeFor(t)
  const words = ['serve', '--no-scheduler', '--port', '0', '--data-dir', place.dataDir]
  const program = start(t, place, words)
  const [, url = ''] = await program.says(/ listening url=(\S+)/)
  program.child.kill('SIGUSR1')
  await wait(300)
  assert.equal((await send(`${url}/healthz`)).status, 200)
  program.child.kill('SIGTERM')
  assert.equal(await program.ended(), 0)
  assert.doesNotMatch(program.printed.err, /[Dd]ebugger|ws:/)
})

test('the service leaves no core file and no open mode behind', async (t) => {
  const { out } = await run(t, placeFor(t), ['service', 'print'])
  assert.match(out, /^LimitCORE=0$/m)
  assert.match(out, /^UMask=0077$/m)
  assert.match(out, /^LoadCredential=bccr-token:/m)
})

/** Everything that can be asked wrongly; the answers. */
async function wrongRequests(
  url: string,
  { key = '', token = '', ...more }: Secrets,
  body: Buffer,
): Promise<string[]> {
  const told: string[] = []
  const ask = async (
    path: string,
    method: string,
    headers: Record<string, string>,
    sent?: string | Buffer,
  ) => {
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(sent !== undefined && { body: sent as string }),
    })
    told.push(`${answer.status}\n${JSON.stringify([...answer.headers])}\n${await answer.text()}`)
    return answer.status
  }
  const bearer = { authorization: `Bearer ${token}` }
  const rates = '/api/v1/rates/latest'
  const expected: [number, Promise<number>][] = [
    [401, ask(`${rates}?api_key=${key}&X-API-Key=${key}`, 'GET', {})],
    [401, ask(rates, 'GET', { 'x-api-key': more['revoked key'] ?? '' })],
    [401, ask(rates, 'GET', { 'x-api-key': `${key}x` })],
    [401, ask(rates, 'GET', { 'x-api-key': token })],
    [401, ask(CREATE, 'POST', { authorization: `Bearer ${key}` }, '{}')],
    [401, ask(CREATE, 'POST', { authorization: `Basic ${token}` }, '{}')],
    [404, ask(`/api/v1/${key}`, 'GET', { 'x-api-key': key })],
    [405, ask(rates, 'DELETE', { 'x-api-key': key })],
    [422, ask('/api/v1/convert?amount=x&from=1&to=', 'GET', { 'x-api-key': key })],
    [422, ask('/api/v1/documents?limit=0', 'GET', bearer)],
    [404, ask('/api/v1/documents/999', 'GET', bearer)],
    [416, ask('/api/v1/documents/1/content', 'GET', { ...bearer, range: 'bytes=9999999-' })],
    [400, ask(CREATE, 'POST', bearer, `{"owner_id":1,"documents":[{"base64":"${body.toString('base64')}"`)],
    [400, ask(CREATE, 'POST', bearer, body)],
    [400, ask(CREATE, 'POST', bearer, batchOf(`${body.toString('base64')}!`))],
    [400, ask(CREATE, 'POST', bearer, batchOf(body.toString('base64'), { mimetype: 'none' }))],
    [404, ask(CREATE, 'POST', bearer, batchOf(body.toString('base64'), {}, 99))],
    [413, ask(CREATE, 'POST', bearer, batchOf(body.toString('base64').repeat(4)))],
    [400, ask('/api/v1/agent/get_by_company', 'POST', bearer, body.subarray(0, 2000))],
    [413, ask('/api/v1/agent/get_by_company', 'POST', bearer, body)],
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
    told.push(JSON.stringify(answer))
  }
  return told
}

function batchOf(base64: string, facts: object = {}, agent_id = 1): string {
  const document = { name: 'a.txt', mimetype: 'text/plain', base64, ...facts }
  return JSON.stringify({ owner_id: 1, company_id: 1, agent_id, documents: [document] })
}

function upload(url: string, token: string, body: Buffer): Promise<Response> {
  const headers = { authorization: `Bearer ${token}` }
  return fetch(url + CREATE, { method: 'POST', headers, body: batchOf(body.toString('base64')) })
}

async function runsAt(
  url: string,
  key: string,
): Promise<{ finished_at: string | null; message: string | null }[]> {
  const response = await fetch(`${url}/api/v1/sync/runs`, { headers: { 'x-api-key': key } })
  return (await response.json()) as { finished_at: string | null; message: string | null }[]
}

/** No secret is in a file, but where it was put; no content outside the blobs. @throws with the file's name */
function search(files: readonly string[], secrets: Secrets, body: Buffer, place: Place): void {
  const content = [
    body.subarray(0, 60),
    Buffer.from(MARK),
    Buffer.from(body.subarray(0, 60).toString('base64')),
  ]
  for (const path of files.filter((one) => one !== place.tokenFile && existsSync(one))) {
    const bytes = readFileSync(path)
    for (const [name, secret] of Object.entries(secrets)) {
      for (const form of formsOf(secret)) assert.ok(!bytes.includes(form), `${name} in ${path}`)
    }
    if (path.includes('/blobs/')) continue
    for (const form of content) assert.ok(!bytes.includes(form), `content in ${path}`)
  }
}

/** A text as programs write it: as it is, in base64 at each offset, in hexadecimal, for a URL, in UTF-16. */
function formsOf(text: string): string[] {
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.from(text.slice(offset)).toString('base64').replace(/=+$/, '').slice(0, -1),
  )
  const wide = Buffer.from(text, 'utf16le').toString('latin1')
  return [text, ...base64, Buffer.from(text).toString('hex'), encodeURIComponent(text), wide]
}

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => existsSync(path) && statSync(path).isFile())
}

function placeFor(t: TestContext): Place {
  const home = temporaryDirectory(t)
  const temporary = join(home, 'tmp')
  mkdirSync(temporary)
  const tokenFile = join(home, 'bccr-token')
  writeFileSync(tokenFile, `${BANK_TOKEN}\n`, { mode: 0o600 })
  return { home, temporary, tokenFile, dataDir: join(home, 'data'), backups: join(home, 'backups') }
}

function start(t: TestContext, place: Place, words: string[], env: Record<string, string> = {}): Program {
  return startProgram(t, words, { TMPDIR: place.temporary, ...env }, PROGRAM)
}

/** A command to its end: of the built program, or in this process, because to start the sources takes a while. */
async function run(
  t: TestContext,
  place: Place,
  words: string[],
  env?: Record<string, string>,
): Promise<CommandEnd> {
  if (!LONG) return runCommand(words, env)
  const program = start(t, place, words, env)
  return { code: Number(await program.ended()), ...program.printed }
}

/** A bank that says back all that it was sent, each time in another way. */
async function startRudeBank(t: TestContext) {
  let asked = 0
  let shown = 0
  const server = createServer((request: IncomingMessage, response) => {
    const { authorization = '' } = request.headers
    if (authorization.includes(BANK_TOKEN)) shown++
    const way = asked++ % 4
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
  return { url: `http://127.0.0.1:${port}`, asked: () => asked, shown: () => shown }
}
