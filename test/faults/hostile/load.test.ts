// Clients that hold connections without end, and others that open and drop them by the thousand, beside one that behaves:
// it is served, nothing is answered with a 5xx but a 503, and afterwards memory, files and turns are as before.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { addDays, type IsoDate, todayIn } from '../../../src/dates.ts'
import { startBank } from '../../../src/demo/bank.ts'
import { hashOfSecret, makeSecret } from '../../../src/domain/secrets.ts'
import { insertApiKey } from '../../../src/store/api-keys.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { AT, fillDatabase, TOKENS } from '../../support/directory.ts'
import type { Hostile, Kind, Met } from '../../support/hostile-clients.ts'
import { type Probed, startControl, startProbes, uploadOf } from '../../support/probes.ts'
import { startProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { figure, LONG, PROGRAM, scaled } from '../scale.ts'

const EACH = scaled({ short: 100, long: 1000 })
const DROPPED = scaled({ short: 500, long: 10_000 })
// Each lot has room beside the client that behaves, and is held for longer than its time-outs.
const LOTS: { kinds: Kind[]; ms: number }[] = [
  { kinds: ['slow headers', 'slow bodies', 'half closed'], ms: scaled({ short: 500, long: 40_000 }) },
  {
    kinds: ['deaf to a document', 'deaf to histories', 'silent', 'idle'],
    ms: scaled({ short: 500, long: 75_000 }),
  },
]
const DOCUMENT_BYTES = scaled({ short: 2_000_000, long: 20_000_000 })
const SETTLE_MS = scaled({ short: 200, long: 5000 })
const REST_MS = scaled({ short: 500, long: 40_000 }) // until it has given memory back
const RECOVERY_MS = scaled({ short: 15_000, long: 90_000 })
const WITHIN_MS = 250
const MEMORY_BYTES = 20 * 1024 ** 2
const FILES = 8 // that come and go: the database's, a folder

test('a load of hostile clients passes, and leaves nothing behind', async (t) => {
  const { order, pid, statuses, errors } = await startGround(t)
  const control = await startControl(t)
  const probe = () => startProbes(order, control)

  const asleep = memoryOf(pid)
  // As many as later: what the memory of so many takes the process keeps for the next, but it must not grow again.
  const first = probe()
  for (const { kinds } of LOTS) {
    await holding(t, { ...order, kinds, each: scaled({ short: 10, long: EACH }) }, () => wait(SETTLE_MS))
  }
  await first.stop()
  await until(async () => (await turnsOf(order.url)) === 0, RECOVERY_MS)
  await wait(REST_MS)
  const before = { memory: memoryOf(pid), files: filesOf(pid) }

  for (const { kinds, ms } of LOTS) {
    const names = `${EACH} connections each of ${kinds.join(', ')}`
    const opening = probe()
    const met = await holding(t, { ...order, kinds }, async () => {
      await wait(SETTLE_MS) // what the kernel takes of a thousand answers that nobody reads is some gigabytes
      figure(t, `longest while there come ${names}, ms`, longestOf(await opening.stop()))
      const held = probe()
      await wait(ms)
      report(t, `beside ${names}`, await held.stop())
    })
    figure(t, 'what they were answered', JSON.stringify(met))
    await until(() => filesOf(pid) <= before.files + FILES, RECOVERY_MS)
  }
  const flooded = probe()
  await flooding(t, { ...order, flood: DROPPED })
  report(t, `beside ${DROPPED} connections that are dropped`, await flooded.stop())

  await until(async () => (await turnsOf(order.url)) === 0, RECOVERY_MS)
  await until(() => filesOf(pid) <= before.files + FILES, RECOVERY_MS)
  await wait(REST_MS)
  const memory = memoryOf(pid)
  const memories = [asleep, before.memory, memory].map(megabytes).join(', ')
  figure(t, 'memory at first, after as many once, and after all, MB', memories)
  if (LONG) assert.ok(memory <= before.memory + MEMORY_BYTES, `${before.memory} bytes grew to ${memory}`)
  assert.equal((await uploadOf(order.url)).status, 200)
  const wrong = [...statuses()].filter(([status]) => status >= 500 && status !== 503)
  assert.deepEqual(wrong, [])
  assert.deepEqual(errors(), [])
})

/** A server with a long history and a large document. */
async function startGround(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const key = makeSecret('cbk_')
  const db = openDatabase(dataDir)
  await insertApiKey(db, { name: 'faults', hash: hashOfSecret(key), createdAt: AT })
  await db.destroy()
  const today = () => todayIn(() => new Date())
  const bank = await startBank({ token: 'test-token', today })
  t.after(() => bank.close())
  const from: IsoDate = LONG ? '1983-01-01' : addDays(today(), -400)
  const words = ['--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0', '--backfill-from', from]
  const env = { CAMBISTA_BCCR_TOKEN: 'test-token' }
  assert.equal(await startProgram(t, ['sync', ...words], env, PROGRAM).ended(), 0)
  const flags = ['--port', '0', '--no-scheduler', '--min-free', '0', '--metrics', '--log-format', 'json']
  const server = startProgram(t, ['serve', '--data-dir', dataDir, ...flags], {}, PROGRAM)
  const [, url = ''] = await server.says(/"url":"([^"]+)"/)
  const { status, id } = await uploadOf(url, DOCUMENT_BYTES)
  assert.equal(status, 200)
  const large = {
    document: `/api/v1/documents/${id}/content`,
    history: `/api/v1/series/1/history?from=${from}`,
  }
  const order: Hostile = { url, key, token: TOKENS.all, large, each: EACH, kinds: [] }
  const logged = () => server.printed.err.split('\n').filter((line) => line.startsWith('{'))
  return {
    order,
    pid: server.child.pid ?? 0,
    errors: () => logged().filter((line) => line.includes('"level":"error"')),
    statuses() {
      assert.equal(server.child.exitCode, null, 'it runs')
      const seen = new Map<number, number>()
      for (const [, status] of server.printed.err.matchAll(/"status":(\d+)/g)) {
        seen.set(Number(status), (seen.get(Number(status)) ?? 0) + 1)
      }
      return seen
    },
  }
}

function startHostile(t: TestContext, order: Hostile): ChildProcess & { text: () => string } {
  const script = join(import.meta.dirname, '../../support/hostile-clients.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  let text = ''
  child.stdout.on('data', (bytes) => {
    text += bytes
  })
  return Object.assign(child, { text: () => text })
}

/** Does something while the connections are held; what they met. */
async function holding(t: TestContext, order: Hostile, during: () => Promise<unknown>): Promise<Met> {
  const clients = startHostile(t, order)
  const ended = once(clients, 'close')
  await until(() => clients.text().includes('holding'), 60_000)
  await during()
  clients.stdin?.end()
  await ended
  return JSON.parse(clients.text().split('\n')[1] ?? '') as Met
}

async function flooding(t: TestContext, order: Hostile): Promise<void> {
  const [code] = await once(startHostile(t, order), 'close')
  assert.equal(code, 0)
}

function longestOf({ control, health, key, upload }: Probed): string {
  return Object.entries({ control, health, key, upload })
    .map(([what, ms]) => `${what} ${Math.round(ms)}`)
    .join(', ')
}

function report(t: TestContext, when: string, probed: Probed): void {
  const { rounds, uploads, over } = probed
  figure(t, `longest of ${rounds} answers ${when}, ms`, longestOf(probed))
  figure(t, `uploads ${when}, by status`, [...uploads].map((one) => one.join(': ')).join(', '))
  for (const status of uploads.keys()) assert.ok(status === 200 || status === 503, `an upload got ${status}`)
  if (LONG) assert.ok(over <= WITHIN_MS, `${over} ms longer than the control`)
}

async function turnsOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = [...text.matchAll(/^cambista_uploads_\w+ (\d+)$/gm)].map(([, count]) => Number(count))
  assert.equal(counts.length, 2)
  return counts.reduce((sum, count) => sum + count, 0)
}

function memoryOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

function filesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2)
}
