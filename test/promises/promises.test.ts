// The promises of 1.x (`cambista manual promises`).

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readPromises } from './file.ts'
import { collectPromises } from './present.ts'

const MANUAL = join(import.meta.dirname, '../../src/manual')
const promised = readPromises()
const present = await collectPromises({ after: (done) => after(done as () => void) })

test('nothing that was promised goes away, and nothing more is required', () => {
  for (const [section, lines] of Object.entries(promised)) {
    const names = new Set(present[section])
    assert.deepEqual(
      lines.filter((line) => !names.has(line)),
      [],
      `${section}: these are gone`,
    )
  }
  for (const section of ['endpoints', 'commands']) {
    const before = promised[section] ?? []
    const added = (present[section] ?? []).filter((line) => line.includes('!') && !before.includes(line))
    const required = added.filter((line) => before.includes(line.replace(/ (\?|--).*$/, '')))
    assert.deepEqual(required, [], `${section}: these are required since`)
  }
})

test('the file of promises has all that the program has', () => {
  for (const [section, lines] of Object.entries(present)) {
    const added = lines.filter((line) => !promised[section]?.includes(line))
    assert.deepEqual(added, [], `${section}: run node test/promises/file.ts`)
  }
})

for (const page of ['logs.md', 'es/logs.md']) {
  test(`each event in ${page} is one of the log`, () => {
    const [, table = ''] =
      /\n\|[^\n]+\n\|---\|---\|---\|\n((?:\|.*\n)+)/.exec(readFileSync(join(MANUAL, page), 'utf8')) ?? []
    const rows = table.trimEnd().split('\n')
    assert.ok(rows.length > 15)
    for (const row of rows) {
      const [first = '', ...others] = [...(row.split('|')[1] ?? '').matchAll(/`(.+?)`/g)].map(
        ([, name = '']) => name,
      )
      const start = first.slice(0, first.indexOf(' ') + 1)
      for (const name of [first, ...others]) {
        const isEvent = (event: string) =>
          name.startsWith('… ') ? event.startsWith(start) && event.endsWith(name.slice(1)) : event === name
        assert.ok(present.events?.some(isEvent), name)
      }
    }
  })
}
