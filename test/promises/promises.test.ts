// The promises of 1.x (`cambista manual promises`).

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readPromises } from './file.ts'
import { collectPromises } from './present.ts'

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
