// Checks the rules of the source tree: imports go down the layers, and each dependency has one door.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { type Import, readSources } from './gate/imports.ts'

const ROOT = join(import.meta.dirname, '..')

// Layers from top to bottom, with their folders in order. A file imports only from its own folder or from below. Files
// directly in a layer may import its folders and be imported by them, without cycles.
const LAYERS = [
  'bin',
  'main',
  ['cli', 'commands', 'service', 'storage', 'parse', 'help', 'options'],
  'app',
  'demo',
  ['web', 'docs', 'rates', 'documents', 'status', 'session', 'components', 'api', 'i18n', 'model'],
  [
    'http',
    'mcp',
    'web',
    'status',
    'openapi',
    'compat',
    'rates',
    'documents',
    'figures',
    'listings',
    'listener',
    'access',
    'endpoint',
  ],
  ['sync', 'import', 'indicators', 'windows'],
  [
    'domain',
    'operations',
    'mail',
    'invoices',
    'documents',
    'hooks',
    'directory',
    'access',
    'indicators',
    'rates',
  ],
  ['providers', ...listFolders('src/providers')],
  [
    'store',
    'indicators',
    'rates',
    'access',
    'directory',
    'hooks',
    'mail',
    'blobs',
    'postgres',
    'sqlite',
    'cluster',
    'documents',
  ],
  ['formats', 'mail', 'invoices', 'sheets', 'json'],
  'runtime',
  'values',
].map((layer) => (Array.isArray(layer) ? layer : [layer]))
const NAMES = LAYERS.map(([name]) => name)
// The fake bank is beside the layers and may import providers only.
const DEMO_MAY_IMPORT = new Set(['demo', 'providers', 'runtime', 'values'])
const WEB = 'web'
/** Files of the program that the page, in a browser, may import: pure, without other imports. */
const WEB_MAY_IMPORT: ReadonlySet<string> = new Set(
  ['dates', 'fraction', 'intervals', 'upload-types'].map((name) => `src/values/${name}.ts`),
)
// Types of sides and windows, which the store shares with the providers.
const SHARED_TYPES = 'src/providers/provider.ts'

const KNOW_A_PROVIDER = /^src\/(providers\/list\.ts|demo\/|cli\/commands\/demo\.ts)/

/** Folders for code that only one engine understands. */
const ENGINE = /^src\/store\/(sqlite|postgres)\//

/** Faces of the server. A folder below them has what several of them use. */
const FACES: ReadonlySet<string> = new Set(['mcp', 'web', 'status', 'compat', 'rates', 'documents'])

/** Folders that may ask which engine it is. */
const MAY_ASK = /^src\/(store|domain\/operations)\//

const DOORS: Record<string, (path: string) => boolean> = {
  h3: (path) => path.startsWith('src/http/'),
  srvx: (path) => path.startsWith('src/http/'),
  ofetch: (path) => path.startsWith('src/providers/') || path === 'src/domain/mail/credentials.ts',
  imapflow: (path) => path === 'src/domain/mail/imap.ts',
  kysely: (path) => path.startsWith('src/store/'),
  'better-sqlite3': (path) => path.startsWith('src/store/'),
  pg: (path) => path.startsWith('src/store/postgres/'),
  'prom-client': (path) => path === 'src/http/status/metrics.ts',
  asn1js: (path) =>
    path === 'src/cli/commands/certificates/certificate.ts' || path === 'src/formats/mail/containers.ts',
  croner: (path) => path === 'src/runtime/schedule.ts',
  'decimal.js': (path) => path === 'src/values/decimal.ts',
  'lru-cache': (path) => path === 'src/runtime/lru.ts',
  '@valibot/to-json-schema': (path) => path === 'src/http/openapi/schemas.ts',
  valibot: (path) => path.startsWith('src/'),
  'content-disposition': (path) => path === 'src/http/listings/download.ts',
  '@fastify/busboy': (path) => path === 'src/http/documents/uploads/form-body.ts',
  'range-parser': (path) => path === 'src/http/documents/documents.ts',
  htmlparser2: (path) =>
    path === 'src/http/documents/plain-text.ts' ||
    path === 'src/formats/xml.ts' ||
    path === 'src/formats/invoices/elements.ts' ||
    path === 'src/formats/sheets/xml.ts' ||
    path.startsWith('src/providers/'),
  preact: (path) => path.startsWith('src/web/'),
  '@preact/signals': (path) => path.startsWith('src/web/'),
  marked: (path) => path === 'src/web/docs/pages.ts',
  uplot: (path) => path === 'src/web/rates/trend/chart.ts',
  uqr: (path) => path === 'src/web/model/qr-code.ts',
  '@aws-sdk/client-s3': (path) => path === 'src/store/blobs/bucket/client.ts',
  'csv-parse': (path) => path === 'src/formats/sheets/csv.ts',
  yauzl: (path) => path === 'src/formats/sheets/archive.ts' || path === 'src/formats/mail/zip.ts',
  'postal-mime': (path) => path === 'src/formats/mail/parser.ts',
}

/**
 * Names that two files may declare: both mean the same thing. The page shares no types with the program, so it has its
 * own type of what it receives.
 */
const SHARED_NAMES: Readonly<Record<string, string>> = {
  Agent: 'an agent, as the page receives it',
  Conversion: 'an answer of /convert, as the page receives it',
  Language: 'the languages of the page, and of messages',
  Stat: 'the figure of a month, as the page requests it',
  atomically: 'the function, and that of an engine behind it',
}

/** Places that read the words of an error, each with its reason. Other places decide by codes. */
const READ_WORDS: Readonly<Record<string, string>> = {
  'src/runtime/errors.ts': 'a text names its cause once; nothing is decided',
  'src/runtime/outgoing-proxies.ts': 'fetch and the client of IMAP have the status of a proxy in words alone',
  'src/store/migrations.ts': 'runs of earlier versions have no code; their messages are read once',
  'src/store/postgres/connection-settings.ts': 'poolers refuse options by words alone',
  'src/store/postgres/postgres-errors.ts': 'pg and poolers have errors without a code',
}

const sources = [...readSources('src'), ...readSources('bin')]

test('imports only go down the layers', () => {
  const wrong = locals().filter(({ from, to, typeOnly }) => {
    if (typeOnly && to === SHARED_TYPES) return false
    const [above, below] = [layerName(from), layerName(to)]
    if (above === WEB || below === WEB) return above !== below && !WEB_MAY_IMPORT.has(to)
    if (above === 'demo') return !DEMO_MAY_IMPORT.has(below)
    return NAMES.indexOf(above) > NAMES.indexOf(below)
  })
  assert.deepEqual(wrong, [])
})

test('the files that the page shares with the program import nothing but each other', () => {
  const shared = sources.filter(({ path }) => WEB_MAY_IMPORT.has(path))
  assert.equal(shared.length, WEB_MAY_IMPORT.size)
  const others = shared.flatMap(({ imports }) => imports).filter(({ to }) => !WEB_MAY_IMPORT.has(to))
  assert.deepEqual(others, [])
})

test('each dependency has one door', () => {
  const wrong = sources.flatMap(({ path, imports }) =>
    imports
      .filter(({ to }) => !isLocal(to) && !to.startsWith('node:'))
      .filter(({ to }) => !DOORS[packageName(to)]?.(path))
      .map(({ to }) => `${path} imports ${to}`),
  )
  assert.deepEqual(wrong, [])
})

test('inside a layer imports only go down its folders', () => {
  const wrong = locals().filter(({ from, to }) => {
    const [above, below] = [folderName(from), folderName(to)]
    const order = LAYERS.find(([name]) => name === layerName(from)) ?? []
    if (layerName(from) !== layerName(to) || above === '' || below === '') return false
    return order.indexOf(above) > order.indexOf(below)
  })
  assert.deepEqual(wrong, [])
})

test('no face of the server imports a face', () => {
  const face = (path: string) => (layerName(path) === 'http' ? folderName(path) : '')
  const wrong = locals().filter(({ from, to }) => {
    const [above, below] = [face(from), face(to)]
    return above !== below && FACES.has(above) && FACES.has(below)
  })
  assert.deepEqual(wrong, [])
})

test('a provider is imported by the list and the demo only', () => {
  const providerFolder = (path: string) => (layerName(path) === 'providers' ? folderName(path) : '')
  const wrong = locals().filter(({ from, to }) => {
    const provider = providerFolder(to)
    return provider !== '' && providerFolder(from) !== provider && !KNOW_A_PROVIDER.test(from)
  })
  assert.deepEqual(wrong, [])
})

test('LAYERS lists each folder of a layer', () => {
  const folders = new Set(sources.map(({ path }) => [layerName(path), folderName(path)].join('/')))
  const expected = new Set(
    LAYERS.flatMap(([name, ...inside]) => ['', ...inside].map((one) => `${name}/${one}`)),
  )
  assert.deepEqual([...folders.difference(expected)], [])
})

test('imports have no cycle, neither of files nor of folders', () => {
  assert.deepEqual(
    findCycles((path) => path),
    [],
  )
  assert.deepEqual(
    findCycles((path) => (folderName(path) === '' ? path : `${layerName(path)}/${folderName(path)}`)),
    [],
  )
})

test('no file imports two files of one name', () => {
  const wrong = sources.flatMap(({ path, imports }) => {
    const paths = new Set(imports.map(({ to }) => to).filter(isLocal))
    return [...Map.groupBy(paths, (to) => basename(to))]
      .filter(([, files]) => files.length > 1)
      .map(([, files]) => `${path}: ${files.join(', ')}`)
  })
  assert.deepEqual(wrong, [])
})

test('each local import names an existing file', () => {
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

test('a function has at most 80 lines', () => {
  const functions = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^(?:export )?(?:async )?function\*? (\w+)[\s\S]*?^}$/gm)].map(
      ([code, name]) => [`${path} ${name}`, code.split('\n').length] as const,
    ),
  )
  assert.ok(functions.length > 2000)
  assert.deepEqual(
    functions.filter(([, lines]) => lines > 80),
    [],
  )
})

test('only engines call .transaction(), as work may run twice', () => {
  const wrong = sources.filter(({ path, text }) => !ENGINE.test(path) && /\.transaction\(/.test(text))
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('raw SQL is in the folders of engines only', () => {
  const raw = /^import [^;]*?\b(sql|CompiledQuery)\b[^;]*?from 'kysely'/m
  const wrong = sources.filter(({ path, text }) => !ENGINE.test(path) && raw.test(text))
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('import() loads heavy packages and the called command, at 12 places beside the providers at most', () => {
  const places = sources
    .filter(({ path }) => !/^src\/(web\/|providers\/\w+\/)/.test(path))
    .flatMap(({ path, text }) => [...text.matchAll(/\bawait import\(/g)].map(() => path))
  assert.ok(places.includes('src/store/open-engine.ts'))
  assert.ok(places.length <= 12, places.join('\n'))
})

test('only store/ and operations ask which engine is open', () => {
  const question =
    /\b(engine|lock|database|db|reads|node)\??\.(kind|isLease|isShared|isAlone|dialect)\b|\b\w*kind [!=]== '(sqlite|postgres)'/
  const wrong = sources.filter(
    ({ path, text, imports }) =>
      !MAY_ASK.test(path) && (question.test(text) || imports.some(({ to }) => ENGINE.test(to))),
  )
  assert.ok(question.test("const isAlone = engine.kind === 'sqlite'"))
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('decisions are made by codes, never by the words of a message', () => {
  const text = String.raw`\b\w*(?:[mM]essage|[dD]etail)\b`
  const argument = String.raw`(?:[^()]|\((?:[^()]|\([^()]*\))*\))*(?:\w+\([^()]*)?`
  const questions = [
    new RegExp(String.raw`${text}[)\]]*[!?]?\.(?:includes|startsWith|endsWith|match|search|indexOf)\(`),
    new RegExp(String.raw`\.(?:test|exec|includes|startsWith)\(${argument}${text}(?!\()`),
    new RegExp(String.raw`${text}['"\x60]?,?\s+['"\x60]?(?:not )?i?like\b`, 'i'),
  ]
  const readsWords = (code: string) => questions.some((one) => one.test(code))
  for (const code of [
    'run.message?.includes(INTERRUPTED)',
    "eb('message', 'not like', pattern)",
    "/not been synchronized/.test(String(answer?.detail ?? ''))",
    "WHERE message LIKE 'interrupted%'",
    'PATTERN.test(error.message)',
    '/^Document/.test(message)',
  ])
    assert.ok(readsWords(code), code)
  const withoutComments = (code: string) => code.replace(/^\s*(\/\/|\/?\*).*$/gm, '')
  const paths = sources.filter(({ text: code }) => readsWords(withoutComments(code))).map(({ path }) => path)
  assert.deepEqual(paths.sort(), Object.keys(READ_WORDS).sort())
})

test('folders have at most 25 files', () => {
  const folders = Map.groupBy([...sources, ...readSources('test')], ({ path }) => dirname(path))
  assert.deepEqual(
    [...folders]
      .filter(([, files]) => files.length > 25)
      .map(([folder, files]) => `${folder} ${files.length}`),
    [],
  )
})

test('a file of at most 30 lines has a second reader', () => {
  const readers = Map.groupBy(
    [...sources, ...readSources('test')].flatMap(({ path, imports }) =>
      imports.map(({ to }) => ({ path, to })),
    ),
    ({ to }) => to,
  )
  const wrong = sources.filter(({ path, lines }) => {
    const paths = new Set(readers.get(path)?.map((one) => one.path))
    const [reader = ''] = paths
    return lines <= 30 && paths.size === 1 && dirname(reader) === dirname(path)
  })
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('src has the expected files directly in it', () => {
  const files = readdirSync(join(ROOT, 'src')).filter((name) => name.endsWith('.ts'))
  assert.deepEqual(files.sort(), ['app.ts', 'main.ts'])
})

test('only main and cli read the process and its environment', () => {
  const wrong = sources.filter(
    ({ path, text }) =>
      !['bin', 'main', 'cli'].includes(layerName(path)) && /\bprocess\.(env|argv|exit|on)\b/.test(text),
  )
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('the top level has the expected files and folders', () => {
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

test('no two files declare a type of one name, nor a function that one of them exports', () => {
  const types = findNames(/^(export )?(?:declare )?(?:type|interface|class) (\w+)/gm)
  const functions = findNames(/^(export )?(?:async )?function\*? (\w+)/gm)
  const doubled = [...types, ...functions.filter(({ isExported }) => isExported)]
    .filter(({ paths }) => paths.size > 1)
    .map(({ name }) => name)
  assert.ok(types.length > 700 && functions.length > 2000)
  assert.deepEqual(doubled.sort(), Object.keys(SHARED_NAMES).sort())
})

/** Names that the sources declare, and the files of each. `isExported`: one of them exports it. */
function findNames(declaration: RegExp): { name: string; paths: Set<string>; isExported: boolean }[] {
  const declarations = sources.flatMap(({ path, text }) =>
    [...text.matchAll(declaration)].map(([, exported, name = '']) => ({ path, name, exported })),
  )
  return [...Map.groupBy(declarations, ({ name }) => name)].map(([name, places]) => ({
    name,
    paths: new Set(places.map(({ path }) => path)),
    isExported: places.some(({ exported }) => exported !== undefined),
  }))
}

function listFolders(path: string): string[] {
  const entries = readdirSync(join(ROOT, path), { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

function locals(): Import[] {
  return sources.flatMap(({ imports }) => imports).filter(({ to }) => isLocal(to))
}

function isLocal(to: string): boolean {
  return to.startsWith('src/') || to.startsWith('bin/')
}

function layerName(path: string): string {
  const [top, second = ''] = path.split('/')
  if (top === 'bin') return 'bin'
  const name = second.replace(/\.ts$/, '')
  return name
}

/** Returns the folder inside the layer; '' for a file directly in it. */
function folderName(path: string): string {
  const [, , folder = '', ...rest] = path.split('/')
  return rest.length > 0 ? folder : ''
}

/** Returns the cycles of imports between groups of files. */
function findCycles(place: (path: string) => string): string[] {
  const next = new Map<string, Set<string>>()
  for (const { from, to } of locals()) {
    const [above, below] = [place(from), place(to)]
    if (above !== below) next.getOrInsertComputed(above, () => new Set()).add(below)
  }
  const circles: string[] = []
  const visitedGroups = new Set<string>()
  const visit = (place: string, trail: string[]) => {
    if (trail.includes(place)) circles.push([...trail.slice(trail.indexOf(place)), place].join(' > '))
    else if (!visitedGroups.has(place)) {
      for (const to of next.get(place) ?? []) visit(to, [...trail, place])
      visitedGroups.add(place)
    }
  }
  for (const place of next.keys()) visit(place, [])
  return circles
}

function packageName(name: string): string {
  return name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] ?? name)
}

test('tests take random choices from the seed of the run, and fast-check through its door', () => {
  const dice =
    /\bMath\.random\b|\bnow\(\) %|\b[sS]eed\w* [=:] [^\n]*\bnow\(|\b(?:createRandom|configureGlobal)\([^\n]*\bnow\(/
  const files = readSources('test').filter(
    ({ path }) => !/^test\/(bench\/|architecture\.test\.ts)/.test(path),
  )
  const outside = files.filter(({ imports }) => imports.some(({ to }) => to === 'fast-check'))
  const timed = files.filter(({ text }) => dice.test(text))
  assert.ok(dice.test('const seed = Number(text ?? Date.now())'))
  assert.deepEqual(
    [outside, timed].map((wrong) => wrong.map(({ path }) => path)),
    [['test/support/fast-check.ts'], []],
  )
})

test('tests import providers from test/support/providers.ts, not from src/providers/list.ts', () => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.includes('node_modules'),
  )
  const importing = files.filter((name) =>
    /from '[./]+src\/providers\/list\.ts'/.test(readFileSync(join(ROOT, 'test', name), 'utf8')),
  )
  assert.ok(files.length > 300)
  assert.deepEqual(importing, [join('unit', 'providers', 'list.test.ts')])
})
