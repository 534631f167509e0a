import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadCommands } from '../../../../src/cli/commands.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const NAMED = /\bcambista ([a-z][a-z-]+) ([a-z][a-z-]+)/g
const PROSE = new Set(['in']) // "a cambista database in DIR"

test('help, manual, README and messages name commands that exist', async () => {
  const names = new Set((await loadCommands()).map(({ name }) => name))
  const groups = new Set([...names].map((name) => name.split(' ')[0]))
  const paths = globSync(['README.md', 'src/**/*.{ts,md,txt}'], { cwd: ROOT })
  const unknown = paths.flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8').replace(/\s+/g, ' ')
    return [...text.matchAll(NAMED)].flatMap(([, group = '', word = '']) => {
      const isKnown = names.has(`${group} ${word}`) || names.has(group) || PROSE.has(word)
      return !groups.has(group) || isKnown ? [] : [`${path}: cambista ${group} ${word}`]
    })
  })
  assert.ok(paths.length > 300)
  assert.deepEqual(unknown, [])
})
