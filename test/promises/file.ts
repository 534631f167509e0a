// The file of promises. `node test/promises/file.ts` adds what the program has since, and removes no line.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { collectPromises, type Promises } from './present.ts'

const FILE = join(import.meta.dirname, 'promises.txt')
const HEADING = '## '

/** Reads the lines of each section. */
export function readPromises(): Promises {
  const promises: Promises = {}
  let section: string[] = []
  for (const line of readFileSync(FILE, 'utf8').split('\n')) {
    if (line.startsWith(HEADING)) section = promises[line.slice(HEADING.length)] = []
    else if (line !== '') section.push(line)
  }
  return promises
}

function writePromises(promises: Promises): void {
  const sections = Object.entries(promises).map(([name, lines]) => [HEADING + name, ...lines, ''].join('\n'))
  writeFileSync(FILE, sections.join('\n'))
}

if (import.meta.main) {
  test('the file of promises is written', async (t) => {
    const former = readPromises()
    const present = await collectPromises(t)
    const names = [...new Set([...Object.keys(former), ...Object.keys(present)])]
    writePromises(
      Object.fromEntries(
        names.map((name) => [name, [...new Set([...(former[name] ?? []), ...(present[name] ?? [])])].sort()]),
      ),
    )
  })
}
