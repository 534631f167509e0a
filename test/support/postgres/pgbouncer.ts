// PgBouncer of Debian before a PostgreSQL of the tests. Each pooler has a directory of its own with its socket. The
// service of the package is not used. CAMBISTA_TEST_PGBOUNCER names the command of another version.

import { spawn, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'

const COMMAND = (process.env.CAMBISTA_TEST_PGBOUNCER ?? '/usr/sbin/pgbouncer').split(' ')
const NOBODY = 65534 // PgBouncer does not run as root
const SOCKET = '.s.PGSQL.5432'
const READY_WITHIN_MS = 30_000

export type PoolMode = 'session' | 'transaction' | 'statement'

/** Version as a number: 1.18. */
export function pgbouncerVersion(): number {
  const [program = '', ...args] = COMMAND
  const { stdout, error } = spawnSync(program, [...args, '--version'], { encoding: 'utf8' })
  const [, version] = /PgBouncer (\d+\.\d+)/.exec(stdout ?? '') ?? []
  if (!version) throw new Error('no PgBouncer: apt install pgbouncer', { cause: error })
  return Number(version)
}

/** Starts a pooler before the server of an address. Returns the address of the same schema through it. */
export async function startPgbouncer(
  t: TestContext,
  url: string,
  mode: PoolMode,
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { hostname, port, searchParams } = new URL(url.replace('@/', '@localhost/'))
  const socketDir = searchParams.get('host')
  const server = socketDir ? `host=${socketDir}` : `host=${hostname} port=${port}`
  const dir = mkdtempSync(join(tmpdir(), 'cambista-pgbouncer-'))
  const lines = {
    unix_socket_dir: dir,
    listen_addr: '',
    listen_port: '5432',
    auth_type: 'trust',
    auth_file: join(dir, 'users'),
    pool_mode: mode,
    server_login_retry: '1',
    ...settings,
  }
  const config = Object.entries(lines).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(join(dir, 'users'), '"cambista" ""\n')
  writeFileSync(join(dir, 'ini'), ['[databases]', `* = ${server}`, '[pgbouncer]', ...config, ''].join('\n'))
  if (process.getuid?.() === 0) chownSync(dir, NOBODY, NOBODY)
  const child = spawn('/bin/sh', ['-c', GUARD, 'guard', dir, ...COMMAND, '-q', join(dir, 'ini')], {
    ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
    stdio: ['pipe', 'ignore', process.env.CAMBISTA_TEST_VERBOSE ? 'inherit' : 'ignore'],
    detached: true,
  })
  t.after(() => child.stdin?.end())
  const until = performance.now() + READY_WITHIN_MS
  while (!(await acceptsConnections(join(dir, SOCKET)))) {
    if (child.exitCode !== null || performance.now() > until)
      throw new Error('PgBouncer does not start: CAMBISTA_TEST_VERBOSE=1 shows why')
    await wait(20)
  }
  return socketDir ? url.replace(socketDir, dir) : `postgres://cambista@/postgres?host=${dir}`
}

/** The file of a socket is there before its program listens. */
function acceptsConnections(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path, () => resolve(true))
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy())
  })
}

// The shell outlives the test process, and stops the pooler at the end of its input.
const GUARD = `dir=$1; shift; "$@" <&- & pid=$!; read word; kill -INT $pid; wait $pid; rm -rf "$dir"`
