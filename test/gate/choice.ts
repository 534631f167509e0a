// Chooses the tests of the gate: its list, and the tests of the files that a change touches (rules.ts).

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { readSources, type Source } from './imports.ts'
import { LANES, type LaneName, listFiles } from './lanes.ts'
import { GATE } from './list.ts'
import { RULES, type Rule } from './rules.ts'

const ROOT = join(import.meta.dirname, '../..')
const NAMES = Object.keys(LANES) as LaneName[]
const SHOWN_PATHS = 3

type Addition = { lane: LaneName; file: string }

/** Lanes with their files, and a line for each reason. A change of texts alone has no lane but `process`. */
export type Choice = { files: Map<LaneName, string[]>; reasons: string[]; isEverything?: boolean }

/** Files that differ from the base, relative to the root; undefined without a base. */
export type Change = { base: string; paths: string[] } | undefined

/**
 * Reads the change of this checkout: its differences from the commit where it left CAMBISTA_BASE (origin/main).
 * Files that are not committed belong to it.
 */
export function readChange(reference = process.env.CAMBISTA_BASE || 'origin/main'): Change {
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const base = git('merge-base', 'HEAD', reference).trim()
    const listed = git('diff', '--name-only', '--no-renames', '-z', base)
    const untracked = git('ls-files', '--others', '--exclude-standard', '-z')
    const paths = `${listed}${untracked}`.split('\0').filter((path) => path !== '')
    return { base: `${reference} (${base.slice(0, 8)})`, paths: [...new Set(paths)].sort() }
  } catch {
    return undefined
  }
}

/** Returns the rules of a file. */
export function findRules(path: string, sources: readonly Source[]): Rule[] {
  const source = sources.find((one) => one.path === path)
  const importers = sources.filter(({ imports }) => imports.some(({ to }) => to === path))
  return RULES.filter(({ paths, text, countsImports }) => {
    if (text) return paths.test(path) && text.test(source?.text ?? '')
    return paths.test(path) || (countsImports === true && importers.some((one) => paths.test(one.path)))
  })
}

/** Chooses the tests for a change. */
export function chooseTests(change: Change): Choice {
  if (!change) return everything(['there is no base to compare with'])
  const sources = [...readSources('src'), ...readSources('bin')]
  const tests = readSources('test').filter(({ path }) => path.endsWith('.test.ts'))
  const changes = change.paths.map((path) => ({ path, rules: findRules(path, sources) }))
  const reasons = changes.flatMap(({ path, rules }) =>
    rules.length === 0
      ? [{ path, reason: 'no rule names it' }]
      : rules.map(({ reason }) => ({ path, reason })),
  )
  const isBroad = ({ rules }: { rules: Rule[] }) =>
    rules.length === 0 || rules.some(({ adds }) => adds === 'everything')
  if (changes.some(isBroad)) return everything(listReasons(reasons))
  const isText = ({ rules }: { rules: Rule[] }) => rules.every((rule) => rule.isText === true)
  if (changes.length > 0 && changes.every(isText)) {
    const top = listFiles('process').filter((file) => !file.includes('/', 'test/'.length))
    return { files: new Map([['process', top]]), reasons: ['only texts: the tests of the repository itself'] }
  }

  const selection = new Map<LaneName, Set<string>>(NAMES.map((name) => [name, listGate(name)]))
  for (const { path, rules } of changes)
    for (const { lane, file } of listAdditions(path, rules, tests)) selection.get(lane)?.add(file)
  return {
    files: ordered(selection),
    reasons: changes.length === 0 ? ['nothing differs from it'] : listReasons(reasons),
  }
}

/** Returns a line for each reason, with the first of its paths. */
function listReasons(reasons: readonly { path: string; reason: string }[]): string[] {
  return [...Map.groupBy(reasons, ({ reason }) => reason)].map(([reason, paths]) => {
    const examples = paths.slice(0, SHOWN_PATHS).map(({ path }) => path)
    const rest = paths.length > SHOWN_PATHS ? ` and ${paths.length - SHOWN_PATHS} more` : ''
    return `${reason}: ${examples.join(', ')}${rest}`
  })
}

/** The tests of the list that no change needs. */
function listGate(name: LaneName): Set<string> {
  const files = GATE[name]
  if (files === undefined) return new Set()
  return new Set(typeof files === 'string' ? listFiles(name) : Object.keys(files))
}

/** Lists the tests of one changed file: tests of its rules, tests that import it, and the file itself. */
function listAdditions(path: string, rules: readonly Rule[], tests: readonly Source[]): Addition[] {
  const adds = rules.flatMap(({ adds }) => (adds === 'everything' ? [] : adds))
  const importing = new Set(
    tests.filter(({ imports }) => imports.some(({ to }) => to === path)).map((one) => one.path),
  )
  const isAdded = (lane: LaneName, file: string) =>
    importing.has(file) || adds.some((one) => one === lane || (one instanceof RegExp && one.test(file)))
  return NAMES.flatMap((lane) =>
    listFiles(lane)
      .filter((file) => file === path || (lane !== 'measures' && isAdded(lane, file)))
      .map((file) => ({ lane, file })),
  )
}

/** `measures` is for quiet machines: the gate runs such a test only when the test itself changes. */
function everything(reasons: string[]): Choice {
  return {
    files: new Map(NAMES.filter((name) => name !== 'measures').map((name) => [name, listFiles(name)])),
    reasons,
    isEverything: true,
  }
}

function ordered(selection: ReadonlyMap<LaneName, ReadonlySet<string>>): Map<LaneName, string[]> {
  return new Map(
    [...selection].filter(([, files]) => files.size > 0).map(([name, files]) => [name, [...files].sort()]),
  )
}
