// Box as an operator runs it: a process over a data directory, and commands beside it. The log has a line for each
// request, so only warnings and errors are stored.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { LONG, PROGRAM } from '../../../faults/scale.ts'
import { type Program, startProgram } from '../../program.ts'
import { temporaryDirectory } from '../../temporary.ts'
import { runCommand, until } from '../../terminal.ts'
import { FIVE } from './providers.ts'

export type LogIssue = { time: string; level: string; event: string }

export type BoxServer = {
  url: string
  pid: number
  /** Warnings and errors, and lines that are no event, such as a stack. */
  issues: LogIssue[]
  hasEnded(): boolean
  /** Stops it as systemd does. @throws for an exit other than 0 */
  stop(): Promise<void>
}

export type Box = {
  /** Parent of the data directory. */
  home: string
  dataDir: string
  /** Runs a command line in a process of its own. Returns its output. @throws if it fails */
  command(...words: string[]): Promise<string>
  /** Runs a command line in this process, which is faster, while no server runs. */
  prepare(...words: string[]): Promise<string>
  program(...words: string[]): Program
  /** Starts the server, and waits until it is ready. */
  serve(...flags: string[]): Promise<BoxServer>
}

const SOURCES = [process.execPath, join(import.meta.dirname, 'cambista.ts')] as const
const UNIT = join(import.meta.dirname, '../../../../src/cli/service/cambista.service')
const SETTINGS: string = new URL('../../../../src/packaging/unit.mjs', import.meta.url).href
const { ALLOCATOR }: { ALLOCATOR: Record<string, string> } = await import(SETTINGS)
const START_MS = 120_000
const MiB = 2 ** 20

/** Reads the memory in bytes above which systemd slows the service down. */
export function readMemoryHigh(): number {
  const [, high] = /^MemoryHigh=(\d+)M$/m.exec(readFileSync(UNIT, 'utf8')) ?? []
  return Number(high ?? assert.fail(`${UNIT} has no MemoryHigh`)) * MiB
}

/** Makes a box without files. `env` is that of the server and of the commands. */
export function openBox(t: TestContext, env: Record<string, string>): Box {
  const home = temporaryDirectory(t)
  const dataDir = join(home, 'data')
  const all = { CAMBISTA_DATA_DIR: dataDir, HOME: home, ...ALLOCATOR, ...env }
  const program = (...words: string[]) => startProgram(t, words, all, LONG ? PROGRAM : SOURCES)
  return {
    ...{ home, dataDir, program },
    async command(...words) {
      const { waitForExit, printed } = program(...words)
      const end = await waitForExit()
      assert.equal(end, 0, `${words.join(' ')}: ${printed.err}${printed.out}`)
      return printed.out
    },
    async prepare(...words) {
      const { code, out, err } = await runCommand(words, all, FIVE)
      assert.equal(code, 0, `${words.join(' ')}: ${err}`)
      return out
    },
    async serve(...flags) {
      const server = program('serve', '--port', '0', '--log-format', 'json', ...flags)
      const [, url = ''] = await server.waitForOutput(/"url":"([^"]+)"/, START_MS)
      const issues = collectIssues(server)
      const hasEnded = () => server.child.exitCode !== null || server.child.signalCode !== null
      await until(async () => (await fetch(`${url}/readyz`)).status === 200, START_MS)
      return {
        ...{ url, issues, hasEnded, pid: server.child.pid ?? assert.fail('no process') },
        async stop() {
          server.child.kill('SIGTERM')
          assert.equal(await server.waitForExit(), 0)
        },
      }
    },
  }
}

/** Reads the log line by line in place of the whole text. */
function collectIssues({ child, printed }: Program): LogIssue[] {
  const issues: LogIssue[] = []
  const take = (line: string) => {
    const event = parseLine(line)
    if (event.level !== 'info' && event.level !== 'debug') issues.push(event)
  }
  child.stderr.removeAllListeners('data')
  child.stdout.removeAllListeners('data')
  child.stdout.resume()
  for (const line of printed.err.split('\n').filter(Boolean)) take(line)
  createInterface({ input: child.stderr }).on('line', take)
  return issues
}

function parseLine(line: string): LogIssue {
  try {
    return JSON.parse(line) as LogIssue
  } catch {
    return { time: '', level: 'none', event: line }
  }
}
