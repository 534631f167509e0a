// What comments and documents point at is there: each numbered rule has its entry, each path its file.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')
const BOOKS = { decisions: 'src/DECISIONS.md', upstream: 'src/providers/bccr/README.md' }
const DOCUMENTS = [
  'README.md',
  'src/manual/leame.md',
  'src/README.md',
  ...Object.values(BOOKS),
  '.github/CONTRIBUTING.md',
]
const NUMBER = String.raw`\d+(?:\.\d+)?`
const REFERENCE = new RegExp(
  String.raw`\b(decisions|upstream) (${NUMBER}(?:(?:, | and | to )${NUMBER})*)`,
  'g',
)

type Book = keyof typeof BOOKS
type Reference = { path: string; book: Book; number: string }

test('each rule that a comment names has an entry', () => {
  const references = [...sourcesBelow('src'), ...sourcesBelow('test'), 'schema.sql', 'build.mjs'].flatMap(
    (path) => referencesIn(path, readFileSync(join(ROOT, path), 'utf8')),
  )
  assert.ok(references.length > 100, 'the references are not found any more')
  const entries = { decisions: entriesOf('decisions'), upstream: entriesOf('upstream') }
  assert.deepEqual(
    references.filter(({ book, number }) => !entries[book].has(number)),
    [],
  )
})

test('no comment names a number of a page that is not here', () => {
  const elsewhere = [...sourcesBelow('src'), ...sourcesBelow('test')].filter((path) =>
    /\((?:contract|[a-z]+-api),? \d/.test(readFileSync(join(ROOT, path), 'utf8')),
  )
  assert.deepEqual(elsewhere, [])
})

test('lists, ranges and references over two lines are found', () => {
  const text = `// It is so (decisions 1.4 to 1.6, 2.10 and 3.7), as the bank
// has it (upstream
// 4). A dozen decisions 12 lines below.`
  const found = referencesIn('a.ts', text).map(({ book, number }) => `${book} ${number}`)
  assert.deepEqual(found, [
    'decisions 1.4',
    'decisions 1.5',
    'decisions 1.6',
    'decisions 2.10',
    'decisions 3.7',
    'upstream 4',
    'decisions 12',
  ])
})

test('each entry is there once and says something', () => {
  for (const path of Object.values(BOOKS)) {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const numbers = [...text.matchAll(new RegExp(`^#+ (${NUMBER})\\.? `, 'gm'))].map(([, number]) => number)
    assert.equal(new Set(numbers).size, numbers.length, `${path} has a number twice`)
    for (const [, heading, next] of text.matchAll(/^(#{3} .*)\n+(.*)$/gm)) {
      assert.doesNotMatch(next ?? '', /^(#|$)/, `${path}: nothing below "${heading}"`)
    }
  }
})

test('each path in a document is that of a file or folder', () => {
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

test('the lanes that CONTRIBUTING lists are those of .ci/run, with their seconds', () => {
  const script = readFileSync(join(ROOT, '.ci/run'), 'utf8')
  const lanes = [...script.matchAll(/^lane (\d+) (.*)$/gm)].map(([, seconds, command = '']) => [
    command.replace('"$machine"', 'x64'),
    seconds,
  ])
  const listed = readFileSync(join(ROOT, '.github/CONTRIBUTING.md'), 'utf8')
  const rows = [...listed.matchAll(/^\| `(npm [^`]+)` \| .* \| (\d+) \|$/gm)].map(([, ...row]) => row)
  assert.ok(lanes.length >= 5)
  assert.deepEqual(rows, lanes)
})

test('each path that a comment or a script in a test names is there', () => {
  const missing = [...sourcesBelow('src'), ...sourcesBelow('test'), 'schema.sql', 'build.mjs'].flatMap(
    (path) =>
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

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .filter((path) => path !== relative(ROOT, import.meta.filename)) // its examples are none
}

function referencesIn(path: string, text: string): Reference[] {
  const oneLine = text.replace(/\s*\n\s*(?:\/\/|\*|--)?\s*/g, ' ')
  return [...oneLine.matchAll(REFERENCE)].flatMap(([, book, list = '']) =>
    expanded(list).map((number) => ({ path, book: book as Book, number })),
  )
}

/** `1.4 to 1.6, 2.10 and 3.7` as single numbers. */
function expanded(list: string): string[] {
  return list.split(/, | and /).flatMap((part) => {
    const [first = '', last] = part.split(' to ')
    if (last === undefined) return [first]
    const [chapter, from] = first.split('.')
    const to = Number(last.split('.')[1])
    return Array.from({ length: to - Number(from) + 1 }, (_, at) => `${chapter}.${Number(from) + at}`)
  })
}

/** The numbers of the headings of a book: `## 2. Rates` and `### 2.6 Holes`. */
function entriesOf(book: Book): Set<string> {
  const text = readFileSync(join(ROOT, BOOKS[book]), 'utf8')
  return new Set(
    [...text.matchAll(new RegExp(`^#+ (${NUMBER})\\.? `, 'gm'))].map(([, number = '']) => number),
  )
}
