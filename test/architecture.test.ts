// Reads the imports and holds the house rules: layers only import downward, each dependency has one door.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')

// From the top down. A file imports only from its own place or from below. Folders of a layer have their order too;
// files that lie directly in a layer's folder may stand above them or below, as long as nothing goes in a circle.
const LAYERS = [
  'bin',
  'main',
  ['cli', 'language', 'service', 'commands', 'place'],
  'app',
  'demo',
  ['web', 'rates', 'documents', 'status', 'session', 'parts', 'server', 'texts', 'words'],
  [
    'http',
    'mcp',
    'page',
    'status',
    'openapi',
    'compat',
    'rates',
    'documents',
    'listener',
    'api',
    'credentials',
  ],
  ['sync', 'import'],
  'hooks',
  ['domain', 'doctor', 'move', 'backup', 'documents', 'hooks', 'directory', 'rates'],
  ['providers', ...foldersIn('src/providers')],
  [
    'store',
    'rates',
    'directory',
    'uploads',
    'secrets',
    'hooks',
    'nodes',
    'backup',
    'blobs',
    'postgres',
    'sqlite',
    'move',
  ],
  'spreadsheets',
  'json',
  'words',
].map((layer) => (Array.isArray(layer) ? layer : [layer]))
const NAMES = LAYERS.map(([name]) => name)
// The demo bank stands beside the layers: it may know what a provider is, nothing else.
const DEMO_MAY_IMPORT = new Set(['demo', 'providers', 'words'])
// The page runs in a browser: it shares no file with the program.
const BESIDE = 'web'
// A table's row names the side of a rate as the provider does, and a window is a window everywhere: the
// vocabulary of providers/provider.ts is shared with the store, as types only.
const SHARED_TYPES = 'src/providers/provider.ts'

const KNOW_A_PROVIDER = /^src\/(providers\/list\.ts|demo\/|cli\/commands\/demo\.ts)/

/** Where what only one engine understands may be. */
const ENGINE = /^src\/store\/(sqlite|postgres)\//

const DOORS: Record<string, (path: string) => boolean> = {
  h3: (path) => path.startsWith('src/http/'),
  srvx: (path) => path.startsWith('src/http/'),
  ofetch: (path) => path.startsWith('src/providers/'),
  kysely: (path) => path.startsWith('src/store/'),
  'better-sqlite3': (path) => path.startsWith('src/store/'),
  pg: (path) => path.startsWith('src/store/postgres/'),
  'prom-client': (path) => path === 'src/http/status/metrics.ts',
  asn1js: (path) => path === 'src/cli/commands/certificates/certificate.ts',
  croner: (path) => path === 'src/schedule.ts',
  'decimal.js': (path) => path === 'src/decimal.ts',
  'lru-cache': (path) => path === 'src/lru.ts',
  '@valibot/to-json-schema': (path) => path === 'src/http/openapi/schemas.ts',
  valibot: (path) => path.startsWith('src/'),
  'content-disposition': (path) => path === 'src/http/documents/documents.ts',
  '@fastify/busboy': (path) => path === 'src/http/documents/uploads/form-body.ts',
  'range-parser': (path) => path === 'src/http/documents/documents.ts',
  htmlparser2: (path) =>
    path === 'src/http/documents/plain-text.ts' ||
    path === 'src/http/compat/bccr/xml.ts' ||
    path === 'src/spreadsheets/xml.ts' ||
    path.startsWith('src/providers/'),
  preact: (path) => path.startsWith('src/web/'),
  '@preact/signals': (path) => path.startsWith('src/web/'),
  uplot: (path) => path === 'src/web/rates/chart.ts',
  '@aws-sdk/client-s3': (path) => path === 'src/store/blobs/bucket/client.ts',
  'csv-parse': (path) => path === 'src/spreadsheets/csv.ts',
  yauzl: (path) => path === 'src/spreadsheets/archive.ts',
}

type Import = { from: string; to: string; typeOnly: boolean }
type Source = { path: string; text: string; lines: number; imports: Import[] }

const sources = [...read('src'), ...read('bin')]

test('imports only go down the layers', () => {
  const wrong = locals().filter(({ from, to, typeOnly }) => {
    if (typeOnly && to === SHARED_TYPES) return false
    const [above, below] = [layerOf(from), layerOf(to)]
    if (above === BESIDE || below === BESIDE) return above !== below
    if (above === 'demo') return !DEMO_MAY_IMPORT.has(below)
    return NAMES.indexOf(above) > NAMES.indexOf(below)
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

test('inside a layer imports only go down its folders', () => {
  const wrong = locals().filter(({ from, to }) => {
    const [above, below] = [folderOf(from), folderOf(to)]
    const order = LAYERS.find(([name]) => name === layerOf(from)) ?? []
    if (layerOf(from) !== layerOf(to) || above === '' || below === '') return false
    return order.indexOf(above) > order.indexOf(below)
  })
  assert.deepEqual(wrong, [])
})

test('a provider knows no other one, and only the list and the demo know a provider', () => {
  const ofProvider = (path: string) => (layerOf(path) === 'providers' ? folderOf(path) : '')
  const wrong = locals().filter(({ from, to }) => {
    const provider = ofProvider(to)
    return provider !== '' && ofProvider(from) !== provider && !KNOW_A_PROVIDER.test(from)
  })
  assert.deepEqual(wrong, [])
})

test('every folder of a layer has its place in the order', () => {
  const folders = new Set(sources.map(({ path }) => [layerOf(path), folderOf(path)].join('/')))
  const known = new Set(LAYERS.flatMap(([name, ...inside]) => ['', ...inside].map((one) => `${name}/${one}`)))
  assert.deepEqual([...folders.difference(known)], [])
})

test('no import goes in a circle, neither of files nor of folders', () => {
  assert.deepEqual(
    circlesAmong((path) => path),
    [],
  )
  assert.deepEqual(
    circlesAmong((path) => (folderOf(path) === '' ? path : `${layerOf(path)}/${folderOf(path)}`)),
    [],
  )
})

test('every import of ours names a file that is there', () => {
  assert.deepEqual(
    locals().filter(({ to }) => !existsSync(join(ROOT, to))),
    [],
  )
})

test('no index files, no default exports, no file over 400 lines', () => {
  const wrong = sources.filter(
    ({ path, text, lines }) => path.endsWith('/index.ts') || /^export default/m.test(text) || lines > 400,
  )
  assert.deepEqual(
    wrong.map(({ path, lines }) => `${path} ${lines}`),
    [],
  )
})

test('transactions are those of the engine, which may do their work twice', () => {
  const wrong = sources.filter(({ path, text }) => !ENGINE.test(path) && /\.transaction\(/.test(text))
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('raw SQL is only where one engine alone is meant', () => {
  const raw = /^import [^;]*?\b(sql|CompiledQuery)\b[^;]*?from 'kysely'/m
  const wrong = sources.filter(({ path, text }) => !ENGINE.test(path) && raw.test(text))
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('no folder holds more than 25 files', () => {
  const folders = Map.groupBy([...sources, ...read('test')], ({ path }) => dirname(path))
  assert.deepEqual(
    [...folders]
      .filter(([, files]) => files.length > 25)
      .map(([folder, files]) => `${folder} ${files.length}`),
    [],
  )
})

test('directly in src lie the entry and the words that every layer may use', () => {
  const found = readdirSync(join(ROOT, 'src')).filter((name) => name.endsWith('.ts'))
  const known = `app assets dates decimal edit-distance errors file-hash fraction intervals log lru main memory-budget
    periodic records schedule semaphore sizes storage-error turns`
  assert.deepEqual(found.map((name) => name.replace(/\.ts$/, '')).sort(), known.split(/\s+/))
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
    'package.json package-lock.json tsconfig.json biome.json src schema.sql bin test build.mjs README.md CHANGELOG.md LICENSE'.split(
      ' ',
    ),
  )
  const ignored = new Set(['node_modules', 'dist', 'cambista-data'])
  const extra = readdirSync(ROOT).filter(
    (name) => !name.startsWith('.') && !allowed.has(name) && !ignored.has(name),
  )
  assert.deepEqual(extra, [])
})

function foldersIn(path: string): string[] {
  const entries = readdirSync(join(ROOT, path), { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

function read(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules')) // those of test/clients
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
  return NAMES.includes(name) || !second.endsWith('.ts') ? name : 'words'
}

/** The folder inside the layer, or nothing for a file that lies directly in it. */
function folderOf(path: string): string {
  const [, , folder = '', ...rest] = path.split('/')
  return rest.length > 0 ? folder : ''
}

/** The circles that imports make between places, of which a file is in one. */
function circlesAmong(placeOf: (path: string) => string): string[] {
  const next = new Map<string, Set<string>>()
  for (const { from, to } of locals()) {
    const [above, below] = [placeOf(from), placeOf(to)]
    if (above !== below) next.getOrInsertComputed(above, () => new Set()).add(below)
  }
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (place: string, trail: string[]) => {
    if (trail.includes(place)) circles.push([...trail.slice(trail.indexOf(place)), place].join(' > '))
    else if (!done.has(place)) {
      for (const to of next.get(place) ?? []) visit(to, [...trail, place])
      done.add(place)
    }
  }
  for (const place of next.keys()) visit(place, [])
  return circles
}

function packageOf(name: string): string {
  return name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] ?? name)
}

test('tests take their providers from test/support/providers.ts, not from the list of the program', () => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.includes('node_modules'),
  )
  const importing = files.filter((name) =>
    /from '[./]+src\/providers\/list\.ts'/.test(readFileSync(join(ROOT, 'test', name), 'utf8')),
  )
  assert.ok(files.length > 300)
  assert.deepEqual(importing, [])
})
