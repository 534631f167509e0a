// A release: the files that a signed SHA256SUMS lists. Its signature names version and commit, so that files of another
// release are found.

import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import {
  isCommentValid,
  isFileValid,
  type PublicKey,
  parsePublicKey,
  parseSignature,
} from '../../formats/minisign.ts'
import { AppError, errorReason } from '../../runtime/errors.ts'
import { hashFile } from '../../runtime/file-hash.ts'

export const SUMS = 'SHA256SUMS'
const COMMENT = /^cambista (\d+\.\d+\.\d+[\w.-]*), commit ([0-9a-f]{40})$/
const SUM = /^([0-9a-f]{64}) {2}([^/]+)$/

export type Release = {
  version: string
  commit: string
  /** SHA-256 of each file by its name. */
  hashes: ReadonlyMap<string, string>
}

/** Result for a file: its name in the release, or the fault. */
export type FileCheck = { name: string } | { fault: string }

/** Returns the path of the sums of a file: beside it, or above its unpacked folder. @throws AppError `failed` */
export function sumsPath(file: string): string {
  const folder = dirname(resolve(file))
  const beside = join(folder, SUMS)
  const path = [beside, join(dirname(folder), SUMS)].find((one) => existsSync(one))
  if (path !== undefined) return path
  throw new AppError(
    'failed',
    `cannot read ${beside}: no such file, and none in the directory above: give its path with --sums`,
  )
}

/** Parses the public key that a file or the executable has. @throws AppError `failed` */
export function readReleaseKey(text: string, source: string): PublicKey {
  const key = parsePublicKey(text)
  if (!key) throw new AppError('failed', `${source} is no public key of minisign`)
  return key
}

/**
 * Reads the sums of a release, if the key signed them.
 * @throws AppError `failed` that names the fault: another key, altered or cut off, sums of another release
 */
export function readRelease(sumsFile: string, key: PublicKey): Release {
  const signatureFile = `${sumsFile}.minisig`
  const content = readBytes(sumsFile)
  const signature = parseSignature(readBytes(signatureFile).toString())
  if (!signature) throw new AppError('failed', `${signatureFile} is no signature of minisign, or is cut off`)
  if (signature.keyId !== key.id) {
    throw new AppError('failed', `${signatureFile} is of key ${signature.keyId}, not of key ${key.id}`)
  }
  if (!isCommentValid(signature, key)) {
    throw new AppError('failed', `${signatureFile} is altered, or another key with the id ${key.id} made it`)
  }
  const [, version = '', commit = ''] = COMMENT.exec(signature.comment) ?? []
  if (!isFileValid(signature, key, content)) {
    const owner = JSON.stringify(signature.comment)
    throw new AppError(
      'failed',
      `${sumsFile} is altered, or of another release than its signature (${owner})`,
    )
  }
  if (version === '') {
    throw new AppError(
      'failed',
      `${signatureFile} is of ${JSON.stringify(signature.comment)}, not of cambista`,
    )
  }
  const lines = content.toString().trimEnd().split('\n')
  return { version, commit, hashes: new Map(lines.map((line) => parseSum(line, sumsFile))) }
}

/**
 * Compares a file with the sums of a release. The sums list an unpacked executable under another name, so that a file is
 * found by its content, too.
 */
export async function checkFile(path: string, release: Release, signal?: AbortSignal): Promise<FileCheck> {
  const file = await hashFile(path, signal).catch((error: unknown) => errorReason(error))
  if (typeof file === 'string') return { fault: `cannot be read: ${file}` }
  if (!file) return { fault: 'there is no such file' }
  const { version, hashes } = release
  const expected = hashes.get(basename(path))
  if (file.sha256 === expected) return { name: basename(path) }
  const [other] = [...hashes].find(([, hash]) => hash === file.sha256) ?? []
  if (expected === undefined)
    return other ? { name: other } : { fault: `cambista ${version} has no such file` }
  return {
    fault: other
      ? `its content is that of ${other} of cambista ${version}`
      : `it is altered, or of another release than cambista ${version}`,
  }
}

function parseSum(line: string, sumsFile: string): [name: string, hash: string] {
  const [, hash, name] = SUM.exec(line) ?? []
  if (hash === undefined || name === undefined)
    throw new AppError(
      'failed',
      `${sumsFile} has the line ${JSON.stringify(line)}, which is no sum of a file`,
    )
  return [name, hash]
}

/** @throws AppError `failed` that names the file */
function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new AppError('failed', `cannot read ${path}: ${errorReason(error)}`, { cause: error })
  }
}

/** Compares versions by their numbers; `1.0.0-rc.1` is before `1.0.0`. Negative: the first is earlier. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => {
    const [numbers = '', suffix] = version.split(/-(.*)/)
    return { numbers: numbers.split('.').map(Number), suffix }
  }) as [Parsed, Parsed]
  for (const [at, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[at] ?? 0)
    if (difference !== 0) return difference
  }
  if (a.suffix === b.suffix) return 0
  if (a.suffix === undefined || b.suffix === undefined) return a.suffix === undefined ? 1 : -1
  return a.suffix.localeCompare(b.suffix, 'en', { numeric: true })
}

type Parsed = { numbers: number[]; suffix: string | undefined }

/** Returns the lines of a changelog about the versions after `from`, up to `to`. */
export function selectChanges(changelog: string, from: string, to: string): string[] {
  const sections = changelog.split(/^(?=## )/m).filter((section) => {
    const [, version] = /^## \[?(\d[\w.-]*)/.exec(section) ?? []
    return version !== undefined && compareVersions(version, from) > 0 && compareVersions(version, to) <= 0
  })
  return sections.flatMap((section) => section.trimEnd().split('\n'))
}
