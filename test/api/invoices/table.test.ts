// The list of documents as CSV and NDJSON: a line for each document that the filters admit.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { updateAgentActive } from '../../../src/store/directory/agents.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, post, read, TOKENS } from '../../support/directory.ts'
import { createClave, sampleInvoice, sampleMessage } from '../../support/documents/invoice-xml.ts'
import { openTestDatabase } from '../../support/temporary.ts'

type Cells = Record<string, string>
type Row = { id: number; name: string; invoice?: Record<string, unknown> }

const FIXTURES = join(import.meta.dirname, '../../fixtures/invoices')
const CSV = '/api/v1/documents.csv'
const NDJSON = '/api/v1/documents.ndjson'
const BILL = createClave('FacturaElectronica', 1)
const MANY = 450 // more than two pages

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext, { backfillFrom: '2026-03-01' })
  await app.sync()
  await fillDirectory(app)
  const db = openTestDatabase(app.dataDir)
  await updateAgentActive(db, 2, true)
  await db.destroy()
})

async function upload(contents: Record<string, string | Buffer>, fields: object = {}): Promise<number[]> {
  const documents = Object.entries(contents).map(([name, content]) => ({
    name,
    mimetype: 'application/xml',
    base64: Buffer.from(content).toString('base64'),
  }))
  const response = await post(app, CREATE, { ...batch(...documents), ...fields })
  const body = (await response.json()) as { created_documents: Row[] }
  return body.created_documents.map(({ id }) => id)
}

async function text(path: string, secret: string = TOKENS.read): Promise<string> {
  const response = await read(app, path, { authorization: `Bearer ${secret}` })
  assert.equal(response.status, 200, path)
  return Buffer.from(await response.arrayBuffer()).toString() // with its byte order mark
}

const readCsv = async (query: string, secret?: string): Promise<Cells[]> =>
  parse(await text(`${CSV}?${query}`, secret), { columns: true }) as Cells[]

test('each example has the facts of its line in both tables', async () => {
  const folder = join(FIXTURES, 'examples')
  const names = readdirSync(folder).sort()
  const ids = await upload(Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))])))
  const lines = parse(readFileSync(join(FIXTURES, 'expected.csv'), 'utf8'), { columns: true }) as Cells[]
  const table = (await readCsv('')).filter(({ id }) => ids.includes(Number(id)))
  assert.equal(table.length, lines.length)
  for (const { file = '', ...expected } of lines) {
    const row = table.find(({ name }) => name === file)
    const own = Object.fromEntries(Object.keys(expected).map((name) => [name, row?.[name]]))
    assert.deepEqual(own, expected, file)
  }
  const rows = (await text(NDJSON)).trim().split('\n')
  const list = await read(app, `/api/v1/documents?after=${Math.min(...ids) - 1}&limit=${ids.length}`)
  const { documents } = (await list.json()) as { documents: Row[] }
  assert.deepEqual(
    rows.map((row) => JSON.parse(row) as Row).filter(({ id }) => ids.includes(id)),
    documents,
  )
})

test('the tables have the documents of the filters, in either order', async () => {
  await upload({ 'factura.xml': sampleInvoice({ clave: BILL }), 'nota.txt': 'nada', [`${BILL}.pdf`]: '%PDF' })
  await upload({ 'respuesta.xml': sampleMessage({ clave: BILL }) }, { agent_id: 2 })
  const names = async (query: string, secret?: string) =>
    (await readCsv(query, secret)).map(({ name }) => name)
  const ofBill = ['factura.xml', `${BILL}.pdf`, 'respuesta.xml']
  assert.deepEqual(await names(`clave=${BILL}`), ofBill)
  assert.deepEqual(await names(`clave=${BILL}&order=desc`), ofBill.toReversed())
  assert.deepEqual(await names(`clave=${BILL}&kind=MensajeHacienda`), ['respuesta.xml'])
  assert.deepEqual(await names(`clave=${BILL}&agent_id=1`), ofBill.slice(0, 2))
  assert.deepEqual(await names('q=nota&to=2020-01-01'), [])
  assert.deepEqual(await names(`clave=${BILL}`, TOKENS.ofCompany), [])
})

test('a table has every document, beyond a page of the list', async () => {
  const contents = Object.fromEntries(Array.from({ length: MANY }, (_, at) => [`muchos ${at}.txt`, `${at}`]))
  const ids = (await upload(contents)).map(String)
  for (const order of ['asc', 'desc']) {
    const table = await readCsv(`q=muchos&order=${order}`)
    const expected = order === 'asc' ? ids : ids.toReversed()
    assert.deepEqual(
      table.map(({ id }) => id),
      expected,
    )
  }
})

test('a cell of CSV runs no formula, and has the signs of its dialect', async () => {
  const bill = sampleInvoice({ clave: createClave('FacturaElectronica', 77), rate: '400.5' })
  const content = bill.replace('Ferretería El Roble', '=HYPERLINK(1)')
  const [id] = await upload({ '+peligro;=1.xml': content })
  const [plain] = (await readCsv('q=peligro')).filter((row) => row.id === String(id))
  assert.equal(plain?.name, "'+peligro;'=1.xml")
  assert.match(plain?.issuer_name ?? '', /^'=HYPERLINK/)
  assert.equal(plain?.exchange_rate, '400.5')
  assert.match(plain?.difference ?? '', /^-\d/, 'a number has no apostrophe')
  const local = await text(`${CSV}?q=peligro&dialect=es-CR`)
  assert.match(local, /^\ufeffid;name;/)
  assert.equal(local.endsWith('\r\n'), true)
  assert.match(local, /;"'\+peligro;'=1\.xml";/)
  assert.match(local, /;24\/03\/2026;/)
  assert.match(local, /;400,5;/)
})

test('a table without documents has the names of the columns alone', async () => {
  assert.equal((await text(`${CSV}?q=ninguno`)).trim().split('\n').length, 1)
  assert.equal(await text(`${NDJSON}?q=ninguno`), '')
})

test('a table rejects what is no filter, and a company of others', async () => {
  const status = async (path: string, secret: string = TOKENS.read) =>
    (await read(app, path, { authorization: `Bearer ${secret}` })).status
  assert.equal(await status(`${CSV}?limit=5`), 422)
  assert.equal(await status(`${CSV}?clave=506`), 422)
  assert.equal(await status(`${CSV}?from=2026-03-02&to=2026-03-01`), 422)
  assert.equal(await status(`${CSV}?sep=,&decimal=,`), 422)
  assert.equal(await status(`${NDJSON}?dialect=es-CR`), 422)
  assert.equal(await status(`${CSV}?company_id=1`, TOKENS.ofCompany), 404)
  assert.equal(await status(CSV, 'cbt_x'), 401)
})

test('the tables are files to save, of their media types', async () => {
  for (const [path, type, name] of [
    [CSV, 'text/csv; charset=utf-8', 'documents.csv'],
    [NDJSON, 'application/x-ndjson; charset=utf-8', 'documents.ndjson'],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      const authorization = `Bearer ${TOKENS.read}`
      const { headers } = await fetch(app.app.url + path, { method, headers: { authorization } })
      assert.equal(headers.get('content-type'), type)
      assert.equal(headers.get('content-disposition'), `attachment; filename="${name}"`)
    }
  }
})
