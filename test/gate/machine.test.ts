// Counts what measures the machine in the tests of the gate: fixed waits, its clock, short limits. The machine may stall
// for seconds, so each place has its reason in exceptions.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXCEPTIONS, type Measure } from './exceptions.ts'
import { readSources, type Source } from './imports.ts'
import { listFiles } from './lanes.ts'
import { GATE } from './list.ts'

const SHORTEST_LIMIT_MS = 10_000

const MEASURES: Readonly<Record<Measure, { find(text: string): number; bad: string; good: string }>> = {
  wait: {
    find: countWaits,
    bad: "import { setTimeout as pause } from 'node:timers/promises'\nawait pause(200)",
    good: 'await until(() => calls === 2)',
  },
  clock: {
    find: (text) => count(text, /\b(Date|performance)\.now\(\)/g),
    bad: 'const end = Date.now() + 5000',
    good: 'clock.now = new Date(0)',
  },
  limit: {
    find: countShortLimits,
    bad: 'await until(() => calls === 2, 5_000)',
    good: 'await until(() => calls === 2)',
  },
}

const all = readSources('test')
const sources = listGateSources()

for (const [name, { find, bad, good }] of Object.entries(MEASURES)) {
  test(`the counter "${name}" finds its bad example and accepts its good one`, () => {
    assert.equal(find(bad), 1)
    assert.equal(find(good), 0)
  })

  test(`no test of the gate has a ${name} of the machine but those with a reason`, () => {
    const exceptions = EXCEPTIONS[name as Measure]
    const counts = sources
      .map(({ path, text }) => [path, find(text)] as const)
      .filter(([, times]) => times > 0)
    const expected = Object.entries(exceptions).map(([path, { times }]) => [path, times] as const)
    assert.deepEqual(Object.fromEntries(counts), Object.fromEntries(expected))
    for (const [path, { reason }] of Object.entries(exceptions)) assert.ok(reason.length > 10, path)
  })
}

/** Calls of `setTimeout` and of the promise of `node:timers/promises`, under any name. */
function countWaits(text: string): number {
  const [, names = ''] = /import \{([^}]+)\} from 'node:timers\/promises'/.exec(text) ?? []
  const [, alias = 'setTimeout'] = /\bsetTimeout as (\w+)/.exec(names) ?? []
  return count(text, new RegExp(`(?<![.\\w'])(?:setTimeout|${alias})\\(`, 'g'))
}

function countShortLimits(text: string): number {
  const limits = [
    ...text.matchAll(/\buntil\([^\n]*, ([\d_]{3,})\)/g),
    ...text.matchAll(/\bAbortSignal\.timeout\(([\d_]+)\)/g),
    ...text.matchAll(/\btimeout: ([\d_]+)\b/g),
  ].map(([, digits = '']) => Number(digits.replaceAll('_', '')))
  return limits.filter((ms) => ms > 0 && ms < SHORTEST_LIMIT_MS).length + count(text, /\bretryWhenStalled\(/g)
}

function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length
}

/** The files of the gate's list, and those of `test/` that they import. */
function listGateSources(): Source[] {
  const byPath = new Map(all.map((source) => [source.path, source]))
  const pending = Object.values(GATE).flatMap((files) =>
    typeof files === 'string' ? listFiles('process') : Object.keys(files),
  )
  const collected = new Set<Source>()
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const source = byPath.get(path)
    if (!source || collected.has(source)) continue
    collected.add(source)
    pending.push(...source.imports.map(({ to }) => to))
  }
  return [...collected]
    .filter(({ path }) => !path.startsWith('test/gate/'))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}
