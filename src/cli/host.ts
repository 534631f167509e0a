// The machine that a service is installed on: its files below a root, and its commands. Each step does what is
// missing and says so, or finds nothing to do and is silent.

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AppError, codeOf } from '../errors.ts'

export type Ran = {
  /** The exit code; undefined: there is no such command. */
  status: number | undefined
  /** What it printed, stderr included. */
  text: string
}

export type Machine = {
  /** What its files are below: `/`, or the root of an image. */
  root: string
  /** Whether systemd runs it, so that things are started and stopped. */
  live: boolean
  run(command: string, words: readonly string[]): Ran
  say(line: string): void
}

export type Owner = { uid: number; gid: number }

export function runHere(command: string, words: readonly string[]): Ran {
  const ended = spawnSync(command, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const missing = codeOf(ended.error) === 'ENOENT'
  const text = `${ended.stdout ?? ''}${ended.stderr ?? ''}`.trim() || (ended.error?.message ?? '')
  return { status: missing ? undefined : (ended.status ?? 1), text }
}

/** @throws AppError `failed` when there is no such command or it fails */
export function runSurely(machine: Machine, command: string, ...words: string[]): void {
  const { status, text } = machine.run(command, words)
  if (status === 0) return
  const why = status === undefined ? 'there is no such command' : text || `exit code ${status}`
  throw new AppError('failed', `${command} ${words.join(' ')} failed: ${why}`)
}

/** Makes a directory, or gives the one that is there this owner and mode. What is in it goes to the owner too. */
export function ensureDirectory(machine: Machine, path: string, owner: Owner, mode: number): void {
  const place = join(machine.root, path)
  const made = makeDirectory(place)
  const { uid, gid, mode: before } = statSync(place)
  const moved = uid !== owner.uid || gid !== owner.gid
  if (moved) handOver(place, owner)
  const changed = (before & 0o7777) !== mode
  if (changed) chmodSync(place, mode)
  if (made) machine.say(`made ${path}`)
  else if (moved || changed) machine.say(`corrected owner and mode of ${path}`)
}

/** Makes a directory and those above it for everybody to enter, whatever the umask. Returns whether it was missing. */
export function makeDirectory(place: string): boolean {
  if (existsSync(place)) return false
  makeDirectory(dirname(place))
  mkdirSync(place)
  chmodSync(place, 0o755)
  return true
}

/** Links are not followed, so that none can lead out of the directory. */
function handOver(path: string, { uid, gid }: Owner): void {
  if (basename(path) === 'lost+found') return // of a disk of its own: the file system's
  if (lstatSync(path).isDirectory())
    for (const name of readdirSync(path)) handOver(join(path, name), { uid, gid })
  lchownSync(path, uid, gid)
}

/** Makes a file unless there is one, which is kept whatever is in it. */
export function ensureFile(machine: Machine, path: string, text: string, owner: Owner, mode: number): void {
  const place = join(machine.root, path)
  if (existsSync(place)) return
  replaceFile(place, (temporary) => {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 })
    const { uid, gid } = statSync(temporary)
    if (uid !== owner.uid || gid !== owner.gid) lchownSync(temporary, owner.uid, owner.gid)
    chmodSync(temporary, mode)
  })
  machine.say(`made ${path}`)
}

/** Gives a file that is there another text; owner and mode stay. */
export function rewriteFile(machine: Machine, path: string, text: string): void {
  const place = join(machine.root, path)
  const { uid, gid, mode } = statSync(place)
  replaceFile(place, (temporary) => {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 })
    lchownSync(temporary, uid, gid)
    chmodSync(temporary, mode & 0o7777)
  })
}

/** Writes a file that is ours alone, when it is not there or says something else. Returns whether it did. */
export function writeOwn(machine: Machine, path: string, text: string): boolean {
  const place = join(machine.root, path)
  const found = existsSync(place)
  if (found && readFileSync(place, 'utf8') === text) return false
  makeDirectory(dirname(place))
  replaceFile(place, (temporary) => {
    writeFileSync(temporary, text, { flag: 'wx' })
    chmodSync(temporary, 0o644)
  })
  machine.say(`${found ? 'replaced' : 'made'} ${path}`)
  return true
}

/** Copies an executable, unless the same one is there. The one that runs goes on running. Returns whether it did. */
export function copyExecutable(machine: Machine, path: string, executable: string): boolean {
  const place = join(machine.root, path)
  const found = existsSync(place)
  if (found && (realpathSync(place) === realpathSync(executable) || sameContent(place, executable)))
    return false
  makeDirectory(dirname(place))
  replaceFile(place, (temporary) => {
    copyFileSync(executable, temporary)
    chmodSync(temporary, 0o755)
  })
  machine.say(`${found ? 'replaced' : 'made'} ${path}`)
  return true
}

/** A file appears whole and on the disk, or not at all. */
function replaceFile(place: string, write: (temporary: string) => void): void {
  const temporary = `${place}.new`
  rmSync(temporary, { force: true })
  try {
    write(temporary)
    const file = openSync(temporary, 'r')
    fsyncSync(file)
    closeSync(file)
    renameSync(temporary, place)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function sameContent(one: string, other: string): boolean {
  if (statSync(one).size !== statSync(other).size) return false
  const [a, b] = [Buffer.alloc(1 << 20), Buffer.alloc(1 << 20)]
  const [first, second] = [openSync(one, 'r'), openSync(other, 'r')]
  try {
    for (;;) {
      const length = readSync(first, a)
      if (readSync(second, b) !== length || !a.subarray(0, length).equals(b.subarray(0, length))) return false
      if (length === 0) return true
    }
  } finally {
    closeSync(first)
    closeSync(second)
  }
}
