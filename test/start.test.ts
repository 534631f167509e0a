// What the server loads before its first answer: each module makes a start longer, so a new one is a decision.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startProgram } from './support/program.ts'
import { temporaryDirectory } from './support/temporary.ts'

const LIST = join(import.meta.dirname, 'fixtures/modules-at-start.txt')

/** Files of ours by their path, all others by their package: those are many, and not ours to choose. */
function nameOf(module: string): string {
  const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module) ?? []
  return name === undefined ? module : `package ${name}`
}

for (const locale of ['C', 'es_CR.UTF-8']) {
  test(`before the first 200 the modules of fixtures/modules-at-start.txt are loaded, and no others: ${locale}`, async (t) => {
    await checkStart(t, locale)
  })
}

async function checkStart(t: TestContext, locale: string): Promise<void> {
  const dataDir = join(temporaryDirectory(t), 'data')
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir]
  const loader = join(import.meta.dirname, 'support/list-modules.ts')
  const launcher = [process.execPath, '--import', loader, join(import.meta.dirname, '../bin/cambista.ts')]
  const server = startProgram(t, words, { LC_ALL: locale }, launcher as [string, ...string[]])
  const [, url] = await server.says(/listening url=(\S+)/)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  const lines = server.printed.err.matchAll(/^module (.*)$/gm)
  const modules = new Set([...lines].map(([, module = '']) => nameOf(module)))
  const expected = new Set(readFileSync(LIST, 'utf8').trim().split('\n'))
  assert.deepEqual([...modules.difference(expected)].sort(), [], 'loaded, and not in the list')
  assert.deepEqual([...expected.difference(modules)].sort(), [], 'in the list, and not loaded')
}
