// The budget: what each kind of request costs at most, in counts instead of times.
// `node test/budget/budget.ts` measures, and writes the file.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Counts, measureKinds } from './measure.ts'

/** Counts of a request, by kind. */
export type Budget = Record<string, Counts>

type Chunk = { code: string; inputs: string[] }
type Bundler = { bundleProgram(): Promise<Chunk[]> }

const BUNDLER: string = new URL('../../src/bundle.mjs', import.meta.url).href
const FILE = join(import.meta.dirname, '../bench/budget.json')

export function readBudget(): Budget {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Budget
}

/** Counts a start: modules and bytes of the executable's first chunk. */
export function countStart(first: Chunk | undefined): Counts {
  return { modules: first?.inputs.length ?? 0, size: first?.code.length ?? 0 }
}

/** Measures all counts of all kinds, and of a start. */
export async function measureBudget(): Promise<Budget> {
  const [calls, work] = [await measureKinds('calls'), await measureKinds('work')]
  const { bundleProgram }: Bundler = await import(BUNDLER)
  const [first] = await bundleProgram()
  const budget: Budget = { start: countStart(first) }
  for (const [kind, counts] of calls) {
    const all = Object.entries({ ...counts, ...work.get(kind) })
    budget[kind] = Object.fromEntries(all.map(([name, count]) => [name, Number(count.toPrecision(4))]))
  }
  return budget
}

if (import.meta.main) writeFileSync(FILE, `${JSON.stringify(await measureBudget(), undefined, 2)}\n`)
