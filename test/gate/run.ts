// The gate: `node test/gate/run.ts` runs the tests that a change needs, in parts side by side. With `--full` it runs
// every test, one lane after the other, with a seed of its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Choice, chooseTests, readChange } from './choice.ts'
import type { LaneResult } from './lane.ts'
import { LANES, type LaneName, listFiles } from './lanes.ts'
import { isFinal, type LaneFailure, type Outcome, readVerdict, type Step } from './verdict.ts'

const ROOT = join(import.meta.dirname, '../..')
const LOGS = join(ROOT, 'test/.parts/logs')
/** Limits against a hang, with room for a slow machine. No lane has a budget of its own. */
const LIMIT_MINUTES = { list: 45, everything: 80, full: 120 }
const EXCERPT_LINES = 150
/** Lanes of the full run after the built file. */
const OTHER_LANES: readonly LaneName[] = ['faults', 'engines', 'clients', 'page']

const running = new Map<ChildProcess, string>()

/** Runs a step in a process group of its own. Its output goes to a file. */
async function runStep(step: Step): Promise<Outcome> {
  const began = performance.now()
  const result = join(LOGS, `${step.name}.json`)
  const log = openSync(logPath(step.name), 'w')
  const env = {
    ...process.env,
    CAMBISTA_LANE_RESULT: result,
    CAMBISTA_LANE_CONCURRENCY: String(step.concurrency ?? ''),
  }
  const [command = '', ...words] = step.command
  const child = spawn(command, words, { cwd: ROOT, env, detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  running.set(child, step.name)
  const code = await new Promise<number>((resolve) => {
    child.on('error', () => resolve(1))
    child.on('close', (exitCode) => resolve(exitCode ?? 1))
  })
  running.delete(child)
  const outcome = {
    step,
    seconds: Math.round((performance.now() - began) / 1000),
    code,
    result:
      step.lane && existsSync(result) ? (JSON.parse(readFileSync(result, 'utf8')) as LaneResult) : undefined,
  }
  print(describe(outcome))
  return outcome
}

function describe({ step, seconds, code, result }: Outcome): string {
  const counts = result
    ? `${result.passed} passed, ${result.failures.length || result.failed} failed, ${result.skipped} skipped`
    : ''
  return `${String(seconds).padStart(5)} s  ${code === 0 ? 'green' : 'RED  '}  ${step.name.padEnd(9)} ${counts}`
}

/** Runs the steps of a stream one after the other, and streams side by side. */
async function runStreams(streams: readonly Step[][]): Promise<Outcome[]> {
  const outcomes = streams.map(async (steps) => {
    const results: Outcome[] = []
    for (const step of steps) results.push(await runStep(step))
    return results
  })
  return (await Promise.all(outcomes)).flat()
}

/** Lists the steps of the lanes with files. The build precedes the tests of the built file. */
function listStreams(files: ReadonlyMap<LaneName, string[]>, isShared: boolean): Step[][] {
  const step = (lane: LaneName): Step[] => {
    const paths = files.get(lane)
    if (!paths) return []
    const isWhole = paths.length === listFiles(lane).length
    const command = [...LANES[lane].command.split(' '), ...(isWhole ? [] : ['--', ...paths])]
    return [{ name: lane, lane, command, ...(isShared ? { concurrency: sharedConcurrency(lane) } : {}) }]
  }
  const check: Step = { name: 'check', command: ['npm', 'run', 'check'] }
  const build: Step = { name: 'build', command: ['npm', 'run', 'build', '--', '--only', process.arch] }
  const executable = files.has('e2e') ? [build, ...step('e2e')] : []
  if (!isShared)
    return [
      [
        check,
        ...step('process'),
        ...step('budget'),
        ...step('measures'),
        ...executable,
        ...OTHER_LANES.flatMap(step),
      ],
    ]
  const streams = [
    [check, ...step('process'), ...step('measures')],
    [...executable, ...step('budget'), ...step('clients'), ...step('faults')],
    [...step('engines'), ...step('page')],
  ]
  return streams.filter((steps) => steps.length > 0)
}

/** Files at once of a lane beside others. `npm test` has half of all the work. */
function sharedConcurrency(lane: LaneName): number {
  return lane === 'process' ? 4 : 2
}

/** Runs each red file once more, alone. Returns whether all of them are green now. */
async function runAgain(failures: readonly LaneFailure[]): Promise<boolean> {
  const files = new Map(failures.flatMap(({ lane, files }) => files.map((file) => [file, lane] as const)))
  let isGreen = true
  for (const [file, lane] of files) {
    const command = [...LANES[lane].command.split(' '), '--', file]
    const { code } = await runStep({
      name: `again-${file.replaceAll('/', '-')}`,
      lane,
      command,
      concurrency: 1,
    })
    if (code !== 0) isGreen = false
  }
  return isGreen
}

async function main(isFull: boolean): Promise<number> {
  rmSync(LOGS, { recursive: true, force: true })
  mkdirSync(LOGS, { recursive: true })
  if (isFull) {
    process.env.CAMBISTA_SEED ||= String(randomInt(1_000_000))
    print(`Seed of this run: CAMBISTA_SEED=${process.env.CAMBISTA_SEED}`)
  }
  const change = isFull ? undefined : readChange()
  const names = Object.keys(LANES) as LaneName[]
  const choice: Choice = isFull
    ? { files: new Map(names.map((name) => [name, listFiles(name)])), reasons: ['every test'] }
    : chooseTests(change)
  if (!isFull)
    print(change ? `The change: ${change.paths.length} files that differ from ${change.base}` : 'No base')
  for (const reason of choice.reasons) print(`  ${reason}`)
  for (const [lane, files] of choice.files) {
    print(`  runs ${String(files.length).padStart(3)} of ${listFiles(lane).length} files of ${lane}`)
  }

  const limit = startLimit(LIMIT_MINUTES[isFull ? 'full' : choice.isEverything ? 'everything' : 'list'])
  try {
    return await runChoice(choice, isFull)
  } finally {
    clearTimeout(limit)
  }
}

async function runChoice({ files }: Choice, isFull: boolean): Promise<number> {
  const outcomes = await runStreams(listStreams(files, !isFull))
  const red = outcomes.filter(({ code }) => code !== 0)
  const verdict = readVerdict(outcomes)
  for (const { step } of red) print(`\n--- ${step.name}\n${excerpt(step.name)}`)
  print(`\n${outcomes.map(describe).join('\n')}`)
  const passed = outcomes.reduce((sum, { result }) => sum + (result?.passed ?? 0), 0)
  for (const failure of verdict.failures) {
    print(`red${isFinal(failure) ? ' at once' : ''}: ${failure.files.join(', ')}: ${failure.name}`)
    print(`  ${failure.message.split('\n')[0]}`)
  }
  if (verdict.color === 'green') return report(passed, 0)
  if (verdict.color === 'red' || isFull) return report(passed, Math.max(verdict.failures.length, 1))
  print('\nEach red file once more, alone:')
  if (!(await runAgain(verdict.failures))) return report(passed, verdict.failures.length)
  print('Green when they ran alone. Enter each of these tests in test/second-runs.txt.')
  return report(passed + verdict.failures.length, 0)
}

/** Prints the last line of a run. Returns its exit code. */
function report(passed: number, failed: number): number {
  print(`\n${Math.round(performance.now() / 6000) / 10} minutes`)
  print(`${passed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

/** The failed tests in the output of a step, or its last lines. */
function excerpt(name: string): string {
  const text = readFileSync(logPath(name), 'utf8')
  const failing = text.lastIndexOf('failing tests:')
  const lines = (failing < 0 ? text : text.slice(failing)).trimEnd().split('\n')
  return (failing < 0 ? lines.slice(-EXCERPT_LINES) : lines.slice(0, EXCERPT_LINES)).join('\n')
}

function logPath(name: string): string {
  return join(LOGS, `${name}.log`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Ends a run that hangs. */
function startLimit(minutes: number): NodeJS.Timeout {
  return setTimeout(() => {
    for (const name of running.values()) print(`\n--- ${name} still runs\n${excerpt(name)}`)
    print(`\nThe run took ${minutes} minutes: something hangs in ${[...running.values()].join(', ')}.`)
    killAll()
    process.exit(1)
  }, minutes * 60_000)
}

/** Ends each step with all that it started. */
function killAll(): void {
  for (const [child] of running) if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    killAll()
    process.exit(1)
  })
}
process.exitCode = await main(process.argv.includes('--full'))
