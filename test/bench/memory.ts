// Resident memory of the program over that of its runtime when idle, `node -e 'setInterval(() => {}, 1e6)'`. Runs a
// copy of the executable, as an installation is one. The build writes its file at once. The kernel maps whole
// megabytes of such a file, which adds 20 MB of unused pages.

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { TOKENS } from '../support/directory.ts'
import { EVERY_READ } from './comparison.ts'
import type { Figure } from './figure.ts'
import { idleRuntimeMemory, loadAnswers, PROGRAM, startProgram } from './process.ts'
import { contentPath, download, haveMemoryAtHand, MB, upload } from './transfer.ts'

const SETTLED_MS = 2000
const COLLECTED_MS = 25_000 // a server collects garbage in its first idle interval
const LARGE = 400 * MB
const CLIENTS = 320
const LOAD_MS = 20_000
const RESTED_MS = 40_000

/** `dataDir` has the whole history, and the directory of companies and tokens of test/support. */
export async function measureMemory(dataDir: string, dir: string, key: string): Promise<Figure[]> {
  const program = join(dir, 'cambista')
  copyFileSync(PROGRAM, program)
  const runtime = await idleRuntimeMemory()
  const memoryFigure = (work: string, ours: number, atMost?: number): Figure => ({
    work: `memory, ${work} (limit: idle runtime)`,
    ours: `${ours.toFixed(0)} MB`,
    limit: `${runtime.toFixed(0)} MB`,
    measured: ours - runtime,
    unit: ' MB',
    must: atMost === undefined ? undefined : { atMost },
  })

  let server = await startProgram(dataDir, program)
  await wait(COLLECTED_MS)
  const figures = [memoryFigure('idle', server.memory(), 45)]
  await readEverySeries(server.port, key)
  await wait(SETTLED_MS)
  figures.push(memoryFigure('after every series was read', server.memory(), 110))
  await sendEveryHistory(server.port, key)
  await wait(SETTLED_MS)
  figures.push(memoryFigure('after every history was sent whole', server.memory(), 110))
  await server.stop()

  let id = 0
  for (const form of ['plain', 'raw', 'multipart'] as const) {
    server = await startProgram(dataDir, program)
    haveMemoryAtHand(dir, 2 * LARGE)
    server.peak()
    const transfer = await upload(server.port, LARGE, `400 MB, ${form}`, form)
    id = transfer.id
    const rate = `${(LARGE / 1e3 / transfer.ms).toFixed(0)} MB/s`
    figures.push(memoryFigure(`most while 400 MB are uploaded, ${form}, ${rate}`, server.peak(), 96))
    await server.stop()
  }

  server = await startProgram(dataDir, program)
  server.peak()
  await Promise.all(Array.from({ length: 16 }, () => download(server.port, contentPath(id), LARGE)))
  figures.push(memoryFigure('most while 16 clients download 400 MB', server.peak()))
  await server.stop()

  const load = await startProgram(dataDir, program)
  await answerAll(load.port, key, 1000)
  load.peak()
  await answerAll(load.port, key, LOAD_MS)
  figures.push(memoryFigure(`most while ${CLIENTS} clients send every kind of request`, load.peak()))
  await wait(RESTED_MS)
  figures.push(memoryFigure('40 s later', load.memory()))
  await load.stop()
  return figures
}

/** Requests every kind of read, by all clients at once. */
async function answerAll(port: number, key: string, ms: number): Promise<void> {
  const headers = { 'X-API-Key': key, Authorization: `Bearer ${TOKENS.all}` }
  await loadAnswers({ port, paths: Object.values(EVERY_READ).flat(), headers, connections: CLIENTS, ms })
}

/** Reads all series on one day, which loads each series completely. */
async function readEverySeries(port: number, key: string): Promise<void> {
  const rates = await fetchAnswer(port, '/rates?on=2001-05-06', key)
  if (rates.length < 47) throw new Error(`only ${rates.length} series were read`)
}

/** Requests 35 MB of answers, which pass both caches and are compressed. */
async function sendEveryHistory(port: number, key: string): Promise<void> {
  for (const { id } of await fetchAnswer(port, '/series', key)) {
    await fetchAnswer(port, `/series/${id}/history?from=1983-01-01`, key)
  }
}

async function fetchAnswer(port: number, path: string, key: string): Promise<{ id: number }[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, { headers: { 'X-API-Key': key } })
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as { id: number }[]
}
