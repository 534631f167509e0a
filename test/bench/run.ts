// npm run bench: one table of our figures beside a limit, all in one run, on this machine. Measures the built
// executable. To run a part: npm run bench -- start memory. Beside another executable: npm run bench -- against PATH

import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fillDatabase } from '../support/directory.ts'
import { measureAgentsDesk } from './agents-desk.ts'
import { measureBesideSync } from './beside-sync.ts'
import { printComparison } from './comparison.ts'
import { measureDocuments } from './documents.ts'
import { measureBesideFastify } from './fastify/fastify.ts'
import { type Figure, figureRow, HEADING } from './figure.ts'
import { measureGrowth } from './growth.ts'
import { measureMcp } from './mcp.ts'
import { measureMemory } from './memory.ts'
import { measureNodes } from './nodes/nodes.ts'
import { PROGRAM, runToEnd } from './process.ts'
import { measureBatch } from './rates/batch.ts'
import { measureExport } from './rates/export.ts'
import { measureHistories } from './rates/history.ts'
import { measureReads } from './reads.ts'
import { measureStart } from './start.ts'
import { measureSync, startReplayBank, syncHistory } from './sync.ts'

const print = (text: string) => process.stdout.write(`${text}\n`)
if (!existsSync(PROGRAM)) {
  process.stderr.write(`bench: there is no ${PROGRAM}: make it with node build.mjs --only ${process.arch}\n`)
  process.exit(1)
}
const dir = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'cambista-bench-')) // on the disk to be measured
const dataDir = join(dir, 'data')
const bank = await startReplayBank(dir)
process.on('exit', () => {
  bank.stop()
  rmSync(dir, { recursive: true, force: true })
})
const [comparison, other] = process.argv.slice(2)
if (comparison === 'against') {
  await printComparison(other ?? '', bank, dir)
  process.exit()
}
await syncHistory(bank, dataDir)
await fillDatabase(dataDir)
const key = (await runToEnd([PROGRAM, 'key', 'create', 'bench', '--data-dir', dataDir])).trim()

const TOPICS: Record<string, () => Promise<Figure[]>> = {
  reads: () => measureReads(dataDir, key),
  batch: () => measureBatch(dataDir, key),
  export: () => measureExport(dataDir, key),
  histories: () => measureHistories(dataDir, key),
  fastify: () => measureBesideFastify(dataDir, key),
  growth: () => measureGrowth(dataDir, dir, key),
  documents: () => measureDocuments(dataDir, dir),
  nodes: () => measureNodes(dataDir, dir),
  desk: () => measureAgentsDesk(dataDir, dir),
  sync: () => measureSync(bank, dir),
  beside: () => measureBesideSync(bank, dataDir, dir, key),
  start: () => measureStart(dataDir),
  mcp: () => measureMcp(dataDir, dir, key),
  memory: () => measureMemory(dataDir, dir, key),
}

const buildTime = statSync(PROGRAM).mtime.toISOString()
print(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}, dist/cambista of ${buildTime}\n`)
print(HEADING)
const topics = process.argv.slice(2)
for (const [topic, measure] of Object.entries(TOPICS)) {
  if (topics.length > 0 && !topics.includes(topic)) continue
  for (const figure of await measure()) print(figureRow(figure))
}
process.exit()
