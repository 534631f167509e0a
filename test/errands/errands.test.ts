// Each errand of CONTRIBUTING.md adds files, and a line to a list. Its folder has these files and lines. The test adds
// them to a copy of the sources.

import assert from 'node:assert/strict'
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { compile, copyLauncher, copyRepository, copySources, runTests, TESTS } from './copy.ts'

/** A text to insert into an existing file, before another text: the first one behind `after`, if that is set. */
type Line = { file: string; before: string; after?: string; add: string }

/** Does errands on a copy, by default one of the sources alone. */
function applyErrands(t: TestContext, errands: readonly string[], copy = copySources(t)): string {
  for (const errand of errands) {
    const folder = join(import.meta.dirname, errand)
    const added = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    for (const name of added.filter((one) => one.endsWith('.ts'))) {
      assert.ok(!existsSync(join(copy, 'src', name)), `${name} is there already`)
    }
    cpSync(join(folder, 'src'), join(copy, 'src'), { recursive: true })
    for (const line of readLines(errand)) put(copy, line)
  }
  return copy
}

function readLines(errand: string): Line[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, errand, 'lines.json'), 'utf8'))
}

function put(copy: string, { file, before, after = '', add }: Line): void {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  const from = text.indexOf(after)
  const at = text.indexOf(before, from + after.length)
  assert.ok(from >= 0 && at >= 0, `${file} has no ${before}`)
  writeFileSync(path, text.slice(0, at) + add + text.slice(at))
}

const TOUCHED: Record<string, number> = { command: 2, endpoint: 2, face: 3, form: 2 }

for (const [errand, most] of Object.entries(TOUCHED)) {
  test(`the errand ${errand} touches no more existing files than ${most}`, () => {
    assert.ok(new Set(readLines(errand).map(({ file }) => file)).size <= most)
  })
}

test('done together they satisfy the compiler', async (t) => {
  await compile(applyErrands(t, Object.keys(TOUCHED)))
})

const FIELD_PLACES = [
  'src/domain/documents/uploads/checks.ts',
  'src/domain/documents/uploads/faults.ts',
  'src/domain/documents/uploads/fingerprint.ts',
  'src/domain/documents/uploads/links.ts',
  'src/domain/documents/uploads/store.ts',
  'src/domain/documents/uploads/upload.ts',
  'src/domain/documents/uploads/uploaded-files.ts',
  'src/domain/mail/store-mail.ts',
  'src/http/documents/table.ts',
  'src/http/documents/uploads/collector.ts',
  'src/http/documents/uploads/endpoints.ts',
  'src/http/documents/uploads/form-body.ts',
  'src/http/documents/uploads/form-part.ts',
  'src/http/documents/uploads/json-listener.ts',
  'src/http/documents/uploads/raw-body.ts',
  'src/http/documents/uploads/shapes.ts',
  'src/http/listings/document-shape.ts',
  'src/http/listings/filter.ts',
  'src/http/mcp/documents/uploads.ts',
  'src/store/documents/attachments.ts',
  'src/store/documents/documents.ts',
]

test('the compiler names each place of a new field of a document', async (t) => {
  const copy = copySources(t)
  const documents = 'src/store/documents/documents.ts'
  put(copy, { file: documents, after: 'type FileFields', before: "'mimetype'", add: "'folder' | " })
  put(copy, { file: documents, after: 'type PartyFields', before: 'companyId', add: 'groupId: number; ' })
  const tables = 'src/store/document-tables.ts'
  put(copy, { file: tables, after: 'attachments: {', before: 'mimetype', add: 'folder: string; ' })
  put(copy, { file: tables, after: 'documents: {', before: 'company_id', add: 'group_id: number; ' })
  const errors = await compile(copy).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
  const places = errors.matchAll(/^([^(\s]+)\(/gm).map(([, file]) => file)
  assert.deepEqual([...new Set(places)].sort(), FIELD_PLACES)
})

test('a command that was added runs, and is in the help', async (t) => {
  const copy = applyErrands(t, ['command'])
  const dataDir = join(temporaryDirectory(t), 'data')
  const cambista = async (...words: string[]) => {
    const program = startProgram(t, words, {}, copyLauncher(copy))
    assert.equal(await program.waitForExit(), 0, program.printed.err)
    return program.printed.out
  }
  await cambista('key', 'create', 'erp', '--data-dir', dataDir)
  assert.equal(await cambista('rates', 'count', '--data-dir', dataDir), '0 values are stored\n')
  assert.match(await cambista('--help'), /rates count/)
})

test('a command that was added breaks no test', async (t) => {
  await runTests(applyErrands(t, ['command'], copyRepository(t)), TESTS)
})

test('an endpoint, a face and a form that were added answer', async (t) => {
  const copy = applyErrands(t, ['endpoint', 'face', 'form'])
  const dataDir = join(temporaryDirectory(t), 'data')
  const making = startProgram(t, ['key', 'create', 'erp', '--data-dir', dataDir], {}, copyLauncher(copy))
  assert.equal(await making.waitForExit(), 0)
  const key = making.printed.out.trim()
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir]
  const [, url] = await startProgram(t, words, {}, copyLauncher(copy)).waitForOutput(/listening url=(\S+)/)
  const ask = async (path: string, options: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, options)
    return [response.status, await response.text(), response.headers.get('content-type')] as const
  }
  const headers = { 'X-API-Key': key }
  const [status, currencies] = await ask('/api/v1/currencies', { headers })
  assert.equal(status, 200)
  assert.ok(JSON.parse(currencies).includes('USD'))
  assert.equal((await ask('/api/v1/currencies'))[0], 401)

  const [, description] = await ask('/openapi.json')
  const { paths } = JSON.parse(description)
  assert.deepEqual(Object.keys(paths['/hello']).sort(), ['get', 'post'])
  const history = paths['/api/v1/series/{series_id}/history'].get.responses[200].content
  assert.deepEqual(Object.keys(history), [
    'application/json',
    'text/plain',
    'text/csv',
    'application/x-ndjson',
  ])

  assert.deepEqual((await ask(`/hello?key=${key}&name=Ana`)).slice(0, 2), [200, '"hello, Ana"'])
  assert.deepEqual((await ask(`/hello?key=${key}`, { method: 'POST' })).slice(0, 2), [200, '"HELLO, YOU"'])
  const [refused, why] = await ask('/hello?key=wrong')
  assert.deepEqual([refused, JSON.parse(why).no], [401, 401])
  assert.deepEqual((await ask(`/hello/there?key=${key}`)).slice(0, 2), [404, '{"no":404,"why":"Not found"}'])
  assert.deepEqual((await ask('/')).slice(0, 2), [200, 'come in'])
  assert.equal((await ask('/nothing'))[1], '{"detail":"Not found"}')

  const path = '/api/v1/series/1/history'
  const text = await ask(path, { headers: { ...headers, Accept: 'text/plain' } })
  assert.deepEqual(text, [200, 'day value\n', 'text/plain; charset=utf-8'])
  const [, json, type] = await ask(path, { headers })
  assert.deepEqual([JSON.parse(json).count, type], [0, 'application/json; charset=utf-8'])
})

test('each errand has its folder', () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((one) => one.isDirectory())
  assert.deepEqual(folders.map(({ name }) => name).sort(), Object.keys(TOUCHED).sort())
})
