// A disk that fills up at any moment of a sync, a command or a start. Stored data stay whole, and errors name the
// full disk. No command prints a secret that was not stored. With room again, everything works.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startBank } from '../../../src/demo/bank.ts'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { selectActiveApiKeyHashes } from '../../../src/store/access/api-keys.ts'
import { selectActiveTokens } from '../../../src/store/access/tokens.ts'
import { IN_PROGRESS, INTERRUPTED, type SyncRunRow } from '../../../src/store/rates/sync-runs.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { addDays, currentDay } from '../../../src/values/dates.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { checkComplete } from '../../support/completeness.ts'
import { startProgram } from '../../support/program.ts'
import { mountSmallDisk, PAGE } from '../../support/small-disk.ts'
import { type CommandEnd, runCommand } from '../../support/terminal.ts'
import { figure, PROGRAM, scaled } from '../scale.ts'

const DISK = 24 * 1024 ** 2
const FULL = /\bdisk of \S+ is full\b|\bdatabase or disk is full\b/
const REAL_TODAY = currentDay(() => new Date())

/** Numbers of free pages to test: each of the first 12, then one in `step`. */
function freePages(max: number, step: number): number[] {
  const dense = 12
  return Array.from({ length: max }, (_, at) => at).filter((at) => at < dense || at % step === 0)
}

async function withDatabase<T>(dataDir: string, query: (db: WriteDb) => Promise<T>): Promise<T> {
  const db = openDatabase(dataDir)
  try {
    return await query(db)
  } finally {
    await db.destroy()
  }
}

/** The run of a sync, or the error that prevented it. */
async function syncOutcome(app: TestApp): Promise<SyncRunRow | string> {
  try {
    return (await app.sync()).run
  } catch (error) {
    return String(error)
  }
}

test('a sync on a full disk stores whole chunks and the reason, and the next one stores the rest', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const outcomes = { none: 0, open: 0, error: 0, parcial: 0, ok: 0 }
  const totals = new Set<number>()
  for (const pages of freePages(80, scaled({ short: 25, long: 1 }))) {
    const app = await startTestApp(t, { dataDir: join(disk.dir, 'data'), now: '2026-01-10T12:00:00Z' })
    await app.sync()
    app.clock.now = new Date('2026-03-24T12:00:00Z')
    disk.leaveFree(pages * PAGE)
    const outcome = await syncOutcome(app)
    const [lastRun] = await app.json<SyncRunRow[]>('/api/v1/sync/runs')
    if (typeof outcome === 'string') {
      assert.match(outcome, FULL, `${pages} pages`)
      // The row of the run, or its end, had no room.
      assert.ok(lastRun?.id === 1 || lastRun?.message === IN_PROGRESS, `${pages} pages: ${lastRun?.message}`)
      outcomes[lastRun?.id === 1 ? 'none' : 'open'] += 1
    } else {
      assert.deepEqual([lastRun?.id, lastRun?.status, lastRun?.message], [2, outcome.status, outcome.message])
      if (outcome.status === 'ok') assert.equal(outcome.message, null)
      else assert.match(outcome.message ?? '', FULL)
      outcomes[outcome.status] += 1
    }
    const storedValues = await withDatabase(app.dataDir, checkComplete)
    assert.equal((await app.get('/api/v1/rates?on=2026-01-02')).status, 200)
    assert.equal((await app.get('/api/v1/health')).status, 200)
    disk.makeRoom()
    const { run } = await app.sync()
    assert.equal(run.status, 'ok', `${run.message}`)
    const runs = await app.json<SyncRunRow[]>('/api/v1/sync/runs')
    assert.ok(runs.every(({ finished_at }) => finished_at !== null))
    if (lastRun?.finished_at === null) assert.equal(runs[1]?.message, INTERRUPTED)
    assert.equal(await withDatabase(app.dataDir, checkComplete), storedValues + run.inserted)
    totals.add(storedValues + run.inserted)
    await app.app.close()
    rmSync(app.dataDir, { recursive: true })
  }
  figure(
    t,
    'syncs on a full disk: not begun, not closed, error, parcial, ok',
    Object.values(outcomes).join(', '),
  )
  assert.equal(totals.size, 1)
  const { none: _, ...startedOutcomes } = outcomes // a row of the run may fit into the rest of the log
  for (const [outcome, count] of Object.entries(startedOutcomes)) assert.ok(count > 0, `none was ${outcome}`)
})

test('`cambista sync` names the full disk, and stores everything once there is room', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const bank = await startBank({ token: 'test-token', today: () => currentDay(() => new Date()) })
  t.after(() => bank.close())
  const dataDir = join(disk.dir, 'data')
  const options = ['--data-dir', dataDir, '--backfill-from', addDays(REAL_TODAY, -60)]
  const sync = () =>
    runCommand(['sync', ...options, '--bccr-url', bank.url, '--bccr-pace', '0'], {
      CAMBISTA_BCCR_TOKEN: 'test-token',
    })
  const codes = new Set<number>()
  const totals = new Set<number>()
  for (const pages of freePages(120, scaled({ short: 50, long: 1 }))) {
    await withDatabase(dataDir, async () => {})
    disk.leaveFree(pages * PAGE)
    const { code, out, err } = await sync()
    codes.add(code)
    if (code !== 0) assert.match(out + err, FULL, `${pages} pages`)
    disk.makeRoom()
    await withDatabase(dataDir, checkComplete)
    assert.equal((await sync()).code, 0)
    totals.add(await withDatabase(dataDir, checkComplete))
    rmSync(dataDir, { recursive: true })
  }
  assert.deepEqual([...codes].sort(), [0, 1, 3])
  assert.equal(totals.size, 1)
})

test('`key create` and `token create` print no secret that a full disk did not store', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const dataDir = join(disk.dir, 'data')
  const command = (...words: string[]) => runCommand([...words, '--data-dir', dataDir])
  assert.equal((await command('company', 'create', '--name', 'A', '--code', 'A', '--id', '1')).code, 0)
  const created = { secrets: [] as string[], others: 0 }
  const failures: CommandEnd[] = []
  for (const pages of freePages(20, 1)) {
    const name = `n${pages}`
    disk.leaveFree(pages * PAGE)
    for (const [group, ...words] of [
      ['key', 'create', name],
      ['token', 'create', name, '--allow', 'documents:GET'],
      ['company', 'create', '--name', name, '--code', name],
      ['owner', 'create', '--name', name, '--company', '1'],
      ['agent', 'create', '--name', name, '--company', '1'],
    ]) {
      const result = await command(group ?? '', ...words)
      if (result.code !== 0) failures.push(result)
      else if (group === 'key' || group === 'token') created.secrets.push(result.out.trim())
      else created.others += 1
    }
  }
  disk.makeRoom()
  for (const { code, out, err } of failures) {
    assert.equal(code, 1)
    assert.equal(out, '')
    assert.match(err, FULL)
    assert.doesNotMatch(err, /shown only now/)
  }
  figure(
    t,
    'commands on a full disk: done, refused',
    `${created.secrets.length + created.others}, ${failures.length}`,
  )
  assert.ok(failures.length > 20)
  await withDatabase(dataDir, async (db) => {
    const rows = [...(await selectActiveApiKeyHashes(db)), ...(await selectActiveTokens(db))]
    assert.deepEqual(rows.map(({ hash }) => hash).sort(), created.secrets.map(hashOfSecret).sort())
  })
  for (const group of ['key', 'token']) {
    const words = group === 'token' ? ['--allow', 'documents:GET'] : []
    assert.equal((await command(group, 'create', 'last', ...words)).code, 0)
  }
})

test('`serve` on a full disk reads only, with any number of free pages', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const dataDir = join(disk.dir, 'data')
  await withDatabase(dataDir, async () => {})
  for (const pages of [0, 1, 8, 30]) {
    disk.leaveFree(pages * PAGE)
    const words = ['serve', '--no-scheduler', '--port', '0', '--data-dir', dataDir]
    const server = startProgram(t, words, {}, PROGRAM)
    const [, url] = await server.waitForOutput(/url=(\S+)/)
    const ready = await fetch(`${url}/readyz`)
    assert.equal(ready.status, 200)
    assert.match(await ready.text(), /the disk is full: the server only reads/, `${pages} pages`)
    server.child.kill('SIGTERM')
    assert.equal(await server.waitForExit(), 0, server.printed.err)
  }
})
