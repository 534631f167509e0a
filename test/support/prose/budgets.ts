// Files that test/prose.test.ts reads, and the budgets of its rules by folder.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROSE_RULES, type ProseFile } from './rules.ts'

/** Number of offences by rule. */
export type Counts = Record<string, number>

export type Budgets = {
  /** Totals of the commit where counting began. */
  before: Counts
  /** By folder, such as `src/store` or `test/api`; `src` has the files directly in it. */
  budgets: Record<string, Counts>
}

const ROOT = join(import.meta.dirname, '../../..')
const BUDGETS = join(ROOT, 'test/fixtures/prose.json')
const TOP = [
  'README.md',
  'CHANGELOG.md',
  'schema.sql',
  'build.mjs',
  '.github/CONTRIBUTING.md',
  '.github/SECURITY.md',
]
const FOLDERS = ['src', 'bin', 'test']
const READABLE = /\.(tsx?|mjs|cjs|sql|md)$/
const LEFT_OUT = /node_modules|fixtures|licenses|\.parts/

export function proseFiles(): ProseFile[] {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  return [...TOP, ...inFolders.sort()]
    .filter((path) => READABLE.test(path) && !LEFT_OUT.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

export function countsByFolder(files: readonly ProseFile[]): Record<string, Counts> {
  const result: Record<string, Counts> = {}
  for (const file of files) {
    const folder = folderName(file.path)
    const counts = result[folder] ?? {}
    result[folder] = counts
    for (const [name, { offences }] of Object.entries(PROSE_RULES)) {
      const count = offences(file).length
      if (count > 0) counts[name] = (counts[name] ?? 0) + count
    }
  }
  return result
}

/** Places of a folder that break a rule, as `path:line words`. */
export function listOffences(files: readonly ProseFile[], folder: string, rule: string): string[] {
  return files
    .filter(({ path }) => folderName(path) === folder)
    .flatMap((file) =>
      (PROSE_RULES[rule]?.offences(file) ?? []).map(({ line, words }) => `${file.path}:${line} ${words}`),
    )
}

export function totals(budgets: Record<string, Counts>): Counts {
  const result: Counts = {}
  for (const counts of Object.values(budgets))
    for (const [name, count] of Object.entries(counts)) result[name] = (result[name] ?? 0) + count
  return result
}

export function readBudgets(): Budgets {
  return JSON.parse(readFileSync(BUDGETS, 'utf8'))
}

/** Writes a line for each folder, so that changes of two folders merge. */
export function writeBudgets({ before, budgets }: Budgets): void {
  const lines = Object.entries(budgets)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([folder, counts]) => `    ${JSON.stringify(folder)}: ${JSON.stringify(counts)}`)
  const text = `{\n  "before": ${JSON.stringify(before)},\n  "budgets": {\n${lines.join(',\n')}\n  }\n}\n`
  writeFileSync(BUDGETS, text)
}

function folderName(path: string): string {
  const parts = path.split('/')
  if (parts.length === 1) return 'top'
  const depth = path.startsWith('test/unit/') ? 3 : parts[0] === 'src' || parts[0] === 'test' ? 2 : 1
  return parts.slice(0, Math.min(depth, parts.length - 1)).join('/')
}
