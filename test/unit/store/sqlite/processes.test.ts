// Two processes on one data directory: the lock, and what one sees of the other.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { POLL_EVERY_MS, watchDatabase } from '../../../../src/domain/operations/database-watch.ts'
import { createLog } from '../../../../src/runtime/log.ts'
import type { Engine } from '../../../../src/store/engine.ts'
import { raiseRevision, selectMeta } from '../../../../src/store/meta.ts'
import { openDatabase } from '../../../../src/store/sqlite/database.ts'
import { PATIENCE_MS } from '../../../../src/store/sqlite/driver.ts'
import { takeFileLock } from '../../../../src/store/sqlite/lock.ts'
import { startScript } from '../../../support/other-process.ts'
import { temporaryDatabase, temporaryDirectory, temporaryEngine } from '../../../support/temporary.ts'
import { until } from '../../../support/terminal.ts'
import { passTurns } from '../../turns.ts'

function locking(dataDir: string): string {
  return `
    import { takeFileLock } from './src/store/sqlite/lock.ts'
    const lock = takeFileLock(${JSON.stringify(dataDir)}, 'sync.lock')
    console.log(lock ? 'taken' : 'refused')
    setInterval(() => lock, 1000) // an unreachable lock would be collected and closed`
}

test('a lock has one holder until its release, also within one process', (t) => {
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

test('a lock of another process is refused, and free after that process is killed', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { child, firstLine } = await startScript(t, locking(dataDir))
  assert.equal(firstLine, 'taken')
  assert.equal(takeFileLock(dataDir, 'sync.lock'), undefined)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const lock = takeFileLock(dataDir, 'sync.lock')
  assert.ok(lock)
  assert.equal((await startScript(t, locking(dataDir))).firstLine, 'refused')
  lock.release()
})

// Both processes wait for a file of the other, so that they take the lock at the same instant.
test('a lock goes to one of two processes that take it at the same time', async (t) => {
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
  const scripts = await Promise.all([startScript(t, wanting('a', 'b')), startScript(t, wanting('b', 'a'))])
  const [one = [], other = []] = scripts.map((process) => JSON.parse(process.firstLine) as number[])
  assert.deepEqual(
    one.map((taken, at) => taken + (other[at] ?? 0)),
    directories.map(() => 1),
  )
})

test('a missing directory is an error, not a lock that is taken', (t) => {
  assert.throws(() => takeFileLock(join(temporaryDirectory(t), 'none'), 'sync.lock'), /ENOENT/)
})

test('the watch notices commits of other processes within a second, and not its own', async (t) => {
  const dataDir = temporaryDirectory(t)
  const engine = await temporaryEngine(t, dataDir)
  const { db } = engine
  let noticed = 0
  const log = createLog({ level: 'debug', format: 'json', write: (text) => assert.fail(text) })
  const polls = countPolls(engine)
  const watch = await watchDatabase(polls.engine, { log, staleForMs: 0 })
  t.after(() => watch.close())
  watch.start(async () => void noticed++)
  await raiseRevision(db)
  await polls.pass(2)
  assert.equal(noticed, 0)

  const { child } = await startScript(
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
  assert.ok(POLL_EVERY_MS <= 500) // and twice that is a second
  await polls.pass(2)
  assert.equal(noticed, 1)
  assert.equal((await selectMeta(db)).revision, 3)
  child.kill()
})

test('the watch logs a failed read once, retries it, and logs its end once', async (t) => {
  const dataDir = temporaryDirectory(t)
  const [engine, other] = [await temporaryEngine(t, dataDir), temporaryDatabase(t, dataDir)]
  const lines: string[] = []
  const log = createLog({ level: 'debug', format: 'text', write: (text) => lines.push(text) })
  let calls = 0
  const onChange = async () => {
    calls += 1
    if (calls <= 3) throw new Error('busy')
  }
  t.mock.timers.enable({ apis: ['setInterval'] })
  const polls = countPolls(engine)
  const watch = await watchDatabase(polls.engine, { log, staleForMs: 0 })
  watch.start(onChange)
  await raiseRevision(other)
  const poll = () => t.mock.timers.tick(POLL_EVERY_MS)
  await until(() => {
    poll()
    return calls === 4
  })
  poll()
  await passTurns()
  assert.equal(calls, 4)
  assert.match(
    lines.join(''),
    /^\S+ error what changed in the database cannot be read reason=busy\n\S+ warn {2}what changed in the database is read again\n$/,
  )
  await watch.close()
  await raiseRevision(other)
  const { count } = polls
  poll()
  await passTurns()
  assert.deepEqual([polls.count, calls], [count, 4], 'a closed watch does not poll')
})

/** Counts the polls of an engine. */
function countPolls(engine: Engine) {
  const polls = {
    count: 0,
    engine: {
      ...engine,
      poll() {
        polls.count += 1
        return engine.poll()
      },
    },
    /** Waits for further polls, of which the last has begun. */
    async pass(further: number) {
      const { count } = polls
      await until(() => polls.count > count + further)
    },
  }
  return polls
}

// 200 directories, because the processes collide within microseconds.
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
  const scripts = await Promise.all(Array.from({ length: 4 }, () => startScript(t, opening)))
  assert.equal(new Set(scripts.map((one) => one.firstLine)).size, 1)
})

function making(dataDir: string, then: string): string {
  return `
    import Sqlite from 'better-sqlite3'
    const sqlite = new Sqlite(${JSON.stringify(join(dataDir, 'cambista.db'))})
    sqlite.exec('begin immediate')
    console.log('making')
    ${then}`
}

test('`openDatabase` waits for another process that creates the database', async (t) => {
  const dataDir = temporaryDirectory(t)
  await startScript(t, making(dataDir, `setTimeout(() => sqlite.exec('rollback'), 500)`))
  const db = openDatabase(dataDir, { patienceMs: 60_000 })
  t.after(() => db.destroy())
  assert.equal((await selectMeta(db)).revision, 1)
})

test('`openDatabase` of a database that stays locked fails with advice', async (t) => {
  const dataDir = temporaryDirectory(t)
  await startScript(t, making(dataDir, 'setInterval(() => sqlite.inTransaction, 1000)'))
  assert.equal(PATIENCE_MS, 5000)
  assert.throws(() => openDatabase(dataDir, { patienceMs: 200 }), {
    code: 'failed',
    message: `${dataDir}/cambista.db is locked by another process: wait for it or end it (fuser -v shows who), then try again`,
  })
})
