// Reads the imports and holds the house rules: layers only import downward, each dependency has one door.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')

// From the top down. A file imports only from its own place or from below.
const LAYERS = ['bin', 'main', 'cli', 'app', 'demo', 'http', 'sync', 'domain', 'providers', 'store', 'words']
// The demo bank stands beside the layers: it may know what a provider is, nothing else.
const DEMO_MAY_IMPORT = new Set(['demo', 'providers', 'words'])
// A table's row names the side of a rate as the provider does, and a window is a window everywhere: the
// vocabulary of providers/provider.ts is shared with the store, as types only.
const SHARED_TYPES = 'src/providers/provider.ts'

const DOORS: Record<string, (path: string) => boolean> = {
  h3: (path) => path.startsWith('src/http/'),
  srvx: (path) => path.startsWith('src/http/'),
  ofetch: (path) => path.startsWith('src/providers/'),
  kysely: (path) => path.startsWith('src/store/'),
  'better-sqlite3': (path) => path.startsWith('src/store/'),
  'prom-client': (path) => path === 'src/http/metrics.ts',
  croner: (path) => path === 'src/schedule.ts',
  'decimal.js': (path) => path === 'src/decimal.ts',
  '@valibot/to-json-schema': (path) => path === 'src/http/openapi.ts',
  valibot: (path) => path.startsWith('src/'),
  'content-disposition': (path) => path === 'src/http/documents.ts',
  'range-parser': (path) => path === 'src/http/documents.ts',
  htmlparser2: (path) => path === 'src/plain-text.ts',
  'csv-parse': (path) => path === 'src/domain/directory-file.ts',
}

type Import = { from: string; to: string; typeOnly: boolean }
type Source = { path: string; text: string; lines: number; imports: Import[] }

const sources = [...read('src'), ...read('bin')]

test('imports only go down the layers', () => {
  const wrong = locals().filter(({ from, to, typeOnly }) => {
    if (typeOnly && to === SHARED_TYPES) return false
    const [above, below] = [layerOf(from), layerOf(to)]
    if (above === 'demo') return !DEMO_MAY_IMPORT.has(below)
    return LAYERS.indexOf(above) > LAYERS.indexOf(below)
  })
  assert.deepEqual(wrong, [])
})

test('each dependency has one door', () => {
  const wrong = sources.flatMap(({ path, imports }) =>
    imports
      .filter(({ to }) => !isLocal(to) && !to.startsWith('node:'))
      .filter(({ to }) => !DOORS[packageOf(to)]?.(path))
      .map(({ to }) => `${path} imports ${to}`),
  )
  assert.deepEqual(wrong, [])
})

test('no import goes in a circle', () => {
  const next = new Map(sources.map(({ path, imports }) => [path, imports.map(({ to }) => to)]))
  const circles: string[] = []
  const visit = (path: string, trail: string[]) => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' > '))
    else if (!done.has(path)) {
      for (const to of next.get(path) ?? []) visit(to, [...trail, path])
      done.add(path)
    }
  }
  const done = new Set<string>()
  for (const { path } of sources) visit(path, [])
  assert.deepEqual(circles, [])
})

test('every import of ours names a file that is there', () => {
  const known = new Set(sources.map(({ path }) => path))
  assert.deepEqual(
    locals().filter(({ to }) => !known.has(to)),
    [],
  )
})

test('no index files, no default exports, no file over 250 lines', () => {
  const wrong = sources.filter(
    ({ path, text, lines }) => path.endsWith('/index.ts') || /^export default/m.test(text) || lines > 250,
  )
  assert.deepEqual(
    wrong.map(({ path, lines }) => `${path} ${lines}`),
    [],
  )
})

test('only main and cli look at the process and its environment', () => {
  const wrong = sources.filter(
    ({ path, text }) =>
      !['bin', 'main', 'cli'].includes(layerOf(path)) && /\bprocess\.(env|argv|exit|on)\b/.test(text),
  )
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('the top level holds what the project says it holds', () => {
  const allowed = new Set(
    'package.json tsconfig.json src schema.sql bin test build.mjs README.md package-lock.json LICENSE biome.json'.split(
      ' ',
    ),
  )
  const ignored = new Set(['node_modules', 'dist', 'cambista-data'])
  const extra = readdirSync(ROOT).filter(
    (name) => !name.startsWith('.') && !allowed.has(name) && !ignored.has(name),
  )
  assert.deepEqual(extra, [])
})

function read(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => {
      const path = join(folder, name)
      const text = readFileSync(join(ROOT, path), 'utf8')
      return { path, text, lines: text.split('\n').length - 1, imports: importsOf(path, text) }
    })
}

function importsOf(path: string, text: string): Import[] {
  const found: Import[] = []
  for (const match of text.matchAll(
    /^(?:import|export)\s(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm,
  )) {
    const name = match[2] ?? match[3] ?? match[4] ?? ''
    const to = name.startsWith('.') ? relative(ROOT, join(ROOT, dirname(path), name)) : name
    found.push({ from: path, to, typeOnly: match[1] !== undefined })
  }
  return found
}

function locals(): Import[] {
  return sources.flatMap(({ imports }) => imports).filter(({ to }) => isLocal(to))
}

function isLocal(to: string): boolean {
  return to.startsWith('src/') || to.startsWith('bin/')
}

function layerOf(path: string): string {
  const [top, second = ''] = path.split('/')
  if (top === 'bin') return 'bin'
  const name = second.replace(/\.ts$/, '')
  return LAYERS.includes(name) ? name : 'words'
}

function packageOf(name: string): string {
  return name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] ?? name)
}
