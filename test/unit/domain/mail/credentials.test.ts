// Credentials of mailboxes: files that are read each time, and tokens that stay in memory until shortly before their end.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createCredentialReader } from '../../../../src/domain/mail/credentials.ts'
import { RoundFailure } from '../../../../src/domain/mail/round-failure.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

type Answer = { status?: number; body: object | string }

const MINUTE = 60_000
const NEVER = new AbortController().signal

/** Starts a server of tokens that answers each request with the next answer, or the last one. */
async function startTokenServer(t: TestContext, answers: Answer[], beforeAnswer = () => {}) {
  const requests: URLSearchParams[] = []
  const server = createServer(async (req, res) => {
    let text = ''
    for await (const chunk of req) text += chunk
    requests.push(new URLSearchParams(text))
    beforeAnswer()
    const { status = 200, body } = answers[Math.min(requests.length, answers.length) - 1] as Answer
    res.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close())
  const close = () => new Promise((done) => server.close(done))
  return { requests, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token` }
}

function writeSecret(t: TestContext, text: string): string {
  const file = join(temporaryDirectory(t), 'secret')
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

function create() {
  const clock = { now: 0 }
  const warnings: string[] = []
  const reader = createCredentialReader({ warn: (event) => void warnings.push(event) }, () => clock.now)
  const read = (file: string) =>
    reader.read({ user_name: 'ana', password_file: null, oauth_file: file }, NEVER)
  return { clock, warnings, reader, read }
}

const lines = (url: string, more: string) =>
  `# Google\n\ntoken_url = ${url}\nclient_id=app\nclient_secret=hush\nscope=https://mail.google.com/\n${more}\n`

test('a password is the first line of its file, as it is now', async (t) => {
  const { reader } = create()
  const file = writeSecret(t, 'uno \r\nnota\n')
  const mailbox = { user_name: 'ana', password_file: file, oauth_file: null }
  assert.deepEqual(await reader.read(mailbox, NEVER), { user: 'ana', pass: 'uno ' })
  for (const text of ['\ufeffuno \r\nnota\r\n', '\ufeffuno ']) {
    writeFileSync(file, text)
    assert.deepEqual(await reader.read(mailbox, NEVER), { user: 'ana', pass: 'uno ' })
  }
  writeFileSync(file, '\ufeff\r\n')
  await assert.rejects(reader.read(mailbox, NEVER), /the file of the secret is empty/)
  writeFileSync(file, 'dos')
  assert.deepEqual(await reader.read(mailbox, NEVER), { user: 'ana', pass: 'dos' })
  writeFileSync(file, '\n')
  await assert.rejects(reader.read(mailbox, NEVER), /the file of the secret is empty/)
  const missing = { ...mailbox, password_file: `${file}-no` }
  await assert.rejects(reader.read(missing, NEVER), (error: RoundFailure) => error.code === 'secret')
})

test('a token is fetched once, and again five minutes before its end or after a change of the file', async (t) => {
  const answer = (access_token: string) => ({ body: { access_token, expires_in: 3600 } })
  const { url, requests } = await startTokenServer(t, [answer('one'), answer('two'), answer('three')])
  const { clock, reader, read } = create()
  const file = writeSecret(t, lines(url, 'grant=client_credentials'))
  assert.deepEqual(await read(file), { user: 'ana', accessToken: 'one' })
  clock.now = 54 * MINUTE
  assert.deepEqual(await read(file), { user: 'ana', accessToken: 'one' })
  clock.now = 56 * MINUTE
  assert.deepEqual(await read(file), { user: 'ana', accessToken: 'two' })
  reader.forget(file)
  assert.deepEqual(await read(file), { user: 'ana', accessToken: 'three' })
  writeFileSync(file, lines(url, 'grant=client_credentials\n'))
  await read(file)
  assert.equal(requests.length, 4)
  assert.deepEqual(Object.fromEntries(requests[0] ?? []), {
    ...{ grant_type: 'client_credentials', client_id: 'app', client_secret: 'hush' },
    scope: 'https://mail.google.com/',
  })
})

test('a new refresh token replaces the former one in the file, and nothing else', async (t) => {
  const body = { access_token: 'a', expires_in: '3600', refresh_token: 'new$1' }
  const { url, requests } = await startTokenServer(t, [{ body }])
  const { reader, read } = create()
  const file = writeSecret(t, lines(url, 'grant=refresh_token\nrefresh_token = old'))
  await read(file)
  assert.equal(readFileSync(file, 'utf8'), lines(url, 'grant=refresh_token\nrefresh_token = new$1'))
  assert.equal(statSync(file).mode & 0o777, 0o600)
  reader.forget(file)
  await read(file)
  assert.deepEqual(
    requests.map((form) => form.get('refresh_token')),
    ['old', 'new$1'],
  )
})

test('settings of OAuth and their secrets may have a UTF-8 mark and CR LF', async (t) => {
  const { url, requests } = await startTokenServer(t, [{ body: { access_token: 'a', refresh_token: 'new' } }])
  const { read } = create()
  const secret = writeSecret(t, '\ufeffhush\r\n')
  const windows = (token: string) => {
    const text = lines(url, `grant=refresh_token\nrefresh_token=${token}`)
    return `\ufeff${text.replace('client_secret=hush', `client_secret_file=${secret}`)}`.replaceAll(
      '\n',
      '\r\n',
    )
  }
  const file = writeSecret(t, windows('old'))
  await read(file)
  assert.deepEqual([requests[0]?.get('client_secret'), requests[0]?.get('refresh_token')], ['hush', 'old'])
  assert.equal(readFileSync(file, 'utf8'), windows('new'))
  const token = writeSecret(t, '\ufeffabc\r\n')
  const renewed = await read(writeSecret(t, `\ufeffaccess_token_file=${token}\r\n`))
  assert.deepEqual(renewed, { user: 'ana', accessToken: 'abc' })
})

test('a refresh token that cannot be written works until the file is another', async (t) => {
  const answers = ['one', 'two', 'three'].map((refresh_token) => ({
    body: { access_token: 'a', refresh_token },
  }))
  const { url, requests } = await startTokenServer(t, answers)
  const { reader, read, warnings } = create()
  const folder = temporaryDirectory(t)
  const file = join(folder, 'secret')
  const write = (token: string) =>
    writeFileSync(file, lines(url, `grant=refresh_token\nrefresh_token = ${token}`))
  write('old')
  mkdirSync(`${file}.new`) // in the way of a write
  for (const _ of [1, 2]) {
    await read(file)
    reader.forget(file)
  }
  write('by the operator')
  await read(file)
  assert.deepEqual(
    requests.map((form) => form.get('refresh_token')),
    ['old', 'one', 'by the operator'],
  )
  assert.equal(warnings.length, 3)
})

test('a file that an operator changes during a request has no token of its answer, and is read next', async (t) => {
  const answers = ['former', 'new'].map((name) => ({ body: { access_token: name, refresh_token: name } }))
  const folder = temporaryDirectory(t)
  const file = join(folder, 'secret')
  const text = (token: string) => lines(url, `grant=refresh_token\nrefresh_token = ${token}`)
  const { url, requests } = await startTokenServer(t, answers, () => {
    if (requests.length === 1) writeFileSync(file, text('by the operator'))
  })
  const { read } = create()
  writeFileSync(file, text('old'))
  await read(file)
  assert.equal(readFileSync(file, 'utf8'), text('by the operator'))
  assert.deepEqual(await read(file), { user: 'ana', accessToken: 'new' })
  assert.deepEqual(
    requests.map((form) => form.get('refresh_token')),
    ['old', 'by the operator'],
  )
})

test('a new refresh token is written beside other changes of its file', async (t) => {
  const body = { access_token: 'a', refresh_token: 'new' }
  const folder = temporaryDirectory(t)
  const file = join(folder, 'secret')
  const text = (token: string, secret = 'hush') =>
    lines(url, `grant=refresh_token\nrefresh_token = ${token}`).replace('hush', secret)
  const { url } = await startTokenServer(t, [{ body }], () => writeFileSync(file, text('old', 'changed')))
  writeFileSync(file, text('old'))
  await create().read(file)
  assert.equal(readFileSync(file, 'utf8'), text('new', 'changed'))
})

test('two mailboxes of one file fetch one token', async (t) => {
  const { url, requests } = await startTokenServer(t, [{ body: { access_token: 'a' } }])
  const { read } = create()
  const file = writeSecret(t, lines(url, 'grant=client_credentials'))
  await Promise.all([read(file), read(file)])
  assert.equal(requests.length, 1)
})

test('a stop ends a request for a token', async (t) => {
  const stop = new AbortController()
  const server = createServer((_, res) => {
    res.writeHead(200).write('{')
    stop.abort(new Error('it stops'))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const file = writeSecret(t, lines(url, 'grant=client_credentials'))
  const reading = create().reader.read({ user_name: 'a', password_file: null, oauth_file: file }, stop.signal)
  await assert.rejects(reading, /it stops/)
})

test('a token may be in a file that another program renews', async (t) => {
  const { read } = create()
  const token = writeSecret(t, 'first\n')
  const file = writeSecret(t, `access_token_file=${token}`)
  assert.deepEqual(await read(file), { user: 'ana', accessToken: 'first' })
  writeFileSync(token, 'second\n')
  assert.deepEqual(await read(file), { user: 'ana', accessToken: 'second' })
})

test('a refusal of the token server is a sentence without its words', async (t) => {
  for (const [answer, message, code] of [
    [
      { status: 401, body: { error: 'invalid_client', error_description: 'for ana@example.com' } },
      'the token server answered 401 invalid_client',
      'token_refused',
    ],
    [{ status: 400, body: { error: 'hi there <b>' } }, 'the token server answered 400', 'token_refused'],
    [{ status: 503, body: 'busy' }, 'the token server answered 503', 'token_server'],
    [{ body: { token: 'x' } }, 'the token server answered without an access_token', 'token_server'],
  ] as const) {
    const { url } = await startTokenServer(t, [answer])
    const { read } = create()
    const file = writeSecret(t, lines(url, 'grant=client_credentials'))
    const expected = { name: 'RoundFailure', message, code }
    await assert.rejects(read(file), expected)
  }
  const { read } = create()
  const { url, close } = await startTokenServer(t, [{ body: '' }])
  await close()
  const file = writeSecret(t, lines(url, 'grant=client_credentials'))
  await assert.rejects(read(file), { message: 'the token server cannot be reached (ECONNREFUSED)' })
})

test('a faulty file names what it lacks, and no value', async (t) => {
  const base = 'token_url=https://a.example/t\nclient_id=app\nscope=s\n'
  for (const [text, message] of [
    ['client_id=hush', /lacks token_url$/],
    [`${base}grant=client_credentials`, /lacks client_secret or client_secret_file$/],
    [
      `${base}client_secret=hush\ngrant=password`,
      /must have a grant of client_credentials or refresh_token$/,
    ],
    [`${base}client_secret=hush\ngrant=refresh_token`, /lacks refresh_token$/],
    [`${base}password=hush`, /must have lines of token_url, client_id/],
    [
      `${base.replace('https', 'http')}client_secret=hush\ngrant=client_credentials`,
      /must have a token_url that begins with https:/,
    ],
  ] as const) {
    const { read } = create()
    await assert.rejects(read(writeSecret(t, text)), (error: RoundFailure) => {
      assert.ok(error instanceof RoundFailure)
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /hush/)
      return error.code === 'secret'
    })
  }
})
