// The machine of a service: files below a root, and commands. Each step makes what is missing and prints it; a step
// with nothing to do prints nothing.

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
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
import type { FileOwner } from '../domain/operations/backup/new-data-dir.ts'
import { AppError, errorCode } from '../runtime/errors.ts'
import { flushNow } from '../runtime/file-hash.ts'

export type CommandResult = {
  /** Exit code; undefined: the command does not exist. */
  status: number | undefined
  /** stdout and stderr. */
  text: string
}

export type Machine = {
  /** Directory that its paths are relative to: `/`, or the root of an image. */
  root: string
  /** systemd runs it, so units are started and stopped. */
  live: boolean
  /** `owner`: the user that runs it; undefined: this one. */
  run(command: string, words: readonly string[], owner?: FileOwner): CommandResult
  print(line: string): void
}

export function spawnCommand(command: string, words: readonly string[], owner?: FileOwner): CommandResult {
  const child = spawnSync(command, words, { ...owner, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const missing = errorCode(child.error) === 'ENOENT'
  const text = `${child.stdout ?? ''}${child.stderr ?? ''}`.trim() || (child.error?.message ?? '')
  return { status: missing ? undefined : (child.status ?? 1), text }
}

/** Runs a command and returns its output. @throws AppError `failed` if it does not exist or fails */
export function runOrFail(machine: Machine, command: string, ...words: string[]): string {
  const { status, text } = machine.run(command, words)
  if (status === 0) return text
  const why = status === undefined ? 'there is no such command' : text || `exit code ${status}`
  throw new AppError('failed', `${command} ${words.join(' ')} failed: ${why}`)
}

/** Makes a directory, or corrects owner and mode of the existing one. Its content gets the same owner. */
export function ensureDirectory(machine: Machine, path: string, owner: FileOwner, mode: number): void {
  const target = join(machine.root, path)
  const isNew = makeDirectory(target)
  const { uid, gid, mode: before } = statSync(target)
  const hasOtherOwner = uid !== owner.uid || gid !== owner.gid
  if (hasOtherOwner) chownTree(target, owner)
  const hasOtherMode = (before & 0o7777) !== mode
  if (hasOtherMode) chmodSync(target, mode)
  if (isNew) machine.print(`made ${path}`)
  else if (hasOtherOwner || hasOtherMode) machine.print(`corrected owner and mode of ${path}`)
}

/** Makes a directory and its parents with mode 0755, regardless of the umask. Returns false if it exists. */
export function makeDirectory(target: string): boolean {
  if (existsSync(target)) return false
  makeDirectory(dirname(target))
  mkdirSync(target)
  chmodSync(target, 0o755)
  return true
}

/** Changes the owner of a tree. Links are not followed, since one might lead out of it. */
function chownTree(path: string, { uid, gid }: FileOwner): void {
  if (basename(path) === 'lost+found') return // made by the file system, at the root of a disk
  if (lstatSync(path).isDirectory())
    for (const name of readdirSync(path)) chownTree(join(path, name), { uid, gid })
  lchownSync(path, uid, gid)
}

/** Makes a file. An existing one is left as it is. */
export function ensureFile(
  machine: Machine,
  path: string,
  text: string,
  owner: FileOwner,
  mode: number,
): void {
  const target = join(machine.root, path)
  if (existsSync(target)) return
  replaceFile(target, (temporary) => {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 })
    const { uid, gid } = statSync(temporary)
    if (uid !== owner.uid || gid !== owner.gid) lchownSync(temporary, owner.uid, owner.gid)
    chmodSync(temporary, mode)
  })
  machine.print(`made ${path}`)
}

/** Replaces the text of an existing file. Owner and mode stay. */
export function rewriteFile(machine: Machine, path: string, text: string): void {
  const target = join(machine.root, path)
  const { uid, gid, mode } = statSync(target)
  replaceFile(target, (temporary) => {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 })
    lchownSync(temporary, uid, gid)
    chmodSync(temporary, mode & 0o7777)
  })
}

/** Writes a file that only this program edits, if it is missing or differs. Returns true if written. */
export function writeIfChanged(machine: Machine, path: string, text: string): boolean {
  const target = join(machine.root, path)
  const exists = existsSync(target)
  if (exists && readFileSync(target, 'utf8') === text) return false
  makeDirectory(dirname(target))
  replaceFile(target, (temporary) => {
    writeFileSync(temporary, text, { flag: 'wx' })
    chmodSync(temporary, 0o644)
  })
  machine.print(`${exists ? 'replaced' : 'made'} ${path}`)
  return true
}

/** Copies an executable unless the same one is there; a running one goes on. Returns true if copied. */
export function copyExecutable(machine: Machine, path: string, executable: string): boolean {
  const target = join(machine.root, path)
  const exists = existsSync(target)
  if (exists && (realpathSync(target) === realpathSync(executable) || hasSameBytes(target, executable)))
    return false
  makeDirectory(dirname(target))
  replaceFile(target, (temporary) => {
    copyFileSync(executable, temporary)
    chmodSync(temporary, 0o755)
  })
  machine.print(`${exists ? 'replaced' : 'made'} ${path}`)
  return true
}

/** Replaces a file atomically: whole and synced to the disk, or not at all. */
export function replaceFile(target: string, write: (temporary: string) => void): void {
  const temporary = `${target}.new`
  rmSync(temporary, { force: true })
  try {
    write(temporary)
    flushNow(temporary)
    renameSync(temporary, target)
    flushNow(dirname(target))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function hasSameBytes(one: string, other: string): boolean {
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
