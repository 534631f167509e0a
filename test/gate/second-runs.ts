// Checks test/second-runs.txt: a test of the gate that needed a second run twice fails `npm run check`.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const PATH = join(import.meta.dirname, '../second-runs.txt')
const LINE = /^(\d{4}-\d{2}-\d{2})\t([0-9a-f]{7,40})\t(test\/\S+\.test\.ts)\t([^\t]+)\t([^\t]+)$/

/** Returns the faults of a list of second runs: lines of another form, and tests that are in it twice. */
export function checkSecondRuns(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const malformed = lines.filter((line) => !LINE.test(line))
  const tests = Map.groupBy(
    lines.filter((line) => LINE.test(line)),
    (line) => line.split('\t').slice(2, 4).join(': '),
  )
  const repeated = [...tests].filter(([, entries]) => entries.length > 1).map(([name]) => name)
  return [
    ...malformed.map((line) => `a line is no date, commit, file, test and failure: ${line}`),
    ...repeated.map((name) => `a second entry: mend the test, or take it from the gate: ${name}`),
  ]
}

if (import.meta.main) {
  const faults = checkSecondRuns(readFileSync(PATH, 'utf8'))
  for (const fault of faults) process.stderr.write(`test/second-runs.txt: ${fault}\n`)
  process.exitCode = faults.length > 0 ? 1 : 0
}
