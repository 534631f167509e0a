// A private dovecot for tests: one account with folders as Maildir, on ports of 127.0.0.1. A guard stops it when the
// process that started it ends, even by a kill.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { copyFile, rename, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../program.ts'
import { signal } from '../signals.ts'
import { until } from '../terminal.ts'

export const USER = 'buzon@acme.example'
export const PASSWORD = 'clave-del-buzon-7331'

const TLS = join(import.meta.dirname, '../../fixtures/tls')
/** Certificate of the server, for `NODE_EXTRA_CA_CERTS`. */
export const CERTIFICATE = join(TLS, 'first.crt')

export type DovecotOptions = {
  /** Capabilities that it announces, such as `IMAP4rev1 UIDPLUS`; absent: all that it has. */
  capabilities?: string
  /** Address of the introspection of access tokens (RFC 7662); absent: only passwords. */
  introspectionUrl?: string
}

export type Dovecot = {
  /** Port without encryption, with STARTTLS; and the port of TLS. */
  ports: { plain: number; tls: number }
  /** Delivers a mail, and returns after the folder has it. */
  deliver(raw: Uint8Array, folder?: string): Promise<void>
  /** Marks the mails of INBOX as deleted, as a client does, and returns their number. */
  markDeleted(): Promise<number>
  /** Contents of the mails in a folder; none, if it does not exist. */
  list(folder?: string): Buffer[]
  count(folder?: string): number
  /** Names of the files in a folder, with the marks of the mails. */
  files(folder: string): string[]
  /** Makes the server refuse mails for a folder; the returned function accepts them again. */
  refuseMoves(folder: string): () => void
  removeFolder(folder: string): Promise<void>
  /** Gives the mails of INBOX new numbers, as after a restore of the server. */
  renewNumbers(): Promise<void>
  /** Number of open connections after their login. */
  countConnections(): number
  /** Kills the processes of open connections, and returns their number. */
  killConnections(): number
  /** Stops the server. */
  stop(): Promise<void>
  /** Starts it again with other options, on the same ports and over the same mails. */
  restart(options?: DovecotOptions): Promise<void>
}

const PROGRAM = '/usr/sbin/dovecot'
const NOBODY = 65534 // dovecot refuses mails of root
const IS_ROOT = process.getuid?.() === 0
const UID = IS_ROOT ? NOBODY : (process.getuid?.() ?? NOBODY)
const GID = IS_ROOT ? NOBODY : (process.getgid?.() ?? NOBODY)
const READY_WITHIN_MS = 30_000

// The shell outlives this process, even if it is killed. At the end of its input, it kills the server, whose orderly end
// takes a second, and removes the directory.
const GUARD = `dir=$1; shift; "$@" <&- & pid=$!
read word; kill -KILL $pid $(cat /proc/$pid/task/$pid/children) 2>/dev/null; wait $pid
[ "$word" = stop ] || rm -rf "$dir"`

/** Starts a server that ends with the test. */
export async function startDovecot(
  t: Pick<TestContext, 'after'>,
  options: DovecotOptions = {},
): Promise<Dovecot> {
  if (!existsSync(PROGRAM)) throw new Error('no dovecot: apt-get install dovecot-imapd')
  const dir = makeDirectory()
  const ports = { plain: await freePort(), tls: await freePort() }
  const server = await runServer(dir, ports, options)
  t.after(() => server.end())
  let delivered = 0
  const inbox = join(dir, 'home/Maildir')
  const folderPath = (name: string) => (name === 'INBOX' ? inbox : join(inbox, `.${name}`))
  const files = (folder = 'INBOX') =>
    ['new', 'cur'].flatMap((part) => {
      const path = join(folderPath(folder), part)
      return existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : []
    })
  return {
    ports,
    async deliver(raw, folder = 'INBOX') {
      const name = `${Date.now()}.M${++delivered}P${process.pid}.test`
      const [from, to] = ['tmp', 'new'].map((part) => join(folderPath(folder), part, name)) as [
        string,
        string,
      ]
      await writeFile(from, raw)
      chownSync(from, UID, GID)
      await rename(from, to)
    },
    async markDeleted() {
      const paths = files()
      for (const path of paths) {
        const name = basename(path).replace(/:2,.*/, '')
        await rename(path, join(inbox, 'cur', `${name}:2,T`))
      }
      return paths.length
    },
    files,
    list: (folder) => files(folder).flatMap((path) => readIfPresent(path) ?? []),
    count: (folder) => files(folder).length,
    refuseMoves(folder) {
      const parts = ['', 'new', 'cur', 'tmp'].map((part) => join(folderPath(folder), part))
      for (const part of parts) chmodSync(part, 0o555)
      return () => {
        for (const part of parts) chmodSync(part, 0o755)
      }
    },
    removeFolder: (folder) => rm(folderPath(folder), { recursive: true }),
    async renewNumbers() {
      const lists = readdirSync(inbox).filter((name) => /^dovecot(-uidlist|\.index)/.test(name))
      for (const name of lists) await rm(join(inbox, name), { force: true })
    },
    countConnections: () => server.connections().length,
    killConnections() {
      const pids = server.connections()
      for (const pid of pids) signal(pid, 'SIGKILL')
      return pids.length
    },
    stop: () => server.stop(),
    async restart(next = {}) {
      await server.stop()
      await server.start(next)
    },
  }
}

function makeDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'cambista-dovecot-')) // short: sockets are in it
  const inbox = join(dir, 'home/Maildir')
  const folders = [
    '',
    'run',
    'home',
    'home/Maildir',
    ...['new', 'cur', 'tmp'].map((one) => join('home/Maildir', one)),
  ]
  mkdirSync(inbox, { recursive: true })
  for (const folder of folders) {
    mkdirSync(join(dir, folder), { recursive: true })
    chownSync(join(dir, folder), UID, GID)
  }
  return dir
}

async function runServer(dir: string, ports: Dovecot['ports'], first: DovecotOptions) {
  let guard: ReturnType<typeof spawn> | undefined
  const file = join(dir, 'dovecot.conf')
  const start = async (options: DovecotOptions) => {
    await writeSettings(dir, ports, options)
    guard = spawn('/bin/sh', ['-c', GUARD, 'guard', dir, PROGRAM, '-F', '-c', file], {
      ...(IS_ROOT && { uid: UID, gid: GID }),
      cwd: dir,
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC' },
      stdio: ['pipe', 'ignore', process.env.CAMBISTA_TEST_VERBOSE ? 'inherit' : 'ignore'],
      detached: true, // Ctrl-C reaches the test alone; the guard then reads the end of its input
    })
    guard.unref()
    await waitForGreeting(ports.plain, () => readIfPresent(join(dir, 'log'))?.toString() ?? '')
  }
  const finish = async (word: string) => {
    if (!guard || guard.exitCode !== null) return
    const exit = once(guard, 'exit')
    guard.ref()
    guard.stdin?.end(word)
    await exit
  }
  await start(first)
  return {
    start,
    stop: () => finish('stop\n'),
    async end() {
      await finish('\n')
      await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 })
    },
    connections: () => imapProcesses(Number(readFileSync(join(dir, 'run/master.pid'), 'utf8'))),
  }
}

async function writeSettings(
  dir: string,
  ports: Dovecot['ports'],
  { capabilities, introspectionUrl }: DovecotOptions,
): Promise<void> {
  for (const name of ['first.crt', 'first.key']) {
    await copyFile(join(TLS, name), join(dir, name))
    chownSync(join(dir, name), UID, GID)
  }
  const [user, group] = ['-un', '-gn'].map((option) =>
    IS_ROOT
      ? nobodyName(option === '-un' ? 'passwd' : 'group')
      : spawnSync('id', [option], { encoding: 'utf8' }).stdout.trim(),
  )
  const tokens = `passdb {
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = ${dir}/oauth2.conf
}`
  await writeFile(join(dir, 'users'), `${USER}:{PLAIN}${PASSWORD}\n`)
  await writeFile(
    join(dir, 'oauth2.conf'),
    `introspection_mode = post
introspection_url = ${introspectionUrl}
username_attribute = username
active_attribute = active
active_value = true
`,
  )
  await writeFile(
    join(dir, 'dovecot.conf'),
    `base_dir = ${dir}/run
state_dir = ${dir}/run
log_path = ${dir}/log
protocols = imap
listen = 127.0.0.1
default_internal_user = ${user}
default_internal_group = ${group}
default_login_user = ${user}
first_valid_uid = 1
mail_location = maildir:~/Maildir
mail_fsync = never
auth_mechanisms = plain login${introspectionUrl ? ' xoauth2 oauthbearer' : ''}
auth_failure_delay = 0
disable_plaintext_auth = no
ssl = yes
ssl_cert = <${dir}/first.crt
ssl_key = <${dir}/first.key
${capabilities ? `imap_capability = ${capabilities}` : ''}
passdb {
  driver = passwd-file
  mechanisms = plain login
  args = ${dir}/users
}
${introspectionUrl ? tokens : ''}
userdb {
  driver = static
  args = uid=${UID} gid=${GID} home=${dir}/home
}
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${ports.plain}
  }
  inet_listener imaps {
    port = ${ports.tls}
    ssl = yes
  }
}
`,
  )
}

function nobodyName(base: 'passwd' | 'group'): string {
  return spawnSync('getent', [base, String(NOBODY)], { encoding: 'utf8' }).stdout.split(':')[0] ?? 'nobody'
}

async function waitForGreeting(port: number, readLog: () => string): Promise<void> {
  const greets = async () => {
    const socket = connect(port, '127.0.0.1')
    try {
      const [data] = await once(socket, 'data', { signal: AbortSignal.timeout(5000) })
      return /^\* OK/.test(String(data))
    } catch {
      await wait(20) // nothing listens yet
      return false
    } finally {
      socket.destroy()
    }
  }
  await until(greets, READY_WITHIN_MS).catch((error: unknown) => {
    throw new Error(`dovecot does not start: ${readLog()}`, { cause: error })
  })
}

/** The processes of one connection each. */
function imapProcesses(master: number): number[] {
  const children = readFileSync(`/proc/${master}/task/${master}/children`, 'utf8')
  return children
    .split(' ')
    .filter(Boolean)
    .map(Number)
    .filter((pid) => readIfPresent(`/proc/${pid}/comm`)?.toString().trim() === 'imap')
}

/** Reads a file; undefined: it does not exist any more. */
function readIfPresent(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}
