// Reads the sources of a folder with their imports. Rules of the tree and the choice of tests use them.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const IMPORT =
  /^(?:import|export)\s(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm

/** An import of a file. `to` is a path from the root of the repository, or the name of a package. */
export type Import = { from: string; to: string; typeOnly: boolean }

export type Source = { path: string; text: string; lines: number; imports: Import[] }

/** Reads each TypeScript file under a folder of the root. */
export function readSources(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules')) // for test/clients
    .map((name) => {
      const path = join(folder, name)
      const text = readFileSync(join(ROOT, path), 'utf8')
      return { path, text, lines: text.split('\n').length - 1, imports: parseImports(path, text) }
    })
}

function parseImports(path: string, text: string): Import[] {
  return [...text.matchAll(IMPORT)].map((match) => {
    const name = match[2] ?? match[3] ?? match[4] ?? ''
    const to = name.startsWith('.') ? relative(ROOT, join(ROOT, dirname(path), name)) : name
    return { from: path, to, typeOnly: match[1] !== undefined }
  })
}
