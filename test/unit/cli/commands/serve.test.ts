import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { todayIn } from '../../../src/dates.ts'
import { startBank } from '../../../src/demo/bank.ts'
import { temporaryDirectory } from '../../support/app.ts'
import { startProgram } from '../../support/program.ts'
import { runCommand, until } from '../../support/terminal.ts'

const LISTENING = /listening url=(\S+)/

test('serve says how to make the first key, takes it within a second, and forgets a revoked one', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const program = startProgram(t, ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir])
  const [, url] = await program.says(LISTENING)
  await program.says(/cambista key create NAME --data-dir/)
  const { out } = await runCommand(['key', 'create', 'erp', '--data-dir', dataDir])
  const status = async () =>
    (await fetch(`${url}/api/v1/providers`, { headers: { 'x-api-key': out.trim() } })).status
  await until(async () => (await status()) === 200)
  await runCommand(['key', 'revoke', '1', '--data-dir', dataDir])
  await until(async () => (await status()) === 401)

  program.child.kill('SIGTERM')
  assert.equal(await program.ended(), 0)
  assert.match(program.printed.err, /stopped/)
  assert.equal(program.printed.err.includes(out.trim()), false, 'the key is in the log')
  const [key] = JSON.parse((await runCommand(['key', 'list', '--json', '--data-dir', dataDir])).out)
  assert.ok(key.last_used_at, 'the use of the key was written down')
})

test('serve fills an empty data directory by itself, and keeps the data over a restart', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const today = todayIn(() => new Date())
  const bank = await startBank({ today: () => today })
  t.after(() => bank.close())
  const words = ['serve', '--port', '0', '--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0']
  const backfill = `${Number(today.slice(0, 4)) - 1}-12-01`
  const { out: key } = await runCommand(['key', 'create', 'erp', '--data-dir', dataDir])
  const first = startProgram(t, [...words, '--backfill-from', backfill, '--log-format', 'json'])
  await first.says(/"event":"sync finished".*"status":"ok"/)
  const url = JSON.parse((await first.says(/\{.*"event":"listening".*\}/))[0]).url
  const latest = async (base: string) => {
    const answer = await fetch(`${base}/api/v1/rates/latest`, { headers: { 'x-api-key': key.trim() } })
    return (await answer.json()) as { rate_date: string; compra: string }
  }
  const before = await latest(url)
  assert.equal(before.rate_date, today)
  first.child.kill('SIGINT')
  assert.equal(await first.ended(), 0)

  const asked = bank.requests.length
  const second = startProgram(t, words)
  const [, again] = await second.says(LISTENING)
  assert.deepEqual(await latest(again ?? ''), before)
  second.child.kill('SIGTERM')
  assert.equal(await second.ended(), 0)
  assert.equal(bank.requests.length, asked, 'a run that was not due was made')
})

test('SIGTERM in the middle of a backfill closes the run and ends with 0', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const bank = await startBank({ today: () => todayIn(() => new Date()) })
  t.after(() => bank.close())
  const words = ['--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '20']
  const program = startProgram(t, ['serve', '--port', '0', ...words])
  await until(() => bank.requests.length > 5)
  program.child.kill('SIGTERM')
  assert.equal(await program.ended(), 0)
  assert.match(program.printed.err, /sync finished .*status=parcial/)
  assert.match(program.printed.err, /interrupted: the program was stopped/)
})

test('a port in use is one clear line and exit 1', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.after(() => taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  const dataDir = temporaryDirectory(t)
  const end = await runCommand(['serve', '--port', String(port), '--no-scheduler', '--data-dir', dataDir])
  assert.equal(end.code, 1)
  assert.match(end.err, new RegExp(`cannot listen on 127.0.0.1:${port}: the port is in use`))
})

test('root on the data directory of another user becomes that user first', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can become another user')
  const dataDir = join(temporaryDirectory(t), 'data')
  chmodSync(join(dataDir, '..'), 0o755)
  mkdirSync(dataDir, { mode: 0o700 })
  chownSync(dataDir, 65534, 65534)
  const program = startProgram(t, ['key', 'create', 'erp', '--data-dir', dataDir])
  assert.equal(await program.ended(), 0, program.printed.err)
  const { uid, gid, mode } = statSync(join(dataDir, 'cambista.db'))
  assert.deepEqual([uid, gid, mode & 0o777], [65534, 65534, 0o600])
})

test('serve warns at its start of a token file that is missing, empty or open to others', async (t) => {
  const dataDir = temporaryDirectory(t)
  const file = join(dataDir, 'token')
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', join(dataDir, 'data')]
  const warnings = async () => {
    const server = startProgram(t, [...words, '--bccr-token-file', file])
    await server.says(/no API key yet/)
    server.child.kill('SIGTERM')
    assert.equal(await server.ended(), 0)
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
  const bank = await startBank({ token, today: () => todayIn(() => new Date()) })
  t.after(() => bank.close())
  const from = todayIn(() => new Date())
  const at = ['--data-dir', join(dataDir, 'data'), '--bccr-url', bank.url, '--bccr-pace', '0', '--from', from]
  const program = startProgram(t, ['sync', ...at, '--bccr-token-file', file])
  assert.equal(await program.ended(), 0, program.printed.out + program.printed.err)
  assert.ok(bank.requests.every(({ authorized }) => authorized))
  assert.equal((program.printed.out + program.printed.err).includes(token), false)
  assert.equal(readFileSync(join(dataDir, 'data/cambista.db')).includes(token), false)
})
