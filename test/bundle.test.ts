// The build loads; packages of the executable's first chunk; no module is in two chunks.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { countStart, readBudget } from './budget/budget.ts'

type Chunk = { name: string; code: string; inputs: string[] }
type Bundler = { bundleProgram(): Promise<Chunk[]>; bundleMailReader(): Promise<Chunk> }

const BUNDLER: string = new URL('../src/bundle.mjs', import.meta.url).href
const { bundleProgram, bundleMailReader }: Bundler = await import(BUNDLER)
const chunks = await bundleProgram()
const mailReader = await bundleMailReader()
const [first, ...later] = chunks
/** Share of the counts; a higher one changes test/bench/budget.json alone, in a commit with the reason. */
const TOLERANCE = 0.005

test('modules and bytes of the first chunk are those of the budget', () => {
  const { start = {} } = readBudget()
  const now = countStart(first)
  assert.deepEqual(Object.keys(start), Object.keys(now))
  for (const [name, count] of Object.entries(start)) {
    const text = `${name}: ${now[name]} instead of ${count}; node test/budget/budget.ts writes the counts`
    assert.ok(Math.abs((now[name] ?? Number.NaN) - count) <= count * TOLERANCE, text)
  }
})

test('build.mjs loads: its modules have what they import from the sources', () => {
  const script = new URL('../build.mjs', import.meta.url).pathname
  const packages = execFileSync(process.execPath, [script, '--missing'], { encoding: 'utf8' })
  assert.match(packages, /^([a-z0-9.+-]+\n)*$/)
})

test('the first chunk has the packages of a start and no others', () => {
  assert.ok(first)
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
  const twice = [...places].filter(([, chunkNames]) => chunkNames.length > 1)
  assert.deepEqual(twice, [])
})

test('a chunk requires other chunks and modules of Node only', () => {
  const allowed = new Set(chunks.map(({ name }) => `./${name}`))
  const shared = first?.code.matchAll(/"(\.\/[\w-]+\.js)":\(\)=>/g) ?? []
  for (const [, name = ''] of shared) allowed.add(name)
  const required = chunks.flatMap(({ code }) => [...code.matchAll(/(?<!\[)\brequire\("([^"]+)"\)/g)])
  assert.ok(required.length > later.length)
  assert.deepEqual(
    required.map(([, name = '']) => name).filter((name) => !allowed.has(name) && !isBuiltin(name)),
    [],
  )
})

test('the program of the thread that reads mails requires modules of Node only, and is no chunk', () => {
  const required = [...mailReader.code.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name = '']) => name)
  assert.ok(required.includes('node:worker_threads'))
  assert.deepEqual(
    required.filter((name) => !isBuiltin(name)),
    [],
  )
  assert.ok(!chunks.some(({ name }) => name === mailReader.name))
})

test('the program of the thread that reads mails runs without other files', async (t) => {
  const worker = new Worker(mailReader.code, { eval: true, env: {} })
  t.after(() => worker.terminate())
  const raw = readFileSync(new URL('fixtures/mails/zip.eml', import.meta.url))
  assert.deepEqual(await once(worker, 'message'), ['ready'])
  worker.postMessage({ raw: new Uint8Array(raw).buffer, ignore: [] })
  const [mail]: { parts: { name: string }[] }[] = await once(worker, 'message')
  assert.deepEqual(
    mail?.parts.map(({ name }) => name),
    ['FE.xml', 'FE.pdf'],
  )
})

test('each chunk is ASCII, which V8 stores in a byte a character', () => {
  const wide = [...chunks, mailReader].filter(({ code }) => /[^\0-\x7f]/.test(code))
  assert.deepEqual(
    wide.map(({ name }) => name),
    [],
  )
})
