// Files that travel with the program: beside src/ when it is run from source, inside the executable when it is
// packed (build.mjs says which). Nothing else in the program knows the difference, but store/sqlite/native.ts.

import { readdirSync, readFileSync } from 'node:fs'
import { getAsset, getAssetKeys, getRawAsset, isSea } from 'node:sea'

const PACKED_PAGE = 'page/' // how the names of its files begin among the assets (build.mjs)

/** The text of a file at the project's root, such as `schema.sql`. */
export function readAsset(name: string): string {
  return isSea() ? getAsset(name, 'utf8') : readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
}

/** The bytes of a file that only the packed program carries; undefined when it is run from source. */
export function packedAsset(name: string): Uint8Array | undefined {
  return isSea() ? new Uint8Array(getRawAsset(name)) : undefined
}

/** The files of the page by name, packed with gzip. Run from source they are made when they are first asked for. */
export async function pageFiles(): Promise<ReadonlyMap<string, Uint8Array>> {
  if (isSea()) {
    const names = getAssetKeys().filter((name) => name.startsWith(PACKED_PAGE))
    return new Map(names.map((name) => [name.slice(PACKED_PAGE.length), new Uint8Array(getRawAsset(name))]))
  }
  const bundler = new URL('web/bundle.mjs', import.meta.url).href // not a literal: it is no part of the packed program
  const { bundledPage }: { bundledPage(): Promise<string> } = await import(bundler)
  const folder = await bundledPage()
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`)]))
}

/** The file of this program when it is the packed one, which needs nothing beside it. */
export function packedExecutable(): string | undefined {
  return isSea() ? process.execPath : undefined
}

export const VERSION: string = JSON.parse(readAsset('package.json')).version
