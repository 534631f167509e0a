// Files that travel with the program: beside src/ when it is run from source, inside the executable when it is
// packed (build.mjs says which). Nothing else in the program knows the difference, but store/sqlite/native.ts.

import { readFileSync } from 'node:fs'
import { getAsset, getRawAsset, isSea } from 'node:sea'

/** The text of a file at the project's root, such as `schema.sql`. */
export function readAsset(name: string): string {
  return isSea() ? getAsset(name, 'utf8') : readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
}

/** The bytes of a file that only the packed program carries; undefined when it is run from source. */
export function packedAsset(name: string): Uint8Array | undefined {
  return isSea() ? new Uint8Array(getRawAsset(name)) : undefined
}

/** The file of this program when it is the packed one, which needs nothing beside it. */
export function packedExecutable(): string | undefined {
  return isSea() ? process.execPath : undefined
}

export const VERSION: string = JSON.parse(readAsset('package.json')).version
