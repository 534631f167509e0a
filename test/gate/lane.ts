// Runs a lane of tests, or some of its files: `node test/gate/lane.ts NAME [FILE…]`. With CAMBISTA_LANE_RESULT it
// writes its result into that file. CAMBISTA_LANE_CONCURRENCY is for lanes side by side.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { LANES, type LaneName, listFiles } from './lanes.ts'
import { writeParts } from './parts.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Limit of a test, and of a file after its last test: it left handles. */
const LIMIT_MS = Number(process.env.CAMBISTA_TEST_LIMIT_MS || 600_000)

/**
 * Options of the heap. Several files occupy the cores, so threads for collections gain nothing. Tests of memory and of
 * the built file run without them.
 */
const HEAP = ['--max-semi-space-size=64', '--single-threaded-gc']

/** A failed test. `isFinal`: its file crashed or timed out, and no second run can excuse it. */
export type Failure = { files: string[]; name: string; message: string; isFinal: boolean }

export type LaneResult = { passed: number; failed: number; skipped: number; failures: Failure[] }

/** The part of an event `test:fail` that this file reads. The types of Node lack `entryFile` and the exit. */
type FailEvent = {
  name: string
  file?: string
  entryFile?: string
  details: {
    error: Error & { failureType?: string; exitCode?: number | null; signal?: string | null; cause?: unknown }
  }
}

const FINAL = ['testTimeoutFailure', 'cancelledByParent', 'uncaughtException', 'unhandledRejection']

async function runLane(name: LaneName, files: readonly string[]): Promise<LaneResult> {
  const lane = LANES[name]
  if (lane.cachesCode) process.env.NODE_COMPILE_CACHE = join(ROOT, 'node_modules/.cache/node')
  const isJoined = (file: string) => lane.joinsFiles === true && !file.startsWith('test/engines/')
  const parts = writeParts(files.filter(isJoined))
  const paths = [...files.filter((file) => !isJoined(file)), ...parts.keys()]
  const result: LaneResult = { passed: 0, failed: 0, skipped: 0, failures: [] }
  const unfinished = new Set(paths)
  const stream = run({
    cwd: ROOT,
    files: paths.map((file) => join(ROOT, file)),
    concurrency: Number(process.env.CAMBISTA_LANE_CONCURRENCY || lane.concurrency),
    timeout: LIMIT_MS,
    execArgv: [...(lane.cachesCode ? HEAP : []), ...(lane.preload ? [`--import=${lane.preload}`] : [])],
    ...(lane.setup ? { globalSetupPath: join(ROOT, lane.setup) } : {}),
  })
  stream.on('test:fail', (event) => {
    const failure = readFailure(event as unknown as FailEvent, parts)
    if (failure) result.failures.push(failure)
  })
  stream.on('test:summary', ({ file, counts }) => {
    if (file !== undefined) {
      unfinished.delete(relative(ROOT, file))
      return
    }
    result.passed = counts.passed
    result.failed = counts.tests - counts.passed - counts.skipped - counts.todo
    result.skipped = counts.skipped
  })
  let lastOutput = performance.now()
  const watch = setInterval(() => {
    if (performance.now() - lastOutput > 2 * LIMIT_MS) killFiles(unfinished)
  }, LIMIT_MS / 10)
  for await (const text of stream.compose(new spec())) {
    lastOutput = performance.now()
    process.stdout.write(text)
  }
  clearInterval(watch)
  return result
}

/** Kills the processes of test files, which no limit of `run` ends after their last test. */
function killFiles(files: ReadonlySet<string>): void {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  for (const pid of children.filter((pid) => pid !== '')) {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    if (command.some((word) => files.has(relative(ROOT, word)))) process.kill(Number(pid), 'SIGKILL')
  }
}

/** Returns the failure of a test. A suite or file that fails by its tests alone is none of its own. */
function readFailure(event: FailEvent, parts: ReadonlyMap<string, string[]>): Failure | undefined {
  const { error } = event.details
  if (error.failureType === 'subtestsFailed') return undefined
  const hasCrashed = error.exitCode !== undefined
  const path = (file = event.name) => (isAbsolute(file) ? relative(ROOT, file) : file)
  const entry = path(event.entryFile ?? event.file)
  const declared = path(event.file)
  const own = /\.test\.\w+$/.test(declared) ? [declared] : undefined
  const members = parts.get(declared)
  const isMember = members?.includes(event.name)
  const files = isMember ? [event.name] : (members ?? own ?? parts.get(entry) ?? [entry])
  const cause = error.cause instanceof Error ? error.cause : error
  const reason = cause.cause instanceof Error ? `: ${cause.cause.message}` : '' // `fetch` names only this one
  const message = hasCrashed ? `it ended with ${error.signal ?? error.exitCode}` : `${cause.message}${reason}`
  return { files, name: event.name, message, isFinal: hasCrashed || FINAL.includes(error.failureType ?? '') }
}

if (import.meta.main) {
  const [name, ...given] = process.argv.slice(2)
  if (name === undefined || !Object.hasOwn(LANES, name)) {
    throw new Error(`test/gate/lane.ts: the lane must be one of ${Object.keys(LANES).join(', ')}`)
  }
  const files = given.length > 0 ? given : listFiles(name as LaneName)
  const result = await runLane(name as LaneName, files)
  const path = process.env.CAMBISTA_LANE_RESULT
  if (path) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify(result))
  }
  process.exitCode = result.failures.length > 0 || result.failed > 0 || result.passed === 0 ? 1 : 0
}
