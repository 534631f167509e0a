// Examples of each kind and version, and documents that deviate: their facts through upload, list, document and claim.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, post, read, TOKENS } from '../../support/directory.ts'

type Party = { id: string | null } | null
type Invoice = Record<string, unknown> & { issuer?: Party; receiver?: Party }
type Listed = { id: number; name: string; invoice?: Invoice }

const FOLDER = join(import.meta.dirname, '../../fixtures/invoices')
const READ = [
  'bom',
  'latin1',
  'latin1-undeclared',
  'utf16le',
  'says-utf16-is-utf8',
  'leading-space',
  'no-namespace',
]
READ.push('lower-root', 'prefixed', 'cdata', 'comment-in-clave', 'clave-nested', 'date-utc', 'rtl-name')
READ.push('base64-of-the-whole')

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

async function uploadFolder(folder: string): Promise<Map<string, Listed>> {
  const names = readdirSync(join(FOLDER, folder)).sort()
  const documents = names.map((name) => ({
    name,
    mimetype: 'application/octet-stream',
    base64: readFileSync(join(FOLDER, folder, name)).toString('base64'),
  }))
  const response = await post(app, CREATE, batch(...documents))
  const { created_documents } = (await response.json()) as { created_documents: Listed[] }
  const first = created_documents[0]?.id ?? 0
  const list = await read(app, `/api/v1/documents?after=${first - 1}&limit=100`)
  const listed = (await list.json()) as { documents: Listed[] }
  return new Map(listed.documents.map((one) => [one.name, one]))
}

/** Returns the facts in the columns of expected.csv. */
function columns(invoice: Invoice | undefined): Record<string, string> {
  const { issuer, receiver, ...facts } = invoice ?? {}
  const all: Record<string, unknown> = { ...facts, issuer_id: issuer?.id, receiver_id: receiver?.id }
  const names =
    'kind version clave consecutive date issuer_id receiver_id currency exchange_rate total tax outcome'
  return Object.fromEntries(names.split(' ').map((name) => [name, String(all[name] ?? '')]))
}

test('each example has the facts of its line in the list, the document and the claim', async () => {
  const text = readFileSync(join(FOLDER, 'expected.csv'), 'utf8')
  const lines = parse(text, { columns: true }) as Record<string, string>[]
  const listed = await uploadFolder('examples')
  assert.equal(lines.length, 22)
  assert.equal(listed.size, lines.length)
  const headers = { authorization: `Bearer ${TOKENS.work}` }
  const claims = await post(app, '/api/v1/documents/claim', { agent_id: 1, limit: 50 }, headers)
  const { documents } = (await claims.json()) as { documents: Listed[] }
  for (const { file = '', ...expected } of lines) {
    const entry = listed.get(file)
    const document = (await (await read(app, `/api/v1/documents/${entry?.id}`)).json()) as Listed
    const claim = documents.find(({ id }) => id === entry?.id)
    for (const one of [entry, document, claim]) assert.deepEqual(columns(one?.invoice), expected, file)
  }
})

test('each document that deviates is read, or has a fault', async () => {
  const listed = await uploadFolder('deviations')
  assert.equal(listed.size, 23)
  for (const [file, { invoice }] of listed) {
    const name = file.replace('.xml', '')
    if (READ.includes(name)) assert.match(String(invoice?.clave), /^\d{50}$/, file)
    else assert.deepEqual(Object.keys(invoice ?? {}).sort(), ['fault', 'kind'], file)
  }
  const warnings = (name: string) => listed.get(`${name}.xml`)?.invoice?.warnings
  assert.deepEqual(warnings('latin1-undeclared'), ['encoding', 'clave_twice'])
  assert.deepEqual(warnings('no-namespace'), ['namespace', 'clave_twice'])
  assert.equal(listed.get('date-utc.xml')?.invoice?.date, '2026-03-24')
})
