// Clients that occupy connections, and others that open and drop them by the thousand, beside a normal client. The
// normal client is served, and the only 5xx is 503. Afterwards memory, files and upload slots return to their values.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startBank } from '../../../src/demo/bank.ts'
import { hashOfSecret, makeSecret } from '../../../src/domain/access/secrets.ts'
import { insertApiKey } from '../../../src/store/access/api-keys.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { addDays, currentDay, type IsoDate } from '../../../src/values/dates.ts'
import { AT, fillDatabase, TOKENS } from '../../support/directory.ts'
import { startProgram } from '../../support/program.ts'
import { readMemory } from '../../support/resources.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { figure, LONG, PROGRAM, scaled } from '../scale.ts'
import type { Hostile, Kind, StatusCounts } from './hostile-clients.ts'
import { type ProbeResult, startControl, startProbes, uploadDocument } from './probes.ts'

const EACH = scaled({ short: 100, long: 1000 })
const DROPPED = scaled({ short: 500, long: 10_000 })
// Each group leaves room for the normal client, and lasts longer than the time-outs of its connections.
const GROUPS: { kinds: Kind[]; ms: number }[] = [
  { kinds: ['slow headers', 'slow bodies', 'half closed'], ms: scaled({ short: 500, long: 40_000 }) },
  {
    kinds: ['deaf to a document', 'deaf to histories', 'silent', 'idle'],
    ms: scaled({ short: 500, long: 75_000 }),
  },
]
const DOCUMENT_BYTES = scaled({ short: 2_000_000, long: 20_000_000 })
const SETTLE_MS = scaled({ short: 200, long: 5000 })
const REST_MS = scaled({ short: 500, long: 40_000 }) // time to release memory
const RECOVERY_MS = scaled({ short: 15_000, long: 90_000 })
const WITHIN_MS = 250
const MEMORY_BYTES = 20 * 1024 ** 2
const FILES = 8 // opened for a moment: database files, a folder

test('a server recovers from a load of hostile clients, and serves others beside it', async (t) => {
  const { order, pid, statuses, errors } = await startServer(t)
  const control = await startControl(t)
  const probe = () => startProbes(order, control)

  const idleMemory = readMemory(pid)
  // Connects as many clients as later: the process retains their memory, which must not grow again.
  const warmUpProbes = probe()
  for (const { kinds } of GROUPS) {
    await withClients(t, { ...order, kinds, perKind: scaled({ short: 10, long: EACH }) }, () =>
      wait(SETTLE_MS),
    )
  }
  await warmUpProbes.stop()
  await until(async () => (await countUploadSlots(order.url)) === 0, RECOVERY_MS)
  await wait(REST_MS)
  const before = { memory: readMemory(pid), files: countFiles(pid) }

  for (const { kinds, ms } of GROUPS) {
    const names = `${EACH} connections each of ${kinds.join(', ')}`
    const openingProbes = probe()
    const answers = await withClients(t, { ...order, kinds }, async () => {
      await wait(SETTLE_MS) // the kernel buffers gigabytes for a thousand unread answers
      figure(t, `longest while connecting ${names}, ms`, longestTimes(await openingProbes.stop()))
      const loadProbes = probe()
      await wait(ms)
      report(t, `beside ${names}`, await loadProbes.stop())
    })
    figure(t, 'their answers', JSON.stringify(answers))
    await until(() => countFiles(pid) <= before.files + FILES, RECOVERY_MS)
  }
  const floodProbes = probe()
  await runFlood(t, { ...order, flood: DROPPED })
  report(t, `beside ${DROPPED} connections that are dropped`, await floodProbes.stop())

  await until(async () => (await countUploadSlots(order.url)) === 0, RECOVERY_MS)
  await until(() => countFiles(pid) <= before.files + FILES, RECOVERY_MS)
  await wait(REST_MS)
  const memory = readMemory(pid)
  const memories = [idleMemory, before.memory, memory].map(megabytes).join(', ')
  figure(t, 'memory at the start, after a warm-up, and at the end, MB', memories)
  if (LONG) assert.ok(memory <= before.memory + MEMORY_BYTES, `${before.memory} bytes grew to ${memory}`)
  assert.equal((await uploadDocument(order.url)).status, 200)
  const badStatuses = [...statuses()].filter(([status]) => status >= 500 && status !== 503)
  assert.deepEqual(badStatuses, [])
  assert.deepEqual(errors(), [])
})

/** A server with a long history and a large document. */
async function startServer(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const key = makeSecret('cbk_')
  const db = openDatabase(dataDir)
  await insertApiKey(db, { name: 'faults', hash: hashOfSecret(key), createdAt: AT })
  await db.destroy()
  const today = () => currentDay(() => new Date())
  const bank = await startBank({ token: 'test-token', today })
  t.after(() => bank.close())
  const from: IsoDate = LONG ? '1983-01-01' : addDays(today(), -400)
  const words = ['--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0', '--backfill-from', from]
  const env = { CAMBISTA_BCCR_TOKEN: 'test-token' }
  assert.equal(await startProgram(t, ['sync', ...words], env, PROGRAM).waitForExit(), 0)
  const flags = ['--port', '0', '--no-scheduler', '--min-free', '0', '--metrics', '--log-format', 'json']
  const server = startProgram(t, ['serve', '--data-dir', dataDir, ...flags], {}, PROGRAM)
  const [, url = ''] = await server.waitForOutput(/"url":"([^"]+)"/)
  const { status, id } = await uploadDocument(url, DOCUMENT_BYTES)
  assert.equal(status, 200)
  const large = {
    document: `/api/v1/documents/${id}/content`,
    history: `/api/v1/series/1/history?from=${from}`,
  }
  const order: Hostile = { url, key, token: TOKENS.all, large, perKind: EACH, kinds: [] }
  const logged = () => server.printed.err.split('\n').filter((line) => line.startsWith('{'))
  return {
    order,
    pid: server.child.pid ?? 0,
    errors: () => logged().filter((line) => line.includes('"level":"error"')),
    statuses() {
      assert.equal(server.child.exitCode, null, 'it runs')
      const counts = new Map<number, number>()
      for (const [, status] of server.printed.err.matchAll(/"status":(\d+)/g)) {
        counts.set(Number(status), (counts.get(Number(status)) ?? 0) + 1)
      }
      return counts
    },
  }
}

function startHostile(t: TestContext, order: Hostile): ChildProcess & { text: () => string } {
  const script = join(import.meta.dirname, 'hostile-clients.ts')
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

/** Calls `during` while the clients are connected; returns their answers. */
async function withClients(
  t: TestContext,
  order: Hostile,
  during: () => Promise<unknown>,
): Promise<StatusCounts> {
  const clients = startHostile(t, order)
  const exit = once(clients, 'close')
  await until(() => clients.text().includes('holding'), 60_000)
  await during()
  clients.stdin?.end()
  await exit
  return JSON.parse(clients.text().split('\n')[1] ?? '') as StatusCounts
}

async function runFlood(t: TestContext, order: Hostile): Promise<void> {
  const [code] = await once(startHostile(t, order), 'close')
  assert.equal(code, 0)
}

function longestTimes({ control, health, key, upload }: ProbeResult): string {
  return Object.entries({ control, health, key, upload })
    .map(([name, ms]) => `${name} ${Math.round(ms)}`)
    .join(', ')
}

function report(t: TestContext, when: string, probed: ProbeResult): void {
  const { rounds, uploads, over } = probed
  figure(t, `longest of ${rounds} answers ${when}, ms`, longestTimes(probed))
  figure(t, `uploads ${when}, by status`, [...uploads].map((one) => one.join(': ')).join(', '))
  for (const status of uploads.keys()) assert.ok(status === 200 || status === 503, `an upload got ${status}`)
  if (LONG) assert.ok(over <= WITHIN_MS, `${over} ms longer than the control`)
}

async function countUploadSlots(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = [...text.matchAll(/^cambista_uploads_\w+ (\d+)$/gm)].map(([, count]) => Number(count))
  assert.equal(counts.length, 2)
  return counts.reduce((sum, count) => sum + count, 0)
}

function countFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2)
}
