// Files of the program: beside src/ in a checkout, inside the executable of a package (build.mjs lists them). Only
// this file and store/sqlite/native.ts depend on the difference.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { getAsset, getAssetKeys, getRawAsset, isSea } from 'node:sea'
import { brotliDecompressSync } from 'node:zlib'

const PACKED_PAGE = 'page/' // prefix of its files among the assets (build.mjs)
const BUILD = 'build.json' // in the executable alone

/** Public key of the releases. The file is absent until there is such a key. */
export const RELEASE_KEY = 'src/packaging/release.pub'

/** Sources that the executable was built from. */
export type Build = {
  /** Hash of the commit, with `-dirty` after it if files differed; null: built outside of a repository. */
  commit: string | null
  /** Instant of the commit, in UTC. */
  date: string
}

/** Reads a text file of the root of the project, such as `schema.sql`. The executable has the manual compressed. */
export function readAsset(name: string): string {
  if (!isSea()) return readFileSync(checkoutUrl(name), 'utf8')
  return name.endsWith('.md') ? brotliDecompressSync(getRawAsset(name)).toString() : getAsset(name, 'utf8')
}

/** Returns the public key of the releases, in the form of minisign; undefined: none is built in. */
export function releaseKey(): string | undefined {
  const isThere = isSea() ? getAssetKeys().includes(RELEASE_KEY) : existsSync(checkoutUrl(RELEASE_KEY))
  return isThere ? readAsset(RELEASE_KEY) : undefined
}

/** Returns the sources of the executable; undefined in a checkout. */
export function readBuild(): Build | undefined {
  return isSea() ? JSON.parse(readAsset(BUILD)) : undefined
}

/** Returns whether V8 used the code cache of the executable (bin/packed.cjs). */
export function isCodeCached(): boolean {
  return Reflect.get(globalThis, Symbol.for('cambista.isCodeCached')) === true
}

/** Returns the bytes of a file of the executable; undefined in a checkout. */
export function packedAsset(name: string): Uint8Array | undefined {
  return isSea() ? new Uint8Array(getRawAsset(name)) : undefined
}

/** Returns the files of the web page by name, compressed with gzip. A checkout bundles them at the first call. */
export async function pageFiles(
  bundlePage?: () => Promise<string>,
): Promise<ReadonlyMap<string, Uint8Array>> {
  if (isSea()) {
    const names = getAssetKeys().filter((name) => name.startsWith(PACKED_PAGE))
    return new Map(names.map((name) => [name.slice(PACKED_PAGE.length), new Uint8Array(getRawAsset(name))]))
  }
  if (!bundlePage) throw new TypeError('this server has no bundler of the page')
  const folder = await bundlePage()
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`)]))
}

/** Returns the path of the executable, which needs no other file; undefined in a checkout. */
export function packedExecutable(): string | undefined {
  return isSea() ? process.execPath : undefined
}

function checkoutUrl(name: string): URL {
  return new URL(`../../${name}`, import.meta.url)
}

export const VERSION: string = JSON.parse(readAsset('package.json')).version
