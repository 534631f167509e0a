// SHA256SUMS of a folder, as sha256sum writes it.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SUMS } from '../domain/operations/release.ts'

const UNLISTED = ['cambista', SUMS, `${SUMS}.minisig`] // the first is this machine's executable under a second name

/** Writes the sums of all files of a folder, by their names, and returns the text. */
export function writeSums(folder) {
  const names = readdirSync(folder).filter((name) => !UNLISTED.includes(name))
  const text = names
    .sort()
    .map((name) => `${sha256(join(folder, name))}  ${name}\n`)
    .join('')
  writeFileSync(join(folder, SUMS), text)
  return text
}

function sha256(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
