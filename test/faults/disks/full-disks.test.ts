// A disk that is full at any moment of a sync, of a command or of a start: what is stored stays whole, what could not
// be stored is told in words, nobody is shown a secret that is not kept, and with room again everything works.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { addDays, todayIn } from '../../../src/dates.ts'
import { startBank } from '../../../src/demo/bank.ts'
import { hashOfSecret } from '../../../src/domain/secrets.ts'
import { selectActiveApiKeyHashes } from '../../../src/store/api-keys.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { IN_PROGRESS, INTERRUPTED, type SyncRunRow } from '../../../src/store/sync-runs.ts'
import type { Db } from '../../../src/store/tables.ts'
import { selectActiveTokens } from '../../../src/store/tokens.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { checkComplete } from '../../support/completeness.ts'
import { startProgram } from '../../support/program.ts'
import { mountSmallDisk, PAGE } from '../../support/small-disk.ts'
import { type CommandEnd, runCommand } from '../../support/terminal.ts'
import { figure, PROGRAM, scaled } from '../scale.ts'

const DISK = 24 * 1024 ** 2
const FULL = /\bdisk of \S+ is full\b|\bdatabase or disk is full\b/
const REAL_TODAY = todayIn(() => new Date())

/** Numbers of pages that are left: all of the first ones, then each so many. */
function pagesLeft(most: number, step: number): number[] {
  const dense = 12
  return Array.from({ length: most }, (_, at) => at).filter((at) => at < dense || at % step === 0)
}

async function within<T>(dataDir: string, look: (db: Db) => Promise<T>): Promise<T> {
  const db = openDatabase(dataDir)
  try {
    return await look(db)
  } finally {
    await db.destroy()
  }
}

/** How a sync ended: its run, or why there is none. */
async function endOfSync(app: TestApp): Promise<SyncRunRow | string> {
  try {
    return (await app.sync()).run
  } catch (error) {
    return String(error)
  }
}

test('a sync that meets a full disk leaves whole chunks and says why, and the next one stores the rest', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const sum = { none: 0, open: 0, error: 0, parcial: 0, ok: 0 }
  const totals = new Set<number>()
  for (const pages of pagesLeft(80, scaled({ short: 10, long: 1 }))) {
    const app = await startTestApp(t, { dataDir: join(disk.dir, 'data'), now: '2026-01-10T12:00:00Z' })
    await app.sync()
    app.clock.now = new Date('2026-03-24T12:00:00Z')
    disk.leave(pages * PAGE)
    const end = await endOfSync(app)
    const [shown] = await app.json<SyncRunRow[]>('/api/v1/sync/runs')
    if (typeof end === 'string') {
      assert.match(end, FULL, `${pages} pages`)
      // There was no room for the row of a run, or for the end of one.
      assert.ok(shown?.id === 1 || shown?.message === IN_PROGRESS, `${pages} pages: ${shown?.message}`)
      sum[shown?.id === 1 ? 'none' : 'open'] += 1
    } else {
      assert.deepEqual([shown?.id, shown?.status, shown?.message], [2, end.status, end.message])
      if (end.status === 'ok') assert.equal(end.message, null)
      else assert.match(end.message ?? '', FULL)
      sum[end.status] += 1
    }
    const stored = await within(app.dataDir, checkComplete)
    assert.equal((await app.get('/api/v1/rates?on=2026-01-02')).status, 200)
    assert.equal((await app.get('/api/v1/health')).status, 200)
    disk.makeRoom()
    const { run } = await app.sync()
    assert.equal(run.status, 'ok', `${run.message}`)
    const runs = await app.json<SyncRunRow[]>('/api/v1/sync/runs')
    assert.ok(runs.every(({ finished_at }) => finished_at !== null))
    if (shown?.finished_at === null) assert.equal(runs[1]?.message, INTERRUPTED)
    assert.equal(await within(app.dataDir, checkComplete), stored + run.inserted)
    totals.add(stored + run.inserted)
    await app.app.close()
    rmSync(app.dataDir, { recursive: true })
  }
  figure(t, 'syncs on a full disk: not begun, not closed, error, parcial, ok', Object.values(sum).join(', '))
  assert.equal(totals.size, 1)
  const { none: _, ...begun } = sum // what is left of SQLite's log may do for the row of a run
  for (const [how, count] of Object.entries(begun)) assert.ok(count > 0, `none was ${how}`)
})

test('cambista sync on a full disk says so, and stores everything once there is room', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const bank = await startBank({ token: 'test-token', today: () => todayIn(() => new Date()) })
  t.after(() => bank.close())
  const dataDir = join(disk.dir, 'data')
  const place = ['--data-dir', dataDir, '--backfill-from', addDays(REAL_TODAY, -60)]
  const sync = () =>
    runCommand(['sync', ...place, '--bccr-url', bank.url, '--bccr-pace', '0'], {
      CAMBISTA_BCCR_TOKEN: 'test-token',
    })
  const codes = new Set<number>()
  const totals = new Set<number>()
  for (const pages of pagesLeft(120, scaled({ short: 20, long: 1 }))) {
    await within(dataDir, async () => {})
    disk.leave(pages * PAGE)
    const { code, out, err } = await sync()
    codes.add(code)
    if (code !== 0) assert.match(out + err, FULL, `${pages} pages`)
    disk.makeRoom()
    await within(dataDir, checkComplete)
    assert.equal((await sync()).code, 0)
    totals.add(await within(dataDir, checkComplete))
    rmSync(dataDir, { recursive: true })
  }
  assert.deepEqual([...codes].sort(), [0, 1, 3])
  assert.equal(totals.size, 1)
})

test('no command shows a secret that a full disk did not keep', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const dataDir = join(disk.dir, 'data')
  const command = (...words: string[]) => runCommand([...words, '--data-dir', dataDir])
  assert.equal((await command('company', 'create', '--name', 'A', '--code', 'A', '--id', '1')).code, 0)
  const made = { secrets: [] as string[], others: 0 }
  const refused: CommandEnd[] = []
  for (const pages of pagesLeft(20, 1)) {
    const name = `n${pages}`
    disk.leave(pages * PAGE)
    for (const [group, ...words] of [
      ['key', 'create', name],
      ['token', 'create', name, '--allow', 'documents:GET'],
      ['company', 'create', '--name', name, '--code', name],
      ['owner', 'create', '--name', name, '--company', '1'],
      ['agent', 'create', '--name', name, '--company', '1'],
    ]) {
      const end = await command(group ?? '', ...words)
      if (end.code !== 0) refused.push(end)
      else if (group === 'key' || group === 'token') made.secrets.push(end.out.trim())
      else made.others += 1
    }
  }
  disk.makeRoom()
  for (const { code, out, err } of refused) {
    assert.equal(code, 1)
    assert.equal(out, '')
    assert.match(err, FULL)
    assert.doesNotMatch(err, /shown only now/)
  }
  figure(
    t,
    'commands on a full disk: done, refused',
    `${made.secrets.length + made.others}, ${refused.length}`,
  )
  assert.ok(refused.length > 20)
  await within(dataDir, async (db) => {
    const stored = [...(await selectActiveApiKeyHashes(db)), ...(await selectActiveTokens(db))]
    assert.deepEqual(stored.map(({ hash }) => hash).sort(), made.secrets.map(hashOfSecret).sort())
  })
  for (const what of ['key', 'token']) {
    const words = what === 'token' ? ['--allow', 'documents:GET'] : []
    assert.equal((await command(what, 'create', 'last', ...words)).code, 0)
  }
})

test('a server that finds a full disk at its start says so, or serves', async (t) => {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return t.skip(disk.reason)
  const dataDir = join(disk.dir, 'data')
  const start = () =>
    startProgram(t, ['serve', '--no-scheduler', '--port', '0', '--data-dir', dataDir], {}, PROGRAM)
  await within(dataDir, async () => {})
  const ends = { refused: 0, served: 0 }
  for (const pages of [0, 4, 8, 30]) {
    disk.leave(pages * PAGE)
    const server = start()
    const url = await server.says(/url=(\S+)/).then(
      ([, url]) => url,
      () => undefined,
    )
    ends[url === undefined ? 'refused' : 'served'] += 1
    if (url === undefined) assert.match(server.printed.err, FULL)
    else {
      assert.equal((await fetch(`${url}/readyz`)).status, 200)
      server.child.kill('SIGTERM')
    }
    assert.equal(await server.ended(), url === undefined ? 1 : 0, server.printed.err)
  }
  figure(t, 'starts on a full disk: refused, served', Object.values(ends).join(', '))
  assert.ok(ends.refused > 0 && ends.served > 0)
})
