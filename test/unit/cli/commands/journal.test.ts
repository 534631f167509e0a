// The log where systemd connects stderr to its journal, which JOURNAL_STREAM names by device and inode.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isJournal } from '../../../src/cli/terminal-log.ts'
import { startTestApp } from '../../support/app.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

const ENTRY = join(import.meta.dirname, '../../support/cambista.ts')

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
  assert.equal(isJournal({ JOURNAL_STREAM: `${dev}:${ino}` }, 9999), false, 'a file that is closed')
})

/** Starts the program with stderr in a file, which it is told is the journal. */
function start(t: TestContext, words: string[], env: Record<string, string> = {}) {
  const path = join(temporaryDirectory(t), 'journal')
  writeFileSync(path, '')
  const { dev, ino } = statSync(path)
  const file = openSync(path, 'a')
  const child = spawn(process.execPath, [ENTRY, ...words], {
    env: { PATH: process.env.PATH, JOURNAL_STREAM: `${dev}:${ino}`, ...env },
    stdio: ['ignore', 'ignore', file],
  })
  closeSync(file)
  t.after(() => child.kill('SIGKILL'))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { child, ended, text: () => readFileSync(path, 'utf8') }
}

test('serve writes priorities and no time; a warning is one in JSON too', async (t) => {
  for (const format of ['text', 'json']) {
    const dataDir = join(temporaryDirectory(t), 'data')
    const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir, '--log-format', format]
    const { child, ended, text } = start(t, words)
    await until(() => text().includes('no API key yet'))
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
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

test('what ends the program is an error', async (t) => {
  const { ended, text } = start(t, ['serve', '--port', 'x'])
  assert.equal(await ended, 2)
  assert.match(text(), /^<3>cambista: --port must be an integer/)
})

test('a sync that ended in error is an error, one that was parcial a warning', async (t) => {
  const level = async (bank: Parameters<typeof startTestApp>[1]) => {
    const own = await startTestApp(t, bank)
    await own.sync({ from: '2026-03-01', to: '2026-03-02' })
    const line = () =>
      own.logged
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

test('probes are logged at debug, other requests at info', async (t) => {
  const { get, logged } = await startTestApp(t)
  for (const path of ['/healthz', '/readyz', '/readyz?fresh=true', '/api/v1/providers', '/nothing'])
    await get(path)
  const requests = () =>
    logged
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
