// Requests of the program through the proxy of the variables: sources, hooks, token servers, mail servers and a bucket.
// No name server has the hosts of these tests, so each answer came through the proxy.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { useProxies } from '../../../../src/cli/parse/proxies.ts'
import { startBank } from '../../../../src/demo/bank.ts'
import { postMessage } from '../../../../src/domain/hooks/post.ts'
import { createCredentialReader } from '../../../../src/domain/mail/credentials.ts'
import { examineMailServer } from '../../../../src/domain/mail/imap.ts'
import { run } from '../../../../src/main.ts'
import { openBccrConnection } from '../../../../src/providers/bccr/bccr.ts'
import { fetchOpinion } from '../../../../src/providers/opinion-source.ts'
import { networkReason } from '../../../../src/runtime/errors.ts'
import { readProxies } from '../../../../src/runtime/outgoing-proxies.ts'
import { addDays, currentDay } from '../../../../src/values/dates.ts'
import { openTestBucket } from '../../../support/bucket/open.ts'
import { makeDirectory, runJson } from '../../../support/company.ts'
import { startReceiver } from '../../../support/hooks/receiver.ts'
import { insertTestMailbox, writeSecret } from '../../../support/mail/mailboxes.ts'
import { startProgram } from '../../../support/program.ts'
import { TEST_PROVIDERS } from '../../../support/providers.ts'
import { startForwardProxy } from '../../../support/sources/forward-proxy.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand, until } from '../../../support/terminal.ts'
import { week } from '../../providers/support.ts'

const TODAY = currentDay(() => new Date())
const PASSWORD = /contrase/i
const SECRET = `whsec_${'A'.repeat(43)}=`
const NEVER = new AbortController().signal

/** A fake bank and a proxy that reaches it as `bank.test`. */
async function startProxiedBank(t: TestContext, options: { requiresPassword?: boolean } = {}) {
  const bank = await startBank({ today: () => TODAY })
  t.after(() => bank.close())
  const { port, pathname } = new URL(bank.url)
  const proxy = await startForwardProxy(t, { [`bank.test:${port}`]: Number(port) }, options)
  return { bank, proxy, host: `bank.test:${port}`, url: `http://bank.test:${port}${pathname}` }
}

/** Uses a proxy in this process until the test ends. */
function use(t: TestContext, url: string, env: Record<string, string> = {}): void {
  t.after(useProxies(readProxies({ http_proxy: url, https_proxy: url, ...env })))
}

const failureReason = (answer: Promise<unknown>) => answer.then(() => 'it answered', networkReason)
const requested = (url: string) =>
  new Promise((resolve, reject) => request(url, resolve).on('error', reject).end())

test('`sync` reads its source through `http_proxy`, and nothing has the password', async (t) => {
  const { bank, proxy, host, url } = await startProxiedBank(t, { requiresPassword: true })
  const dataDir = join(temporaryDirectory(t), 'data')
  const words = ['sync', '--data-dir', dataDir, '--bccr-url', url, '--bccr-pace', '0']
  const days = ['--from', addDays(TODAY, -10), '--to', TODAY]
  for (const name of ['http_proxy', 'HTTP_PROXY']) {
    const { code, out, err } = await runCommand([...words, ...days], {
      [name]: proxy.urlWithPassword,
      NO_PROXY: 'x.test',
    })
    assert.deepEqual([code, err], [0, ''], out)
    assert.doesNotMatch(out, PASSWORD)
  }
  assert.ok(bank.requests.length > 2)
  assert.deepEqual(new Set(proxy.requests), new Set([host]))
  const settingsFile = join(temporaryDirectory(t), 'cambista.env')
  writeFileSync(settingsFile, `http_proxy=${proxy.urlWithPassword}\n`)
  const count = proxy.requests.length
  const code = await run([...words, ...days], {
    ...{ env: {}, providers: TEST_PROVIDERS, settingsFile, out: () => {}, err: () => {} },
    ...{ interactive: false, stop: NEVER },
  })
  assert.deepEqual([code, proxy.requests.length > count], [0, true])
})

test('a failed run names the proxy and its status, and `no_proxy` and loopback need none', async (t) => {
  const { bank, proxy, host, url } = await startProxiedBank(t)
  const message = async (sourceUrl = url) => {
    const settings = { url: sourceUrl, token: undefined, paceMs: 0, userAgent: 'cambista/test' }
    const connection = openBccrConnection(settings, NEVER, { sleep: async () => {} })
    return connection.read(week()).then(
      () => 'read',
      (error: Error) => error.message,
    )
  }
  use(t, proxy.url, { no_proxy: 'other.test' })
  assert.equal(await message(), 'read')
  assert.equal(await message(`${bank.url}/`), 'read')
  for (const status of [407, 502, 503, 504]) {
    proxy.status = status
    const text =
      status === 407
        ? `${host} cannot be reached (the proxy ${proxy.url} answered HTTP 407)`
        : `HTTP ${status}`
    assert.ok((await message()).includes(text), text)
    if (status !== 407) assert.ok(!(await message()).includes(proxy.url))
    assert.ok(
      (await message(url.replace('http:', 'https:'))).includes(`${proxy.url} answered HTTP ${status}`),
    )
  }
  const count = proxy.requests.length
  assert.match(
    await message('http://other.test/'),
    /other\.test:80 cannot be reached \((ENOTFOUND|EAI_AGAIN)\)/,
  )
  assert.equal(proxy.requests.length, count)
  proxy.status = 407
  const opinion = await fetchOpinion({ url, userAgent: 'x' }, NEVER)
  assert.deepEqual(opinion, { kind: 'none', reason: `the proxy ${proxy.url} answered HTTP 407` })
})

test('a proxy that does not answer is named for fetch and https, and an https host needs https_proxy', async (t) => {
  const closedServer = createServer().listen(0, '127.0.0.1')
  await once(closedServer, 'listening')
  const name = `http://127.0.0.1:${(closedServer.address() as AddressInfo).port}`
  await new Promise((resolve) => closedServer.close(resolve))
  use(t, name.replace('//', '//ana:contrasena@'))
  const reason = `through the proxy ${name}: ECONNREFUSED`
  assert.equal(await failureReason(fetch('http://bank.test/')), reason)
  assert.equal(await failureReason(fetch('https://bank.test/')), reason)
  assert.equal(await failureReason(requested('https://bank.test/')), reason)
  const probe = new Promise((resolve, reject) =>
    request('https://bank.test/', { agent: false }, resolve).on('error', reject).end(),
  )
  assert.match(await failureReason(probe), /^(ENOTFOUND|EAI_AGAIN)$/)
  use(t, '', { http_proxy: name })
  assert.match(await failureReason(fetch('https://bank.test/')), /^(ENOTFOUND|EAI_AGAIN)$/)
  assert.match(await failureReason(requested('https://bank.test/')), /^(ENOTFOUND|EAI_AGAIN)$/)
})

test('`hook test` posts through a tunnel, and names the proxy that refuses one', async (t) => {
  const dataDir = temporaryDirectory(t)
  const dir = join(temporaryDirectory(t), 'tls')
  await runCommand(['cert', 'create', '--host', 'hook.test', '--host', '127.0.0.1', '--out', dir])
  const [cert = '', key = ''] = ['cert.pem', 'key.pem'].map((name) => readFileSync(join(dir, name), 'utf8'))
  const receiver = await startReceiver(t, { tls: { cert, key } })
  const { port } = new URL(receiver.url)
  const hosts = { [`hook.test:${port}`]: Number(port) }
  const proxy = await startForwardProxy(t, hosts, { requiresPassword: true })
  const url = `https://hook.test:${port}/hook`
  await runJson(dataDir, 'hook', 'create', '--url', url, '--event', 'sync.failed')
  const words = ['hook', 'test', '1', '--data-dir', dataDir]
  const env = { NODE_EXTRA_CA_CERTS: join(dir, 'cert.pem'), https_proxy: proxy.urlWithPassword }
  const program = startProgram(t, words, env)
  assert.equal(await program.waitForExit(), 0, program.printed.out + program.printed.err)
  assert.equal(receiver.received[0]?.headers['proxy-authorization'], undefined)
  await runJson(dataDir, 'hook', 'create', '--url', receiver.url, '--event', 'sync.failed')
  const direct = startProgram(t, words.with(2, '2'), env)
  assert.equal(await direct.waitForExit(), 0, direct.printed.out + direct.printed.err)
  assert.equal(receiver.received.length, 2)
  const refused = await runCommand(words, { https_proxy: proxy.url })
  assert.match(refused.out, new RegExp(`^hook 1: the proxy ${proxy.url} answered HTTP 407, after \\d+ ms\n$`))
  assert.deepEqual(new Set(proxy.requests), new Set([`hook.test:${port}`]))
})

test('a proxy that closes the connection is named without codes of tunnels', async (t) => {
  const proxy = await startForwardProxy(t, {})
  proxy.status = 0
  use(t, proxy.url)
  assert.equal(
    await failureReason(requested('https://bank.test/')),
    `the proxy ${proxy.url} opened no tunnel`,
  )
  for (const url of ['https://bank.test/', 'http://bank.test/'])
    assert.equal(await failureReason(fetch(url)), `through the proxy ${proxy.url}: UND_ERR_SOCKET`)
})

test('a silent proxy or host behind it ends with the attempt', async (t) => {
  const silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const proxy = await startForwardProxy(t, { 'hook.test:443': (silent.address() as AddressInfo).port })
  use(t, proxy.url)
  const hook = { url: 'https://hook.test/', allow_http: 0 as const }
  const message = { ...{ hook, secrets: [SECRET], headers: {} }, id: 'msg_1', body: '{}', now: new Date() }
  for (const status of ['silent', undefined] as const) {
    proxy.status = status
    const stop = new AbortController()
    const count = proxy.requests.length
    const attempt = postMessage(message, stop.signal)
    await until(() => proxy.requests.length > count)
    stop.abort()
    assert.equal((await attempt).failure, 'no answer within 10 s')
    assert.equal((await postMessage(message, NEVER, 50)).failure, 'no answer within 0.05 s')
  }
})

test('a tunnel has 9 s to open', async (t) => {
  const silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const proxy = await startForwardProxy(t, { 'bank.test:443': (silent.address() as AddressInfo).port })
  use(t, proxy.url)
  for (const status of ['silent', undefined] as const) {
    proxy.status = status
    const count = proxy.requests.length
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const reason = failureReason(requested('https://bank.test/'))
    while (proxy.requests.length === count) await setImmediate()
    t.mock.timers.tick(9000)
    t.mock.timers.reset()
    assert.equal(await reason, `the proxy ${proxy.url} opened no tunnel`)
  }
})

test('the end of the command ends its requests', async (t) => {
  const proxy = await startForwardProxy(t, {})
  proxy.status = 'silent'
  const end = useProxies(readProxies({ http_proxy: proxy.url, https_proxy: proxy.url }))
  const reasons = Promise.all(
    ['https://bank.test/', 'http://bank.test/'].map((url) => failureReason(fetch(url))),
  )
  await until(() => proxy.requests.length === 2)
  end()
  for (const reason of await reasons) assert.match(reason, /UND_ERR_DESTROYED/)
})

test('a port that is no proxy of HTTP is named without a status', async (t) => {
  const greeter = createServer((socket) => socket.end('220 mail.test ready\r\n\r\n')).listen(0, '127.0.0.1')
  await once(greeter, 'listening')
  t.after(() => greeter.close())
  const name = `http://127.0.0.1:${(greeter.address() as AddressInfo).port}`
  use(t, name)
  assert.equal(await failureReason(requested('https://bank.test/')), `the proxy ${name} opened no tunnel`)
})

test('a hook of this machine needs no proxy', async (t) => {
  const dataDir = temporaryDirectory(t)
  const receiver = await startReceiver(t)
  const proxy = await startForwardProxy(t, {})
  await runJson(dataDir, 'hook', 'create', '--url', receiver.url, '--event', 'sync.failed')
  const env = { http_proxy: proxy.url, https_proxy: proxy.url }
  assert.equal((await runCommand(['hook', 'test', '1', '--data-dir', dataDir], env)).code, 0)
  assert.deepEqual(proxy.requests, [])
})

test('a token server is reached through the proxy, and its failure names it', async (t) => {
  const proxy = await startForwardProxy(t, {})
  use(t, proxy.url)
  const lines = ['token_url=https://login.test/token', 'client_id=a', 'client_secret=b', 'scope=c']
  const oauth_file = writeSecret(t, [...lines, 'grant=client_credentials'].join('\n'))
  const mailbox = { user_name: 'ana', password_file: null, oauth_file }
  await assert.rejects(createCredentialReader({ warn: () => {} }).read(mailbox, NEVER), {
    message: `the token server cannot be reached (the proxy ${proxy.url} answered HTTP 502)`,
  })
  assert.deepEqual(proxy.requests, ['login.test:443'])
})

test('`mailbox test` opens a tunnel by `https_proxy` for each kind of encryption', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const greeter = createServer((socket) => socket.end('* BYE closed for today\r\n')).listen(0, '127.0.0.1')
  await once(greeter, 'listening')
  t.after(() => greeter.close())
  const { port } = greeter.address() as AddressInfo
  const proxy = await startForwardProxy(t, { 'imap.test:143': port, 'imap.test:993': port })
  const db = temporaryDatabase(t, dataDir)
  const place = { host: 'imap.test', password_file: writeSecret(t, 'clave'), user_name: 'ana' }
  await insertTestMailbox(db, { ...place, name: 'uno', port: 143, security: 'starttls' })
  await insertTestMailbox(db, { ...place, name: 'dos', port: 993, security: 'tls' })
  const failures = async (env: Record<string, string>) => {
    const texts: string[] = []
    for (const id of ['1', '2']) {
      const { code, err } = await runCommand(['mailbox', 'test', id, '--data-dir', dataDir], env)
      assert.equal(code, 1)
      texts.push(err)
    }
    return texts
  }
  const reached = await failures({ https_proxy: proxy.url })
  assert.doesNotMatch(reached.join(), /answered HTTP/)
  assert.deepEqual(proxy.requests, ['imap.test:143', 'imap.test:993'])
  for (const status of [407, 502]) {
    proxy.status = status
    const expected = `cambista: the proxy ${proxy.url} answered HTTP ${status}\n`
    assert.deepEqual(await failures({ HTTPS_PROXY: proxy.url }), [expected, expected])
  }
  proxy.status = 0
  for (const text of await failures({ https_proxy: proxy.url }))
    assert.equal(text, `cambista: the proxy ${proxy.url} opened no tunnel\n`)
  proxy.status = 'silent'
  const stop = new AbortController()
  const count = proxy.requests.length
  const server = {
    ...{ host: 'imap.test', port: 993, security: 'tls' as const, user_name: 'ana' },
    largest: 1,
  }
  const places = { folder: 'INBOX', done: 'a', rejected: 'b' }
  const connection = { outgoing: readProxies({ https_proxy: proxy.url }), signal: stop.signal }
  const test = examineMailServer({ ...server, ...places }, { user: 'ana', pass: 'x' }, connection)
  await until(() => proxy.requests.length > count)
  stop.abort(new Error('stop'))
  await assert.rejects(test, { message: 'stop' })
  const { length } = proxy.requests
  const direct: Record<string, string>[] = [
    { http_proxy: proxy.url },
    { https_proxy: proxy.url, no_proxy: 'test' },
  ]
  for (const env of direct)
    for (const text of await failures(env)) assert.match(text, /no connection to imap\.test:\d+ \(E/)
  assert.equal(proxy.requests.length, length)
})

test('a bucket is reached through the proxy, and its error names the proxy', async (t) => {
  const hosts: Record<string, number> = {}
  const proxy = await startForwardProxy(t, hosts, { requiresPassword: true })
  const open = async (endpoint: string, proxyUrl: string) => {
    const outgoing = readProxies({ http_proxy: proxyUrl, https_proxy: proxyUrl })
    const testBucket = await openTestBucket(t, { endpoint, outgoing, timeoutMs: 5000 })
    hosts['store.test:80'] = Number(new URL(testBucket.fakeBucket.endpoint).port)
    return testBucket
  }
  const { blobs, fakeBucket } = await open('http://store.test', proxy.urlWithPassword)
  await blobs.check()
  assert.deepEqual([fakeBucket.calls.length > 0, new Set(proxy.requests)], [true, new Set(['store.test:80'])])
  for (const scheme of ['http', 'https']) {
    const { blobs: refused } = await open(`${scheme}://store.test`, proxy.url)
    await assert.rejects(refused.check(), {
      message: `the bucket ${fakeBucket.bucket} cannot be used: the bucket: the proxy ${proxy.url} answered HTTP 407`,
      code: 'unavailable',
    })
  }
  const { blobs: unreachable } = await open('http://store.test', 'http://127.0.0.1:1')
  await assert.rejects(
    unreachable.check(),
    /the bucket: through the proxy http:\/\/127\.0\.0\.1:1: ECONNREFUSED/,
  )
})

test('`serve` logs its proxies without a password, and a variable that it cannot use', async (t) => {
  const log = async (env: Record<string, string>) => {
    const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', temporaryDirectory(t)]
    const program = startProgram(t, words, env)
    await program.waitForOutput(/listening url=/)
    await program.waitForOutput(/no API key yet/)
    program.child.kill('SIGTERM')
    await program.waitForExit()
    return program.printed.err
  }
  const urls = { https_proxy: 'http://ana:contrasena@proxy.test:3128', http_proxy: 'proxy.test:81' }
  const proxyLog = await log({ ...urls, no_proxy: '.local' })
  const names = 'https=http://proxy.test:3128 http=http://proxy.test:81 except=.local'
  assert.ok(proxyLog.includes(`requests go out through a proxy ${names}`), proxyLog)
  const faultLog = await log({ https_proxy: 'socks5://ana:contrasena@proxy.test' })
  assert.match(faultLog, /a proxy is not used variable=https_proxy reason="it must be a URL such as http:/)
  assert.doesNotMatch(proxyLog + faultLog, PASSWORD)
  const doctor = await runCommand(['doctor', '--data-dir', join(temporaryDirectory(t), 'none')], urls)
  assert.doesNotMatch(doctor.out + doctor.err, PASSWORD)
})
