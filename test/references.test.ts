// Checks references of comments and documents: each numbered rule has an entry, each path a file.

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
const REFERENCE = new RegExp(
  String.raw`\b(decisions|upstream) (${NUMBER}(?:(?:, | and | to )${NUMBER})*)`,
  'g',
)

type Book = keyof typeof BOOKS
type Reference = { path: string; book: Book; number: string }

test('each rule number in a comment has an entry', () => {
  const references = [...listSources('src'), ...listSources('test'), 'schema.sql', 'build.mjs'].flatMap(
    (path) => findReferences(path, readFileSync(join(ROOT, path), 'utf8')),
  )
  assert.ok(references.length > 100, 'the references are not found any more')
  const entries = { decisions: listEntries('decisions'), upstream: listEntries('upstream') }
  assert.deepEqual(
    references.filter(({ book, number }) => !entries[book].has(number)),
    [],
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
    if (!/createLruCache(<[^(]+)?\(\w*BYTES|createSharedCache|MAX_STATEMENTS/.test(text)) return []
    const sizes = [
      ...text.matchAll(/^const (?:CACHE|COLUMN|STATE|ADDRESSES)_BYTES = (?:(\d+) \* )?1024 \* 1024$/gm),
    ]
    const [, count] = /^const MAX_STATEMENTS = (\d+)$/m.exec(text) ?? []
    return [[relative('src', path), count ?? `${sizes.map(([, size = '1']) => size).join(' and ')} MiB`]]
  })
  assert.equal(bounds.length, 8)
  for (const [path = '', bound] of bounds) assert.equal(rows.get(path), bound, path)
})

test('findReferences parses lists, ranges and references over two lines', () => {
  const text = `// It is so (decisions 1.4 to 1.6, 2.10 and 3.7), as the bank
// has it (upstream
// 4). A dozen decisions 12 lines below.`
  const references = findReferences('a.ts', text).map(({ book, number }) => `${book} ${number}`)
  assert.deepEqual(references, [
    'decisions 1.4',
    'decisions 1.5',
    'decisions 1.6',
    'decisions 2.10',
    'decisions 3.7',
    'upstream 4',
    'decisions 12',
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
  return [...oneLine.matchAll(REFERENCE)].flatMap(([, book, list = '']) =>
    expandList(list).map((number) => ({ path, book: book as Book, number })),
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

/** Returns the numbers of the headings of a book: `## 2. Rates` and `### 2.6 Holes`. */
function listEntries(book: Book): Set<string> {
  const text = readFileSync(join(ROOT, BOOKS[book]), 'utf8')
  return new Set(
    [...text.matchAll(new RegExp(`^#+ (${NUMBER})\\.? `, 'gm'))].map(([, number = '']) => number),
  )
}
