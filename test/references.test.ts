// Checks references of comments and documents: each decision and each rule has an entry, each path a file.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')
const BOOKS = { decisions: 'src/DECISIONS.md', upstream: 'src/providers/bccr/README.md' }
const DOCUMENTS = [
  'README.md',
  'src/manual/es/leame.md',
  'src/README.md',
  ...Object.values(BOOKS),
  '.github/CONTRIBUTING.md',
  '.github/SECURITY.md',
]
const NUMBER = String.raw`\d+(?:\.\d+)?`
const ANCHOR = '#[a-z0-9]+(?:-[a-z0-9]+)*'
const REFERENCE = new RegExp(
  String.raw`\b(?:(decisions) ?(${ANCHOR}(?:(?:, | and )${ANCHOR})*)|(upstream) (${NUMBER}(?:(?:, | and | to )${NUMBER})*))`,
  'g',
)

type Book = keyof typeof BOOKS
type Reference = { path: string; book: Book; entry: string }

test('each decision and each rule that a comment cites has an entry', () => {
  const references = [...listSources('src'), ...listSources('test'), 'schema.sql', 'build.mjs'].flatMap(
    (path) => findReferences(path, readFileSync(join(ROOT, path), 'utf8')),
  )
  assert.ok(references.length > 100, 'the references are not found any more')
  const entries = { decisions: listEntries('decisions'), upstream: listEntries('upstream') }
  assert.deepEqual(
    references.filter(({ book, entry }) => !entries[book].has(entry)),
    [],
  )
  const texts = [...listSources('src'), ...listSources('test')].map((path) =>
    readFileSync(join(ROOT, path), 'utf8'),
  )
  assert.deepEqual(
    texts.flatMap((text) => text.match(/\bdecisions \d+\.\d+/g) ?? []),
    [],
    'a decision is cited by its anchor',
  )
})

test('comments cite rules of this repository only', () => {
  const elsewhere = [...listSources('src'), ...listSources('test')].filter((path) =>
    /\((?:contract|[a-z]+-api),? \d/.test(readFileSync(join(ROOT, path), 'utf8')),
  )
  assert.deepEqual(elsewhere, [])
})

test('the table of caches in src/README.md has each LRU cache, each list of statements, and their bounds', () => {
  const [, table = ''] =
    /\n## Caches\n(.*?)\n## /s.exec(readFileSync(join(ROOT, 'src/README.md'), 'utf8')) ?? []
  const rows = new Map(
    [...table.matchAll(/^\|[^|]*\(`([^`]+)`\)[^|]*\|[^|]*\| ([^|]+) \|/gm)].map(([, path, bound]) => [
      path,
      bound,
    ]),
  )
  const bounds = listSources('src').flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    if (
      !/(createLruCache|createCachesByOwner)(<[^(]+)?\(\w*BYTES|createSharedCache|MAX_STATEMENTS/.test(text)
    )
      return []
    const sizes = [
      ...text.matchAll(/^const (?:CACHE|COLUMN|STATE|ADDRESSES)_BYTES = (?:(\d+) \* )?1024 \* 1024$/gm),
    ]
    const [, count] = /^const MAX_STATEMENTS = (\d+)$/m.exec(text) ?? []
    return [[relative('src', path), count ?? `${sizes.map(([, size = '1']) => size).join(' and ')} MiB`]]
  })
  assert.equal(bounds.length, 9)
  for (const [path = '', bound] of bounds) assert.equal(rows.get(path), bound, path)
})

test('findReferences parses lists, ranges and references over two lines', () => {
  const text = `// It is so (decisions#paths, #sync-runs and #as-of), as the bank
// has it (upstream
// 4, 6 and 2.1 to 2.3). A dozen decisions 12 lines below.`
  const references = findReferences('a.ts', text).map(({ book, entry }) => `${book} ${entry}`)
  assert.deepEqual(references, [
    'decisions #paths',
    'decisions #sync-runs',
    'decisions #as-of',
    'upstream 4',
    'upstream 6',
    'upstream 2.1',
    'upstream 2.2',
    'upstream 2.3',
  ])
})

test('each entry is unique and has a text', () => {
  for (const path of Object.values(BOOKS)) {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const numbers = [...text.matchAll(new RegExp(`^#+ (${NUMBER})\\.? `, 'gm'))].map(([, number]) => number)
    assert.equal(new Set(numbers).size, numbers.length, `${path} has a number twice`)
    for (const [, heading, next] of text.matchAll(/^(#{3} .*)\n+(.*)$/gm)) {
      assert.doesNotMatch(next ?? '', /^(#|$)/, `${path}: nothing below "${heading}"`)
    }
  }
})

test('each path in a document exists', () => {
  const missing = DOCUMENTS.flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const places = [ROOT, join(ROOT, 'src'), join(ROOT, dirname(path))]
    const paths = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)`|\]\(([\w./-]+)\)/g)]
      .map(([, code, link]) => code ?? link ?? '')
      .filter((one) => /\/|\.(ts|sql|mjs|md|json|service)$/.test(one))
      .filter(
        (one) =>
          !/NAME|^(\/|\.\/cambista-data|application\/|text\/|npm\/|type\/|dist\/|blobs\/|Bccr\.)/.test(one),
      )
    assert.ok(paths.length > 0 || path.endsWith('DECISIONS.md'), `${path} names no file any more`)
    return paths
      .filter((one) => !places.some((place) => existsSync(join(place, one))))
      .map((one) => `${path}: ${one}`)
  })
  assert.deepEqual(missing, [])
})

test('each path in a comment or a script of a test exists', () => {
  const missing = [...listSources('src'), ...listSources('test'), 'schema.sql', 'build.mjs'].flatMap((path) =>
    [
      ...readFileSync(join(ROOT, path), 'utf8').matchAll(
        /(?<![\w./]|\.\.\/)(?:\.\/)?((?:src|test)\/[\w/.-]+\.ts)\b/g,
      ),
    ]
      .map(([, named = '']) => named)
      .filter((named) => !/NAME/.test(named) && !existsSync(join(ROOT, named)))
      .map((named) => `${path}: ${named}`),
  )
  assert.deepEqual(missing, [])
})

function listSources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .filter((path) => path !== relative(ROOT, import.meta.filename)) // without its own examples
}

function findReferences(path: string, text: string): Reference[] {
  const oneLine = text.replace(/\s*\n\s*(?:\/\/|\*|--)?\s*/g, ' ')
  return [...oneLine.matchAll(REFERENCE)].flatMap(([, decisions, anchors = '', , numbers = '']) =>
    decisions === undefined
      ? expandList(numbers).map((entry) => ({ path, book: 'upstream' as Book, entry }))
      : anchors.split(/, | and /).map((entry) => ({ path, book: 'decisions' as Book, entry })),
  )
}

/** Expands `1.4 to 1.6, 2.10 and 3.7` to single numbers. */
function expandList(list: string): string[] {
  return list.split(/, | and /).flatMap((part) => {
    const [first = '', last] = part.split(' to ')
    if (last === undefined) return [first]
    const [chapter, from] = first.split('.')
    const to = Number(last.split('.')[1])
    return Array.from({ length: to - Number(from) + 1 }, (_, at) => `${chapter}.${Number(from) + at}`)
  })
}

/** Returns the anchors of the decisions, `#jumps`, or the numbers of the headings of a book. */
function listEntries(book: Book): Set<string> {
  const text = readFileSync(join(ROOT, BOOKS[book]), 'utf8')
  const entry =
    book === 'decisions'
      ? new RegExp(`^(?:##.*|\\*\\*.*\\*\\*) \`(${ANCHOR})\``, 'gm')
      : new RegExp(`^#+ (${NUMBER})\\.? `, 'gm')
  const entries = [...text.matchAll(entry)].map(([, name = '']) => name)
  assert.equal(new Set(entries).size, entries.length, `an entry of ${book} is there twice`)
  return new Set(entries)
}
