// Two processes on one data directory: the lock, and what one sees of the other.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { LOOK_EVERY_MS, watchDatabase } from '../../../src/domain/database-watch.ts'
import { createLog } from '../../../src/log.ts'
import { raiseRevision, selectMeta } from '../../../src/store/meta.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { PATIENCE_MS } from '../../../src/store/sqlite/driver.ts'
import { takeFileLock } from '../../../src/store/sqlite/lock.ts'
import { startOther } from '../../support/other-process.ts'
import { temporaryDatabase, temporaryDirectory, temporaryEngine } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

function locking(dataDir: string): string {
  return `
    import { takeFileLock } from './src/store/sqlite/lock.ts'
    const lock = takeFileLock(${JSON.stringify(dataDir)}, 'sync.lock')
    console.log(lock ? 'taken' : 'refused')
    setInterval(() => lock, 1000) // what nobody can reach any longer is collected, and closed`
}

test('a lock is held by one, in the same process too, until it is released', (t) => {
  const dataDir = temporaryDirectory(t)
  const lock = takeFileLock(dataDir, 'sync.lock')
  assert.ok(lock)
  for (let attempt = 0; attempt < 3; attempt++) assert.equal(takeFileLock(dataDir, 'sync.lock'), undefined)
  lock.release()
  const next = takeFileLock(dataDir, 'sync.lock')
  assert.ok(next)
  next.release()
  assert.equal(statSync(join(dataDir, 'sync.lock')).mode & 0o777, 0o600)
  assert.ok(!existsSync(join(dataDir, 'sync.lock-journal')))
})

test('a lock that another process holds is refused at once, and free when that process is killed', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { child, said } = await startOther(t, locking(dataDir))
  assert.equal(said, 'taken')
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now()
    assert.equal(takeFileLock(dataDir, 'sync.lock'), undefined)
    return performance.now() - began
  })
  assert.ok(Math.min(...times) < 1000, times.join()) // of the others the machine may have stood still

  child.kill('SIGKILL')
  await once(child, 'exit')
  const lock = takeFileLock(dataDir, 'sync.lock')
  assert.ok(lock)
  assert.equal((await startOther(t, locking(dataDir))).said, 'refused')
  lock.release()
})

// Asked for in the same instant, when the other is seen at the door, so that each is met by the other half way.
test('of two processes that want a lock at the same time one gets it', async (t) => {
  const directories = Array.from({ length: 60 }, () => temporaryDirectory(t))
  const wanting = (own: string, other: string) => `
    import { existsSync, writeFileSync } from 'node:fs'
    import { takeFileLock } from './src/store/sqlite/lock.ts'
    const locks = ${JSON.stringify(directories)}.map((directory) => {
      writeFileSync(directory + '/${own}', '')
      while (!existsSync(directory + '/${other}'));
      return takeFileLock(directory, 'sync.lock')
    })
    console.log(JSON.stringify(locks.map((lock) => (lock ? 1 : 0))))
    setInterval(() => locks, 1000)`
  const said = await Promise.all([startOther(t, wanting('a', 'b')), startOther(t, wanting('b', 'a'))])
  const [one = [], other = []] = said.map((process) => JSON.parse(process.said) as number[])
  assert.deepEqual(
    one.map((taken, at) => taken + (other[at] ?? 0)),
    directories.map(() => 1),
  )
})

test('a directory that is not there is an error, not a lock that is taken', (t) => {
  assert.throws(() => takeFileLock(join(temporaryDirectory(t), 'none'), 'sync.lock'), /ENOENT/)
})

test('what another process commits is noticed within a second, what is ours is not reported', async (t) => {
  const dataDir = temporaryDirectory(t)
  const engine = await temporaryEngine(t, dataDir)
  const { db } = engine
  let noticed = 0
  const log = createLog({ level: 'debug', format: 'json', write: (text) => assert.fail(text) })
  const watch = await watchDatabase(engine, { log, staleForMs: 0 })
  t.after(() => watch.close())
  watch.start(async () => void noticed++)
  await raiseRevision(db)
  await wait(2 * LOOK_EVERY_MS + 100)
  assert.equal(noticed, 0)

  const { child } = await startOther(
    t,
    `
    import { openDatabase } from './src/store/sqlite/database.ts'
    import { raiseRevision } from './src/store/meta.ts'
    const db = openDatabase(${JSON.stringify(dataDir)})
    await raiseRevision(db)
    await db.destroy()
    console.log('done')`,
  )
  await until(() => noticed > 0)
  assert.ok(LOOK_EVERY_MS <= 500) // and twice that is a second
  await wait(LOOK_EVERY_MS + 100)
  assert.equal(noticed, 1)
  assert.equal((await selectMeta(db)).revision, 3)
  child.kill()
})

test('what cannot be read is told once, tried again, and told once when it is over', async (t) => {
  const dataDir = temporaryDirectory(t)
  const [engine, other] = [await temporaryEngine(t, dataDir), temporaryDatabase(t, dataDir)]
  const lines: string[] = []
  const log = createLog({ level: 'debug', format: 'text', write: (text) => lines.push(text) })
  let looks = 0
  const changed = async () => {
    looks += 1
    if (looks <= 3) throw new Error('busy')
  }
  const watch = await watchDatabase(engine, { log, staleForMs: 0 })
  watch.start(changed)
  await raiseRevision(other)
  await until(() => looks === 4)
  await wait(LOOK_EVERY_MS + 100)
  assert.equal(looks, 4)
  assert.match(
    lines.join(''),
    /^\S+ error what changed in the database cannot be read reason=busy\n\S+ warn {2}what changed in the database is read again\n$/,
  )
  await watch.close()
  await raiseRevision(other)
  await wait(400)
  assert.equal(looks, 4, 'a watch that is closed does not look')
})

// Many directories, since what one process meets of another's work is a matter of microseconds.
test('processes that open a new directory at the same time all get the same database', async (t) => {
  const base = temporaryDirectory(t)
  const opening = `
    import { openDatabase } from './src/store/sqlite/database.ts'
    import { selectMeta } from './src/store/meta.ts'
    const epochs = []
    for (let directory = 0; directory < 200; directory++) {
      const db = openDatabase(${JSON.stringify(base)} + '/' + directory)
      epochs.push((await selectMeta(db)).epoch)
      await db.destroy()
    }
    console.log(epochs.join())`
  const said = await Promise.all(Array.from({ length: 4 }, () => startOther(t, opening)))
  assert.equal(new Set(said.map((one) => one.said)).size, 1)
})

function making(dataDir: string, then: string): string {
  return `
    import Sqlite from 'better-sqlite3'
    const sqlite = new Sqlite(${JSON.stringify(join(dataDir, 'cambista.db'))})
    sqlite.exec('begin immediate')
    console.log('making')
    ${then}`
}

test('a new database that another process is making is waited for', async (t) => {
  const dataDir = temporaryDirectory(t)
  await startOther(t, making(dataDir, `setTimeout(() => sqlite.exec('rollback'), 500)`))
  const db = openDatabase(dataDir, { patienceMs: 60_000 })
  t.after(() => db.destroy())
  assert.equal((await selectMeta(db)).revision, 1)
})

test('a database that another process does not let go of is an error that says so', async (t) => {
  const dataDir = temporaryDirectory(t)
  await startOther(t, making(dataDir, 'setInterval(() => sqlite.inTransaction, 1000)'))
  assert.equal(PATIENCE_MS, 5000)
  assert.throws(() => openDatabase(dataDir, { patienceMs: 200 }), {
    code: 'failed',
    message: `${dataDir}/cambista.db is locked by another process: wait for it or end it (fuser -v shows who), then try again`,
  })
})
