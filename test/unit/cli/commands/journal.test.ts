// The log when stderr is the journal of systemd. JOURNAL_STREAM has its device and inode.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isJournal } from '../../../../src/cli/terminal-log.ts'
import { startTestApp } from '../../../support/app.ts'
import { PROGRAM_ENV } from '../../../support/program.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { until } from '../../../support/terminal.ts'

const ENTRY = join(import.meta.dirname, '../../../support/cambista.ts')

test('a file is the journal when device and inode are those of JOURNAL_STREAM', (t) => {
  const path = join(temporaryDirectory(t), 'stream')
  const file = openSync(path, 'w')
  const { dev, ino } = statSync(path)
  assert.equal(isJournal({ JOURNAL_STREAM: `${dev}:${ino}` }, file), true)
  for (const other of [`${dev}:${ino + 1}`, `${dev + 1}:${ino}`, `${dev}`, 'x', '']) {
    assert.equal(isJournal({ JOURNAL_STREAM: other }, file), false, other)
  }
  assert.equal(isJournal({}, file), false)
  closeSync(file)
  assert.equal(isJournal({ JOURNAL_STREAM: `${dev}:${ino}` }, 9999), false, 'a closed file')
})

/** Starts the program with stderr in a file and JOURNAL_STREAM set to that file. */
function start(t: TestContext, words: string[], env: Record<string, string> = {}) {
  const path = join(temporaryDirectory(t), 'journal')
  writeFileSync(path, '')
  const { dev, ino } = statSync(path)
  const file = openSync(path, 'a')
  const child = spawn(process.execPath, [ENTRY, ...words], {
    env: { ...PROGRAM_ENV, JOURNAL_STREAM: `${dev}:${ino}`, ...env },
    stdio: ['ignore', 'ignore', file],
  })
  closeSync(file)
  t.after(() => child.kill('SIGKILL'))
  const exitCode = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { child, exitCode, text: () => readFileSync(path, 'utf8') }
}

test('`serve` writes priorities instead of times, in text and JSON', async (t) => {
  for (const format of ['text', 'json']) {
    const dataDir = join(temporaryDirectory(t), 'data')
    const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir, '--log-format', format]
    const { child, exitCode, text } = start(t, words)
    await until(() => text().includes('no API key yet'))
    child.kill('SIGTERM')
    assert.equal(await exitCode, 0)
    const lines = text().trimEnd().split('\n')
    assert.ok(
      lines.every((line) => /^<[3467]>/.test(line)),
      text(),
    )
    const warning = lines.filter(
      (line) => line.startsWith('<4>') && !line.includes('no token of the central bank'),
    )
    assert.equal(warning.length, 1)
    if (format === 'text') assert.match(lines.join('\n'), /^<6>info {2}listening url=/m)
    else for (const line of lines) assert.equal(typeof JSON.parse(line.slice(3)).event, 'string')
    assert.match(
      warning[0] ?? '',
      format === 'text' ? /^<4>warn {2}no API key yet/ : /^<4>\{.*"level":"warn"/,
    )
  }
})

test('the message that ends the program has the priority of errors', async (t) => {
  const { exitCode, text } = start(t, ['serve', '--port', 'x'])
  assert.equal(await exitCode, 2)
  assert.match(text(), /^<3>cambista: --port must be an integer/)
})

test('the level of "sync finished" is error for error, warn for parcial and info for ok', async (t) => {
  const level = async (bank: Parameters<typeof startTestApp>[1]) => {
    const own = await startTestApp(t, bank)
    await own.sync({ from: '2026-03-01', to: '2026-03-02' })
    const line = () =>
      own.logLines
        .join('')
        .split('\n')
        .find((one) => one.includes('"sync finished"'))
    await until(() => line() !== undefined)
    const { level, status } = JSON.parse(line() ?? '')
    return [status, level]
  }
  assert.deepEqual(await level({}), ['ok', 'info'])
  assert.deepEqual(await level({ token: 'another token' }), ['parcial', 'warn'])
  assert.deepEqual(await level({ token: () => assert.fail('unreadable') }), ['error', 'error'])
})

test('requests of probes are logged at debug, others at info', async (t) => {
  const { get, logLines } = await startTestApp(t)
  for (const path of ['/healthz', '/readyz', '/readyz?fresh=true', '/api/v1/providers', '/nothing'])
    await get(path)
  const requests = () =>
    logLines
      .join('')
      .split('\n')
      .filter((line) => line.includes('"event":"request"'))
      .map((line) => JSON.parse(line))
  await until(() => requests().length === 5)
  const levels = requests().map(({ route, level }) => `${route} ${level}`)
  assert.deepEqual(levels, [
    '/healthz debug',
    '/readyz debug',
    '/readyz debug',
    '/api/v1/providers info',
    '- info',
  ])
})
