// Watch of a database that nodes share: the age of what is in memory, and the log lines.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { watchDatabase } from '../../../../src/domain/operations/database-watch.ts'
import { createLog } from '../../../../src/runtime/log.ts'
import { until } from '../../../support/terminal.ts'

const LOOK = { data: '1', access: '1', documents: '1' }

test('the watch polls while changes are read, and notices an outage', async (t) => {
  const startMs = performance.now()
  const { database, watch, logLines } = await sharedWatch(t)
  const reading = Promise.withResolvers<void>()
  let readings = 0
  watch.start(() => {
    readings += 1
    return reading.promise
  })
  database.data = '2'
  await until(() => readings === 1)
  database.isAway = true
  await until(() => watch.isAway())
  const age = watch.memoryAge()
  const longestAge = Math.floor((performance.now() - startMs) / 1000) // 0, unless the machine stalls
  reading.reject(new Error('cut off')) // before an assertion can fail: the end of the watch waits for it
  assert.ok(age !== undefined && age <= longestAge, `${age} s`)
  await until(() => watch.silentSeconds() > 0.6)
  assert.deepEqual(logLines(), ['the database does not answer'])
  assert.equal(readings, 1)
})

test('`memoryAge` is undefined from the start of a watch', async (t) => {
  const { watch } = await sharedWatch(t, 3_600_000)
  assert.equal(watch.memoryAge(), undefined)
})

test('a failed refresh is no outage, and `memoryAge` grows', async (t) => {
  const { database, watch, logLines } = await sharedWatch(t, 600)
  let isBroken = true
  watch.start(async () => {
    if (isBroken) throw new Error('cannot be read')
  })
  database.data = '2'
  await until(() => logLines().length > 0)
  assert.equal(watch.isAway(), false)
  await until(() => {
    try {
      return watch.memoryAge() === undefined && assert.fail('believed')
    } catch (error) {
      return /could not be read for too long/.test(String(error))
    }
  })
  isBroken = false
  await until(() => logLines().length > 1)
  await until(() => isBelieved(watch))
  assert.deepEqual(logLines(), [
    'what changed in the database cannot be read',
    'what changed in the database is read again',
  ])
})

test('after an outage what is in memory is not believed before it was read', async (t) => {
  const { database, watch } = await sharedWatch(t, 300)
  let reading = Promise.withResolvers<void>()
  watch.start(() => reading.promise)
  database.isAway = true
  await until(() => watch.silentSeconds() > 0.4)
  database.access = '2'
  database.isAway = false
  await until(() => !watch.isAway())
  assert.throws(() => watch.memoryAge(), /too long/)
  reading.resolve()
  await until(() => isBelieved(watch))
  reading = Promise.withResolvers<void>()
  reading.resolve()
})

test('a watch is closed while the database is away, and what reads it waits for nothing else', async (t) => {
  const { database, watch } = await sharedWatch(t)
  const reading = Promise.withResolvers<void>()
  let isReading = false
  database.onFailure = () => reading.reject(new Error('cut off'))
  watch.start(() => {
    isReading = true
    return reading.promise
  })
  database.data = '2'
  await until(() => isReading)
  database.isAway = true
  await watch.close()
})

test('`memoryAge` throws in a process that was suspended, until the next poll', async (t) => {
  const { watch } = await sharedWatch(t, 300)
  watch.start(async () => {})
  await until(() => isBelieved(watch))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
  assert.throws(() => watch.memoryAge(), /too long/)
  await until(() => isBelieved(watch))
})

test('a wrong clock is logged with both times: once, and again when it is far off', async (t) => {
  const { database, watch, logEntries } = await sharedWatch(t)
  watch.start(async () => {})
  for (const behindMs of [2100, 1900, 2100, 61_000, 59_000, 61_000, 29_000, -3_600_000, 0]) {
    database.behindMs = behindMs
    const { looks } = database
    await until(() => database.looks > looks + 1)
  }
  const off = "this machine's clock is off"
  const farOff = "this machine's clock is far off"
  assert.deepEqual(
    logEntries().map(({ event, machine, behind_ms }) => [event, machine, behind_ms]),
    [
      [off, '2026-03-24T11:59:57.900Z', 2100],
      [farOff, '2026-03-24T11:58:59.000Z', 61_000],
      [off, '2026-03-24T11:59:31.000Z', 29_000],
      [farOff, '2026-03-24T13:00:00.000Z', -3_600_000],
      ["this machine's clock is right again", '2026-03-24T12:00:00.000Z', 0],
    ],
  )
  assert.deepEqual([...new Set(logEntries().map(({ database }) => database))], ['2026-03-24T12:00:00.000Z'])
})

function isBelieved(watch: { memoryAge(): number | undefined }): boolean {
  try {
    return watch.memoryAge() === undefined
  } catch {
    return false
  }
}

async function sharedWatch(t: TestContext, staleForMs = 60_000) {
  const lines: string[] = []
  const log = createLog({ level: 'debug', format: 'json', write: (text) => lines.push(text) })
  const database = { ...LOOK, isAway: false, behindMs: 0, looks: 0, onFailure: () => {} }
  const clock = () => new Date('2026-03-24T12:00:00Z')
  const look = async () => {
    database.looks += 1
    if (database.isAway) {
      database.onFailure()
      throw new Error('away')
    }
    const { data, access, documents } = database
    return { data, access, documents }
  }
  const watch = await watchDatabase(
    { kind: 'postgres', clock, poll: look, clockOffsetMs: () => database.behindMs },
    { log, staleForMs },
  )
  t.after(() => watch.close())
  const logEntries = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  const logLines = () => logEntries().map(({ event }) => event)
  return { database, watch, logEntries, logLines }
}
