import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { startBank } from '../../../../../src/demo/bank.ts'
import { readServerSettings } from '../../../../../src/store/server-address.ts'
import { currentDay } from '../../../../../src/values/dates.ts'
import { temporaryDirectory } from '../../../../support/app.ts'
import { startProgram } from '../../../../support/program.ts'
import { runCommand, until } from '../../../../support/terminal.ts'

const LISTENING = /listening url=(\S+)/

test('`serve` prints how to create the first key, accepts a new key and refuses a revoked one', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const program = startProgram(t, ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir])
  const [, url] = await program.waitForOutput(LISTENING)
  await program.waitForOutput(/cambista key create NAME --data-dir/)
  const { out } = await runCommand(['key', 'create', 'erp', '--data-dir', dataDir])
  const status = async () =>
    (await fetch(`${url}/api/v1/providers`, { headers: { 'x-api-key': out.trim() } })).status
  await until(async () => (await status()) === 200)
  await runCommand(['key', 'revoke', '1', '--data-dir', dataDir])
  await until(async () => (await status()) === 401)

  program.child.kill('SIGTERM')
  assert.equal(await program.waitForExit(), 0)
  assert.match(program.printed.err, /stopped/)
  assert.equal(program.printed.err.includes(out.trim()), false, 'the key is in the log')
  const [key] = JSON.parse((await runCommand(['key', 'list', '--json', '--data-dir', dataDir])).out)
  assert.ok(key.last_used_at, 'the use of the key is stored')
})

test('`serve` syncs an empty data directory, and a restart neither loses data nor syncs again', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const today = currentDay(() => new Date())
  const bank = await startBank({ today: () => today })
  t.after(() => bank.close())
  const words = ['serve', '--port', '0', '--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0']
  const backfill = `${Number(today.slice(0, 4)) - 1}-12-01`
  const { out: key } = await runCommand(['key', 'create', 'erp', '--data-dir', dataDir])
  const first = startProgram(t, [...words, '--backfill-from', backfill, '--log-format', 'json'])
  await first.waitForOutput(/"event":"sync finished".*"status":"ok"/)
  const url = JSON.parse((await first.waitForOutput(/\{.*"event":"listening".*\}/))[0]).url
  const latest = async (base: string) => {
    const answer = await fetch(`${base}/api/v1/rates/latest`, { headers: { 'x-api-key': key.trim() } })
    return (await answer.json()) as { rate_date: string; compra: string }
  }
  const before = await latest(url)
  assert.equal(before.rate_date, today)
  first.child.kill('SIGINT')
  assert.equal(await first.waitForExit(), 0)

  const requestCount = bank.requests.length
  const second = startProgram(t, words)
  const [, secondUrl] = await second.waitForOutput(LISTENING)
  assert.deepEqual(await latest(secondUrl ?? ''), before)
  second.child.kill('SIGTERM')
  assert.equal(await second.waitForExit(), 0)
  assert.equal(bank.requests.length, requestCount, 'a sync ran that was not due')
})

test('SIGTERM during a backfill closes the run, and `serve` exits with 0', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const bank = await startBank({ today: () => currentDay(() => new Date()) })
  t.after(() => bank.close())
  const words = ['--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '20']
  const program = startProgram(t, ['serve', '--port', '0', ...words])
  await until(() => bank.requests.length > 5)
  program.child.kill('SIGTERM')
  assert.equal(await program.waitForExit(), 0)
  assert.match(program.printed.err, /sync finished .*status=parcial/)
  assert.match(program.printed.err, /interrupted: the program was stopped/)
})

test('`serve` on a port in use prints one line and exits with 1', async (t) => {
  const blocker = createServer().listen(0, '127.0.0.1')
  t.after(() => blocker.close())
  await new Promise((resolve) => blocker.once('listening', resolve))
  const { port } = blocker.address() as { port: number }
  const dataDir = temporaryDirectory(t)
  const end = await runCommand(['serve', '--port', String(port), '--no-scheduler', '--data-dir', dataDir])
  assert.equal(end.code, 1)
  assert.match(end.err, new RegExp(`cannot listen on 127.0.0.1:${port}: the port is in use`))
})

test('a command as root becomes the owner of the data directory', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can become another user')
  const dataDir = join(temporaryDirectory(t), 'data')
  chmodSync(join(dataDir, '..'), 0o755)
  mkdirSync(dataDir, { mode: 0o700 })
  chownSync(dataDir, 65534, 65534)
  const program = startProgram(t, ['key', 'create', 'erp', '--data-dir', dataDir])
  assert.equal(await program.waitForExit(), 0, program.printed.err)
  const { uid, gid, mode } = statSync(join(dataDir, 'cambista.db'))
  assert.deepEqual([uid, gid, mode & 0o777], [65534, 65534, 0o600])
})

test('`serve` warns at its start of a token file that is missing, empty or open to others', async (t) => {
  const dataDir = temporaryDirectory(t)
  const file = join(dataDir, 'token')
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', join(dataDir, 'data')]
  const warnings = async () => {
    const server = startProgram(t, [...words, '--bccr-token-file', file])
    await server.waitForOutput(/no API key yet/)
    server.child.kill('SIGTERM')
    assert.equal(await server.waitForExit(), 0)
    return server.printed.err
  }
  assert.match(await warnings(), /warn {2}.*cannot read the bank's token.*ENOENT/)
  writeFileSync(file, '')
  assert.match(await warnings(), /warn {2}.*the file of the bank's token is empty/)
  writeFileSync(file, 'secret')
  chmodSync(file, 0o644)
  const open = await warnings()
  assert.match(open, /warn {2}.*the file of the bank's token can be opened by other users \(mode 0644\)/)
  assert.doesNotMatch(open, /secret/)
  chmodSync(file, 0o600)
  assert.doesNotMatch(await warnings(), /the bank's token/)
})

test('the token of the bank is never in the arguments, the log or the database', async (t) => {
  const dataDir = temporaryDirectory(t)
  const token = 'secret-token-of-the-bank'
  const file = join(dataDir, 'token')
  writeFileSync(file, `${token}\n`)
  const bank = await startBank({ token, today: () => currentDay(() => new Date()) })
  t.after(() => bank.close())
  const from = currentDay(() => new Date())
  const at = ['--data-dir', join(dataDir, 'data'), '--bccr-url', bank.url, '--bccr-pace', '0', '--from', from]
  const program = startProgram(t, ['sync', ...at, '--bccr-token-file', file])
  assert.equal(await program.waitForExit(), 0, program.printed.out + program.printed.err)
  assert.ok(bank.requests.every(({ authorized }) => authorized))
  assert.equal((program.printed.out + program.printed.err).includes(token), false)
  assert.equal(readFileSync(join(dataDir, 'data/cambista.db')).includes(token), false)
})

test('`serve` and `doctor` take a --min-free below 16 MiB as 16 MiB, with a warning', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const words = ['--port', '0', '--no-scheduler', '--data-dir', dataDir, '--min-free', '1MiB']
  const program = startProgram(t, ['serve', ...words])
  await program.waitForOutput(LISTENING)
  assert.match(program.printed.err, /warn +--min-free is too small .*given="1 MiB" used="16 MiB"/)
  assert.equal(readServerSettings(dataDir)?.minFree, 16 * 1024 ** 2)
  const { err } = await runCommand(['doctor', '--data-dir', dataDir, '--min-free', '1MiB'])
  assert.match(err, /--min-free is too small: 16 MiB count/)
})
