// The list of the files of an archive. `npm run test:release` compares the archives themselves.

import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { TOPICS } from '../../../src/cli/commands/manual.ts'
import { runCommand } from '../../support/terminal.ts'

type Archive = { archivePapers(): Record<string, string>; PRINTED: Record<string, string[]> }

const ROOT = join(import.meta.dirname, '../../..')
const MODULE = join(ROOT, 'src/packaging/archive.mjs')
const { archivePapers, PRINTED }: Archive = await import(MODULE)

test('`archivePapers` lists licence, README, changelog, and the manual in both languages', () => {
  const english = TOPICS.filter((topic) => topic !== 'leame').map((topic) => `manual/${topic}.md`)
  const spanish = TOPICS.map((topic) => `manual/es/${topic}.md`)
  const papers = archivePapers()
  const expected = ['README.md', 'CHANGELOG.md', 'LICENSE', ...english, ...spanish]
  assert.deepEqual(Object.keys(papers).sort(), expected.sort())
  for (const source of Object.values(papers)) assert.ok(statSync(join(ROOT, source)).size > 500, source)
})

test('each command of PRINTED prints a file', async () => {
  const beginnings = {
    'cambista.service': '# cambista under',
    'completions/cambista.bash': '# Comp',
    'completions/_cambista': '#compdef',
  }
  assert.deepEqual(Object.keys(PRINTED), Object.keys(beginnings))
  for (const [path, beginning] of Object.entries(beginnings)) {
    const { code, out, err } = await runCommand(PRINTED[path] ?? [])
    assert.deepEqual([code, err], [0, ''], path)
    assert.ok(out.startsWith(beginning), path)
  }
})
