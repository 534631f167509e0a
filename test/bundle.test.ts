// What of the executable's code each start reads, and that no module is in it twice.

import assert from 'node:assert/strict'
import { isBuiltin } from 'node:module'
import { test } from 'node:test'

type Chunk = { name: string; code: string; inputs: string[] }

const BUNDLER: string = new URL('../src/bundle.mjs', import.meta.url).href
const { bundleProgram }: { bundleProgram(): Promise<Chunk[]> } = await import(BUNDLER)
const chunks = await bundleProgram()
const [first, ...later] = chunks
// 5 % above the 1,202,000 bytes of November 2026. A megabyte more makes a start 20 ms longer: before you raise this, compare
// the bench row `start`.
const LARGEST_FIRST = 1_262_000

test('what a start reads is no larger than it was, and has nothing of what is loaded later', () => {
  assert.ok(first)
  assert.ok(first.code.length < LARGEST_FIRST, `${first.code.length} bytes`)
  const packages = first.inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
  const expected = `better-sqlite3 content-disposition croner decimal.js h3 kysely lru-cache range-parser rou3 srvx
    valibot`
  assert.deepEqual([...new Set(packages)].filter(Boolean).sort(), expected.split(/\s+/))
})

test('a module is in one chunk alone, so that its state and its classes are the same for all', () => {
  const places = Map.groupBy(
    chunks.flatMap(({ name, inputs }) => inputs.map((input) => ({ name, input }))),
    ({ input }) => input,
  )
  const twice = [...places].filter(([, found]) => found.length > 1)
  assert.deepEqual(twice, [])
})

test('what a chunk requires is another one, the first, or a module of Node', () => {
  const known = new Set(chunks.map(({ name }) => `./${name}`))
  const shared = first?.code.matchAll(/"(\.\/chunk-\w+\.js)":\(\)=>/g) ?? []
  for (const [, name = ''] of shared) known.add(name)
  const required = chunks.flatMap(({ code }) => [...code.matchAll(/(?<!\[)\brequire\("([^"]+)"\)/g)])
  assert.ok(required.length > later.length)
  assert.deepEqual(
    required.map(([, name = '']) => name).filter((name) => !known.has(name) && !isBuiltin(name)),
    [],
  )
})

test('every chunk is ASCII, which V8 keeps in a byte a character', () => {
  const wide = chunks.filter(({ code }) => /[^\0-\x7f]/.test(code))
  assert.deepEqual(
    wide.map(({ name }) => name),
    [],
  )
})
