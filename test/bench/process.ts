// Processes of a bench: the built program, and the plain scripts that are its peers.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../support/program.ts'
import { readMemory } from '../support/resources.ts'
import type { LoadOrder, LoadResult } from './load.ts'

/** The built executable, as it is distributed. */
export const PROGRAM = join(import.meta.dirname, '../../dist/cambista')

const UNIT: string = new URL('../../src/packaging/unit.mjs', import.meta.url).href
const { ALLOCATOR }: { ALLOCATOR: Record<string, string> } = await import(UNIT)
// Without the developer's own settings: NODE_OPTIONS and the like change the cost of a runtime.
const ENV = { PATH: process.env.PATH, ...ALLOCATOR }
const PATIENCE_MS = 60_000

export type Running = {
  port: number
  /** Milliseconds from its start to its first 200. */
  startMs: number
  /** Resident memory in MB. */
  memory(): number
  /** Milliseconds of processor time since the start, of all its threads. */
  processorMs(): number
  /** Returns the peak in MB since the last call. */
  peak(): number
  stop(): Promise<void>
}

/** A script of this folder, with the runtime that the program has. */
export function script(name: string, ...words: string[]): string[] {
  return [process.execPath, join(import.meta.dirname, name), ...words]
}

/** Runs to the end and returns the output. @throws when it fails */
export async function runToEnd(
  [command = '', ...words]: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(command, words, { env: { ...ENV, ...env } })
  return stdout
}

/** Starts a script; `line` is the first line of its output. */
export async function startPrinting([command = '', ...words]: readonly string[]): Promise<{
  line: string
  stop(): void
}> {
  const child = spawn(command, words, { env: ENV, stdio: ['ignore', 'pipe', 'inherit'] })
  const [data] = await once(child.stdout, 'data')
  return { line: String(data).trim(), stop: () => child.kill() }
}

/** Starts a script that runs until it is stopped; stopping it returns its output. */
export function startScript([command = '', ...words]: readonly string[]): {
  printed(): string
  stop(): Promise<string>
} {
  const child = spawn(command, words, { env: ENV, stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', (data) => {
    printed += data
  })
  const closing = once(child, 'close')
  return {
    printed: () => printed,
    async stop() {
      child.kill()
      const [code] = await closing
      if (code !== 0) throw new Error(`it failed: ${words.join(' ')}`)
      return printed
    },
  }
}

/** Starts a server on a given port, and waits until it answers `path` with a 200. */
export async function startServer(
  commandFor: (port: string) => string[],
  path = '/',
  env: Record<string, string> = {},
): Promise<Running> {
  const port = await freePort()
  const [command = '', ...words] = commandFor(String(port))
  const started = performance.now()
  const child = spawn(command, words, { env: { ...ENV, ...env }, stdio: ['ignore', 'ignore', 'inherit'] })
  const exit = once(child, 'exit')
  while (!(await answers(port, path))) {
    if (child.exitCode !== null) throw new Error(`it ended: ${command} ${words.join(' ')}`)
    if (performance.now() - started > PATIENCE_MS) throw new Error(`it does not answer: ${command}`)
    await wait(1)
  }
  const startMs = performance.now() - started
  const memory = () => readMemory(child.pid) / 1e6
  const stop = async () => {
    child.kill()
    await exit
  }
  const peak = () => {
    const peak = readMemory(child.pid, 'VmHWM') / 1e6
    writeFileSync(`/proc/${child.pid}/clear_refs`, '5') // resets the peak
    return peak
  }
  return { port, startMs, processorMs: () => processorTime(child.pid), memory, peak, stop }
}

/** Serves a data directory; logs only warnings and errors. */
export function startProgram(dataDir: string, program = PROGRAM): Promise<Running> {
  const words = ['serve', '--data-dir', dataDir, '--no-scheduler', '--min-free', '0', '--log-level', 'warn']
  return startServer((port) => [program, ...words, '--port', port], '/readyz')
}

/** Returns the memory of the idle runtime. */
export async function idleRuntimeMemory(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { env: ENV, stdio: 'ignore' })
  await wait(2000)
  const memory = readMemory(child.pid) / 1e6
  child.kill()
  return memory
}

/** Returns the duration of an empty run of the runtime. */
export async function emptyRuntimeMs(): Promise<number> {
  const started = performance.now()
  await runToEnd([process.execPath, '-e', '0'])
  return performance.now() - started
}

/** Runs a load in a process of its own; returns answers a second. @throws for a status other than 200 and 304 */
export async function answersPerSecond(order: LoadOrder): Promise<number> {
  return (await loadAnswers(order)).perSecond
}

/** The same, with the number of answers. */
export async function loadAnswers(order: LoadOrder): Promise<LoadResult> {
  const result = JSON.parse(await runToEnd(script('load.ts', JSON.stringify(order)))) as LoadResult
  const other = Object.keys(result.statuses).filter((status) => status !== '200' && status !== '304')
  if (other.length > 0) throw new Error(`${order.paths[0]} was answered with ${other.join(', ')}`)
  return result
}

/** Milliseconds of processor time of all threads of a process. */
function processorTime(pid: number | undefined): number {
  const folder = `/proc/${pid}/task`
  const nanoseconds = readdirSync(folder).map((task) => {
    const [ran] = readFileSync(join(folder, task, 'schedstat'), 'utf8').split(' ')
    return Number(ran)
  })
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6
}

/** Sends a request on a bare socket: a fetch would take longer than the start of many servers. */
function answers(port: number, path: string): Promise<boolean> {
  const request = `GET ${path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n`
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.on('data', (data) => {
      answer += data.toString('latin1')
    })
    socket.on('error', () => resolve(false))
    socket.on('close', () => resolve(answer.startsWith('HTTP/1.1 200')))
  })
}
