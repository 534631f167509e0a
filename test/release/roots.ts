// Roots of Debian, made by mmdebstrap of the mirror that apt has on this machine. Commands run in a root by chroot, with
// the network of this machine. No systemd runs there: systemctl.sh is first in PATH and runs the service.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'

const TOOLS = '/tests' // directory of a root for systemctl and packages
const PATH = `${TOOLS}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`
const ENV = { PATH, DEBIAN_FRONTEND: 'noninteractive' }
const PID_FILE = 'run/cambista.pid'

export type RootEnd = { code: number | null; text: string }

export type Root = {
  at(path: string): string
  read(path: string): string
  /** Runs a command in the root without a terminal, with stdin closed. */
  run(...words: string[]): Promise<RootEnd>
  /** Starts a command in the root. Its process is that of the command. */
  start(...words: string[]): ChildProcess
  /** The same for a command that must succeed. Returns stdout and stderr. */
  runOrFail(...words: string[]): Promise<string>
  /** Installs a package as an administrator does. */
  install(deb: string): Promise<RootEnd>
  /** Makes the root look like a machine that systemd runs, with the systemctl of the tests. */
  bootSystemd(): void
  addSettings(...lines: string[]): void
  log(): string
}

const archives = new Map<string, Promise<string>>()

/** Makes a root of a suite with these packages. Roots of the same packages are unpacked from one archive. */
export async function makeRoot(t: TestContext, suite: string, packages: readonly string[]): Promise<Root> {
  const archive = await archives.getOrInsertComputed(`${suite} ${packages.join(' ')}`, () =>
    bootstrap(suite, packages),
  )
  const folder = mkdtempSync(join(tmpdir(), 'cambista-root-'))
  const at = (path: string) => join(folder, path)
  t.after(() => {
    if (existsSync(at(PID_FILE))) stopProcess(Number(readFileSync(at(PID_FILE), 'utf8')))
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  })
  await spawnOrFail('tar', ['-xf', archive, '-C', folder, '--numeric-owner'])
  mkdirSync(at(TOOLS))
  const mounts =
    'mount -t proc proc "$0/proc"; mkdir -p "$0/dev/pts"; mount -t devpts -o newinstance,ptmxmode=0666 pts "$0/dev/pts"'
  const script = `${mounts}; exec chroot "$0" "$@" <&-`
  const run = (...words: string[]) =>
    spawnText('unshare', ['--mount', 'sh', '-ec', script, folder, ...words], ENV)
  return {
    at,
    read: (path) => readFileSync(at(path), 'utf8'),
    run,
    start: (...words) =>
      spawn('unshare', ['--mount', 'sh', '-ec', script, folder, ...words], { env: ENV, stdio: 'ignore' }),
    async runOrFail(...words) {
      const { code, text } = await run(...words)
      if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${text}`)
      return text
    },
    install(deb) {
      copyFileSync(deb, at(`${TOOLS}/${basename(deb)}`))
      return run(
        'apt',
        'install',
        '--yes',
        '--reinstall',
        '-o',
        `DPkg::Path=${PATH}`,
        '-o',
        'Dpkg::Use-Pty=0', // a terminal would end lines with \r
        `${TOOLS}/${basename(deb)}`,
      )
    },
    bootSystemd() {
      mkdirSync(at('run/systemd/system'), { recursive: true })
      copyFileSync(join(import.meta.dirname, 'systemctl.sh'), at(`${TOOLS}/systemctl`))
    },
    addSettings: (...lines) =>
      appendFileSync(at('etc/cambista/cambista.env'), lines.map((line) => `${line}\n`).join('')),
    log: () =>
      existsSync(at('var/log/cambista.log')) ? readFileSync(at('var/log/cambista.log'), 'utf8') : '',
  }
}

/** Returns the paths below a directory, sorted. */
export function listPaths(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
}

/** Makes the archive of a root; it is removed when this process ends. */
async function bootstrap(suite: string, packages: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cambista-suite-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const archive = join(folder, 'root.tar')
  const settings = join(folder, 'apt.conf')
  writeFileSync(settings, aptSettings())
  const words = ['--variant=apt', '--mode=root', `--include=${packages.join(',')}`, `--aptopt=${settings}`]
  await spawnOrFail('mmdebstrap', [...words, suite, archive, debianMirror()])
  return archive
}

/** Returns the mirror of Debian in the sources of apt. @throws if there is none */
function debianMirror(): string {
  const fields = ['--format', '$(REPO_URI)', 'Identifier: Packages', 'Origin: Debian', 'Label: Debian']
  const { stdout } = spawnSync('apt-get', ['indextargets', ...fields], { encoding: 'utf8' })
  const [mirror] = (stdout ?? '').split('\n')
  if (!mirror) throw new Error('apt has no source of Debian: /etc/apt/sources.list.d')
  return mirror
}

/** Returns the settings of apt about proxies and the age of a source, for mirrors such as snapshots. */
function aptSettings(): string {
  const { stdout } = spawnSync('apt-config', ['dump', 'Acquire'], { encoding: 'utf8' })
  const isOfSource = (line: string) => /^Acquire::(https?|Check-(Date|Valid-Until)|Retries)\b/.test(line)
  return (stdout ?? '')
    .split('\n')
    .filter(isOfSource)
    .map((line) => `${line}\n`)
    .join('')
}

async function spawnOrFail(command: string, words: readonly string[]): Promise<void> {
  const { code, text } = await spawnText(command, words, { PATH: process.env.PATH ?? '' })
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${text.slice(-2000)}`)
}

/** Runs a command to its end. A service that it started does not delay the end. */
async function spawnText(
  command: string,
  words: readonly string[],
  env: Record<string, string>,
): Promise<RootEnd> {
  const child = spawn(command, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  const [code] = await once(child, 'close')
  return { code, text }
}

function stopProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // the process has ended
  }
}
