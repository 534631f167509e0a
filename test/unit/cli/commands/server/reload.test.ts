// SIGHUP at a running server: settings file, token files, and names in the log alone.

import assert from 'node:assert/strict'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { run } from '../../../../../src/main.ts'
import { freePort, startProgram } from '../../../../support/program.ts'
import { TEST_PROVIDERS } from '../../../../support/providers.ts'
import { temporaryDirectory } from '../../../../support/temporary.ts'
import { until } from '../../../../support/terminal.ts'

/** Starts `serve` in this process with a settings file; `reload` writes it, sends the signal and returns new lines. */
async function startServer(
  t: TestContext,
  { file, env = {}, words = [] }: { file: string; env?: Record<string, string>; words?: string[] },
) {
  const directory = temporaryDirectory(t)
  const settingsFile = join(directory, 'cambista.env')
  writeFileSync(settingsFile, file)
  const port = await freePort()
  let err = ''
  const stop = new AbortController()
  const argv = [
    'serve',
    '--port',
    `${port}`,
    '--no-scheduler',
    '--data-dir',
    join(directory, 'data'),
    ...words,
  ]
  const exit = run(argv, {
    ...{ env, providers: TEST_PROVIDERS, settingsFile, out: () => {}, interactive: false, stop: stop.signal },
    err: (text) => {
      err += text
    },
  })
  t.after(async () => {
    stop.abort()
    assert.equal(await exit, 0)
  })
  await until(() => err.includes('no API key yet'))
  const status = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { host, accept: 'application/json' }
      request({ port, path: '/session', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
  return {
    ...{ directory, settingsFile, status },
    logsRequests: async () => {
      const { length } = err
      await status('localhost')
      await until(() => true)
      return err.slice(length).includes(' request ')
    },
    async reload(text?: string) {
      if (text !== undefined) writeFileSync(settingsFile, text)
      const { length } = err
      process.emit('SIGHUP')
      await until(() => err.slice(length).includes(' reloaded '))
      return err.slice(length)
    },
  }
}

test('SIGHUP reads log level and host names again, and names what needs a restart', async (t) => {
  const server = await startServer(t, { file: 'CAMBISTA_HOST_NAME=one.example\n' })
  assert.deepEqual(await Promise.all(['one.example', 'two.example'].map(server.status)), [200, 421])
  const lines = await server.reload(
    'CAMBISTA_LOG_LEVEL=error\nCAMBISTA_HOST_NAME=two.example\nCAMBISTA_MAX_BODY=1GiB\nAWS_SECRET_ACCESS_KEY=hidden\n',
  )
  assert.match(lines, /info {2}reloaded changed="CAMBISTA_LOG_LEVEL, CAMBISTA_HOST_NAME"/)
  assert.match(lines, /warn .*restart names="CAMBISTA_MAX_BODY, AWS_SECRET_ACCESS_KEY"/)
  assert.doesNotMatch(lines, /hidden|GiB/)
  assert.deepEqual(await Promise.all(['one.example', 'two.example'].map(server.status)), [421, 200])
  assert.match(await server.reload(), /reloaded changed=nothing\n.*CAMBISTA_MAX_BODY/)
})

test('SIGHUP changes the level of the log', async (t) => {
  const server = await startServer(t, { file: '' })
  assert.equal(await server.logsRequests(), true)
  await server.reload('CAMBISTA_LOG_LEVEL=warn\n')
  assert.equal(await server.logsRequests(), false)
  await server.reload('CAMBISTA_LOG_LEVEL=info\n')
  assert.equal(await server.logsRequests(), true)
})

for (const { title, file, env, words, second, host } of [
  {
    title: 'a variable with the text of the file came from the file',
    file: 'CAMBISTA_HOST_NAME="one.example, also.example"\n',
    env: { CAMBISTA_HOST_NAME: 'one.example, also.example' },
    host: 'two.example',
  },
  { title: 'a setting that is new in the file counts', file: '#nothing\n', host: 'two.example' },
  {
    title: 'a variable with another text than the file stays',
    file: 'CAMBISTA_HOST_NAME=other.example\n',
    env: { CAMBISTA_HOST_NAME: 'one.example' },
    host: 'one.example',
  },
  {
    title: 'a variable that the file did not have stays',
    file: '',
    env: { CAMBISTA_HOST_NAME: 'one.example' },
    host: 'one.example',
  },
  { title: 'a flag stays', file: '', words: ['--host-name', 'one.example'], host: 'one.example' },
  {
    title: 'a setting that vanished keeps its value',
    ...{ file: 'CAMBISTA_HOST_NAME=one.example\n', second: '#CAMBISTA_HOST_NAME=two.example\n' },
    host: 'one.example',
  },
  {
    title: 'an empty setting keeps its value',
    ...{ file: 'CAMBISTA_HOST_NAME=one.example\n', second: 'CAMBISTA_HOST_NAME=\n' },
    host: 'one.example',
  },
  {
    title: 'a bad value keeps the one before',
    ...{ file: 'CAMBISTA_HOST_NAME=one.example\n', second: 'CAMBISTA_HOST_NAME=https://two.example/\n' },
    host: 'one.example',
  },
] as {
  title: string
  file: string
  env?: Record<string, string>
  words?: string[]
  second?: string
  host: string
}[]) {
  test(`SIGHUP: ${title}`, async (t) => {
    const server = await startServer(t, { file, ...(env && { env }), ...(words && { words }) })
    await server.reload(second ?? 'CAMBISTA_HOST_NAME=two.example\n')
    const open = ['one.example', 'two.example'].filter((one) => one === host)
    for (const one of ['one.example', 'two.example']) {
      assert.equal(await server.status(one), open.includes(one) ? 200 : 421, one)
    }
  })
}

test('the name of --public-url is a name of the server, after a reload too', async (t) => {
  const server = await startServer(t, { file: 'CAMBISTA_PUBLIC_URL=https://rates.example/cambista/\n' })
  assert.equal(await server.status('rates.example'), 200)
  await server.reload('CAMBISTA_HOST_NAME=two.example\n')
  for (const name of ['rates.example', 'two.example']) assert.equal(await server.status(name), 200)
})

test('SIGHUP reads good settings beside bad ones, and logs each bad one', async (t) => {
  const server = await startServer(t, { file: 'CAMBISTA_LOG_LEVEL=warn\n' })
  const lines = await server.reload(
    'CAMBISTA_LOG_LEVEL=loud\nCAMBISTA_HOST_NAME=two.example\nCAMBISTA_HOST_NAMES=x\n',
  )
  assert.match(
    lines,
    /error not reloaded: .*CAMBISTA_LOG_LEVEL in .*cambista.env must .*debug, info, warn, error/,
  )
  assert.match(
    lines,
    /error not reloaded: .*CAMBISTA_HOST_NAMES .* is no setting: did you mean CAMBISTA_HOST_NAME/,
  )
  assert.match(lines, /reloaded changed=CAMBISTA_HOST_NAME\n/)
  assert.equal(await server.status('two.example'), 200)
  assert.equal(await server.logsRequests(), false, 'the level is still warn')
  rmSync(server.settingsFile)
  assert.match(await server.reload(), /reloaded changed=nothing\n.*restart names=CAMBISTA_LOG_LEVEL/)
  assert.equal(await server.status('two.example'), 200)
})

test('SIGHUP reads a token file again, never logs it, and needs a restart for credentials', async (t) => {
  const credentials = temporaryDirectory(t)
  const file = join(credentials, 'bccr-token')
  writeFileSync(file, 'first-secret', { mode: 0o600 })
  const env = { CREDENTIALS_DIRECTORY: credentials }
  const server = await startServer(t, { file: '', env, words: ['--bccr-token-file', file] })
  const lines = await server.reload()
  assert.match(lines, /reloaded changed=nothing\n.*restart names=\S+bccr-token\n/)
  writeFileSync(file, 'second-secret')
  assert.match(await server.reload(), /reloaded changed=\S+bccr-token\n/)
  for (const bad of ['', 'two\nlines-secret']) {
    writeFileSync(file, bad)
    const refused = await server.reload()
    assert.match(refused, /error not reloaded: the value before stays reason=.*the bank's token/)
    assert.doesNotMatch(refused, /secret/)
  }
  rmSync(file)
  assert.match(await server.reload(), /error not reloaded: .*cannot read the bank's token: ENOENT/)
})

test('SIGHUP never ends `serve`, also without a settings file and while it stops', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const program = startProgram(t, ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir])
  await program.waitForOutput(/listening url=/)
  for (let times = 1; times <= 3; times++) {
    program.child.kill('SIGHUP')
    await until(() => program.printed.err.split(' reloaded ').length > times)
  }
  chmodSync(dataDir, 0o700)
  program.child.kill('SIGTERM')
  program.child.kill('SIGHUP')
  assert.equal(await program.waitForExit(), 0)
})
